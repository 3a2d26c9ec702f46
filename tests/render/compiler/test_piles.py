"""Objects that touch: what the compiler builds, what it refuses, and what the annotation measures."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.contact import body_of, contact_relations, depth_in, floor_of, gap
from diorama.render.uses.rerender.verification import AssetCheck
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.vocabulary import SHAPES, SUPPORT_MARGIN
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.spec import EpisodeSpec

FREE: list[dict[str, Any]] = [{"min_visible_pixels": 0}, {"axis_margin": 0.1}, {"in_frame": False}]
CLOSE = [FREE[0], {"axis_margin": 0.0}, {"min_distance": 0.02}, FREE[2]]
PLANK = {"polygon": [[-0.05, -0.2], [0.05, -0.2], [0.05, 0.2], [-0.05, 0.2]], "height": 1.1}


def spec_of(
    objects: dict[str, dict[str, Any]], *relations: str, seed: int = 0, free: Sequence[dict[str, Any]] = FREE
) -> EpisodeSpec:
    """A spec of named objects, and relations such as "a on b"."""
    stated: list[dict[str, Any]] = []
    for text in relations:
        subject, relation, of, *other = text.split()
        stated.append({"relation": relation, "subject": subject, "of": of} | ({"other": other[0]} if other else {}))
    listed = [{"name": name, **item} for name, item in objects.items()]
    frame = {"objects": listed, "constraints": [*stated, *free]}
    return EpisodeSpec.model_validate({"version": 1, "id": "piles", "seed": seed, "frames": [frame]})


def frame_of(*arguments: Any, **options: Any) -> SceneFrame:
    return compile_episode(spec_of(*arguments, **options), settings_for("draft", 64, 48)).frames[0]


CUBE, SMALL, BALL = ({"shape": s, "size": z} for s, z in (("cube", 0.7), ("cylinder", 0.35), ("sphere", 0.25)))


@pytest.mark.parametrize("seed", range(3))
def test_a_tower_stands_and_is_measured(seed: int) -> None:
    frame = frame_of({"a": CUBE, "b": SMALL, "c": BALL}, "b on a", "c on b", seed=seed)
    a, b, c = (body_of(item) for item in frame.objects)
    assert b.low == pytest.approx(a.high, abs=1e-5) and c.low == pytest.approx(b.high, abs=1e-5)
    assert a.top is not None and depth_in(a.top, b.center[:2]) >= SUPPORT_MARGIN - 1e-5
    table = contact_relations(frame.objects)
    assert table["on"] == {"a": ["b"], "b": ["c"], "c": []}
    assert table["under"] == {"a": [], "b": ["a"], "c": ["a", "b"]}
    assert table["touching"] == {"a": ["b"], "b": ["a", "c"], "c": ["b"]}


@pytest.mark.parametrize("shape", ["bowl", "box", "shelf"])
def test_a_sphere_is_inside(shape: str) -> None:
    frame = frame_of({"holder": {"shape": shape, "size": 1.0}, "ball": BALL}, "ball in holder")
    holder, ball = (body_of(item) for item in frame.objects)
    space = floor_of(ball, holder)
    assert space is not None and ball.low == pytest.approx(space.floor, abs=1e-5)
    assert holder.low < ball.low and ball.center[2] < holder.high, "not on a lid"
    assert contact_relations(frame.objects)["in"] == {"holder": ["ball"], "ball": []}


def test_planks_lean_and_neighbors_touch() -> None:
    objects = {"wall": CUBE, "plank": {"shape": PLANK, "color": "red"}, "side": SMALL}
    frame = frame_of(objects, "plank leaning wall", "side touching wall")
    table = contact_relations(frame.objects)
    assert table["leaning"]["wall"] == ["plank"] and table["touching"]["wall"] == ["plank", "side"]
    assert body_of(frame.objects[1]).low == pytest.approx(0, abs=1e-5)


def test_distances_hold() -> None:
    objects = dict.fromkeys("abcd", SMALL)
    table = contact_relations(frame_of(objects, "a near b", "a far c", "d between a c").objects)
    assert "a" in table["near"]["b"] and "a" in table["far"]["c"] and "d" in table["between"]["a | c"]


def test_what_is_stated_comes_without_z() -> None:
    objects = {"a": {**CUBE, "location": [0.0, 0.0]}, "b": {**SMALL, "location": [0.1, 0.2]}}
    assert frame_of(objects, "b on a").objects[1].location == pytest.approx((0.1, 0.2, 1.75), abs=1e-5)


@pytest.mark.parametrize(
    ("objects", "relation", "problem"),
    [
        ({"a": BALL, "b": SMALL}, "b on a", "a has no flat, convex face at its top"),
        ({"a": {"shape": "bowl", "size": 1.0}, "b": SMALL}, "b on a", "no flat, convex face"),
        ({"a": CUBE, "b": BALL}, "b in a", "a has no space inside"),
        ({"a": {"shape": "bowl", "size": 0.3}, "b": CUBE}, "b in a", "no stable pile of a, b"),
        ({"a": CUBE, "b": CUBE}, "b leaning a", "b is too wide to lean"),
        ({"a": BALL, "b": {"shape": PLANK}}, "b leaning a", "a has no flat, vertical face"),
        ({"a": CUBE, "b": CUBE, "c": SMALL}, "b touching a, c touching a, b touching c", "no place is left where they"),
    ],
)
def test_impossible_piles_are_refused_by_name(objects: dict[str, Any], relation: str, problem: str) -> None:
    with pytest.raises(CompileError, match=problem):
        frame_of(objects, *relation.split(", "))
    # `render-specs check` knows it, unless it takes a search.
    diagnostics = [*AssetCheck([])(spec_of(objects, *relation.split(", ")))]
    if "no stable pile" in problem:
        assert not diagnostics
    else:
        assert re.search(problem, diagnostics[0].problem)


@pytest.mark.slow
def test_check_agrees_with_the_compiler_about_contacts() -> None:
    shapes = [*SHAPES, "bowl", "box", "shelf", PLANK]
    draw, refused = random.Random(5), 0
    for seed in range(30):
        objects = {name: {"shape": draw.choice(shapes), "size": draw.choice([0.3, 0.6, 1.0])} for name in "abc"}
        if seed % 5 == 0:
            objects = {name: {**item, "location": [k, k]} for k, (name, item) in enumerate(objects.items())}
        relations = [f"{name} {draw.choice(['on', 'in', 'leaning'])} {other}" for name, other in ("ba", "cb")]
        spec = spec_of(objects, *relations)
        if diagnostics_with_plugins(spec):
            continue
        diagnostics, error = [*AssetCheck([])(spec)], None
        try:
            compile_episode(spec, settings_for("draft", 64, 48))
        except CompileError as caught:
            error = caught
        assert bool(diagnostics) <= (error is not None), (objects, relations, diagnostics)
        # What a search refuses says what refused it.
        assert diagnostics or error is None or error.broke, (objects, relations, error)
        refused += bool(diagnostics)
    assert refused > 10


def test_a_support_with_few_flat_sides_is_leaned_on() -> None:
    wedge = {"shape": {"polygon": [[-0.5, -0.5], [0.5, -0.5], [0.3, 0.5], [-0.3, 0.5]], "height": 1.0}, "size": 1.0}
    for seed in range(4):
        frame_of({"a": wedge, "b": {"shape": PLANK, "size": 1.0}}, "b leaning a", seed=seed)


def problems(*arguments: Any) -> str:
    return "\n".join(found.problem for found in diagnostics_with_plugins(spec_of(*arguments)))


def test_cycles_second_supports_and_what_would_float_are_errors_of_the_spec() -> None:
    assert "b on a on b" in problems({"a": CUBE, "b": CUBE}, "a on b", "b on a")
    assert "c has two supports, a and b" in problems({"a": CUBE, "b": CUBE, "c": CUBE}, "c on a", "c on b")
    assert "a carries b, so c would float" in problems({"a": CUBE, "b": SMALL, "c": SMALL}, "b on a", "c touching b")
    assert "a carries b, so c would float" in problems({"a": CUBE, "b": SMALL, "c": SMALL}, "a under b", "b touching c")
    assert "a carries b, so c would float" in problems(
        {"a": CUBE, "b": CUBE, "c": {"shape": PLANK}}, "b on a", "c leaning b"
    )
    assert "between has other" in problems({"a": CUBE, "b": CUBE}, "a between b")
    assert not problems({"a": CUBE, "b": CUBE}, "a on b", "a touching b")


def test_a_frame_without_contact_has_no_new_fields() -> None:
    frame = frame_of({"a": CUBE, "b": CUBE})
    assert "contacts" not in frame.model_dump() and "other" not in spec_of({"a": CUBE}).model_dump_json()


def test_an_open_mesh_carries_nothing() -> None:
    objects = {"a": {"shape": "square", "size": 1.0, "color": "red"}, "b": SMALL}
    with pytest.raises(CompileError, match="a: its mesh is open, so it has no center of mass"):
        frame_of(objects, "b on a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objects", "relations"),
    [
        ({f"o{k}": CUBE for k in range(100)}, [f"o{k} on o{k + 1}" for k in range(99)]),
        ({"a": {"shape": "box", "size": 0.8}} | {f"o{k}": BALL for k in range(99)}, [f"o{k} in a" for k in range(99)]),
        ({"a": SMALL} | {f"o{k}": CUBE for k in range(99)}, [f"o{k} on a" for k in range(99)]),
    ],
)
def test_impossible_piles_of_100_objects_are_refused_soon(objects: dict[str, Any], relations: list[str]) -> None:
    start = time.process_time()
    with pytest.raises(CompileError):
        frame_of(objects, *relations)
    assert time.process_time() - start < 60


def test_a_cycle_of_100_objects_is_refused_soon() -> None:
    start = time.process_time()
    assert "contradictory relations" in problems(
        {f"o{k}": CUBE for k in range(100)}, *(f"o{k} on o{(k + 1) % 100}" for k in range(100))
    )
    assert time.process_time() - start < 5


@pytest.mark.parametrize("seed", range(2, 6))
def test_cubes_beside_a_pile_reach_into_nothing(seed: int) -> None:
    """The discs of CLEVR's cubes end before their corners."""
    cubes = {f"cube-{k}": {"shape": "cube", "size": "large"} for k in range(7)}
    frame = frame_of({"a": CUBE, "b": SMALL} | cubes, "b on a", seed=seed, free=CLOSE)
    first, _, *others = (body_of(item) for item in frame.objects)
    assert min(gap(one.outline, other.outline) for one, other in combinations([first, *others], 2)) >= 0.02
