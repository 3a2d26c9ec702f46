"""Any spec becomes a Scene that fulfills it, or a failure with a name; always the same one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import StageError, load_stage
from tests.render.compiler.checker import diagnostics
from tests.render.compiler.strategies import NAMES, episodes

STANDARD = settings_for("standard", 320, 240)


def episode(*frames: dict[str, Any], seed: int = 1, name: str = "test/1") -> EpisodeSpec:
    return EpisodeSpec.model_validate({"version": 1, "id": name, "seed": seed, "frames": list(frames)})


@settings(max_examples=150)
@given(episodes)
def test_a_drawn_spec_becomes_a_scene_that_fulfills_it(spec: EpisodeSpec) -> None:
    try:
        scene = compile_episode(spec, STANDARD)
    except CompileError as error:
        event("impossible")
        assert (
            error.broke
            or "contradict" in error.problem
            or "given places" in error.problem
            or "distinct" in error.problem
        )
        return
    event("compiled")
    assert diagnostics(spec, scene) == []


@settings(max_examples=30)
@given(st.integers(0, 2**62), st.integers(1, 10))
def test_clevr_frames_always_succeed(seed: int, count: int) -> None:
    spec = episode({"random_objects": {"count": count}}, seed=seed)
    scene = compile_episode(spec, STANDARD)
    assert len(scene.frames[0].objects) == count
    assert diagnostics(spec, scene) == []


@settings(max_examples=30)
@given(st.integers(0, 2**62), st.permutations(NAMES))
def test_a_total_order_of_six_is_found(seed: int, order: list[str]) -> None:
    spec = episode(
        {
            "objects": [{"name": name} for name in NAMES],
            "constraints": [{"relation": "left", "subject": a, "of": b} for a, b in pairwise(order)],
        },
        seed=seed,
    )
    assert diagnostics(spec, compile_episode(spec, STANDARD)) == []


@settings(max_examples=25)
@given(episodes)
def test_the_same_spec_gives_the_same_bytes(spec: EpisodeSpec) -> None:
    try:
        once = compile_episode(spec, STANDARD)
    except CompileError as error:
        with pytest.raises(CompileError) as again:
            compile_episode(spec, STANDARD)
        assert str(again.value) == str(error)
        return
    compile_episode(episode({"random_objects": {"count": 2}}, seed=spec.seed, name="another"), STANDARD)
    assert compile_episode(spec, STANDARD).to_json() == once.to_json()
    assert Scene.model_validate_json(once.to_json()) == once


def test_a_scene_compiles_to_itself() -> None:
    scene = compile_episode(episode({"random_objects": {"count": 3}}), STANDARD)
    settings = settings_for("draft", 64, 48)
    assert compile_episode(scene, settings) == scene.model_copy(update={"settings": settings})


def test_profile_and_size_move_nothing() -> None:
    spec = episode({"random_objects": {"count": 5}, "passes": ["depth"]}, {"random_objects": {"count": 2}})
    small, large = compile_episode(spec, STANDARD), compile_episode(spec, settings_for("reference", 1280, 960))
    assert small.settings != large.settings
    assert small.frames == large.frames


def test_frames_seeds_and_ids_draw_apart() -> None:
    frame = {"random_objects": {"count": 3}}
    scene = compile_episode(episode(frame, frame), STANDARD)
    other = compile_episode(episode(frame, seed=2), STANDARD)
    third = compile_episode(episode(frame, name="test/2"), STANDARD)
    drawn = [scene.frames[0], scene.frames[1], other.frames[0], third.frames[0]]
    assert len({f.objects[0].location for f in drawn}) == 4
    assert len({f.seed for f in drawn}) == 4
    assert len({f.views[0].camera.location for f in drawn}) == 4
    # What a frame becomes depends on its name, not on the frames before it.
    alone = compile_episode(episode({**frame, "name": "frame-1"}), STANDARD)
    assert alone.frames[0] == scene.frames[1]


def test_giving_one_attribute_leaves_the_others() -> None:
    free = compile_episode(episode({"objects": [{}, {}]}), STANDARD).frames[0].objects[1]
    pinned = compile_episode(episode({"objects": [{}, {"color": "cyan"}]}), STANDARD).frames[0].objects[1]
    assert pinned.color == "cyan"
    assert (pinned.shape, pinned.size, pinned.rotation_deg) == (free.shape, free.size, free.rotation_deg)


def test_numbers_have_six_decimals() -> None:
    data = json.loads(compile_episode(episode({"random_objects": {"count": 4}}), STANDARD).to_json())

    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict):
            return [n for v in value.values() for n in numbers(v)]
        if isinstance(value, list):
            return [n for v in value for n in numbers(v)]
        return [value] if isinstance(value, float) else []

    found = numbers(data["frames"])
    assert len(found) > 50
    assert all(round(n, 6) == n for n in found)


def test_an_impossible_search_ends_and_says_why() -> None:
    spec = episode(
        {
            "name": "tight",
            "objects": [{"name": "a"}, {"name": "b"}],
            "constraints": [{"relation": "left", "subject": "a", "of": "b", "margin": 50}],
        }
    )
    with pytest.raises(CompileError) as caught:
        compile_episode(spec, STANDARD)
    error = caught.value
    assert (error.episode, error.frame) == ("test/1", "tight")
    bound = load_stage("clevr").placement
    # One object is placed freely, the other has no place in any layout.
    assert error.broke["a left of b by 50"] == (bound.restarts + 1) * bound.tries
    assert "a left of b by 50" in str(error)


def test_too_little_room_names_the_distance() -> None:
    spec = episode(
        {
            "objects": [{"size": "large"}] * 3,
            "area": {"x": [-0.6, 0.6], "y": [-0.6, 0.6]},
            "constraints": [{"axis_margin": 0}],
        }
    )
    with pytest.raises(CompileError) as caught:
        compile_episode(spec, STANDARD)
    assert max(caught.value.broke, key=lambda k: caught.value.broke[k]) == "min_distance 0.25"


def test_what_cannot_be_seen_is_named() -> None:
    spec = episode({"objects": [{"name": "a", "size": 0.05}], "constraints": [{"min_visible_pixels": 300}]})
    with pytest.raises(CompileError) as caught:
        compile_episode(spec, STANDARD)
    assert caught.value.broke == {"min_visible_pixels 300 of a": load_stage("clevr").placement.restarts + 1}


def test_an_unknown_stage_is_named() -> None:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "x", "stage": "clever", "frames": [{}]})
    with pytest.raises(StageError, match="did you mean 'clevr'"):
        compile_episode(spec, STANDARD)
