"""Specs, jobs, Scenes, content seeds and image keys are those that version 0.1.0 made.

A changed identity makes every stored episode count as another one. The golden data is never made again for a version
that changes it by accident; `python -m tools compatibility` made it.
"""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from diorama.scene_specs.model.spec import EpisodeSpec
from tests.compatibility.identities import COLUMNS, EXAMPLES, GOLDEN, example_entry, generated, golden_line, plan
from tests.marks import slow

ENTRIES: dict[str, Any] = json.loads((GOLDEN / "examples.json").read_text())
BENCHMARKS = ["clevr", *slow(*sorted({*plan()} - {"clevr"}))]


def first_difference(golden: list[str], made: list[str], names: list[str]) -> str:
    """The first episode whose line differs and which of its values differ; "" if none does."""
    for number, (old, new) in enumerate(zip_longest(golden, made, fillvalue="")):
        if old != new:
            pairs = zip_longest(COLUMNS, old.split(), new.split(), fillvalue="nothing")
            values = [f"{column} was {before}, is {now}" for column, before, now in pairs if before != now]
            name = names[number] if number < len(names) else "not generated"
            return f"episode {number} ({name}): {'; '.join(values)}"
    return ""


def test_every_golden_example_is_still_there() -> None:
    assert not set(ENTRIES) - {file.stem for file in EXAMPLES}


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_an_example_has_its_golden_identities(name: str) -> None:
    made = example_entry(next(file for file in EXAMPLES if file.stem == name))
    assert [key for key, value in ENTRIES[name].items() if made[key] != value] == []


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_benchmark_has_its_golden_identities(benchmark: str, tmp_path: Path) -> None:
    episodes: list[EpisodeSpec] = list(generated(benchmark, tmp_path))
    every = plan()[benchmark]["compile_every"]
    made = [golden_line(number, episode, every) for number, episode in enumerate(episodes)]
    golden = (GOLDEN / f"{benchmark}.txt").read_text().splitlines()
    assert len(golden) == sum(command["take"] for command in plan()[benchmark]["commands"])
    assert first_difference(golden, made, [episode.id for episode in episodes]) == ""


def test_a_difference_names_the_episode_and_its_values() -> None:
    golden, names = ["aa bb cc", "dd ee ff"], ["x/0", "x/1"]
    assert first_difference(golden, golden, names) == ""
    assert first_difference(golden, ["aa bb cc", "dd e0 ff"], names) == "episode 1 (x/1): job hash was ee, is e0"
    assert "spec digest was dd, is nothing" in first_difference(golden, golden[:1], names[:1])
