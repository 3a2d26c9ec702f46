"""Faulty plug-ins, from the command line: one line with the plug-in's name, and exit code 2."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.export import main as export
from diorama.render.cli.specs import main as specs
from diorama.render.geometry.meshes import load_mesh
from diorama.render.run.worker import Failure
from diorama.scene_specs.checks import object_checks
from diorama.scene_specs.errors import PluginError
from diorama.scene_specs.language.registry import plugin_error
from diorama.scene_specs.model.stage import load_stage
from tests.distributions import forget, installed, write_distribution
from tests.hostile.traps import make_store, run_bounded

BROKEN = "raise RuntimeError('broken\\nwhen imported')\n"
Arrays = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "site").mkdir()
    with installed(tmp_path / "site"):
        yield tmp_path
    load_mesh.cache_clear()
    object_checks._import_problem.cache_clear()


def acme(folder: Path, noun: str, points: str, **files: str | bytes) -> None:
    files = {"acme_lab/__init__.py": "", "acme_lab/things/__init__.py": "", **files}
    write_distribution(folder / "site", "acme-lab", {noun: points}, files)
    forget()


def call(command: click.Command, *arguments: object) -> Result:
    """The command's result. Fails if an exception gets out of it."""
    result = CliRunner().invoke(command, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def errors(command: click.Command, *arguments: object) -> list[str]:
    """The lines of a refusal."""
    result = call(command, *arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return [line for line in result.output.splitlines() if line.startswith("error: ")] or [result.output]


def checked(folder: Path, stage: str = "clevr", **frame: Any) -> list[str]:
    spec = {"version": 1, "id": "a", "stage": stage, "frames": [frame]}
    (folder / "a.json").write_text(json.dumps(spec))
    return errors(specs, "check", folder / "a.json")


def npz(change: Callable[[Arrays], Arrays] = lambda arrays: arrays) -> bytes:
    cube = load_mesh("cube")
    arrays = {"vertices": cube.vertices, "normals": cube.normals, "triangles": cube.triangles}
    data = io.BytesIO()
    np.savez(data, **change({name: np.array(array) for name, array in arrays.items()}))
    return data.getvalue()


SHAPES: dict[str, tuple[bytes, str]] = {
    "too small": (npz(lambda mesh: {**mesh, "vertices": mesh["vertices"] / 2}), "fills -0.5 to 0.5 x -0.5 to 0.5"),
    "open": (npz(lambda mesh: {**mesh, "triangles": mesh["triangles"][1:]}), "its mesh is not closed"),
    "inside out": (npz(lambda mesh: {**mesh, "triangles": mesh["triangles"][:, ::-1]}), "are clockwise seen from"),
    "inward normals": (npz(lambda mesh: {**mesh, "normals": -mesh["normals"]}), "its normals point inwards"),
    "long normals": (npz(lambda mesh: {**mesh, "normals": mesh["normals"] * 2}), "don't have the length 1"),
    "damaged": (b"no zip", "mesh 'crate': "),
}


@pytest.mark.parametrize("name", SHAPES)
def test_check_names_faulty_shapes(folder: Path, name: str) -> None:
    content, problem = SHAPES[name]
    acme(folder, "shapes", "* = acme_lab.shapes", **{"acme_lab/shapes/crate.npz": content})
    (line,) = checked(folder, objects=[{"shape": "crate"}])
    assert "'crate'" in line and problem in line and "frames[0].objects[0].shape" in line
    (line,) = checked(folder, objects=[], random_objects={"count": 1, "shapes": ["cube", "crate"]})
    assert problem in line and "random_objects.shapes[1]" in line


def test_check_accepts_a_right_shape(folder: Path) -> None:
    acme(folder, "shapes", "* = acme_lab.shapes", **{"acme_lab/shapes/crate.npz": npz()})
    (folder / "a.json").write_text('{"version": 1, "id": "a", "frames": [{"objects": [{"shape": "crate"}]}]}')
    assert call(specs, "check", folder / "a.json").exit_code == 0


def test_check_names_a_shape_that_a_stage_draws(folder: Path) -> None:
    stage = load_stage("clevr").model_dump(mode="json", exclude_none=True)
    stage = {**stage, "name": "yard", "defaults": {**stage["defaults"], "shapes": ["crate"]}}
    (folder / "site/acme_lab/stages").mkdir(parents=True)
    (folder / "site/acme_lab/stages/yard.json").write_text(json.dumps(stage))
    write_distribution(folder / "site", "acme-yard", {"stages": "* = acme_lab.stages"}, {})
    acme(folder, "shapes", "* = acme_lab.shapes", **{"acme_lab/shapes/crate.npz": SHAPES["open"][0]})
    (line,) = checked(folder, "yard", random_objects={"count": 1})
    assert "shape 'crate' of acme-lab: its mesh is not closed" in line


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (BROKEN, "can't import acme_lab.things.silk: RuntimeError: broken when imported"),
        ("import sys\nsys.exit(3)", "can't import acme_lab.things.silk: SystemExit: 3"),
        ("TRANSMISSIVE = False", "material 'silk' of acme-lab: has no Parameters, build; docs/extending.md says"),
    ],
)
def test_check_names_a_material_that_cannot_be_imported(folder: Path, code: str, problem: str) -> None:
    acme(folder, "materials", "* = acme_lab.things", **{"acme_lab/things/silk.py": code})
    for material in ("silk", {"name": "silk", "fuzz": 3}):
        (line,) = checked(folder, objects=[{"shape": "cube", "material": material}])
        assert "material 'silk' of acme-lab: " in line and problem in line
    (line,) = checked(folder, random_objects={"count": 1, "materials": ["silk"]})
    assert problem in line and "random_objects.materials[0]" in line


GENERATE = """
from diorama.scene_specs.tasks.benchmark import Command, Report, option

class Options(Command):
    "Count."
    count: int = option(3, "Number.", ge=0)

class Sizes(Report, run="count:sizes"):
    "Sizes."

COMMANDS = (Sizes,)

def generate(options):
    yield {"version": 1, "id": "count/0", "frames": [{"objects": []}], "task": {"benchmark": "count"}}
    raise KeyError("two\\nlines")

def sizes(episodes):
    return [1 / 0 for one in episodes]

def verify_spec(data):
    return data["gone"]
"""


def test_exceptions_of_a_benchmark(folder: Path) -> None:
    acme(folder, "benchmarks", "* = acme_lab.things", **{"acme_lab/things/count.py": GENERATE})
    (line,) = errors(specs, "count", "--out", folder / "a.jsonl")
    expected = "error: benchmark 'count' of acme-lab failed: KeyError: 'two\\nlines' (acme_lab.things.count, line 15)"
    assert line == expected
    spec = {"version": 1, "id": "a", "frames": [{"objects": []}], "task": {"benchmark": "count"}}
    (folder / "a.json").write_text(json.dumps(spec))
    (line,) = errors(specs, "check", "--prove", folder / "a.json")
    expected = (
        "a.json:1: episode a: benchmark 'count' of acme-lab failed: KeyError: 'gone' (acme_lab.things.count, line 21)"
    )
    assert line.endswith(expected)
    assert "Traceback" in call(specs, "check", "--prove", folder / "a.json", "-v").output
    (line,) = errors(specs, "report", "count", folder / "a.json")
    assert "benchmark 'count' of acme-lab failed: ZeroDivisionError: division by zero" in line
    assert "Traceback" in call(specs, "report", "count", folder / "a.json", "-v").output


@pytest.mark.parametrize(
    ("code", "problem"),
    [("raise RuntimeError('a\\nb')", "RuntimeError: a b"), ("raise SystemExit(7)", "SystemExit: 7"),
     ("open('/dev/null/x')", "NotADirectoryError"), ("raise OSError('odd')", "OSError: odd")],
)  # fmt: skip
def test_exceptions_of_an_export(folder: Path, code: str, problem: str) -> None:
    code = f"def export(store, out, options, progress):\n    {code}\n"
    acme(folder, "exports", "* = acme_lab.things", **{"acme_lab/things/lines.py": code})
    (line,) = errors(export, make_store(folder), "--out", folder / "out", "--format", "lines")
    if "/dev/null" in code:  # an operating system's error about a path says enough
        assert line == "error: /dev/null/x: Not a directory"
    else:
        assert "export 'lines' of acme-lab failed: " in line and problem in line


def test_of_several_objects_of_a_module_the_failing_one_is_named(folder: Path) -> None:
    code = "class A:\n def export(*_): 1 / 0\nclass B:\n def export(*_): 1 / 0\n"
    acme(folder, "exports", "a = acme_lab.both:A\nb = acme_lab.both:B", **{"acme_lab/both.py": code})
    for name in "ab":
        (line,) = errors(export, make_store(folder / name), "--out", folder / "out", "--format", name)
        assert f"export '{name}' of acme-lab failed: ZeroDivisionError" in line


def test_a_module_is_named_and_not_the_package_above_it(folder: Path) -> None:
    acme(folder, "exports", "* = acme_lab.things", **{"acme_lab/things/lines.py": "def export(*_): 1 / 0"})
    write_distribution(folder / "site", "acme-yard", {"stages": "yard = acme_lab:yard"}, {})
    forget()
    (line,) = errors(export, make_store(folder), "--out", folder / "out", "--format", "lines")
    assert line.startswith("error: export 'lines' of acme-lab failed: ZeroDivisionError")


def test_a_stage_that_fails_is_not_taken_for_a_misspelled_one(folder: Path) -> None:
    acme(
        folder, "stages", "porch = acme_lab:porch", **{"acme_lab/__init__.py": "def porch(): raise RuntimeError('no')"}
    )
    (line,) = checked(folder, "porch", objects=[])
    assert line.endswith("stage: stage 'porch' of acme-lab: can't import acme_lab:porch: RuntimeError: no")


@pytest.mark.parametrize(("command", "arguments"), [(specs, ["--help"]), (specs, []), (export, ["--list-formats"])])
def test_a_list_of_plug_ins_that_two_packages_provide_is_refused(
    folder: Path, command: click.Command, arguments: list[str]
) -> None:
    for name in ("one", "two"):
        write_distribution(folder / "site", name, {"benchmarks": f"quiz = {name}", "exports": f"quiz = {name}"}, {})
    forget()
    (line,) = errors(command, *arguments)
    assert "'quiz' is provided by one 0.1.0 and by two 0.1.0; uninstall one of the two" in line


@pytest.mark.slow
def test_exceptions_of_a_pass_in_the_process_of_an_episode(folder: Path) -> None:
    code = """
from diorama.render.passes import PassRow

def read(*_):
    raise RuntimeError("no")

PASS = PassRow(shape=("H", "W"), dtype="float32", unit="1", meaning="0", read=read, fake=read)
"""
    acme(folder, "passes", "* = acme_lab.things", **{"acme_lab/things/warmth.py": code})
    spec = {"version": 1, "id": "a", "frames": [{"objects": [], "passes": ["warmth"]}]}
    (folder / "a.json").write_text(json.dumps(spec))
    path = f"{Path(__file__).resolve().parents[3]}:{folder / 'site'}"
    done = run_bounded(
        "render-episode",
        "--from",
        folder / "a.json",
        "--renderer",
        "fake",
        "--out",
        folder / "out",
        env={"PYTHONPATH": path},
    )
    assert (done.code, done.err.strip()) == (
        2, "error: pass 'warmth' of acme-lab failed: RuntimeError: no (acme_lab.things.warmth, line 5)",
    )  # fmt: skip


def test_a_failure_of_a_worker_names_the_plug_in(folder: Path) -> None:
    acme(folder, "renderers", "* = acme_lab.things", **{"acme_lab/things/fog.py": "def render():\n    1 / 0\n"})
    import acme_lab.things.fog  # type: ignore[import-not-found]

    try:
        acme_lab.things.fog.render()
    except ZeroDivisionError as error:
        found = Failure.of(error, "a")
    assert found.kind == "PluginError"
    assert found.message.splitlines() == [
        "renderer 'fog' of acme-lab failed: ZeroDivisionError: division by zero (acme_lab.things.fog, line 2)"
    ]


def test_diorama_s_own_errors_are_nobody_else_s() -> None:
    assert plugin_error(PluginError("mine")) is None
    try:
        load_stage("")
    except Exception as error:
        assert plugin_error(error) is None
