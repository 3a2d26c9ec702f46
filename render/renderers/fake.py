"""`FakeRenderer`: a renderer without Blender, for tests of the steps before and after rendering.

Ids and depth come from the software id buffer, so boxes, masks and visible pixels equal those of Cycles within a pixel
at the edges. Colors are flat.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.display import display, with_fixation
from diorama.render.geometry.raster import compose, object_layer
from diorama.render.passes import SoftwareView, rendered_rows
from diorama.scene_specs.errors import RenderError, UsageError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.stage import scene_stage

_GRAY = 128


@dataclass(eq=False)
class FakeRenderer:
    """Paints the silhouette of each object in its own flat color over gray.

    Implements `diorama.scene_specs.model.passes.Renderer`. To use its options with `--renderer package.module:Class`,
    pass them in a subclass.

    Args:
        seconds: minimum time per image.
        device: the device that it reports.
        grow: bytes that it leaks per image.
        fail_on: ids of episodes that raise RenderError.
        crash_on: ids of episodes that end the process by SIGSEGV.
        hang_on: ids of episodes that never return.

    Raises:
        UsageError: for an id instead of ids.
    """

    seconds: float = 0.0
    fail_on: Collection[str] = ()
    crash_on: Collection[str] = ()
    hang_on: Collection[str] = ()
    device: str = "none"
    grow: int = 0

    def __post_init__(self) -> None:
        for ids in (self.fail_on, self.crash_on, self.hang_on):
            if isinstance(ids, str):
                raise UsageError(f"fail_on, crash_on, hang_on: found {ids!r}; allowed: several ids, such as [{ids!r}]")
        self._kept: list[bytes] = []
        self.closed = False

    @property
    def info(self) -> dict[str, str]:
        """name, version, device."""
        return {"name": "fake", "version": "1", "device": self.device, "cpu": "any"}

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render one view; ground and background are gray, with id 0 and infinite depth. Raises RenderError."""
        start = time.perf_counter()
        self._misbehave(scene.id)
        if self.grow:
            self._kept.append(os.urandom(self.grow))
        width, height = scene.settings.width, scene.settings.height
        camera = Camera.of(view.camera, width, height)
        stage = scene_stage(scene)
        order, depth = compose([object_layer(item, camera, stage.ground) for item in frame.objects], width, height)
        indices = np.array([0, *(item.index for item in frame.objects)], dtype=np.uint16)
        colors = [display(np.array(item.color_linear, dtype=np.float32)) for item in frame.objects]
        palette = np.array([[_GRAY] * 3, *colors], dtype=np.uint8)
        color = palette[order]
        if frame.background is not None:
            color[order == 0] = frame.background
        if frame.fixation and stage.fixation is not None:
            color = with_fixation(color, stage.fixation)
        software = SoftwareView(frame, camera, order, depth)
        arrays = {name: row.fake(software).astype(np.float32) for name, row in rendered_rows(frame).items() if row.fake}
        time.sleep(max(self.seconds - (time.perf_counter() - start), 0.0))
        seconds = {"render": time.perf_counter() - start}
        return Passes.of(color, indices[order], arrays, seconds=seconds, device=self.device)

    def _misbehave(self, episode: str) -> None:
        if episode in self.crash_on:
            os.kill(os.getpid(), signal.SIGSEGV)
        while episode in self.hang_on:
            time.sleep(3600)
        if episode in self.fail_on:
            raise RenderError(f"episode {episode}: the fake renderer fails on this episode (fail_on)")

    def close(self) -> None:
        """Nothing to release."""
        self.closed = True


def create_renderer(device: str, threads: int, asset_roots: Sequence[Path]) -> FakeRenderer:
    """Return a new renderer, which needs none of these."""
    return FakeRenderer()
