"""Looks in Cycles: ids and depth are those of plain, the rest is not, and the image can be one of its Scene."""

from __future__ import annotations

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.episode.plausibility import check_color, first_problem
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.model.look import load_look, look_names
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec

THINGS = [
    {"shape": shape, "color": color, "material": material, "size": "large"}
    for shape, color, material in (
        ("cube", "red", "rubber"),
        ("sphere", "cyan", "glass"),
        ("cylinder", "green", "metal"),
    )
]


@pytest.fixture(scope="module")
def renderer() -> CyclesRenderer:
    return CyclesRenderer("cpu", threads=1)


def plain_scene() -> Scene:
    frame = {"objects": THINGS, "passes": ["depth"]}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "looks", "seed": 1, "frames": [frame]})
    return compile_episode(spec, settings_for("draft", 64, 48))


def render(renderer: CyclesRenderer, scene: Scene) -> Passes:
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0])


@pytest.mark.alike
@pytest.mark.parametrize("name", look_names()[1:])
def test_truth_is_that_of_plain(name: str, renderer: CyclesRenderer) -> None:
    plain = plain_scene()
    first = render(renderer, plain)
    for variant in range(len(load_look(name).variants)):
        scene = with_look(plain, name, variant, words=False)
        found = render(renderer, scene)
        assert np.array_equal(found.ids, first.ids)
        assert found.depth is not None and first.depth is not None and np.array_equal(found.depth, first.depth)
        assert np.abs(found.color.astype(int) - first.color).mean() > 1
        assert (found.color.min(axis=2) == 255).mean() <= 0.02
        assert 90 < found.color[found.ids == 0].mean() < 200
        assert not first_problem(check_color(scene, scene.frames[0], scene.frames[0].views[0], found.color, found.ids))
    # Nothing of a look is left for the next image.
    assert np.array_equal(render(renderer, plain).color, first.color)


def test_the_ground_moves_with_the_episode(renderer: CyclesRenderer) -> None:
    plain = plain_scene()
    first, second = (with_look(plain.model_copy(update={"seed": seed}), "tiles", 0, words=False) for seed in (1, 2))
    assert first.look is not None and second.look is not None and first.look.offset != second.look.offset
    images = [render(renderer, scene) for scene in (first, second)]
    behind = images[0].ids == 0
    assert np.abs(images[0].color.astype(int) - images[1].color)[behind].mean() > 2
