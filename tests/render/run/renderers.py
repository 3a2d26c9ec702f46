"""Fake renderers that misbehave, for `--renderer tests.render.run.renderers:Name`.

What they remember between processes is files in the folder that DIORAMA_TEST_FOLDER names.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from render.passes import Passes
from render.run.fake import FakeRenderer
from render.scene import Scene, SceneFrame, SceneView


def _first_time(name: str) -> bool:
    mark = Path(os.environ["DIORAMA_TEST_FOLDER"]) / name.replace("/", "_")
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class CrashesOnce(FakeRenderer):
    """Dies of signal 11 the first time it meets an episode called .../crash..."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        if "crash" in scene.id and _first_time(scene.id):
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().render(scene, frame, view)


class CrashesAlways(FakeRenderer):
    """Dies of signal 11 whenever it meets an episode called .../crash..., hangs at .../hang..., raises at
    .../raise...
    """

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        if "crash" in scene.id:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "hang" in scene.id:
            time.sleep(3600)
        if "raise" in scene.id:
            raise RuntimeError("planted")
        return super().render(scene, frame, view)


class Slow(FakeRenderer):
    """Takes a fifth of a second an image."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        time.sleep(0.2)
        return super().render(scene, frame, view)
