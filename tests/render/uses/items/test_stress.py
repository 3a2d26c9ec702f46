"""Learners that never see an image, and the gap between two sets."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from diorama.render.uses.evaluation.compare import Score, gaps, memorized, read_rows
from diorama.render.uses.items.scores import interval
from diorama.render.uses.items.stress import LEARNERS, Case, giveaways, ids_to_prune, stress
from diorama.scene_specs.errors import SpecError
from tests.compatibility.commands import run, run_json
from tests.render.uses.items.eval_stores import eval_store

COLORS = ("red", "blue", "green", "gray")


def cases(seed: int, planted: float, count: int = 400) -> list[Case]:
    """Items of which a share has a word that gives the answer away."""
    rng, made = random.Random(seed), []
    for k in range(count):
        answer, options = rng.choice(COLORS), rng.sample(COLORS, 4)
        words = rng.choices(("large", "small", "metal", "cube", "ball", "left"), k=6)
        if rng.random() < planted:
            words[0] = f"planted-{COLORS.index(answer)}"
        layout = (f"objects={rng.randint(3, 10)}",)
        made.append(Case(f"e{k // 2}#{k % 2}", "t", f"e{k // 2}", " ".join(words), tuple(options), answer, "", layout))
    return made


def test_a_shortcut_is_found_and_pruned_and_nothing_is_found_without_one() -> None:
    planted = cases(1, 0.3)
    found = stress(planted)
    assert [one.learner for one in found if one.shortcut] == ["text"]
    scores = giveaways(found)
    told = {one.id for one in planted if "planted" in one.text}
    highest = sorted(scores, key=lambda name: -scores[name])[: len(told) // 2]
    assert {*highest} <= told
    left_out = {*ids_to_prune(found, planted)}
    assert not any(one.shortcut for one in stress(one for one in planted if one.id not in left_out))
    assert not any(one.shortcut for one in stress(cases(2, 0)))


def plant(case: Case, learner: str) -> Case:
    """The same item with what a learner can use."""
    if learner == "text":
        return replace(case, text=f"planted-{COLORS.index(case.answer)} {case.text}")
    if learner == "layout":
        return replace(case, layout=(f"objects={20 + COLORS.index(case.answer)}",))
    if learner == "position":
        return replace(case, options=(case.answer, *(one for one in case.options if one != case.answer)))
    return replace(case, answer="red")


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_ten_points_are_found_in_five_of_five_sets_and_nothing_in_clean_ones(learner: str) -> None:
    """20 sets with a shortcut of ten points in 1,000 items, and 20 without, over the four learners."""
    first = 5 * [*LEARNERS].index(learner)
    for seed in range(first, first + 5):
        rng = random.Random(seed)
        # Of four options, the answer would be right by chance in a quarter of the planted items.
        made = [plant(one, learner) if rng.random() < 0.1 / 0.75 else one for one in cases(seed, 0, 1000)]
        assert learner in [one.learner for one in stress(made) if one.shortcut]
        assert not any(one.shortcut for one in stress(cases(100 + seed, 0, 1000)))


def test_small_tasks_have_no_learners() -> None:
    assert stress(cases(1, 1, 60)) == []


def test_the_command_prints_what_learners_reach(tmp_path: Path) -> None:
    store = eval_store(tmp_path, "malevic", "mewl")
    out = run("render-eval", "stress", store.url, "--questions", "10", "--prune", tmp_path / "ids.txt")
    assert out.startswith("| task | learner |") and (tmp_path / "ids.txt").exists()
    assert {*run_json("render-eval", "stress", store.url)} == {"store", "rows", "items"}


def row(right: list[float]) -> dict[tuple[str, str], Score]:
    low, high = interval(right, [str(k) for k in range(len(right))])
    mean = sum(right) / len(right)
    return {("all", ""): Score(by="all", group="", items=len(right), accuracy=mean, low=low, high=high)}


def test_a_memorizer_is_found_with_few_false_alarms() -> None:
    rng = random.Random(0)

    def replies(share: float) -> list[float]:
        return [float(rng.random() < share) for _ in range(500)]

    alarms = sum(memorized(gaps(row(replies(0.5)), row(replies(0.5)))) for _ in range(400))
    hits = sum(memorized(gaps(row(replies(0.62)), row(replies(0.5)))) for _ in range(100))
    assert alarms <= 20 and hits >= 90


def test_files_of_scores_are_compared(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, share in zip(files, (0.9, 0.5), strict=True):
        rows = [one.model_dump() for one in row([1.0] * int(100 * share) + [0.0] * 50).values()]
        file.write_text(json.dumps({"rows": rows}))
    first, second = map(read_rows, files)
    assert gaps(first, second)[0]["gap"] == pytest.approx(90 / 140 - 0.5)
    files[0].write_text("{}")
    with pytest.raises(SpecError, match="found no rows of scores"):
        read_rows(files[0])
