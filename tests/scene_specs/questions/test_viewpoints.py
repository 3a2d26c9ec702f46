"""Sides by an object's own front and from an observer's place: three computations agree, and near-ties have none."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from diorama.scene_specs.language.vocabulary import OPPOSITE
from diorama.scene_specs.questions.grammar import default_grammar
from diorama.scene_specs.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.questions.program import Node, PresuppositionError, parse_program
from diorama.scene_specs.questions.relations_executor import RelationsExecutor
from diorama.scene_specs.questions.rules import Judge
from tests.scene_specs.questions.images import oriented
from tools.third_judge.world import Unclear, World


def the(color: Any) -> list[Any]:
    return ["unique", ["filter_color", color, ["scene"]]]


def answer(run: Any, program: Node) -> Any:
    try:
        return run(program)
    except PresuppositionError:
        return None


@pytest.mark.parametrize("seed", [0, 1])
def test_three_computations_agree_about_every_side_of_everything_for_everybody(seed: int) -> None:
    view = oriented(seed)
    looked_up, computed = RelationsExecutor(view).run, PositionsExecutor(view).run
    annotation = {
        "objects": [item.truth.model_dump(mode="json") for item in view.objects],
        "relations": {},
        "camera": {"rotation": [1, 0, 0, 0]},
        "fronts": {view.objects[k].truth.name: front for k, front in view.fronts.items()},
        "observers": [{"name": view.objects[k].truth.name, "eye": eye} for k, eye in view.eyes.items()],
    }
    world, found = World(annotation, 0.2), []
    colors = [item.truth.color for item in view.objects]
    for side, (one, of, viewer) in product(OPPOSITE, product(range(len(colors)), repeat=3)):
        program = parse_program(["seen", side, *(the(colors[k]) for k in (one, of, viewer))])
        expected = answer(looked_up, program)
        assert answer(computed, program) == expected
        try:
            assert world.sees(side, one, of, viewer) == expected
        except Unclear:
            assert expected is None
        if of == viewer:
            own = parse_program(["own", side, the(colors[one]), the(colors[of])])
            assert answer(looked_up, own) == answer(computed, own) == expected
        if expected is not None:
            mirrored = parse_program(["seen", OPPOSITE[side], *(the(colors[k]) for k in (one, of, viewer))])
            assert answer(looked_up, mirrored) is not expected
            found.append((of == viewer, expected))
    assert {*found} == {*product((True, False), repeat=2)}


def test_no_side_of_the_camera_is_said_of_what_has_a_front() -> None:
    """Left of the chair could be its own left; left of the ball could not."""
    view = oriented()
    fronted = {view.objects[k].truth.color for k in view.fronts}
    judges = Judge(view), Judge(replace(view, fronts={}))
    asked: list[set[tuple[str, str | None]]] = [set(), set()]
    for side, item in product(OPPOSITE, view.objects):
        program = parse_program(["count", ["filter_material", "rubber", ["relate", side, the(item.truth.color)]]])
        for judge, found in zip(judges, asked, strict=True):
            if judge.answer(program) is not None:
                found.add((side, item.truth.color))
    assert asked[0] == {one for one in asked[1] if one[1] not in fronted}
    assert set() < asked[0] < asked[1]


def test_a_frame_of_reference_is_that_of_the_object_named_twice() -> None:
    grammar = default_grammar()
    lexicon = grammar.lexicon_of({"category": ["chair", "car"]})
    ((family, program),) = grammar.readings("As the chair faces, is the ball behind the chair?", lexicon)
    assert (family, program.op, program.value) == ("own", "own", "behind")
    assert not grammar.readings("As the chair faces, is the ball behind the car?", lexicon)
