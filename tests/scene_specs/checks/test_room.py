"""Whatever the checks of room report fails in the compiler, too; what barely fits passes both."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec


def spec_of(frame: dict[str, Any], stage: str = "clevr") -> EpisodeSpec:
    return EpisodeSpec.model_validate({"version": 1, "id": "r/0", "stage": stage, "frames": [frame]})


def pair(x: float, y: float, **fields: Any) -> dict[str, Any]:
    """Two small objects on the ground, b at the origin and a at [x, y]."""
    a, b = {"name": "a", "size": 0.2, "location": [x, y]}, {"name": "b", "size": 0.2, "location": [0, 0]}
    return {"objects": [a, b], **fields}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["left", "right", "front", "behind"]), st.floats(0, math.tau),
    st.sampled_from([None, {"yaw_deg": 40}, {"location": [-3, 8, 4]}, {"elevation_deg": 50}, {"jitter": 0}]),
)  # fmt: skip
def test_relations_of_specified_locations(relation: str, turn: float, camera: dict[str, Any] | None) -> None:
    constraint = {"relation": relation, "subject": "a", "of": "b"}
    extra = {"constraints": [constraint]} | ({"camera": camera} if camera else {})
    spec = spec_of(pair(2 * math.cos(turn), 2 * math.sin(turn), **extra))
    refused = bool(diagnostics_with_plugins(spec))
    try:
        compile_episode(spec, settings_for("draft", 64, 48))
        broken = False
    except CompileError as error:
        broken = "break constraints" in str(error)
    assert broken or not refused
    if camera in ({"yaw_deg": 40}, {"location": [-3, 8, 4]}, {"jitter": 0}):
        # Without jitter, the angle is known.
        assert broken == refused


def two(**constraint: Any) -> dict[str, Any]:
    return {"objects": [{}, {}], "constraints": [constraint]}


FRAMES = {
    "distance": (two(min_distance=9), two(min_distance=1)),
    "margin": (two(axis_margin=9), two(axis_margin=0.5)),
    "crowd": ({"random_objects": {"count": [30, 40]}}, {"random_objects": {"count": 10}}),
    "sizes": ({"objects": [{"size": 5}, {"size": 5}]}, {"objects": [{"size": 0.9}, {"size": 0.9}]}),
    "pixels": (two(min_visible_pixels=40000), two(min_visible_pixels=300)),
    "near": (pair(1, 0, constraints=[{"min_distance": 0.7}]), pair(1, 0, constraints=[{"min_distance": 0.3}])),
    "row": (pair(1, 0, constraints=[{"axis_margin": 0.8}]), pair(1, 0, constraints=[{"axis_margin": 0.5}])),
}


@pytest.mark.parametrize("name", FRAMES)
def test_what_no_layout_can_satisfy(name: str) -> None:
    wrong, right = map(spec_of, FRAMES[name])
    assert diagnostics_with_plugins(wrong)
    with pytest.raises(CompileError):
        compile_episode(wrong, settings_for("draft", 64, 48))
    assert not diagnostics_with_plugins(right)
    compile_episode(right, settings_for("draft", 64, 48))


@pytest.mark.parametrize(
    "spec",
    [
        spec_of(
            {
                "objects": [
                    {"shape": "sphere", "size": 1.5, "location": [0.82, 1.88]},
                    {"shape": "sphere", "size": 0.35, "location": [2.03, 1.05]},
                ],
                "constraints": [{"axis_margin": 0.05}],
            }
        ),
        spec_of(
            {
                "objects": [
                    {"name": "a", "shape": "square", "location": [40, 60]},
                    {"name": "b", "shape": "square", "location": [90, 60]},
                ],
                "camera": {"yaw_deg": 180},
                "constraints": [{"relation": "left", "subject": "a", "of": "b"}],
            },
            "flat",
        ),
    ],
)
def test_a_constraint_is_held_to_what_it_states(spec: EpisodeSpec) -> None:
    assert not diagnostics_with_plugins(spec)
    compile_episode(spec, settings_for("draft", 64, 48))


def test_the_jitter_of_a_camera_blurs_the_directions() -> None:
    """The less a camera may turn, the more angles are certain to contradict a relation."""
    relation = {"relation": "left", "subject": "a", "of": "b"}

    def refused(camera: dict[str, Any]) -> int:
        turns = [math.radians(degrees) for degrees in range(360)]
        frames = [pair(2 * math.cos(t), 2 * math.sin(t), constraints=[relation], camera=camera) for t in turns]
        return sum(bool(diagnostics_with_plugins(spec_of(frame))) for frame in frames)

    assert refused({"jitter": 0}) > refused({}) > refused({"jitter": 2}) > refused({"jitter": 50}) == 0
