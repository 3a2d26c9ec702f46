"""What is drawn: attributes, cameras, lights; and the generators they are drawn from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.scene_specs.benchmarks.clevr.random_scenes import COGENT
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.language.vocabulary import COLORS
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage

STANDARD = settings_for("standard", 320, 240)
OPEN = [{"axis_margin": 0}, {"min_distance": 0}, {"min_visible_pixels": 0}, {"in_frame": False}]


def frame_of(seed: int = 1, **frame: Any) -> SceneFrame:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "drawing", "seed": seed, "frames": [frame]})
    return compile_episode(spec, STANDARD).frames[0]


@given(st.tuples(*[st.text(max_size=6)] * 3), st.tuples(*[st.text(max_size=6)] * 3))
def test_keys_that_differ_draw_apart(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    def draw(key: tuple[str, str, str]) -> list[float]:
        result: list[float] = Keys(5, key[0], key[1]).generator(key[2]).random(4).tolist()
        return result

    assert draw(one) == draw(one)
    assert (draw(one) == draw(other)) == (one == other)


def test_seeds_of_cycles_have_31_bits() -> None:
    bits = [Keys(seed, "e", "f").bits31("cycles") for seed in range(200)]
    assert len(set(bits)) == 200
    assert max(bits) < 2**31
    assert max(bits) > 2**30


def test_drawn_attributes_are_even() -> None:
    """Chi-square over 600 objects, far beyond the 99.9 % quantile only if a choice is favoured."""
    items = [
        item for seed in range(60) for item in frame_of(seed, random_objects={"count": 10}, constraints=OPEN).objects
    ]
    defaults = load_stage("clevr").defaults
    for values, choices in (
        ([item.shape for item in items], defaults.shapes),
        ([item.color for item in items], defaults.colors),
        ([item.material.name for item in items], defaults.materials),
        ([item.size for item in items], defaults.sizes),
    ):
        counts, expected = Counter(values), len(items) / len(choices)
        assert set(counts) == set(choices)
        assert sum((counts[c] - expected) ** 2 / expected for c in choices) < 24.3
    turns = np.array([item.rotation_deg[2] for item in items])
    assert turns.min() >= 0
    assert turns.max() <= 360
    assert abs(turns.mean() - 180) < 15


def test_free_places_fill_the_area_evenly() -> None:
    """One object alone, nothing else demanded: each ninth of the area gets about a ninth."""
    places = np.array([frame_of(seed, objects=[{}], constraints=OPEN).objects[0].location for seed in range(450)])
    cells = Counter(zip(*np.floor((places[:, :2] + 3) / 2).astype(int).T.tolist(), strict=True))
    assert len(cells) == 9
    assert sum((n - 50) ** 2 / 50 for n in cells.values()) < 26.1


def test_cogent_combinations_hold() -> None:
    pairs = [(shape, color) for shape, colors in COGENT["A"].items() for color in colors]
    drawn = {
        (o.shape, o.color)
        for seed in range(20)
        for o in frame_of(seed, random_objects={"count": 6, "combinations": pairs}).objects
    }
    assert drawn <= set(pairs)
    assert len(drawn) > 12


def test_distinct_counts_the_named_objects_too() -> None:
    only = {"shapes": ["cube"], "colors": ["red"], "materials": ["metal"]}
    named = {"shape": "cube", "color": "red", "material": "metal", "size": "small"}
    frame = frame_of(objects=[named], random_objects={"count": 1, "distinct": True, **only})
    assert frame.objects[1].size == "large"
    with pytest.raises(CompileError, match="distinct"):
        frame_of(objects=[named], random_objects={"count": 2, "distinct": True, **only})


@pytest.mark.parametrize(
    "look", [{"material": {"name": "rubber"}, "size": "large"}, {"material": "rubber", "size": 0.7}]
)
def test_distinct_compares_what_values_stand_for(look: dict[str, Any]) -> None:
    named = {"shape": "cube", "color": "red", **look}
    lists = {"shapes": ["cube"], "colors": ["red"], "materials": ["rubber"], "distinct": True}
    for seed in range(4):
        assert frame_of(seed, objects=[named], random_objects={"count": 1, **lists}).objects[1].size == "small"


def test_objects_that_fill_their_places_do_not_differ_in_size() -> None:
    lists = {"shapes": ["cube"], "colors": ["red", "blue"], "materials": ["rubber"], "distinct": True}
    drawn = {"stage": "quadrants", "version": 1, "id": "drawing"}
    for seed in range(4):
        frame = {"random_objects": {"count": 2, **lists}}
        spec = EpisodeSpec.model_validate({**drawn, "seed": seed, "frames": [frame]})
        first, second = compile_episode(spec, STANDARD).frames[0].objects
        assert first.color != second.color


def test_counts_reach_both_ends() -> None:
    counts = {len(frame_of(seed, random_objects={"count": [1, 3]}).objects) for seed in range(30)}
    assert counts == {1, 2, 3}


def test_colors_are_linear() -> None:
    frame = frame_of(objects=[{"color": "red"}, {"color": [255, 188, 0]}])
    assert frame.objects[0].color_linear == tuple(round(c / 255, 6) for c in COLORS["red"])
    assert frame.objects[1].color is None
    # 188 of 255 is the sRGB byte of half of full light.
    assert frame.objects[1].color_linear == pytest.approx((1.0, 0.5, 0.0), abs=0.005)


def test_materials_with_parameters() -> None:
    frame = frame_of(objects=[{"material": {"name": "emission", "strength": 4}}, {"material": "glass"}])
    assert (frame.objects[0].material.name, frame.objects[0].material.strength) == ("emission", 4.0)
    assert (frame.objects[1].material.name, frame.objects[1].material.strength) == ("glass", 1.0)


def test_cameras_jitter_only_where_nothing_is_given() -> None:
    stage = load_stage("clevr").camera
    drawn = [np.array(frame_of(seed).views[0].camera.location) - stage.location for seed in range(100)]
    assert 0.4 < np.abs(drawn).max() <= stage.jitter
    assert np.array(drawn).std() == pytest.approx(1 / np.sqrt(12), abs=0.04)
    given_place = [1.0, 2.0, 9.0]
    assert frame_of(camera={"location": given_place}).views[0].camera.location == (1.0, 2.0, 9.0)
    assert frame_of(camera={"jitter": 0}).views[0].camera.location == stage.location
    shaken = frame_of(camera={"location": given_place, "jitter": 0.1}).views[0].camera.location
    assert 0 < np.abs(np.array(shaken) - given_place).max() <= 0.1
    lens = frame_of(camera={"lens": 50, "look_at": [0, 0, 1]}).views[0].camera
    assert (lens.lens, lens.look_at, lens.sensor_width) == (50.0, (0.0, 0.0, 1.0), stage.sensor_width)


def test_views_have_their_own_cameras() -> None:
    frame = frame_of(views=[{"name": "one"}, {"name": "two"}, {"name": "top", "location": [0, 0, 12]}])
    assert [view.name for view in frame.views] == ["one", "two", "top"]
    assert frame.views[0].camera != frame.views[1].camera
    assert frame.views[2].camera.location == (0.0, 0.0, 12.0)
    assert [frame.image_name(view) for view in frame.views] == ["frame-0.one", "frame-0.two", "frame-0.top"]


def test_lights_are_the_stage_s_with_changes() -> None:
    stage = load_stage("clevr")
    plain = {light.name: light for light in frame_of().lights}
    assert list(plain) == [light.name for light in stage.lights]
    for light in stage.lights:
        moved = np.abs(np.array(plain[light.name].location) - light.location)
        assert (moved.max() > 0) == (light.jitter > 0)
        assert moved.max() <= light.jitter
        assert plain[light.name].energy == light.energy
    changed = {
        light.name: light
        for light in frame_of(
            lights=[{"name": "key", "energy": 5, "location": [1, 1, 1]}, {"name": "fill", "jitter": 0}]
        ).lights
    }
    assert (changed["key"].energy, changed["key"].location) == (5.0, (1.0, 1.0, 1.0))
    assert changed["fill"].location == stage.lights[1].location
    assert changed["back"] == plain["back"]


def test_named_places_are_drawn_as_ever() -> None:
    """The generator's seed covers the word "places"; another word would change existing images."""
    left, right, low, high = -1.0, 1.0, -1.0, 1.0
    expected = {
        1: [(right, 0.0, high), (right, 0.0, low), (left, 0.0, high)],
        2: [(left, 0.0, low), (left, 0.0, high), (right, 0.0, low)],
        3: [(right, 0.0, low), (left, 0.0, low), (right, 0.0, high)],
    }
    for seed, places in expected.items():
        frame = {"objects": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}
        data = {"version": 1, "id": "places", "seed": seed, "stage": "quadrants", "frames": [frame]}
        scene = compile_episode(EpisodeSpec.model_validate(data), settings_for("draft", 64, 48))
        assert [item.location for item in scene.frames[0].objects] == places
