"""Fake renderers that misbehave, for `--renderer tests.render.run.renderers:Name`.

What they remember between processes is files in the folder that DIORAMA_TEST_FOLDER names.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from render.model.passes import Passes
from render.renderers.cycles.capture import captured
from render.renderers.fake import FakeRenderer
from scene_specs.language.scene import Scene, SceneFrame, SceneView


def _first_time(name: str) -> bool:
    mark = Path(os.environ["DIORAMA_TEST_FOLDER"]) / name.replace("/", "_")
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class Fails(FakeRenderer):
    """Can't render the episode b/fail."""

    def __init__(self) -> None:
        super().__init__(fail_on=["b/fail"])


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


class Talks(FakeRenderer):
    """Prints, as Cycles does, then dies of signal 11 at .../crash..., or hangs at .../hang..."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        with captured():
            os.write(1, f"Fra:1 Sample 7/64 of {scene.id}\n".encode())
            if "crash" in scene.id:
                os.kill(os.getpid(), signal.SIGSEGV)
            if "hang" in scene.id:
                time.sleep(3600)
        return super().render(scene, frame, view)


class NeverStarts(FakeRenderer):
    """Dies before it is made."""

    def __init__(self) -> None:
        super().__init__()
        os.kill(os.getpid(), signal.SIGSEGV)


class DiesAtAll(FakeRenderer):
    """Dies of every episode, as a broken driver would make it."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        os.kill(os.getpid(), signal.SIGSEGV)
        return super().render(scene, frame, view)


class Leaks(FakeRenderer):
    """Keeps 40 MB of every image."""

    def __init__(self) -> None:
        super().__init__(grow=40_000_000)


class Bloats(FakeRenderer):
    """Takes a gigabyte for one episode called .../bloat..., and time to be seen with it."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        if "bloat" in scene.id:
            taken = bytearray(os.urandom(1_000_000)) * 1000
            time.sleep(30)
            del taken
        return super().render(scene, frame, view)


class OnTheCpu(FakeRenderer):
    """Renders on the CPU whatever it was asked for."""

    def __init__(self) -> None:
        super().__init__(device="CPU Some Processor")


class SlowCard(FakeRenderer):
    """A card that takes a fifth of a second an image, however many use it."""

    def __init__(self) -> None:
        super().__init__(seconds=0.2, device="GPU slow")
