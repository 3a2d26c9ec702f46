"""Comparison of two stores: ids that only one has, render keys, truth, and images by pixels."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from diorama.render.annotations.compare import compare_records
from diorama.render.store.analysis.scene_changes import scene_changes
from diorama.render.store.episode_store import EpisodeReader, OnProgress, short_columns
from diorama.render.store.resume import difference
from diorama.render.store.selection import read_each
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord

_CHUNK = 16
_DIGESTS = ("job_hash", "sha256", "text_sha256")


@dataclass(frozen=True)
class EpisodeDiff:
    """Differences of one id that both stores have.

    Attributes:
        made: in its render keys.
        scene: differing locations.
        truth: differing locations.
        pixels: image -> number of differing pixels, for differing images.
        largest: largest difference, of 255.
        psnr: dB of the worst image, inf if none differs.
        problem: why the episodes can't be compared, "" if they can.
    """

    episode: str
    made: tuple[str, ...] = ()
    scene: tuple[str, ...] = ()
    truth: tuple[str, ...] = ()
    pixels: dict[str, int] = field(default_factory=dict)
    largest: int = 0
    psnr: float = math.inf
    problem: str = ""

    @property
    def alike(self) -> bool:
        """Whether both are equal except for when and where they were rendered."""
        return not (self.made or self.scene or self.truth or self.pixels or self.problem)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; an infinite PSNR is None."""
        return {**asdict(self), "psnr": None if math.isinf(self.psnr) else round(self.psnr, 3)}


@dataclass
class StoreDiff:
    """The differences of two stores.

    Attributes:
        only_a: ids.
        only_b: ids.
        alike: number of equal episodes.
        differing: the others.
        reasons: what differs -> count.
    """

    only_a: list[str]
    only_b: list[str]
    alike: int = 0
    differing: list[EpisodeDiff] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def same(self) -> bool:
        """Whether both stores hold the same episodes."""
        return not (self.only_a or self.only_b or self.differing)


def diff(a: EpisodeReader, b: EpisodeReader, where: str | None, progress: OnProgress) -> StoreDiff:
    """Compare the episodes that match a SQL filter. Images are read only for episodes with different digests.

    progress gets the number of common ids done since its last call. Raises StoreError.
    """
    in_a, in_b = short_columns(a, _DIGESTS, where), short_columns(b, _DIGESTS, where)
    result = StoreDiff(sorted(in_a.keys() - in_b.keys()), sorted(in_b.keys() - in_a.keys()))
    both = sorted(in_a.keys() & in_b.keys())
    todo = [name for name in both if in_a[name] != in_b[name]]
    result.alike = len(both) - len(todo)
    progress(result.alike)
    for start in range(0, len(todo), _CHUNK):
        chunk = todo[start : start + _CHUNK]
        for name, old, new in zip(chunk, read_each(a, chunk), read_each(b, chunk), strict=True):
            match old, new:
                case (StoreError() as error, _) | (_, StoreError() as error):
                    episode = EpisodeDiff(name, problem=str(error))
                case EpisodeRecord(), EpisodeRecord():
                    episode = compare(old, new)
            if episode.alike:
                result.alike += 1
            else:
                result.differing.append(episode)
                result.reasons.update(dict.fromkeys(_difference_reasons(episode), 1))
        progress(len(chunk))
    return result


def compare(a: EpisodeRecord, b: EpisodeRecord) -> EpisodeDiff:
    """Return the differences of two records of one id."""
    comparison = compare_records(a, b)
    missing = (*comparison.missing, *comparison.gone)
    differing = [image for image in comparison.images if not image.identical]
    truth = [f"{image.name} {place}" for image in comparison.images for place in image.truth]
    return EpisodeDiff(
        a.episode_id,
        tuple(difference(a.job, b.job)),
        scene_changes(a.scene, b.scene),
        (*truth, *(f"{name}: in one of them only, or of another size" for name in missing)),
        {image.name: image.changed_pixels for image in differing},
        max((image.largest for image in differing), default=0),
        min((image.psnr for image in differing), default=math.inf),
    )


def _difference_reasons(episode: EpisodeDiff) -> list[str]:
    """Return what an episode is counted under: the differing parts of its render key without values, and the rest."""
    parts = [line.split(": stored ", 1)[0] for line in episode.made]
    reasons = ["spec" if part.startswith("spec ") else part for part in parts]
    others = {"Scene": episode.scene, "truth": episode.truth, "pictures": episode.pixels, "damaged": episode.problem}
    return [*reasons, *(name for name, value in others.items() if value)]
