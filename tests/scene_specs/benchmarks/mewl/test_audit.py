from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.benchmarks.mewl.audit import audit, tables
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.tasks.chi_square import equal_frequencies, tail


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    specs = [mewl_spec(1, "test", task, k) for task in TASKS for k in range(200)]
    return {row["task"]: row for row in audit(specs)}


@pytest.mark.parametrize(
    # From printed tables of the chi-square distribution.
    ("statistic", "freedom", "p"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (11.070, 5, 0.05), (13.277, 4, 0.01), (24.996, 15, 0.05), (14.339, 15, 0.5)],
)
def test_chi_square_tail(statistic: float, freedom: int, p: float) -> None:
    assert tail(statistic, freedom) == pytest.approx(p, abs=2e-4)


def test_even_counts_are_even_and_odd_ones_are_not() -> None:
    assert equal_frequencies([100, 100, 100]) == 1.0
    assert equal_frequencies([7]) == equal_frequencies([]) == equal_frequencies([0, 0]) == 1.0
    assert equal_frequencies([150, 100, 50]) < 1e-8
    rng = np.random.Generator(np.random.Philox(2))
    tests = [equal_frequencies(np.bincount(rng.integers(8, size=400), minlength=8).tolist()) for _ in range(400)]
    # Of a fair die one test in ten is below 0.1.
    assert abs(sum(p < 0.1 for p in tests) / 400 - 0.1) < 4 * math.sqrt(0.09 / 400)


@pytest.mark.slow
def test_only_published_hints_help_a_guesser(rows: dict[str, dict[str, Any]]) -> None:
    assert list(rows) == list(TASKS)
    hinted = {"shape", "color", "material", "composite"}
    for task, row in rows.items():
        assert (row["episodes"], row["chance"]) == (200, pytest.approx(0.2))
        assert bool(row["hints"]) == (task in hinted)
        if task not in hinted:
            assert max(row["guessers"].values()) < 0.2 + 5 * row["error"]
        assert min(row["p"].values()) > 1e-4
    for task in ("shape", "color", "material"):
        assert rows[task]["guessers"]["words heard"] == pytest.approx(1 / 3)
    assert rows["composite"]["guessers"]["not said before"] == pytest.approx(1 / 3)


def test_balanced_options_take_the_hints_away() -> None:
    specs = [mewl_spec(1, "test", task, k, balanced=True) for task in ("color", "composite") for k in range(200)]
    for row in audit(specs):
        assert row["chance"] == pytest.approx(1 / 3)
        assert not row["hints"]
        assert max(row["guessers"].values()) < 1 / 3 + 5 * row["error"]


def test_a_lopsided_file_shows() -> None:
    specs = [mewl_spec(1, "test", "number", k) for k in range(100)]
    for spec in specs:
        options = spec["task"]["options"]
        options.remove(spec["task"]["answer"])
        options.insert(2, spec["task"]["answer"])
    (row,) = audit(specs)
    assert row["guessers"]["position"] == 1.0
    assert row["p"]["position"] < 1e-9
    assert row["p"]["concept"] > 1e-3


@pytest.mark.alike
@pytest.mark.parametrize("task", TASKS)
def test_imported_episodes_have_the_concepts_of_their_lexicon(task: str, rows: dict[str, dict[str, Any]]) -> None:
    specs = [mewl_spec(1, "test", task, k) for k in range(200)]
    for spec in specs:
        spec["task"]["lexicon"] = spec["task"].pop("words")
        spec["task"].pop("types", None)
    p = audit(specs)[0]["p"]
    # Published files do not name the types of composite.
    assert p.get("concept") == (None if task == "composite" else rows[task]["p"].get("concept"))


def test_answers_without_a_concept_are_not_tested() -> None:
    specs = [mewl_spec(1, "test", "color", k) for k in range(3)]
    for spec in specs:
        del spec["task"]["words"][spec["task"]["answer"]]
    assert "concept" not in audit(specs)[0]["p"]


@pytest.mark.parametrize(
    ("task", "change", "said"),
    [
        ("relation", {"answer": "x", "options": ["x", "y"]}, "IndexError"),
        ("object", {"options": ["and"]}, "ZeroDivisionError"),
        ("color", {"answer": "x"}, "ValueError"),
    ],
)
def test_incomplete_episodes_are_named(task: str, change: dict[str, Any], said: str) -> None:
    spec = mewl_spec(1, "test", task, 0)
    spec["task"] |= change
    with pytest.raises(SpecError, match=f"{spec['id']}: task: not a complete episode of mewl: {said}"):
        audit([spec])
    spec = mewl_spec(1, "test", task, 0)
    spec["frames"][6]["objects"] = []
    with pytest.raises(SpecError, match="mewl: IndexError"):
        audit([spec])


def test_tables_have_a_row_a_task(rows: dict[str, dict[str, Any]]) -> None:
    lines = tables(list(rows.values())).splitlines()
    assert len(lines) == 2 * (2 + 9) + 1
    assert len({line.count("|") for line in lines[:11]}) == len({line.count("|") for line in lines[12:]}) == 1
    assert "no context used" in lines[2]
