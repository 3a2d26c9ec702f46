"""Fake renderers for tools: a slow one, which leaves time to kill a process during a render, and one that leaks."""

from __future__ import annotations

from render.model.passes import Passes
from render.renderers.fake import FakeRenderer
from scene_specs.language.scene import Scene, SceneFrame, SceneView


class Slow(FakeRenderer):
    """The fake renderer at 0.2 s per image."""

    def __init__(self) -> None:
        super().__init__(seconds=0.2)


class Leaky(FakeRenderer):
    """The fake renderer, which keeps 20 MB more with each image."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[bytes] = []

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render, and keep memory."""
        self._kept.append(b"x" * 20_000_000)
        return super().render(scene, frame, view)
