"""The tool draws the same mutants for a seed, and tells the outcomes apart."""

from __future__ import annotations

from collections import Counter

from tools.measuring.mutants import AREAS, draw, table

NAMES = [
    f"diorama.{package}.{function}__mutmut_{number}"
    for package in (
        "render.compiler.rng",
        "render.annotations.encode",
        "scene_specs.benchmarks.mewl.verify",
        "render.store.rows",
        "scene_specs.tasks.questions.positions_executor",
    )
    for function in ("x_area", "x_key")
    for number in range(20)
]


def test_a_seed_draws_the_same_mutants_equally_many_of_each_area() -> None:
    drawn = draw(NAMES, 38, 1)
    assert drawn == draw(NAMES[::-1], 38, 1) != draw(NAMES, 38, 2)
    assert [len(names) for names in drawn.values()] == [7, 7, 8, 8, 8]
    assert set(drawn) == set(AREAS)
    assert all(Counter(names).most_common(1)[0][1] == 1 for names in drawn.values())
    # What is drawn stays if more mutants are asked for.
    assert drawn["store"] == draw(NAMES, 80, 1)["store"][:8]


def test_names_of_other_modules_are_not_drawn() -> None:
    assert not any(draw(["diorama.render.run.loop.x_area__mutmut_1"], 8, 1).values())


def test_what_mutmut_could_not_decide_is_not_noticed() -> None:
    kinds = ["killed", "timeout", "survived", "no tests", "suspicious", "killed", "killed", "killed"]
    drawn = draw(NAMES, 8, 1)
    results = dict(zip((name for names in drawn.values() for name in names), kinds, strict=True))
    text, share = table(drawn, results)
    assert share == 5 / 8
    assert "| all | 8 | 4 | 1 | 1 | 1 | 1 | 62.5% |" in text
    assert text.splitlines()[0] == "| area | mutants | killed | timeout | no tests | survived | suspicious | noticed |"
