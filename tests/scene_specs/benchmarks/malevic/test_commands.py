"""`render-specs malevic`, `malevic-report` and `check --prove`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.sets import SETS
from tests.scene_specs.benchmarks.malevic.published_files import published


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_items_are_the_same_alone_and_are_proved(tmp_path: Path) -> None:
    many, alone = tmp_path / "many.jsonl", tmp_path / "alone.jsonl"
    assert run("malevic", "--set", "pos", "--split", "test", "--count", "6", "--out", str(many)).exit_code == 0
    one = ("malevic", "--set", "pos", "--split", "test", "--first", "4", "--count", "1", "--out", str(alone))
    assert run(*one).exit_code == 0
    assert many.read_text().splitlines()[4] == alone.read_text().strip()
    assert run("check", "--prove", str(many)).exit_code == 0
    wrong = json.loads(alone.read_text())
    wrong["task"]["answer"] = "no" if wrong["task"]["answer"] == "yes" else "yes"
    alone.write_text(json.dumps(wrong))
    refused = run("check", "--prove", str(alone))
    assert refused.exit_code == 2
    assert "answer: found" in refused.output


def test_groups_of_sets_and_the_report(tmp_path: Path) -> None:
    file = tmp_path / "hard.jsonl"
    made = run("malevic", "--set", "hard", "--count", "4", "--variant", "static", "--world", "3d", "--out", str(file))
    assert made.exit_code == 0
    assert "| set-pos-very-hard | test | 4 |" in made.stderr
    rows = json.loads(run("malevic", "statistics", "--json", str(file)).stdout)
    assert [row["set"] for row in rows] == ["pos1-hard", "pos-hard", "set-pos-hard", "set-pos-very-hard"]
    assert {row["ceiling"] for row in rows} == {1.0}
    assert {row["k_mean"] for row in rows} == {0.29}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "pos-hard", "--split", "train"), "pos-hard has the splits test"),
        (("--set", "pas"), "pas"),
        (("--gap", "-1"), "gap"),
        (("--gap", "nan"), "found nan"),
    ],
)
def test_wrong_options_end_with_2(options: tuple[str, ...], said: str) -> None:
    result = run("malevic", *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_report_refuses_other_specs(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"version": 1, "id": "a", "frames": [{}]}')
    result = run("malevic", "statistics", str(file))
    assert result.exit_code == 2
    assert "found benchmark None; expected 'malevic'" in result.stderr


def test_every_set_is_an_option() -> None:
    assert get_args(Options.model_fields["name"].annotation) == (*SETS, "main", "hard", "generalization", "all")


@pytest.mark.slow
def test_set_pos_hard_keeps_more_scenes_with_several_queries_as_published(tmp_path: Path) -> None:
    means = {}
    for kept in ("last", "any"):
        made = run(
            "malevic",
            "--set",
            "set-pos-hard",
            "--count",
            "200",
            "--kept",
            kept,
            "--out",
            str(tmp_path / f"{kept}.jsonl"),
        )
        assert made.exit_code == 0
        (row,) = json.loads(run("malevic", "statistics", "--json", str(tmp_path / f"{kept}.jsonl")).stdout)
        means[kept] = sum(int(count) * share for count, share in row["captions"].items())
        assert sum(row["set_sizes"].values()) == pytest.approx(1)
    # 1.41 and 1.27 of 10,000 items, with a standard error of 0.04 here.
    assert means["last"] > means["any"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda task: task.pop("question"), "there is no question"),
        (lambda task: task.pop("asked"), "task: asked: missing"),
        (lambda task: task.update(asked=99), "task: asked: stored 99; there are"),
        (lambda task: task.update(objects=[]), "there are 0 objects"),
        (lambda task: task.update(distance="near"), 'task.distance: found "near"; allowed: a number'),
    ],
)
def test_reports_refuse_items_that_lack_something(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    file = tmp_path / "specs.jsonl"
    assert run("malevic", "--set", "pos", "--split", "test", "--count", "1", "--out", str(file)).exit_code == 0
    item = json.loads(file.read_text())
    change(item["task"])
    file.write_text(json.dumps(item))
    refused = run("malevic", "statistics", str(file))
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert "malevic/pos/test/000000" in refused.stderr


@pytest.mark.parametrize("k", ["1e308", "NaN", "-1.1"])
def test_statistics_refuse_a_k_that_can_not_be(tmp_path: Path, k: str) -> None:
    file = tmp_path / "specs.jsonl"
    assert run("malevic", "--set", "pos", "--split", "test", "--count", "1", "--out", str(file)).exit_code == 0
    item = json.loads(file.read_text())
    item["task"]["k"] = float(k)
    file.write_text(json.dumps(item))
    refused = run("malevic", "statistics", str(file), "--json")
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_reports_on_imported_scenes_say_what_lacks(tmp_path: Path) -> None:
    scenes, specs = tmp_path / "scenes.jsonl", published(tmp_path, "pos", "test", range(1), images=False)[0]
    assert run("import", "--from", "malevic", str(specs), "--out", str(scenes)).exit_code == 0
    refused = run("malevic", "statistics", str(scenes))
    assert refused.exit_code == 2
    assert "import it with --questions" in refused.stderr
