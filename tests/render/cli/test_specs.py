"""`render-specs` as its user meets it: output, messages, exit codes, files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import diorama
from diorama.render.cli.command import DioramaCommand, report
from diorama.render.cli.specs import main
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import clevr_spec
from diorama.scene_specs.errors import DeviceError, Diagnostic, SpecError, StoreError, UsageError
from diorama.scene_specs.files.writing import atomic_writer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.reading.broken_cases import episode
from tests.scene_specs.reading.broken_specs import BROKEN
from tests.scene_specs.strategies import EXAMPLES


def run(*arguments: object, **options: Any) -> Result:
    """The command in this process; an exception it lets through fails the test."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False, **options)


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """A shell line with render-specs as a process of its own."""
    program = f"{sys.executable} -c 'from diorama.render.cli.specs import main; main()'"
    line = command.replace("render-specs", program)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with 60 faults."""
    file = tmp_path / "broken.jsonl"
    file.write_text("".join(json.dumps(episode(id=f"e/{k}", seeds=3)) + "\n" for k in range(60)))
    return file


def test_help_is_quick_and_light() -> None:
    code = "import sys; from diorama.render.cli.specs import main; sys.argv[1:] = ['--help']\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "assert not {'numpy', 'pydantic', 'bpy', 'ray'} & set(sys.modules)"
    # Processor time, which other processes don't lengthen; without the measurement of coverage, which does.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    best = 9.0
    for _ in range(5):
        before = sum(os.times()[2:4])
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False, env=plain
        )
        best = min(best, sum(os.times()[2:4]) - before)
        assert done.returncode == 0, done.stderr
    assert "resolve" in done.stdout
    assert best < 0.5


def test_schema_is_what_the_examples_obey(tmp_path: Path) -> None:
    assert run("schema", "--out", tmp_path / "deep" / "schema.json").exit_code == 0
    schema = json.loads((tmp_path / "deep" / "schema.json").read_text())
    assert json.loads(run("schema").stdout) == schema
    jsonschema.Draft202012Validator(schema).validate(json.loads(EXAMPLES[0].read_text()))


def test_check_of_right_files() -> None:
    result = run("check", *EXAMPLES)
    assert (result.exit_code, result.stdout) == (0, f"{len(EXAMPLES)} episodes, no errors\n")


def test_check_reports_all_faults_up_to_what_a_terminal_bears(broken: Path) -> None:
    result = run("check", broken)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert sum("did you mean 'seed'?" in line for line in lines) == 50
    assert lines[-1].startswith("error: and 10 more errors")


@pytest.mark.parametrize(
    ("fields", "path", "parts"),
    [
        ({"shape": "shapenet:lamps/#99"}, "shape", ["the category has 8 models", "#1 to #8"]),
        ({"shape": "shapenet:chiars/#1"}, "shape", ["no category 'chiars'", "did you mean 'chairs'?", "--shapenet"]),
        ({"shape": "shapenet:chairs/abc"}, "shape", ["no model 'shapenet:chairs/abc'", "there are 8, such as"]),
        ({"material": {"blend": "no.blend", "group": "G"}}, "material.blend", ["file not found", "--asset-root"]),
    ],
)
def test_check_finds_missing_assets(tmp_path: Path, fields: dict[str, Any], path: str, parts: list[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(episode(frames=[{"objects": [{}, fields]}]), indent=1))
    result = run("check", file)
    assert result.exit_code == 2
    line = 9 if path == "shape" else 10
    assert f"a.json:{line}: episode examples/of/an-id: frames[0].objects[1].{path}: " in result.stderr
    assert not [part for part in parts if part not in result.stderr]


def test_check_looks_for_assets_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", "_UP", "_FRONT"):
        # What --shapenet sets is undone after the test.
        monkeypatch.setenv(f"DIORAMA_SHAPENET{name}", "")
    file = tmp_path / "a.json"
    material = {"blend": "no.blend", "group": "Wood"}
    drawn = {"count": 1, "shapes": ["shapenet:chairs/one"], "combinations": None}
    frames = [{"objects": [{"name": "a", "material": material}], "pointer": {"target": "a", "material": material}}]
    frames.append({"random_objects": {key: value for key, value in drawn.items() if value}})
    frames.append({"random_objects": {"count": 1, "combinations": [["shapenet:chairs/one", "red"]]}})
    file.write_text(json.dumps(episode(frames=frames)))
    report = json.loads(run("check", "--json", file).stdout)
    assert [fault["path"] for fault in report["faults"]] == [
        "frames[0].objects[0].material.blend",
        "frames[0].pointer.material.blend",
        "frames[1].random_objects.shapes[0]",
        "frames[2].random_objects.combinations[0][0]",
    ]
    shutil.copy(package_assets() / "materials/wood.blend", tmp_path / "no.blend")
    (tmp_path / "library/03001627/one").mkdir(parents=True)
    (tmp_path / "library/03001627/one/model.obj").touch()
    with_folders = ["--asset-root", tmp_path, "--shapenet", tmp_path / "library"]
    assert run("check", file, *with_folders).exit_code == 0


def test_check_finds_a_wrong_group_of_a_blend_file(tmp_path: Path) -> None:
    root = Path(diorama.__file__).parent / "assets/materials"
    for name, kind in (("wood", None), ("zstd", "zstd"), ("gzip", "gzip")):
        with pa.output_stream(str(tmp_path / f"{name}.blend"), compression=kind) as stream:
            stream.write((root / "wood.blend").read_bytes())
    for name in ("wood", "zstd", "gzip"):
        for group, code in (("Wood", 0), ("Woo", 2), ("Woods", 2)):
            objects = [{"material": {"blend": f"{name}.blend", "group": group}}]
            (tmp_path / "a.json").write_text(json.dumps(episode(frames=[{"objects": objects}])))
            result = run("check", tmp_path / "a.json", "--asset-root", tmp_path)
            assert result.exit_code == code, (name, group, result.stderr)
            assert not code or f"no node group '{group}'" in result.stderr


def test_check_as_json_reports_all(broken: Path) -> None:
    result = run("check", "--json", broken, *EXAMPLES)
    assert result.exit_code == 2
    listed = json.loads(result.stdout)
    assert listed["episodes"] == len(EXAMPLES)
    assert [diagnostic["line"] for diagnostic in listed["faults"]] == list(range(1, 61))
    assert set(listed["faults"][0]) == {"file", "line", "episode", "path", "problem", "hint"}


def test_every_broken_spec_ends_with_2_and_writes_nothing(tmp_path: Path) -> None:
    for number, case in enumerate(BROKEN):
        (tmp_path / f"{number:03d}{case.suffix}").write_bytes(case.content)
    before = sorted(tmp_path.rglob("*"))
    for command in (["check"], ["resolve", "--out", tmp_path / "scenes.jsonl"]):
        assert run(*command, tmp_path).exit_code == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_standard_input(broken: Path) -> None:
    assert run("check", "-", input=json.dumps(episode())).stdout == "1 episode, no errors\n"
    result = run("check", "-", input=broken.read_text())
    assert result.exit_code == 2
    assert "error: -:1: episode e/0: seeds" in result.stderr


def test_check_says_once_which_specs_name_no_stage(caplog: pytest.LogCaptureFixture) -> None:
    lines = "".join(
        json.dumps(episode(id=f"e/{k}", **stage)) + "\n" for k, stage in enumerate(({}, {"stage": "mewl"}, {}))
    )
    with caplog.at_level("INFO"):
        run("check", "-", input=lines)
        assert [line for line in caplog.messages if "stage" in line] == [
            'no stage in 2 episodes: it is clevr, whose lights changed in 0.2; write "stage": "mewl" for those of 0.1'
        ]
        caplog.clear()
        run("check", "-", input=run("clevr", "--count", 2).stdout)
        assert not any("stage" in line for line in caplog.messages)


def test_resolve_writes_scenes_that_resolve_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(episode(seed=3)))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run("resolve", tmp_path / "a.json", "--size", "640x480", "--profile", "draft", "--out", first).exit_code == 0
    scene = Scene.model_validate_json(first.read_text())
    assert (scene.settings.width, scene.settings.height, scene.settings.profile) == (640, 480, "draft")
    assert run("resolve", first, "--out", second).exit_code == 0
    assert first.read_bytes() == second.read_bytes()


def test_a_file_stays_if_nothing_could_be_made(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(episode(seed=3)))
    out = tmp_path / "out.jsonl"
    out.write_text("of before\n")
    result = run("contrast", tmp_path / "a.json", "--change", "support", "--out", out)
    assert result.exit_code == 1 and "nothing in it has a support to change" in result.stderr
    assert out.read_text() == "of before\n"
    assert {*tmp_path.iterdir()} == {tmp_path / "a.json", out}


def test_resolve_changes_the_profile_of_a_scene_and_keeps_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(episode(seed=3)))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run("resolve", tmp_path / "a.json", "--size", "64x48", "--out", first).exit_code == 0
    result = run("resolve", first, "--profile", "draft", "--out", second)
    assert result.exit_code == 0, result.exception
    before, after = (Scene.model_validate_json(path.read_text()) for path in (first, second))
    assert after.settings == settings_for("draft", 64, 48)
    assert after.model_copy(update={"settings": before.settings}) == before


def test_resolve_of_a_scene_takes_another_profile_as_render_batch_does(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(episode(seed=3)))
    first = tmp_path / "first.jsonl"
    assert run("resolve", tmp_path / "a.json", "--size", "640x480", "--out", first).exit_code == 0
    scene = Scene.model_validate_json(run("resolve", first, "--profile", "draft").stdout)
    assert (scene.settings.width, scene.settings.height, scene.settings.profile) == (640, 480, "draft")
    assert scene.frames == Scene.model_validate_json(first.read_text()).frames


def test_resolve_names_what_has_no_layout_and_does_the_others(tmp_path: Path) -> None:
    full = {"objects": [{"size": 2.9}, {"size": 2.9}, {"size": 2.9}, {"size": 2.9}]}
    specs = [episode(id="good/1"), episode(id="full", frames=[full]), episode(id="good/2")]
    (tmp_path / "a.json").write_text(json.dumps(specs))
    result = run("resolve", tmp_path / "a.json")
    assert result.exit_code == 1
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["good/1", "good/2"]
    assert "error: episode full: frame frame-0" in result.stderr


@pytest.mark.parametrize(
    "options", [["--profile", "fancy"], ["--size", "320"], ["--size", "0x5"], ["--size", "9x99999"]]
)
def test_resolve_refuses_wrong_options(options: list[str]) -> None:
    result = run("resolve", EXAMPLES[0], *options)
    assert result.exit_code == 2
    assert options[1] in result.stderr


def test_clevr_writes_the_episodes_of_the_generator(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    arguments = ["--count", 5, "--objects", "2-4", "--split", "val", "--seed", 9, "--cogent", "B"]
    assert run("clevr", *arguments, "--out", out).exit_code == 0
    assert run("clevr", *arguments).stdout == out.read_text()
    options = Options(count=5, objects=(2, 4), split="val", seed=9, cogent="B")
    wanted = [clevr_spec(options, index).model_dump(mode="json") for index in range(5)]
    lines = out.read_text().splitlines()
    assert [EpisodeSpec.model_validate_json(line).model_dump(mode="json") for line in lines] == wanted
    assert run("check", out).exit_code == 0


@pytest.mark.parametrize(
    "options", [["--objects", "5-3"], ["--objects", "a"], ["--objects", "1-50"], ["--split", "../x"]]
)
def test_clevr_refuses_wrong_options(options: list[str], tmp_path: Path) -> None:
    result = run("clevr", "--count", 1, *options, "--out", tmp_path / "a.jsonl")
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_import_of_a_wrong_file_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"scenes": [{"objects": [{"shape": "cone"}]}]}')
    result = run("import", "--from", "clevr", tmp_path / "a.json", "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert "scenes[0].objects[0].shape" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = in_shell("render-specs clevr --count 3000 | head -n 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["id"] == "clevr/train/000000"


def test_pipe_from_one_command_to_the_next() -> None:
    done = in_shell("render-specs clevr --count 20 | render-specs check -")
    assert (done.returncode, done.stdout, done.stderr) == (0, "20 episodes, no errors\n", "")


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (SpecError([Diagnostic("f", 1, "e", "p", "wrong")]), 2),
        (UsageError("x"), 2),
        (DeviceError("x"), 3),
        (StoreError("x"), 4),
    ],
)
def test_each_error_has_its_exit_code(raised: Exception, code: int) -> None:
    assert ends_with(lambda: throw(raised)) == code


def test_ctrl_c_ends_with_130() -> None:
    assert ends_with(lambda: throw(KeyboardInterrupt())) == 130


def throw(error: BaseException) -> None:
    raise error


def ends_with(body: Callable[[], None]) -> int:
    """Exit code of a command that does `body`."""

    @click.command(cls=DioramaCommand)
    def command() -> None:
        body()

    return CliRunner().invoke(command, [], catch_exceptions=False).exit_code


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")

    def half_done() -> None:
        with atomic_writer(out) as stream:
            stream.write("half")
            raise UsageError("stopped")

    with pytest.raises(UsageError):
        half_done()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert out.read_text() == "old"
    with atomic_writer(out) as stream:
        stream.write("new")
    assert out.read_text() == "new"
    with pytest.raises(UsageError, match="folder"), atomic_writer(tmp_path) as stream:
        stream.write("x")


def test_report_counts_faults_in_the_singular(caplog: pytest.LogCaptureFixture) -> None:
    report(SpecError([Diagnostic("f", n, "", "", "wrong") for n in range(1, 4)]), limit=2)
    assert [record.message.split(" (")[0] for record in caplog.records if record.levelname == "ERROR"] == [
        "f:1: wrong",
        "f:2: wrong",
        "and 1 more error",
    ]


def test_looks_of_an_episode(tmp_path: Path) -> None:
    specs, out = tmp_path / "specs.jsonl", tmp_path / "looks.jsonl"
    glass = {"objects": [{"shape": "cube", "color": "red", "material": "glass"}]}
    texts = [episode(id="a"), {**episode(id="b"), "frames": [glass]}]
    specs.write_text("".join(json.dumps(text) + "\n" for text in texts))
    done = run("looks", specs, "--looks", "plain,wood,evening", "--size", "64x48", "--out", out)
    assert done.exit_code == 1 and "episode b" in done.stderr and "evening" in done.stderr
    scenes = [Scene.model_validate_json(line) for line in out.read_text().splitlines()]
    assert [scene.id for scene in scenes] == ["a+plain", "a+wood", "a+evening"]
    assert {scene.settings.width for scene in scenes} == {64}
    assert run("looks", specs, "--looks", "plain,mud", "--out", out).exit_code == 2
    assert run("looks", "--looks", "plain", "--out", out).exit_code == 2
