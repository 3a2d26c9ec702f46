"""Overlays show the truth where it is."""

from __future__ import annotations

import numpy as np

import diorama
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.draw.overlay import color_of, overlay


def test_boxes_lie_on_the_objects_and_masks_are_tinted() -> None:
    spec = {
        "version": 1,
        "id": "o",
        "frames": [{"objects": [{"name": "a", "shape": "cube"}], "pointer": {"target": "a"}}],
    }
    (image,) = diorama.render_scene(diorama.compile_spec(spec), renderer=FakeRenderer())
    drawn = np.asarray(overlay(image.passes.color, image.truth, scale=2))
    assert drawn.shape == (480, 640, 3)
    for item in image.truth.objects:
        assert item.bbox is not None
        x, y, w, h = (2 * value for value in item.bbox)
        corners = drawn[[y, y + h - 1], [x, x + w - 1]]
        assert (corners == color_of(item.index)).all(), "the box's corners are where the mask's are"
        mask = item.rle.mask()
        assert np.array_equal(mask, image.passes.ids == item.index)


def test_hidden_parts_are_striped() -> None:
    boxes = [{"name": name, "shape": "cube", "size": 0.7, "location": [0, y]} for name, y in (("a", 0), ("b", -1.6))]
    spec = {"version": 1, "id": "o", "frames": [{"objects": boxes, "camera": {"location": [0, -8, 2]}}]}
    pictures = []
    for passes in ([], ["amodal"]):
        spec["frames"] = [{**spec["frames"][0], "passes": passes}]  # type: ignore[index]
        (image,) = diorama.render_scene(diorama.compile_spec(spec), renderer=FakeRenderer())
        pictures.append(np.asarray(overlay(image.passes.color, image.truth, scale=1)))
    (rle,) = [item.amodal_rle for item in image.truth.objects if item.visible_fraction < 1]
    assert rle is not None
    changed = (pictures[0] != pictures[1]).any(axis=-1)
    assert changed.any() and not (changed & ~rle.mask()).any()


def test_neighbors_have_different_colors() -> None:
    colors = [np.array(color_of(k)) for k in range(1, 12)]
    assert min(np.abs(a - b).sum() for k, a in enumerate(colors) for b in colors[k + 1 :]) > 30
