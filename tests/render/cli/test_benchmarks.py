"""Benchmarks of installed packages, from the command line: options, generation, verification, reports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.benchmarks import command, names
from diorama.render.cli.specs import main
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.benchmark import Report, benchmark
from tests import factories

OPTIONS = '''
"""Counting, by Acme."""
from __future__ import annotations
from pathlib import Path
from typing import Literal
from pydantic import model_validator
from diorama.scene_specs.tasks.benchmark import Command, Report, Seed, SpecsCommand, argument, option

class Options(Command):
    """Generate counting episodes.

    More about them.
    """
    count: int = option(..., "Number of episodes.", ge=0, le=9)
    shape: Literal["cube", "sphere"] = option("cube", "Shape of objects.")
    objects: tuple[int, int] = option((1, 2), "Objects per image.")
    tags: tuple[str, ...] = option((), "Tag of episodes; repeatable.", name="--tag")
    palette: Path | None = option(None, "Palette [default: none].", path="file")
    wrong: bool = option(False, "Store wrong answers.")
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self):
        if self.wrong and self.tags:
            raise ValueError("give --wrong or --tag, not both")
        return self

class Sizes(Report, run="generate:sizes", text="generate:sizes_text", short_name="audit"):
    """Report how many objects images have."""

class Answers(SpecsCommand, run="generate:answers", writes=("out",), short_name="acme-answers"):
    """Write the answers of episodes."""
    upper: bool = option(False, "In upper case.")

COMMANDS = (Sizes, Answers)
'''
FUNCTIONS = """
def generate(options):
    for number in range(options.count):
        count = options.objects[number % 2]
        objects = [{"name": f"o{k}", "shape": options.shape} for k in range(count)]
        answer = str(count + options.wrong)
        task = {"benchmark": "acme", "name": "count", "answer": answer, "tags": list(options.tags)}
        frames = [{"objects": objects}]
        yield {"version": 1, "id": f"acme/{number}", "seed": options.seed, "frames": frames, "task": task}

def sizes(episodes):
    return [{"id": one["id"], "objects": len(one["frames"][0]["objects"])} for one in episodes]

def sizes_text(rows):
    return "".join(f"{row['id']} {row['objects']}\\n" for row in rows)

def answers(options, episodes):
    return ({"answer": one["id"].upper() if options.upper else one["id"]} for one in episodes)
"""
VERIFY = """
def verify_spec(data):
    return _problem(data["task"], len(data["frames"][0]["objects"]))

def verify_record(episode):
    return _problem(episode.scene.task, len(episode.images[0].annotation.objects))

def _problem(task, count):
    return "" if task["answer"] == str(count) else f"found {count} objects; the stored answer is {task['answer']}"
"""
LAYOUTS = {
    "module": {"acme_bench.py": OPTIONS + FUNCTIONS + VERIFY},
    "package": {
        "acme_bench/__init__.py": OPTIONS,
        "acme_bench/generate.py": FUNCTIONS,
        "acme_bench/verify.py": VERIFY,
    },
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(params=["module", "package"])
def acme(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution with a benchmark `acme`, in one module or in a package; and one that is broken."""
    root = tmp_path / "site"
    files = {
        **LAYOUTS[request.param],
        "acme_broken.py": '"""Broken."""\nraise RuntimeError("not today")\n',
        "acme-0.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 0.1.0\n",
        "acme-0.1.0.dist-info/entry_points.txt": "[diorama.benchmarks]\nacme = acme_bench\nacme-broken = acme_broken\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.syspath_prepend(str(root))
    plugins.cache_clear()
    yield root
    plugins.cache_clear()
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


@pytest.fixture
def specs(acme: Path, tmp_path: Path) -> Path:
    file = tmp_path / "acme.jsonl"
    assert run("acme", "--count", 3, "--objects", "1-2", "--tag", "a", "--tag", "b", "--out", file).exit_code == 0
    return file


def test_help_comes_from_the_options(acme: Path) -> None:
    listed = run("--help").output
    assert re.search(r"^  acme +Generate counting episodes\.$", listed, re.MULTILINE)
    assert "acme_bench" not in sys.modules
    text = " ".join(run("acme", "--help").output.split())
    for part in (
        "More about them.",
        "--count N Number of episodes.",
        "--shape [cube|sphere] Shape of objects. [default: cube]",
        "--objects MIN-MAX Objects per image. [default: 1-2]",
        "--palette FILE Palette [default: none].",
        "--wrong Store wrong answers.",
        "--out FILE Output file. [default: stdout]",
        "sizes Report how many objects images have.",
        "answers Write the answers of episodes.",
    ):
        assert part in text
    assert "acme_bench.generate" not in sys.modules


def test_generation(specs: Path) -> None:
    made = [json.loads(line) for line in specs.read_text().splitlines()]
    assert [one["id"] for one in made] == ["acme/0", "acme/1", "acme/2"]
    assert [one["task"]["answer"] for one in made] == ["1", "2", "1"]
    assert made[0]["task"]["tags"] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give --count N, or a subcommand"),
        (("--count", 10), "found 10; expected an integer from 0 to 9"),
        (("--count", 1, "--shape", "cone"), "'cone' is not one of"),
        (("--count", 1, "--objects", "x"), "found 'x'; expected MIN-MAX"),
        (("--count", 1, "--palette", "nothing"), "does not exist"),
        (("--count", 1, "--wrong", "--tag", "a"), "give --wrong or --tag, not both"),
        (("--count", 1, "sizes", "x"), "--count: for `acme` without a subcommand"),
    ],
)
def test_wrong_options(acme: Path, arguments: tuple[object, ...], problem: str) -> None:
    result = run("acme", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr


def test_specs_are_verified(specs: Path, tmp_path: Path) -> None:
    assert run("check", "--prove", specs).stdout == "3 episodes, no errors, all proved\n"
    wrong = tmp_path / "wrong.jsonl"
    run("acme", "--count", 2, "--wrong", "--out", wrong)
    result = run("check", "--prove", wrong)
    assert result.exit_code == 2
    assert f"{wrong}:2: episode acme/1: task: " in result.stderr


def test_what_was_rendered_is_verified(specs: Path, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    for line in specs.read_text().splitlines():
        data: dict[str, Any] = json.loads(line)
        data["task"]["answer"] = "1"
        job, spec = factories.make_job(data), EpisodeSpec.model_validate(data)
        store.put([make_record(FakeRenderer(), spec, job, settings_for("draft", 64, 48))])
    store.close()
    result = run("check", "--prove", "--store", store.url)
    assert result.exit_code == 2
    assert result.stderr.count("the stored answer is 1") == 1
    assert "episode acme/1: task: found 2 objects" in result.stderr


def test_reports_and_commands(specs: Path, tmp_path: Path) -> None:
    table = "acme/0 1\nacme/1 2\nacme/2 1\n"
    assert run("report", "acme", specs).stdout == run("acme", "sizes", specs).stdout == table
    run("report", "acme", specs, "--json", "--out", tmp_path / "rows.json")
    assert json.loads((tmp_path / "rows.json").read_text())[1] == {"id": "acme/1", "objects": 2}
    assert run("acme", "answers", "--upper", specs).stdout.splitlines()[0] == '{"answer":"ACME/0"}'
    other = tmp_path / "other.jsonl"
    run("mewl", "--task", "shape", "--split", "val", "--count", 1, "--out", other)
    result = run("report", "acme", other)
    assert result.exit_code == 2
    assert "found benchmark 'mewl'; expected 'acme'" in result.stderr


def test_what_can_not_be_imported_is_named(acme: Path) -> None:
    assert run("--help").exit_code == 0
    result = run("acme-broken", "--help")
    assert result.exit_code == 2
    assert "benchmark 'acme-broken' of acme: can't import acme_broken: RuntimeError: not today" in result.stderr


@pytest.mark.parametrize(("name", "problem"), [("clevr", "has no report"), ("melw", "did you mean 'mewl'")])
def test_reports_that_do_not_exist(name: str, problem: str, tmp_path: Path) -> None:
    result = run("report", name, tmp_path)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_short_names_warn_until_they_go(tmp_path: Path) -> None:
    short_names = {short: owner for short, owner in names().items() if owner[1] != "options"}
    assert len(short_names) == 7
    for short, (name, below) in short_names.items():
        assert not re.search(rf"^  {short} ", run("--help").output, re.MULTILINE)
        assert run(short, "--help").output.split("\n")[2:] == run(name, below, "--help").output.split("\n")[2:]
    empty = tmp_path / "none.jsonl"
    empty.touch()
    former, now = run("malevic-report", empty), run("malevic", "statistics", empty)
    line = (
        "warning: `render-specs malevic-report` is now `render-specs malevic statistics`; version 0.3 has only the new"
    )
    assert (former.exit_code, former.stdout) == (now.exit_code, now.stdout)
    assert former.stderr == f"{line} name\n{now.stderr}"


# Command -> options that no page of the docs names.
LEAVING = {
    "icca prompt": {"--role"},
    "iwisdm": {"--trials-per-task"},
    "kilogram": {"--margin"},
    "kilogram tangrams": {"--alike", "--corners", "--symmetric"},
    "views": {"--color", "--material", "--stage", "--start"},
}


def test_options_that_leave_are_hidden_and_warn(tmp_path: Path) -> None:
    hidden: dict[str, set[str]] = {}
    for name in plugins("benchmarks"):
        group = command(name)
        commands = {name: group, **{f"{name} {below}": each for below, each in getattr(group, "commands", {}).items()}}
        for text, each in commands.items():
            assert each is not None
            options = {one.opts[0] for one in each.params if isinstance(one, click.Option) and one.hidden}
            hidden |= {text: options} if options else {}
    assert hidden == LEAVING
    call = ("kilogram", "tangrams", "--count", 1, "--out")
    assert "--corners" not in run("kilogram", "tangrams", "--help").output
    assert run(*call, tmp_path / "plain").stderr == ""
    warned = run(*call, tmp_path / "warned", "--corners", 0.1)
    assert warned.stderr == "warning: version 0.3 has no --corners; it uses the default\n"
    assert [path.read_bytes() for path in (tmp_path / "warned").iterdir()] == [
        path.read_bytes() for path in (tmp_path / "plain").iterdir()
    ]


def test_short_names_of_packages_do_not_replace_those_of_diorama(acme: Path) -> None:
    assert (names()["acme-answers"], names()["audit"]) == (("acme", "answers"), ("mewl", "audit"))
    assert "Write the answers of episodes." in run("acme-answers", "--help").output


def test_a_benchmark_of_a_package_does_not_replace_a_short_name_of_diorama(acme: Path) -> None:
    points = acme / "acme-0.1.0.dist-info/entry_points.txt"
    points.write_text(points.read_text() + "audit = acme_bench\nacme-answers = acme_bench\n")
    plugins.cache_clear()
    found = names()
    assert (found["audit"], found["acme-answers"]) == (("mewl", "audit"), ("acme-answers", "options"))
    assert "Check whether MEWL answers" in run("audit", "--help").output
    assert "Generate counting episodes." in run("acme-answers", "--help").output


def test_a_short_name_of_a_class_that_is_no_command_is_named(acme: Path) -> None:
    for file in acme.rglob("acme_bench*/__init__.py") if (acme / "acme_bench").exists() else [acme / "acme_bench.py"]:
        file.write_text(file.read_text().replace("COMMANDS = (Sizes, Answers)", "COMMANDS = (Sizes,)"))
    result = run("acme-answers", "--help")
    assert result.exit_code == 2
    assert (
        "benchmark 'acme' of acme: COMMANDS has no class 'answers', which has short_name='acme-answers'"
        in result.stderr
    )


@pytest.mark.parametrize("name", ["iwisdm", "icca", "malevic", "mewl"])
def test_a_report_is_the_command_of_its_benchmark(name: str, tmp_path: Path) -> None:
    options = {
        "iwisdm": ["--benchmark", "low", "--count", 2],
        "icca": ["--contexts", 1],
        "malevic": ["--set", "pos1", "--split", "val", "--count", 2],
        "mewl": ["--task", "shape", "--split", "val", "--count", 2],
    }
    file = tmp_path / "specs.jsonl"
    assert run(name, *options[name], "--out", file).exit_code == 0
    report = next(key for key, one in benchmark(name).commands.items() if issubclass(one, Report))
    for more in ([], ["--json"]):
        reported = run("report", name, file, *more)
        assert reported.exit_code == 0
        assert reported.stdout == run(name, report, file, *more).stdout != ""


@pytest.mark.alike
@pytest.mark.parametrize("name", [*plugins("benchmarks")])
def test_help_of_a_benchmark_imports_its_options_only(name: str) -> None:
    code = "import sys; from diorama.render.cli.specs import main\n"
    code += f"try: main([{name!r}, '--help'])\nexcept SystemExit: pass\n"
    code += "assert not {'numpy', 'PIL', 'bpy', 'ray', 'lance'} & set(sys.modules), 'heavy'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


def test_import_from_a_benchmark_of_a_package(acme: Path, tmp_path: Path) -> None:
    text = "def import_published(path, camera, strict):\n    from diorama.scene_specs.model.spec import EpisodeSpec\n"
    text += "    yield EpisodeSpec(version=1, id=f'acme/{path.stem}-{camera}', frames=({},))\n"
    package = acme / "acme_bench"
    if package.is_dir():
        (package / "importing.py").write_text(text)
    else:
        (acme / "acme_bench.py").write_text(OPTIONS + text)
    (tmp_path / "one.txt").touch()
    imported = run("import", "--from", "acme", tmp_path / "one.txt", "--camera", "nominal")
    assert json.loads(imported.stdout)["id"] == "acme/one-nominal"
    for name in ("malevic", "nobody"):
        assert run("import", "--from", name, tmp_path / "one.txt").exit_code == 2
