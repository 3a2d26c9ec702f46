"""Estimates of work: the cost of an episode, the time that is left of a run, and the speed of this machine. No clocks.

Costs are seconds of one core of the machine on which they were measured (docs/benchmarks.md); a run on another machine,
or on a GPU, finds its own factor from its first episodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from render.geometry.glass import expected_glass, samples_at
from render.geometry.shapenet.loading import cache_folder
from scene_specs.language.atomic import write_atomic
from scene_specs.language.foreign import read_foreign
from scene_specs.language.scene import Scene, Settings
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.stage import load_stage

# Core seconds per image and per million samples; a flat image takes one sample per pixel, and a tenth of the time.
_PER_IMAGE, _PER_MEGASAMPLE, _FLAT_SAMPLES = 0.12, 2.4, 0.1
# Share of the image that one glass object fills, in the mean of crowds of eight (tools/bench_scaling.py).
_GLASS_SHARE = 0.023
# Bytes per million pixels in a store, and seconds from the command to the first episode, unless they are measured.
_BYTES_PER_MEGAPIXEL, _START_SECONDS = 1.2e6, 4.0
# Older measurements count half once there is this much of newer ones, in cost.
_MEMORY = 600.0
_FILE = "speed.json"
_Amount = Annotated[float, Field(ge=0, le=2**53)]


@dataclass
class Work:
    """An amount of episodes. cost: core seconds, see above."""

    images: int = 0
    megapixels: float = 0.0
    cost: float = 0.0

    @classmethod
    def of(cls, episode: EpisodeSpec | Scene, settings: Settings) -> Work:
        """Estimate an episode without compiling it."""
        views = [len(frame.views) if frame.views else 1 for frame in episode.frames]
        images, megapixels = sum(views), settings.width * settings.height / 1e6
        if _flat(episode):
            samples = images * _FLAT_SAMPLES
        else:
            glass = expected_glass(episode) if settings.glass_samples > settings.samples else [0.0] * len(views)
            shares = [_GLASS_SHARE * number for number in glass]
            samples = sum(count * samples_at(settings, share) for count, share in zip(views, shares, strict=True))
        return cls(images, images * megapixels, images * _PER_IMAGE + samples * megapixels * _PER_MEGASAMPLE)

    def add(self, other: Work) -> None:
        """Add another amount."""
        self.images += other.images
        self.megapixels += other.megapixels
        self.cost += other.cost


def _flat(episode: EpisodeSpec | Scene) -> bool:
    if isinstance(episode, Scene):
        return episode.frames[0].pixels is not None
    return load_stage(episode.stage).pixels == "center"


class Estimator:
    """Time that is left of a run, from the work that was done. total: cost of the run."""

    def __init__(self, total: float) -> None:
        self._left = total
        self.cost = self.seconds = 0.0

    def done(self, cost: float, seconds: float) -> None:
        """Count an episode that took a worker so many seconds."""
        self._left -= cost
        self.cost += cost
        self.seconds += seconds

    def dropped(self, cost: float) -> None:
        """Count an episode that failed: its time says nothing about the others'."""
        self._left -= cost

    def left(self, elapsed: float, in_flight: Iterable[tuple[float, float]] = ()) -> float | None:
        """Return the seconds that are left, None before the first episode is done.

        elapsed: seconds since the first episode was begun. in_flight: cost and seconds so far of each unfinished one.
        """
        if not self.cost or not self.seconds or elapsed <= 0:
            return None
        speed = self.seconds / self.cost
        begun = [(cost * speed, seconds) for cost, seconds in in_flight]
        busy = (self.seconds + sum(seconds for _, seconds in begun)) / elapsed
        # What takes longer than expected is expected to end now.
        ahead = max(self._left, 0.0) * speed - sum(min(expected, seconds) for expected, seconds in begun)
        longest = max((expected - seconds for expected, seconds in begun), default=0.0)
        return max(ahead / busy, longest, 0.0)


@dataclass
class Speed:
    """What earlier runs on this machine took: seconds and bytes for `cost` and `megapixels`."""

    cost: _Amount = 0.0
    seconds: _Amount = 0.0
    megapixels: _Amount = 0.0
    bytes: _Amount = 0.0

    def add(self, other: Speed) -> None:
        """Count newer episodes; the older ones fade."""
        keep = _MEMORY / (_MEMORY + other.cost)
        self.cost, self.seconds = self.cost * keep + other.cost, self.seconds * keep + other.seconds
        self.megapixels = self.megapixels * keep + other.megapixels
        self.bytes = self.bytes * keep + other.bytes

    def predict(self, work: Work, cores: int) -> Prediction:
        """Predict a run on so many cores, or GPUs."""
        speed = self.seconds / self.cost if self.cost else 1.0
        per_megapixel = self.bytes / self.megapixels if self.megapixels else _BYTES_PER_MEGAPIXEL
        seconds = _START_SECONDS + work.cost * speed / cores
        return Prediction(seconds, work.megapixels * per_megapixel, self.cost > 0)


@dataclass(frozen=True)
class Prediction:
    """What a run will take. measured: whether earlier runs on this machine tell its speed."""

    seconds: float
    bytes: float
    measured: bool


def _speeds() -> dict[str, Speed]:
    """Read the speeds that runs on this machine have left, by kind of run."""
    try:
        return TypeAdapter(dict[str, Speed]).validate_json(read_foreign(cache_folder() / _FILE, 1 << 16))
    except (OSError, ValueError):
        return {}


def speed_of(kind: str) -> Speed:
    """Return the speed of a kind of run, as far as it is known. kind: renderer, device and host."""
    return _speeds().get(kind, Speed())


def remember(kind: str, run: Speed) -> None:
    """Keep the speed of a run; if the cache can't be written, it is left as it is."""
    speeds = _speeds()
    speeds.setdefault(kind, Speed()).add(run)
    with suppress(OSError):
        write_atomic(cache_folder() / _FILE, json.dumps({name: asdict(speed) for name, speed in speeds.items()}), False)
