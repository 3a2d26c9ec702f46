"""Sides by an object's own front and from an observer's place: three computations agree, and near-ties have none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.geometry.observer import clear_sides
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.language.vocabulary import OPPOSITE
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import PAIRS, Node, PresuppositionError, parse_program
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor
from diorama.scene_specs.tasks.questions.rules import Judge
from diorama.scene_specs.tasks.questions.view import ImageView
from tests.factories import make_job
from tests.scene_specs.tasks.questions.images import ORIENTED, oriented, view
from tools.claims.third_judge.world import Unclear, World, own_fronts


def test_models_have_fronts_in_images_whose_annotations_name_none() -> None:
    """Where something depends on fronts, the annotation has them; in a plain frame, they follow from the models."""
    plain, told = (
        view({"version": 1, "id": "plain", "seed": 4, "frames": [{"objects": objects, "pointer": {"target": "ball"}}]})
        for objects in (ORIENTED["objects"], [{**ORIENTED["objects"][0], "front_deg": 0}, *ORIENTED["objects"][1:]])
    )
    assert len(told.fronts) == 2
    assert (plain.fronts, plain.viewpoints) == (told.fronts, told.viewpoints)
    judged = own_fronts([item.truth.model_dump(mode="json") for item in plain.objects])
    assert judged == {plain.objects[k].truth.name: pytest.approx(front, abs=1e-5) for k, front in plain.fronts.items()}


def the(color: Any) -> list[Any]:
    return ["unique", ["filter_color", color, ["scene"]]]


def answer(run: Any, program: Node) -> Any:
    try:
        return run(program)
    except PresuppositionError:
        return None


def world_of(view: ImageView) -> World:
    """The image as the third judge has it."""
    annotation = {
        "objects": [item.truth.model_dump(mode="json") for item in view.objects],
        "relations": {},
        "camera": {"rotation": [1, 0, 0, 0]},
        "fronts": {view.objects[k].truth.name: front for k, front in view.fronts.items()},
        "observers": [{"name": view.objects[k].truth.name, "eye": eye} for k, eye in view.eyes.items()],
    }
    return World(annotation, 0.2)


def program_of(view: ImageView, *step: Any) -> Node:
    """A step about objects, by number."""
    return parse_program([one if isinstance(one, str) else the(view.objects[one].truth.color) for one in step])


def together(world: World, pair: int, *three: int) -> bool:
    return world.together(*three)[pair]


def number_faced(world: World, who: int) -> int:
    return len(world.ahead(who))


def agreed(view: ImageView, judge: Callable[[], Any], step: Node) -> Any:
    """The answer of all three; None if all refuse."""
    expected = answer(RelationsExecutor(view).run, step)
    assert answer(PositionsExecutor(view).run, step) == expected
    try:
        assert judge() == expected
    except Unclear:
        assert expected is None
    return expected


@pytest.mark.parametrize("seed", [0, 1])
def test_three_computations_agree_about_every_side_of_everything_for_everybody(seed: int) -> None:
    view = oriented(seed)
    world, found = world_of(view), []
    for side, (one, of, viewer) in product(OPPOSITE, product(range(len(view.objects)), repeat=3)):
        ask = partial(agreed, view, partial(world.sees, side, one, of, viewer))
        expected = ask(program_of(view, "seen", side, one, of, viewer))
        if of == viewer:
            assert ask(program_of(view, "own", side, one, of)) == expected
        if expected is not None:
            mirrored = partial(world.sees, OPPOSITE[side], one, of, viewer)
            assert agreed(view, mirrored, program_of(view, "seen", OPPOSITE[side], one, of, viewer)) is not expected
            found.append((of == viewer, expected))
    assert {*found} == {*product((True, False), repeat=2)}


@pytest.mark.parametrize("seed", [0, 1])
def test_three_computations_agree_about_what_is_on_one_side_and_turning_the_front_by_a_quarter_flips_it(
    seed: int,
) -> None:
    view = oriented(seed)
    turned = replace(view, fronts={k: (-y, x) for k, (x, y) in view.fronts.items()})
    world, found = world_of(view), set()
    for k, (one, other, of) in product((0, 1), product(range(len(view.objects)), repeat=3)):
        step = program_of(view, "own_side", PAIRS[k], one, other, of)
        expected = agreed(view, partial(together, world, k, one, other, of), step)
        # The tables of the annotation are those of the front that was.
        changed = answer(PositionsExecutor(turned).run, step)
        assert changed is (None if expected is None else not expected)
        found.add((of in view.fronts, expected))
    assert found == {(True, True), (True, False), (True, None), (False, None)}


def turned(view: ImageView, one: int, other: int, degrees: float) -> ImageView:
    """The image with one front, that of an object that faces so many degrees beside another one."""
    here, there = (view.objects[k].truth.location for k in (one, other))
    heading = math.atan2(there[1] - here[1], there[0] - here[0]) + math.radians(degrees)
    front = (math.cos(heading), math.sin(heading))
    clear = clear_sides(there, here, front, None, view.threshold)
    return replace(
        view, fronts={one: front}, viewpoints={one: {side: {one: (side in clear) << other} for side in OPPOSITE}}
    )


def test_what_is_faced_is_within_20_degrees_and_what_is_not_is_beyond_45() -> None:
    view = oriented()
    names = [item.truth.name for item in view.objects]
    pair = names.index("chair"), names.index("ball")
    step = program_of(view, "faces", *pair)
    for degrees in range(-178, 180, 4):
        image = turned(view, *pair, degrees)
        found = agreed(image, partial(world_of(image).faces, *pair), step)
        assert found is (True if abs(degrees) <= 20 else None if abs(degrees) < 45 else False)
    for tie, delta in product((-45, -20, 20, 45), (-1e-12, 0, 1e-12)):
        image = turned(view, *pair, tie + delta)
        # What is asked if numbers are rounded in one way has the same answer if they are rounded in another.
        expected = answer(RelationsExecutor(image).run, step)
        assert expected is None or agreed(image, partial(world_of(image).faces, *pair), step) is (abs(tie) == 20)
    assert agreed(view, partial(world_of(view).faces, *pair[::-1]), program_of(view, "faces", *pair[::-1])) is None


@pytest.mark.parametrize("seed", range(3))
def test_what_is_faced_is_each_thing_that_is_faced_if_all_is_clear(seed: int) -> None:
    view = oriented(seed)
    world, found = world_of(view), set()
    for k in view.fronts:
        others = [j for j in range(len(view.objects)) if j != k]
        each = [agreed(view, partial(world.faces, k, j), program_of(view, "faces", k, j)) for j in others]
        number = parse_program(["count", ["faced", the(view.objects[k].truth.color)]])
        expected = agreed(view, partial(number_faced, world, k), number)
        assert expected == (None if None in each else sum(each))
        found.add(expected)
    assert found > {None}


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
    text = "Judging by the way the chair faces, is the ball behind the {}?"
    ((family, program),) = grammar.readings(text.format("chair"), lexicon)
    assert (family, program.op, program.value) == ("own", "own", "behind")
    assert not grammar.readings(text.format("car"), lexicon)
    text = "Judging by the way the chair faces, are the ball and the cube on the same side (front or back) of the {}?"
    ((family, program),) = grammar.readings(text.format("chair"), lexicon)
    assert (family, program.op, program.value) == ("own", "own_side", "front-behind")
    assert not grammar.readings(text.format("car"), lexicon)


def test_nobody_is_asked_about_the_place_of_the_one_who_looks() -> None:
    """Anna is the person: "from the point of view of Anna, is the ball in front of the person" names her twice."""
    view = oriented()
    anna = min(view.eyes)
    person = ["unique", ["filter_shape", "person", ["scene"]]]
    answered = [k for k in range(len(view.objects)) if k != anna]
    for side, k in product(OPPOSITE, answered):
        named = [the(view.objects[one].truth.color) for one in (k, anna)]
        assert Judge(view).answer(parse_program(["seen", side, *named, person])) is None


def test_fronts_are_derived_of_models_on_a_ground_only() -> None:
    """Pictures of a stage without ground have none in common; the third judge knows no front of a person."""
    items = [
        {**ORIENTED["objects"][0], "location": [0, 0]},
        {"name": "Ann", "shape": "person:30/0", "location": [2, 0]},
    ]
    assert len(view({"version": 1, "id": "a", "frames": [{"objects": items}]}).fronts) == 1
    for stage in ("studio", "quadrants"):
        placed = {"location": [0, 0]} if stage == "studio" else {"place": "top_left"}
        items = [{**{key: ORIENTED["objects"][0][key] for key in ("name", "shape", "color", "material")}, **placed}]
        assert not view({"version": 1, "id": "a", "stage": stage, "frames": [{"objects": items}]}).fronts


def test_the_third_judge_derives_fronts_unless_the_annotation_has_none() -> None:
    plain = view({"version": 1, "id": "plain", "seed": 4, "frames": [{"objects": ORIENTED["objects"]}]})
    annotation: Any = {
        "objects": [item.truth.model_dump(mode="json") for item in plain.objects],
        "relations": {},
        "camera": {"rotation": [1, 0, 0, 0]},
    }
    places = [(one, of) for one, of in product(range(5), plain.fronts) if one != of]

    def told(world: World, one: int, of: int) -> bool:
        try:
            return world.sees("left", one, of, of) is not None
        except Unclear:
            return False

    assert any(told(World(annotation, 0.2), *pair) for pair in places)
    assert not any(told(World({**annotation, "fronts": {}}, 0.2), *pair) for pair in places)


def test_a_row_of_somebody_else_may_name_another_frame_or_lack_an_object() -> None:
    scene = diorama.compile_spec(
        {"version": 1, "id": "a", "seed": 4, "frames": [{"objects": ORIENTED["objects"]}]}, "draft", (160, 120)
    )
    record = make_record(diorama.FakeRenderer(), scene, make_job(), scene.settings)
    (image,) = record.images
    annotation = image.annotation.model_copy(update={"objects": image.annotation.objects[1:]})
    lacking, elsewhere = (
        next(store_views([record.model_copy(update={"images": [image.model_copy(update=change)]})]))
        for change in ({"annotation": annotation}, {"frame": "elsewhere"})
    )
    assert len(lacking.fronts) == 1 and len(lacking.objects) == 4
    assert not elsewhere.fronts and len(elsewhere.objects) == 5
