"""Estimates of work: the cost of an episode, the time that is left of a run, and the speed of this machine. No clocks.

Costs are seconds of one core of the machine on which they were measured (docs/benchmarks.md); a run on another machine,
or on a GPU, finds its own factor from its first episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

import numpy as np
from pydantic import FiniteFloat, TypeAdapter

from diorama.render.geometry.sampling_plan import expected_number, object_samples_at, samples_at
from diorama.render.passes import array_passes, row_of
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.materials import scatters, transmits
from diorama.scene_specs.model.scene import Scene, SceneFrame, Settings
from diorama.scene_specs.model.spec import EpisodeSpec, FrameSpec
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.shapes.shapenet.loading import cache_folder

# Core seconds per image and per million samples; a flat image takes one sample per pixel, and a tenth of the time.
_PER_IMAGE, _PER_MEGASAMPLE, _FLAT_SAMPLES = 0.12, 2.4, 0.1
# Share of the image that the rectangles around objects fill, in the mean of MEWL's images.
_RECTANGLES = 0.11
# Share of the image that one glass object fills, in the mean of crowds of eight (tools/measuring/bench_scaling.py).
_GLASS_SHARE = 0.02
# Bytes in a store: per million pixels, per image and its manifests, per object, and per pair of objects. Depth and
# normals take this share of their arrays.
_BYTES_PER_MEGAPIXEL, _BYTES_PER_IMAGE, _BYTES_PER_OBJECT, _BYTES_PER_PAIR = 1.2e6, 8_000, 1_600, 30
_PACKED = 0.7
# Older measurements count half once there is this much of newer ones, in cost.
_MEMORY = 600.0
# Of a run of less cost, most of the time is that of the first image.
_LEAST_COST = 5.0
# Part of an episode for which the other workers wait at the end of a run, from simulated runs.
_TAIL = 0.75
_FILE = "speed.json"


@dataclass
class Work:
    """Episodes to render; and when they are done, what they took.

    Attributes:
        images: number of images.
        megapixels: millions of pixels of all images.
        cost: estimated core seconds.
        seconds: core seconds (or GPU seconds) that they took.
        bytes: that they take in a store.
        expected_bytes: the same, estimated.
    """

    images: FiniteFloat = 0.0
    megapixels: FiniteFloat = 0.0
    cost: FiniteFloat = 0.0
    seconds: FiniteFloat = 0.0
    bytes: FiniteFloat = 0.0
    expected_bytes: FiniteFloat = 0.0

    @classmethod
    def of(cls, episode: EpisodeSpec | Scene, settings: Settings) -> Work:
        """Estimate an episode without compiling it."""
        frames: Sequence[FrameSpec | SceneFrame] = episode.frames
        views = [len(frame.views or (None,)) for frame in frames]
        images, megapixels = sum(views), settings.width * settings.height / 1e6
        samples = images * _FLAT_SAMPLES
        if load_stage(episode.stage).pixels != "center":
            glass = expected_number(transmits, episode)
            bright = expected_number(lambda name: not scatters(name), episode)
            whole = [samples_at(settings, _GLASS_SHARE * glass[k], plain=not bright[k]) for k in range(len(glass))]
            more = [_RECTANGLES * object_samples_at(settings, number) for number in whole]
            samples = float(np.dot(views, np.add(whole, more)))
        counts = expected_number(lambda name: True, episode)
        each = [_BYTES_PER_IMAGE + _BYTES_PER_OBJECT * count + _BYTES_PER_PAIR * count**2 for count in counts]
        each = [size + megapixels * 1e6 * _pixel_bytes(frame.passes) for size, frame in zip(each, frames, strict=True)]
        size = float(np.dot(views, each)) + images * megapixels * _BYTES_PER_MEGAPIXEL
        cost = images * _PER_IMAGE + samples * megapixels * _PER_MEGASAMPLE
        return cls(images, images * megapixels, cost, expected_bytes=size)

    def add(self, other: Work, keep: float = 1.0) -> None:
        """Add other work to this share of what there is."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) * keep + value)


def _pixel_bytes(passes: Sequence[str]) -> float:
    """Bytes per pixel that the arrays of some passes take."""
    rows = [row_of(name) for name in array_passes(passes) if name in plugins("passes")]
    channels = [prod(size for size in row.shape if isinstance(size, int)) for row in rows]
    return sum(_PACKED * np.dtype(row.dtype).itemsize * count for row, count in zip(rows, channels, strict=True))


class Estimator:
    """The time that is left of a run, estimated from the work that was done.

    Args:
        total: cost of the run.
    """

    def __init__(self, total: float) -> None:
        self._left = total
        self._cost = self._squares = self._seconds = 0.0

    def done(self, cost: float, seconds: float | None = None) -> None:
        """Count an episode.

        Args:
            cost: of the episode.
            seconds: that a worker took for it; None if it failed, which says nothing about others.
        """
        self._left -= cost
        if seconds is not None:
            self._cost += cost
            self._squares += cost**2
            self._seconds += seconds

    def left(self, elapsed: float, in_flight: Sequence[tuple[float, float]] = ()) -> float | None:
        """Return the seconds that are left, None before the first episode is done.

        Args:
            elapsed: seconds since the first episode was begun.
            in_flight: cost and seconds so far of each unfinished episode.
        """
        if not self._cost or not self._seconds or elapsed <= 0:
            return None
        speed = self._seconds / self._cost
        begun = sum(cost for cost, _ in in_flight)
        workers_busy = (self._seconds + sum(seconds for _, seconds in in_flight)) / elapsed
        # What takes longer than expected is expected to end now.
        rest = [max(cost * speed - seconds, 0.0) for cost, seconds in in_flight]
        waiting = (self._left - begun) * speed
        if waiting <= 1e-6 * self._seconds:
            return max(rest, default=0.0)
        # The workers do not end together: the last one is busy for about the mean episode, weighted by cost, longer.
        mean = (self._squares + sum(cost**2 for cost, _ in in_flight)) / (self._cost + begun) * speed
        return (waiting + sum(rest)) / workers_busy + _TAIL * (1 - 1 / max(len(in_flight), 1)) * mean


def remember(done: Work, kind: str) -> None:
    """Keep what a run took, for the estimate of a dry run; older runs fade. A cache that can't be written stays."""
    if done.cost < _LEAST_COST:
        return
    known = read_measured()
    before = known.setdefault(kind, Work())
    if not before.expected_bytes:  # As older versions wrote it.
        before.bytes = 0.0
    before.add(done, keep=_MEMORY / (_MEMORY + done.cost))
    with suppress(OSError):
        write_atomic(cache_folder() / _FILE, TypeAdapter(dict[str, Work]).dump_json(known), fsync=False)


def read_measured() -> dict[str, Work]:
    """Read what runs on this machine took, by kind."""
    try:
        return TypeAdapter(dict[str, Work]).validate_json(read_foreign(cache_folder() / _FILE, 1 << 16))
    except (OSError, ValueError):
        return {}
