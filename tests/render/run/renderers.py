"""Fake renderers that misbehave, for `--renderer tests.render.run.renderers:Name`.

What they remember between processes is files in the folder that DIORAMA_TEST_FOLDER names.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from diorama.render.renderers.cycles.capture import captured
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import DeviceError, GpuError, GpuMemoryError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView


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


class Black(FakeRenderer):
    """Renders episodes called .../black... in black the first time, and those called .../dark... always."""

    def __init__(self) -> None:
        super().__init__(device="GPU black" if os.environ.get("CUDA_VISIBLE_DEVICES") else "CPU black")

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        if ("black" in scene.id and _first_time(scene.id)) or "dark" in scene.id:
            return replace(passes, color=np.zeros_like(passes.color))
        return passes


class Zeros(FakeRenderer):
    """GPU 0 renders all in black, other devices only episodes called .../dark..."""

    lying: tuple[str, ...] = ("GPU number 0",)

    @classmethod
    def create_renderer(cls, device: str, threads: int, asset_roots: Sequence[Path]) -> Zeros:
        return cls(device="CPU" if device == "cpu" else f"GPU number {os.environ['CUDA_VISIBLE_DEVICES']}")

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        black = self.device in self.lying or "dark" in scene.id
        return replace(passes, color=np.zeros_like(passes.color)) if black else passes


class SlowZeros(Zeros):
    """Zeros, and devices that do not lie take 0.3 seconds an image, so that GPU 0 gets several whatever the load."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        time.sleep(0.3 * (self.device not in self.lying))
        return super().render(scene, frame, view)


class Honest(Zeros):
    """Every device renders only episodes called .../dark... in black."""

    lying = ()


class Fickle(FakeRenderer):
    """Renders episodes called .../fickle... brighter the first time."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        if "fickle" in scene.id and _first_time(scene.id):
            return replace(passes, color=passes.color + np.uint8(9))
        return passes


class Slow(FakeRenderer):
    """Takes a fifth of a second an image."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        time.sleep(0.2)
        return super().render(scene, frame, view)


class Pauses(Slow):
    """Slow, and waits at its 20th image until there is a file `go-on`."""

    _count = 0

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        self._count += 1
        while self._count >= 20 and not (Path(os.environ["DIORAMA_TEST_FOLDER"]) / "go-on").exists():
            time.sleep(0.1)
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


class FaultyCards(FakeRenderer):
    """GPUs that fail at episodes by their names.

    .../launch-once...: once. .../evil...: always. .../big...: unless no other worker is on the GPU. .../huge...: has
    too little memory always. .../gone...: GPU 1 is then gone for every process; other GPUs wait for that. GPU 3
    always fails. .../wait... takes until the GPU that fails or is gone has been tried three times.
    """

    def __init__(self) -> None:
        self._card = os.environ["CUDA_VISIBLE_DEVICES"]
        self._folder = Path(os.environ["DIORAMA_TEST_FOLDER"])
        if (self._folder / f"gone-{self._card}").exists():
            (self._folder / f"trouble-{os.getpid()}").touch()
            raise DeviceError("Cycles finds no GPU device on this machine")
        (self._folder / f"on-{self._card}-{os.getpid()}").touch()
        super().__init__(device=f"GPU number {self._card}")

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        where = f"episode {scene.id}: frame x: "
        end = time.monotonic() + 200
        if "gone" in scene.id and self._card == "1":
            (self._folder / "gone-1").touch()
        while "gone" in scene.id and not (self._folder / "gone-1").exists() and time.monotonic() < end:
            time.sleep(0.1)
        gone = (self._folder / f"gone-{self._card}").exists()
        if self._card == "3":
            (self._folder / f"trouble-{os.getpid()}").touch()
        if ("launch-once" in scene.id and _first_time(scene.id)) or "evil" in scene.id or self._card == "3" or gone:
            raise GpuError(f"{where}the GPU failed: Launch failed in CUDA queue enqueue")
        # Time for other workers to start: they share the GPU, and its memory.
        time.sleep(0.2)
        while "wait" in scene.id and len(list(self._folder.glob("trouble-*"))) < 3 and time.monotonic() < end:
            time.sleep(0.1)
        if "huge" in scene.id or ("big" in scene.id and self._others()):
            raise GpuMemoryError(f"{where}the GPU ran out of memory (System is out of GPU memory). Use --size")
        return super().render(scene, frame, view)

    def _others(self) -> bool:
        """Whether another process of this class is alive on the same GPU."""
        pids = [path.name.rsplit("-", 1)[1] for path in self._folder.glob(f"on-{self._card}-*")]
        return any(Path(f"/proc/{pid}").exists() for pid in pids if pid != str(os.getpid()))
