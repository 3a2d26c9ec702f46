"""Cycles' settings: whatever changes a pixel is set for each picture anew."""

from __future__ import annotations

import re
from typing import Any

import bpy
import numpy as np
import pytest

from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.errors import RenderError
from tests.render.renderers.cycles.test_cycles_renderer import TRIO, one, scene_of

# What no picture of ours shows: the viewport, baking, films of several frames, stamps, the output file's form, volumes,
# curves, subdivision, and what only counts with something that is switched off (path guiding, transparent film,
# motion blur, fast global illumination, culling and texture limits of `use_simplify`, a border, tiles, parts of the
# samples); the viewport's resolution of textures. The BVH's form is speed; debug flags are for Cycles' own developers.
NO_PIXEL = re.compile(
    "name|preview|debug_|texture_limit|texture_resolution$|bake_|use_bake|stamp|metadata|line_thickness|hair_|"
    "simplify_|frame_map|fps|"
    "border_|use_crop|motion_blur_|rolling_shutter|guiding|volume_|dicing|subdivision|cull|film_transparent_|"
    "fast_gi_method|ao_bounces|tile_size|sample_offset|sample_subset_length|ppm_|compositor_|views_format|"
    "device$|feature_set|filter_size|dither|high_quality_normals|placeholder|overwrite|lock_interface|filepath|"
    "render_cache|sequencer|single_layer|engine$"
)


@pytest.fixture(scope="module")
def renderer() -> CyclesRenderer:
    return CyclesRenderer("cpu", threads=1)


def another(prop: Any, value: Any) -> Any:
    """Another value that a property may have; None where there is none to be named."""
    if prop.type == "BOOLEAN":
        return not value
    if prop.type == "ENUM":
        return next((item.identifier for item in prop.enum_items if item.identifier != value), None)
    if prop.type in ("INT", "FLOAT"):
        return prop.hard_max if value == prop.hard_min else prop.hard_min
    return None


def counting(owner: Any) -> dict[str, Any]:
    """The properties that count, with another value each."""
    properties = [
        prop for prop in owner.bl_rna.properties if not (prop.is_readonly or NO_PIXEL.search(prop.identifier))
    ]
    others = {prop.identifier: another(prop, getattr(owner, prop.identifier)) for prop in properties}
    return {name: value for name, value in others.items() if value is not None}


def test_a_picture_does_not_depend_on_what_was_set_before(renderer: CyclesRenderer) -> None:
    scene = scene_of(TRIO)
    first = one(renderer, scene)
    scene_of_blender = bpy.context.scene
    owners = (scene_of_blender.cycles, scene_of_blender.render, scene_of_blender.view_layers[0].cycles)
    changes = [(owner, counting(owner)) for owner in owners]
    before = [(owner, name, getattr(owner, name)) for owner, values in changes for name in values]
    names = {name for _, name, _ in before}
    assert {"min_light_bounces", "min_transparent_bounces", "light_sampling_threshold", "use_fast_gi"} <= names
    try:
        for owner, values in changes:
            for name, value in values.items():
                setattr(owner, name, value)
        again = one(renderer, scene)
        assert not [name for owner, name, value in before if getattr(owner, name) != value]
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
    assert np.array_equal(first.color, again.color) and np.array_equal(first.depth, again.depth)


def test_an_image_smaller_than_blender_can_is_refused(renderer: CyclesRenderer) -> None:
    with pytest.raises(RenderError, match="found an image of 17 x 3 pixels; Blender renders 4 x 4 or more"):
        one(renderer, scene_of(TRIO, width=17, height=3))
    assert one(renderer, scene_of(TRIO, width=4, height=4)).ids.shape == (4, 4)
