"""Pictures of the same things are rendered once, within a bound, and are the same pictures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from diorama.render.api import compile_spec
from diorama.render.episode.caching import CachingRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView

VIEW = {"yaw_deg": 20, "elevation_deg": 30}


class Counting(FakeRenderer):
    """Counts the pictures that it renders."""

    rendered = 0

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        self.rendered += 1
        return super().render(scene, frame, view)


def scene_of(name: str, stage: str = "quadrants", size: tuple[int, int] = (64, 64)) -> Scene:
    item = {"shape": "shapenet:chairs/#1", "name": name, "color": "red"}
    placed: dict[str, Any] = {**item, "place": "top_left", "view": VIEW} if stage == "quadrants" else item
    frames: list[dict[str, Any]] = [{"name": f"{name}-{k}", "objects": [placed]} for k in range(3)]
    if stage == "quadrants":
        frames[1]["fixation"] = True
        frames += [{"fixation": True}, {}, {"background": [9, 9, 9]}]
    return compile_spec(json.dumps({"version": 1, "id": name, "stage": stage, "frames": frames}), size=size)


def rendered(renderer: Any, scene: Scene) -> list[Passes]:
    return [renderer.render(scene, frame, view) for frame in scene.frames for view in frame.views]


def same(a: Passes, b: Passes) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("color", "ids", "depth", "normal"))


def test_each_picture_is_rendered_once_and_is_what_it_would_be() -> None:
    inner = Counting()
    reusing = CachingRenderer(inner)
    for name in ("one", "two"):
        scene = scene_of(name)
        for found, usual in zip(rendered(reusing, scene), rendered(FakeRenderer(), scene), strict=True):
            assert same(found, usual)
    # The chair, the black delay and the gray one; crosses are laid over them.
    assert inner.rendered == 3


def test_other_settings_and_other_colors_are_other_pictures() -> None:
    inner = Counting()
    reusing = CachingRenderer(inner)
    rendered(reusing, scene_of("one"))
    rendered(reusing, scene_of("one", size=(48, 48)))
    assert inner.rendered == 6


def test_stages_that_sample_by_episode_are_left_alone() -> None:
    inner, scene = Counting(), scene_of("one", stage="clevr")
    reusing = CachingRenderer(inner)
    assert len(rendered(reusing, scene) + rendered(reusing, scene)) == inner.rendered > 0


def test_the_bound_holds() -> None:
    inner = Counting()
    reusing = CachingRenderer(inner, most_bytes=2000)
    for name in ("one", "two"):
        rendered(reusing, scene_of(name))
    assert 0 < sum(map(len, reusing._kept.values())) <= 2000
    assert inner.rendered > 3
    reusing.close()
    assert not reusing._kept
