"""Which renders make up a frame, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.geometry.sampling_plan import Box, Part, has_rectangles, merged, rectangles, samples_of, whole_frame
from diorama.scene_specs.model.profiles import profiles, settings_for
from diorama.scene_specs.model.spec import EpisodeSpec

SETTINGS = settings_for("draft", 320, 240).model_copy(update={"samples": 8, "object_samples": 24})
WHOLE = Part(8, 7)


def ids_of(*boxes: tuple[int, int, int, int]) -> NDArray[np.uint16]:
    """Boxes of objects (top, bottom, left, right) in an image of 320 x 240."""
    ids = np.zeros((240, 320), np.uint16)
    for index, box in enumerate(boxes, start=1):
        ids[Box(*box).slices] = index
    return ids


def boxes_of(*boxes: tuple[int, int, int, int]) -> list[Box | None]:
    return [part.box for part in rectangles(SETTINGS, WHOLE, ids_of(*boxes))]


@pytest.mark.parametrize("name", profiles())
def test_a_profile_without_object_samples_renders_each_frame_once(name: str) -> None:
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube", "material": "glass"}]}]}
    scene = compile_episode(EpisodeSpec.model_validate(spec), settings_for(name, 64, 48))
    frame = scene.frames[0]
    samples = samples_of(scene.settings, frame, frame.views[0])
    assert whole_frame(scene.settings, frame, frame.views[0]) == Part(samples, frame.seed, None)
    if not scene.settings.object_samples:
        assert not has_rectangles(scene.settings, frame)
        assert "object_samples" not in scene.settings.model_dump_json()


@pytest.mark.parametrize(("antialias", "samples"), [(False, 1), (True, 16)])
def test_flat_stages_are_rendered_once(antialias: bool, samples: int) -> None:
    frame = {"objects": [{"shape": "circle", "color": "red", "size": 10, "location": [30, 20]}], "antialias": antialias}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "stage": "flat", "canvas": [64, 48], "frames": [frame]})
    made = compile_episode(spec, SETTINGS.model_copy(update={"width": 64, "height": 48})).frames[0]
    assert whole_frame(SETTINGS, made, made.views[0]) == Part(samples, made.seed)
    assert not has_rectangles(SETTINGS, made)


def test_an_object_gets_its_box_and_a_margin_cut_at_the_image() -> None:
    assert boxes_of((100, 140, 50, 90)) == [Box(94, 146, 44, 96)]
    assert boxes_of((0, 40, 300, 320)) == [Box(0, 46, 294, 320)]
    assert boxes_of() == []


def test_near_objects_share_a_rectangle_and_far_ones_do_not() -> None:
    assert boxes_of((100, 140, 50, 90), (100, 140, 92, 130)) == [Box(94, 146, 44, 136)]
    assert sorted(boxes_of((10, 50, 10, 50), (190, 230, 270, 310)), key=str) == [
        Box(184, 236, 264, 316),
        Box(4, 56, 4, 56),
    ]


def test_rectangles_have_other_noise_and_more_samples_where_the_frame_has_more() -> None:
    (part,) = rectangles(SETTINGS, Part(4, 7), ids_of((100, 140, 50, 90)))
    assert part.samples == 8 + 24, "without glass"
    (part,) = rectangles(SETTINGS, Part(40, 7), ids_of((100, 140, 50, 90)))
    assert part.samples == 5 * 24 and part.seed not in (7, 7 ^ 1)
    parts = rectangles(SETTINGS, WHOLE, ids_of((10, 50, 10, 50), (190, 230, 270, 310)))
    seeds = [seed ^ bit for seed in (WHOLE.seed, *(part.seed for part in parts)) for bit in (0, 1)]
    assert len({*seeds}) == 6


def test_rectangles_never_take_more_samples_than_the_whole_frame() -> None:
    for side in (40, 120, 228):
        ids = ids_of((6, 6 + side, 6, 6 + side))
        for whole, most in ((WHOLE, 24), (Part(4, 7), 32)):
            (part,) = rectangles(SETTINGS, whole, ids)
            assert part.samples == min(most, 8 * 240 * 320 // (side + 12) ** 2)


def test_parts_are_weighed_by_their_samples_also_where_they_overlap_and_fade_toward_their_edges() -> None:
    value = np.float32(0.1)
    whole = {"color": np.full((40, 61, 3), value)}
    first, second = Box(0, 20, 0, 30), Box(13, 40, 23, 60)
    parts = [(WHOLE, whole)]
    for number, box in ((2, first), (5, second)):
        size = (box.bottom - box.top, box.right - box.left, 3)
        parts.append((Part(24, 9, box), {"color": np.full(size, number, np.float32)}))
    color = merged(parts)["color"][..., 0]
    # Bit for bit, by which a plain background is recognized.
    assert color.dtype == np.float32 and (color[0, 30:] == value).all() and (color[:, 60] == value).all()
    for place in ((0, 0), (5, 20)):
        assert color[place] == pytest.approx((8 * value + 24 * 2) / 32), "at the image's edges and inside"
    assert color[39, 40] == pytest.approx((8 * value + 24 * 5) / 32)
    edge, inside = 24 / 7**2, 24 * (4 / 7) ** 4
    assert color[19, 0] == pytest.approx((8 * value + edge * 2) / (8 + edge))
    assert color[30, 59] == pytest.approx((8 * value + edge * 5) / (8 + edge))
    assert color[16, 26] == pytest.approx((8 * value + inside * 2 + inside * 5) / (8 + 2 * inside))
    same = {"color": np.full((20, 30, 3), value)}
    assert (merged([(WHOLE, whole), (Part(24, 9, first), same)])["color"] == value).all()
