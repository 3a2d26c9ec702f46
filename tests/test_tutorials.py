"""The tutorials: their commands run in order, and the benchmark is short, proved, and notices wrong answers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from diorama.render.cli.specs import main
from tests.distributions import installed, write_distribution
from tests.test_docs import ROOT, blocks_of
from tools.programs import command

BLOCKS = {block.words[0]: block.text for block in blocks_of(ROOT / "docs/tutorials/benchmark.md")}
POINTS = tomllib.loads(BLOCKS["toml"])["project"]["entry-points"]["diorama.benchmarks"]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("packages")
    points = "\n".join(f"{name} = {module}" for name, module in POINTS.items())
    write_distribution(folder, "odd-color", {"benchmarks": points}, {"odd_color/__init__.py": BLOCKS["python"]})
    with installed(folder):
        yield folder


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_the_benchmark_is_short_and_its_verifier_finds_a_wrong_answer(packages: Path, tmp_path: Path) -> None:
    assert len((BLOCKS["toml"] + BLOCKS["python"]).splitlines()) < 150
    file = tmp_path / "odd.jsonl"
    run("odd-color", "--count", "20", "--seed", "1", "--out", str(file))
    specs = [json.loads(line) for line in file.read_text().splitlines()]
    assert len({spec["task"]["answer"] for spec in specs}) > 3
    run("check", "--prove", str(file))
    colors = [item["color"] for item in specs[7]["frames"][0]["objects"]]
    specs[7]["task"]["answer"] = next(color for color in colors if colors.count(color) == 2)
    file.write_text("".join(f"{json.dumps(spec)}\n" for spec in specs))
    assert "odd-color/test/000007" in run("check", "--prove", str(file), code=2)


def run_process(line: list[str], folder: Path, code: int = 0, packages: Path = ROOT) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{packages}:{ROOT}"}
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["first_dataset", "evaluate_model", "publish_dataset"])
def test_the_commands_of_a_page_run_in_order(tmp_path: Path, page: str) -> None:
    file = ROOT / f"docs/tutorials/{page}.md"
    for block in blocks_of(file):
        if block.words == ("python",):
            (tmp_path / "constant.py").write_text(block.text)
            run_process([sys.executable, "constant.py"], tmp_path)
    for line in re.findall(r"^    (render-.+)$", file.read_text(), re.MULTILINE):
        if "openai:" not in line:
            run_process(command(*shlex.split(line)), tmp_path, int("--compare" in line))
        if "--init-about" in line:
            shutil.copy(ROOT / "tools/samples.toml", tmp_path / "about.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "fewer", "replies", "scored"),
    [
        ("contrast", {"--count 120": "--count 12"}, "blind.jsonl", ("pairs.lance",)),
        ("looks", {"--count 200": "--count 30", "--count 40": "--count 4"}, "predictions.jsonl",
         ("test.lance", "--questions", "10")),
    ],
)  # fmt: skip
def test_a_study_runs_on_fewer_episodes(
    tmp_path: Path, page: str, fewer: dict[str, str], replies: str, scored: tuple[str, ...]
) -> None:
    (script,) = (block.text for block in blocks_of(ROOT / f"docs/{page}.md") if block.words == ("python",))
    above = (ROOT / f"docs/{page}.md").read_text().partition(script)[0].rpartition("## A study")[2]
    # Some episodes have no contrast, so not every command ends with 0; the last one, which exports, must.
    lines = "\n".join(re.findall("^    (.+)$", above, re.MULTILINE))
    for said, here in fewer.items():
        assert said in lines
        lines = lines.replace(said, here)
    # What the players score does not depend on who renders.
    lines = re.sub(r"(render-batch (?!.*--renderer).+)", r"\1 --renderer fake", lines)
    programs = sorted({*re.findall("render-[a-z]+", lines)})
    shims = [f'{name}() {{ {shlex.join(command(name))} "$@"; }}' for name in programs]
    run_process(["bash", "-c", "\n".join([*shims, lines])], tmp_path)
    run_process([sys.executable, "-c", script], tmp_path)
    assert len((tmp_path / replies).read_text().splitlines()) > 20
    run_process(command("render-eval", "score", replies, "--store", *scored), tmp_path)


@pytest.mark.slow
def test_the_commands_of_the_page_render_and_prove_twenty_episodes(packages: Path, tmp_path: Path) -> None:
    for line in BLOCKS["console"].splitlines():
        run_process(command(*line.split()), tmp_path, packages=packages)
    questions = next((tmp_path / "questions").rglob("*.jsonl")).read_text()
    assert len(questions.splitlines()) == 20
