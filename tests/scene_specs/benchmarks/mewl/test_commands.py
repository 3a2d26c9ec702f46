"""`render-specs mewl | check --prove | audit | captions` as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import clevr_spec
from diorama.scene_specs.benchmarks.mewl.generate import mewl_spec


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    target = tmp_path / "mewl.jsonl"
    assert run("mewl", "--split", "test", "--count", 2, "--seed", 9, "--out", target).exit_code == 0
    return target


def test_all_tasks_in_a_row(file: Path) -> None:
    specs = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(specs) == 18
    assert specs[3] == mewl_spec(9, "test", "color", 1)
    alone = run("mewl", "--task", "color", "--split", "test", "--first", 1, "--count", 1, "--seed", 9)
    assert alone.output == file.read_text().splitlines()[3] + "\n"


def test_default_counts(tmp_path: Path) -> None:
    assert run("mewl", "--task", "number", "--split", "val", "--out", tmp_path / "n.jsonl").exit_code == 0
    assert len((tmp_path / "n.jsonl").read_text().splitlines()) == 600


def test_proofs(file: Path, tmp_path: Path) -> None:
    good = run("check", "--prove", file)
    assert (good.exit_code, good.output) == (0, "18 episodes, no errors, all proved\n")
    specs = [json.loads(line) for line in file.read_text().splitlines()]
    task = specs[4]["task"]
    task["answer"] = next(option for option in task["options"] if option != task["answer"])
    other = json.loads(clevr_spec(Options(count=1), 0).model_dump_json(exclude_none=True))
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(json.dumps(spec) + "\n" for spec in [*specs, other]))
    assert run("check", broken).exit_code == 0
    bad = run("check", "--prove", broken)
    assert bad.exit_code == 2
    assert f"{broken}:5: episode {specs[4]['id']}: task: the stored answer is {task['answer']!r}, but " in bad.output
    listed = json.loads(run("check", "--prove", "--json", broken).stdout)
    # A CLEVR episode has nothing to verify.
    assert (listed["episodes"], listed["unverified"]) == (18, 1)
    assert {diagnostic["line"] for diagnostic in listed["faults"]} == {5}


def test_files_or_a_store() -> None:
    for arguments in (["check"], ["check", "--store", "x"], ["check", "--prove", "--store", "x", "file.json"]):
        done = run(*arguments)
        assert done.exit_code == 2
        assert "give FILES, or --prove with --store STORE" in done.output


def test_audit_and_captions(file: Path, tmp_path: Path) -> None:
    shown = run("mewl", "audit", file)
    assert shown.exit_code == 0
    assert sum(line.startswith("| pragmatic | 2 |") for line in shown.output.splitlines()) == 1
    assert [row["task"] for row in json.loads(run("mewl", "audit", "--json", file).output)][-1] == "pragmatic"
    assert run("mewl", "captions", file, "--out", tmp_path / "text.jsonl").exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "text.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [json.loads(line)["id"] for line in file.read_text().splitlines()]


def test_what_is_not_mewl_is_named(tmp_path: Path) -> None:
    other = tmp_path / "clevr.jsonl"
    other.write_text(clevr_spec(Options(count=1), 0).model_dump_json(exclude_none=True) + "\n")
    for command in ("audit", "captions"):
        done = run("mewl", command, other)
        assert done.exit_code == 2
        assert f'{other}:1: episode clevr/train/000000: task.benchmark: found "clevr"; allowed' in done.output
