from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from diorama.scene_specs.tasks.questions.captions import scene_graph
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import PresuppositionError, parse_program
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor
from diorama.scene_specs.tasks.questions.rules import Judge, gives_away, reads_well, shortened
from diorama.scene_specs.tasks.questions.view import RECOGNIZABLE, falling
from tests.scene_specs.tasks.questions.images import stacked, touching, view

SCENE = ["scene"]


def thing(*filters: Any) -> list[Any]:
    """The unique object with these filters of color or shape."""
    inner: list[Any] = SCENE
    for name, value in filters:
        inner = [f"filter_{name}", value, inner]
    return ["unique", inner]


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (["count", ["filter_color", "red", SCENE]], 2),
        (["query_shape", thing(("color", "blue"))], "sphere"),
        (["query_shape", thing(("color", "red"))], None),  # Two are red.
        (["query_shape", thing(("color", "blue"), ("material", "metal"))], None),  # It needs no material.
        (["exist", ["filter_color", "purple", SCENE]], False),
        (["exist", SCENE], None),
        (["count", ["relate", "on", thing(("shape", "cylinder"))]], 1),
        (["exist", ["filter_color", "red", ["relate", "right", thing(("shape", "cylinder"))]]], True),
        (["query_color", ["unique", ["filter_category", "car", SCENE]]], "yellow"),
        (
            ["equal_color", ["query_color", thing(("color", "blue"))], ["query_color", thing(("shape", "cylinder"))]],
            None,
        ),
        (["larger", thing(("shape", "cylinder")), thing(("color", "gray"))], True),
        (["larger", thing(("shape", "cylinder")), thing(("shape", "cylinder"))], None),
        # None of them, and no image in which other things are cars and chairs, has two of one kind.
        (["exactly", 2, ["filter_category", "car", SCENE]], None),
        (["exactly", 2, ["filter_shape", "sphere", SCENE]], True),
        (["greater_than", ["count", SCENE], ["count", ["filter_color", "red", SCENE]]], None),  # Always.
        (["all", ["filter_color", "red", SCENE], ["filter_shape", "cube", SCENE]], True),
        (["all", ["filter_color", "blue", SCENE], ["filter_shape", "cube", SCENE]], None),  # Only one is blue.
        (["query_color", ["extreme", "largest", SCENE]], None),  # Several are large.
        (["count", ["filter_color", "blue", ["relate", "left", thing(("color", "blue"))]]], None),  # Always none.
        (["count", ["relate", "left", ["extreme", "leftmost", SCENE]]], None),
        (["count", ["relate", "right", ["extreme", "leftmost", SCENE]]], None),  # All others are.
        (["count", ["difference", ["filter_shape", "cube", SCENE], ["filter_color", "blue", SCENE]]], None),  # None is.
        (["not", ["exist", SCENE]], None),
        (["none", ["filter_shape", "sphere", SCENE], ["relate", "right", thing(("color", "gray"))]], None),
        (
            ["exist", ["intersect", *(["relate", side, thing(("shape", "cylinder"))] for side in ("left", "right"))]],
            None,
        ),
        (
            ["all", ["filter_shape", "cube", SCENE], ["relate", "right", thing(("size", "small"), ("shape", "cube"))]],
            None,
        ),
        # The blue one is a thing, and can't be left of itself.
        (["most", SCENE, ["relate", "left", thing(("color", "blue"))]], None),
        (["all", ["filter_shape", "sphere", SCENE], ["relate", "right", thing(("color", "gray"))]], None),
        (["all", ["filter_shape", "sphere", SCENE], ["relate", "right", thing(("color", "green"))]], True),
    ],
)
def test_answers_of_questions_that_may_be_asked(data: Any, answer: Any) -> None:
    assert Judge(stacked(), 20).answer(parse_program(data)) == answer


@pytest.mark.parametrize(
    "data",
    [
        ["query_color", thing(("color", "red"))],
        ["count", ["same_color", thing(("color", "blue"))]],
        ["query_color", ["unique", ["same_color", thing(("shape", "cylinder"))]]],
        ["count", ["filter_color", "red", ["filter_color", "red", SCENE]]],
        ["all", ["filter_color", "red", SCENE], ["filter_color", "blue", SCENE]],
        ["larger", thing(("size", "large")), thing(("shape", "cylinder"))],
        ["query_size", ["extreme", "leftmost", ["filter_size", "large", SCENE]]],
        ["query_size", ["extreme", "smallest", ["filter_color", "red", SCENE]]],
        ["count", ["union", ["filter_color", "red", SCENE], ["filter_color", "red", ["filter_shape", "cube", SCENE]]]],
    ],
)
def test_questions_that_give_the_answer_away(data: Any) -> None:
    assert gives_away(parse_program(data))


@pytest.mark.parametrize(
    ("data", "well"),
    [
        (["count", ["relate", "left", thing(("color", "blue"))]], True),
        # "The cylinder" twice, and cylinders beside it.
        (["larger", thing(("shape", "cylinder")), ["unique", ["relate", "left", thing(("shape", "cylinder"))]]], False),
        (["equal_integer", *(["count", part] for part in (["filter_shape", "cylinder", SCENE],
                                                          ["relate", "left", thing(("shape", "cylinder"))]))], False),
        # Other cylinders than the blue thing, or than the cylinder.
        (["count", ["filter_shape", "cylinder", ["same_color", thing(("color", "blue"))]]], False),
        (["count", ["filter_shape", "cylinder", ["same_color", thing(("shape", "cylinder"))]]], True),
        (["less_than", ["count", ["same_color", thing(("shape", "cylinder"))]], ["count", SCENE]], False),
        (["count", ["relate", "left", ["unique", ["same_color", thing(("shape", "cylinder"))]]]], False),
    ],
)  # fmt: skip
def test_what_reads_well(data: Any, well: bool) -> None:
    assert reads_well(parse_program(data)) == well


def test_each_step_is_left_out_once() -> None:
    program = parse_program(["count", ["filter_color", "red", ["relate", "left", thing(("shape", "cube"))]]])
    texts = {str(one) for one in shortened(program)}
    assert len(texts) == 3
    assert all(one.output == "integer" for one in shortened(program))


def test_doubtful_objects_change_no_answer() -> None:
    view = stacked()
    gray = next(k for k, item in enumerate(view.objects) if item.values["color"] == "gray")
    items = list(view.objects)
    truth = items[gray].truth.model_copy(update={"visible_pixels": 5})
    items[gray] = dataclasses.replace(items[gray], truth=truth)
    hidden = dataclasses.replace(view, objects=tuple(items))
    spheres = parse_program(["count", ["filter_shape", "sphere", SCENE]])
    cubes = parse_program(["count", ["filter_shape", "cube", SCENE]])
    assert (Judge(view, 20).answer(spheres), Judge(hidden, 20).answer(spheres)) == (2, None)
    assert Judge(hidden, 20).answer(cubes) == 2
    assert Judge(hidden, 5).answer(spheres) == 2


def test_many_doubtful_objects_are_not_combined() -> None:
    # 2^40 images.
    cube = {"shape": "cube", "size": 0.1, "color": "red", "material": "matte"}
    objects = [{**cube, "location": [k % 8 * 0.5 - 1.75, k // 8 * 0.5 - 1]} for k in range(40)]
    seen = view({"version": 1, "id": "small", "frames": [{"objects": objects}]})
    assert Judge(seen, 1000).crowded
    assert Judge(seen, 1000).answer(parse_program(["count", SCENE])) is None


@pytest.mark.parametrize(
    ("shape", "place", "known"),
    [("shapenet:cars/#1", [0.4, -1], False), ("shapenet:cars/#1", [2.5, -2.5], True), ("sphere", [0.4, -1], True)],
)
def test_the_kind_of_a_model_is_clear_if_enough_of_it_is_visible(shape: str, place: list[float], known: bool) -> None:
    cube = {"shape": "cube", "color": "red", "material": "rubber", "size": "large"}
    half_hidden = {**cube, "shape": shape, "color": "yellow", "size": 0.6, "location": [-1, -1]}
    objects = [half_hidden, {**cube, "location": place}, {**cube, "location": [-2, 2.5]}]
    seen = view({"version": 1, "id": "kinds", "frames": [{"objects": objects}]})
    assert (seen.objects[0].truth.visible_fraction < RECOGNIZABLE) == (place[0] < 2)
    attribute, kind = ("shape", "sphere") if shape == "sphere" else ("category", "car")
    asked: Any = {
        2: ["count", ["filter_shape", "cube", SCENE]],
        kind: [f"query_{attribute}", thing(("color", "yellow"))],
        "yellow": ["query_color", thing((attribute, kind))],
    }
    for answer, data in asked.items():
        assert Judge(seen, 20).answer(parse_program(data)) == (answer if known else None)
        if known:
            assert PositionsExecutor(seen).run(parse_program(data)) == answer
        else:
            with pytest.raises(PresuppositionError):
                PositionsExecutor(seen).run(parse_program(data))
    assert Judge(seen, 20).answer(parse_program(["count", ["filter_color", "red", SCENE]])) == 2
    assert scene_graph(seen, 0)["objects"][0][attribute] == kind


@pytest.mark.parametrize("op", ["larger", "smaller", "largest", "smallest"])
def test_polygons_have_no_size_to_compare(op: str) -> None:
    prism = {"polygon": [[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]], "height": 0.4}
    common = {"color": "red", "material": "rubber"}
    objects = [{**common, "shape": prism}, {**common, "shape": "cube", "size": "large"}]
    seen = view({"version": 1, "id": "prism", "frames": [{"objects": objects}]})
    both = thing(("shape", "polygon")), thing(("shape", "cube"))
    program = parse_program(["extreme", op, SCENE] if op.endswith("est") else [op, *both])
    for executor in (RelationsExecutor(seen), PositionsExecutor(seen)):
        with pytest.raises(PresuppositionError):
            executor.run(program)


def test_objects_that_the_border_cuts_are_neither_fully_visible_nor_of_a_clear_kind() -> None:
    cube = {"shape": "cube", "color": "red", "material": "rubber", "size": "large", "location": [-2.9, -2.9]}
    cut = [cube, {"shape": "shapenet:cars/#1", "size": 1, "location": [3, -2.5]}]
    frame = {"objects": cut, "constraints": [{"in_frame": False}]}
    seen = view({"version": 1, "id": "cut", "frames": [frame]})
    assert [(item.truth.truncated, item.truth.visible_fraction) for item in seen.objects] == [(True, 1.0)] * 2
    for data in (["count", ["filter_visibility", "full", SCENE]], ["count", ["filter_category", "car", SCENE]]):
        for executor in (RelationsExecutor(seen), PositionsExecutor(seen)):
            with pytest.raises(PresuppositionError):
                executor.run(parse_program(data))


def colored(color: str) -> list[Any]:
    return thing(("color", color))


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (["count", ["falls", colored("red")]], None),  # The can may fall behind the plank, and hold it up.
        (["count", ["falls", colored("blue")]], 1),
        (["count", ["falls", colored("green")]], 0),
        (["count", ["falls", colored("brown")]], None),  # Nobody knows whether what is in a bowl would fall.
        (["query_color", ["unique", ["falls", colored("blue")]]], "green"),
        (["count", ["relate", "in", colored("brown")]], 1),
        (["count", ["relate", "leaning", colored("red")]], 1),
        (["count", ["relate", "leaning", colored("blue")]], 0),
        (["query_color", ["unique", ["relate", "on", colored("blue")]]], "green"),
    ],
)
def test_both_executors_know_what_carries_what(data: Any, answer: Any) -> None:
    program = parse_program(data)
    for executor in (RelationsExecutor, PositionsExecutor):
        if answer is None:
            with pytest.raises(PresuppositionError):
                executor(touching()).run(program)
        else:
            assert executor(touching()).run(program) == answer


def test_what_stands_beside_is_not_what_a_plank_leans_on() -> None:
    plank = {"polygon": [[-0.05, -0.2], [0.05, -0.2], [0.05, 0.2], [-0.05, 0.2]], "height": 0.936}
    objects: list[dict[str, Any]] = [
        {"name": "cube", "shape": "cube", "color": "red", "material": "rubber", "size": "large"},
        {"name": "plank", "shape": plank, "color": "purple", "material": "rubber"},
        {"name": "can", "shape": "cylinder", "color": "blue", "material": "rubber", "size": "small"},
    ]
    objects[0] |= {"location": [-1.126586, -0.701433], "rotation_deg": 240.770669}
    stated = [
        {"relation": "leaning", "subject": "plank", "of": "cube"},
        {"relation": "touching", "subject": "can", "of": "cube"},
    ]
    frame = {"objects": objects, "constraints": stated}
    # With this seed, the can is nearer to the plank's middle than the cube, and its box meets the plank's.
    seen = view({"version": 1, "id": "beside", "seed": 184, "frames": [frame]})
    for executor in (RelationsExecutor(seen), PositionsExecutor(seen)):
        assert (
            executor.run(parse_program(["query_color", ["unique", ["relate", "leaning", colored("red")]]])) == "purple"
        )


@pytest.mark.parametrize("op", [["falls"], ["relate", "in"], ["relate", "leaning"]])
def test_what_was_not_measured_has_no_answer(op: list[str]) -> None:
    program = parse_program(["count", [*op, colored("blue")]])
    for executor in (RelationsExecutor, PositionsExecutor):
        with pytest.raises(PresuppositionError):
            executor(stacked()).run(program)


def test_falling_needs_every_step() -> None:
    names = ("a", "b", "c", "d")
    empty: dict[str, list[str]] = {name: [] for name in names}
    chain = {"on": {**empty, "a": ["b"], "b": ["c"]}, "in": empty, "leaning": {**empty, "c": ["d"]}}
    assert falling(chain) == {"a": {"b", "c", "d"}, "b": {"c", "d"}, "c": {"d"}, "d": set()}
