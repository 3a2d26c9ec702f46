"""The benchmark of docs/tutorials/benchmark.md, from its page: short, proved, and wrong answers are noticed."""

from __future__ import annotations

import json
import os
import subprocess
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


@pytest.mark.slow
def test_the_commands_of_the_page_render_and_prove_twenty_episodes(packages: Path, tmp_path: Path) -> None:
    for line in BLOCKS["console"].splitlines():
        done = subprocess.run(
            command(*line.split()),  # the PATH need not have the environment's programs
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{packages}:{ROOT}"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    questions = next((tmp_path / "questions").rglob("*.jsonl")).read_text()
    assert len(questions.splitlines()) == 20
