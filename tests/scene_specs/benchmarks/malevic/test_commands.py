"""`render-specs malevic`, `malevic-report` and `check --prove`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner, Result

from render.cli.specs import main
from scene_specs.benchmarks.malevic import Options
from scene_specs.benchmarks.malevic.sets import SETS


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
    assert "answer: stored" in refused.output


def test_groups_of_sets_and_the_report(tmp_path: Path) -> None:
    file = tmp_path / "hard.jsonl"
    made = run("malevic", "--set", "hard", "--count", "4", "--variant", "static", "--world", "3d", "--out", str(file))
    assert made.exit_code == 0
    assert "| set-pos-very-hard | test | 4 |" in made.stderr
    rows = json.loads(run("malevic-report", "--json", str(file)).stdout)
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
    result = run("malevic-report", str(file))
    assert result.exit_code == 2
    assert "found benchmark None; expected 'malevic'" in result.stderr


def test_every_set_is_an_option() -> None:
    assert get_args(Options.model_fields["name"].annotation) == (*SETS, "main", "hard", "generalization", "all")
