"""How two stores differ: ids that only one has, what episodes were made from, truth, and pictures by pixels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from render.annotations.compare import compare_records, scene_changes
from render.model.record import EpisodeRecord
from render.store.episode_store import DamagedError
from render.store.columns import KEY
from render.store.lance.reader import ID_BATCH_ROWS, LanceReader
from render.store.resume import difference

_CHUNK = 16
_MARKS = ("job_hash", "sha256", "text_sha256")


@dataclass(frozen=True)
class EpisodeDiff:
    """One id that both have. made: what its jobs differ in. scene, truth: places that differ.

    pixels: image -> differing pixels, of those that differ. largest: difference of 255. psnr: dB of the worst image,
    inf where none differs. problem: why it can't be compared, "" where it could.
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
        """Whether both are the same but for when and where they were made."""
        return not (self.made or self.scene or self.truth or self.pixels or self.problem)

    def as_dict(self) -> dict[str, Any]:
        """Plain data; an infinite PSNR is None."""
        return {**asdict(self), "psnr": None if math.isinf(self.psnr) else round(self.psnr, 3)}


@dataclass
class StoreDiff:
    """only_a, only_b: ids. alike: how many ids are the same. differing: the others. reasons: what -> episodes."""

    only_a: list[str]
    only_b: list[str]
    alike: int = 0
    differing: list[EpisodeDiff] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def same(self) -> bool:
        """Whether both stores hold the same episodes."""
        return not (self.only_a or self.only_b or self.differing)


def diff(
    a: LanceReader,
    b: LanceReader,
    where: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> StoreDiff:
    """Compare what `where` holds for. Pictures are read only of episodes that are not alike by their digests.

    progress is called with ids done, of those that both have. Raises StoreError.
    """
    in_a, in_b = _marks(a, where), _marks(b, where)
    found = StoreDiff(sorted(in_a.keys() - in_b.keys()), sorted(in_b.keys() - in_a.keys()))
    both = sorted(in_a.keys() & in_b.keys())
    todo = [name for name in both if in_a[name] != in_b[name]]
    found.alike = len(both) - len(todo)
    progress(found.alike)
    for start in range(0, len(todo), _CHUNK):
        chunk = todo[start : start + _CHUNK]
        for one in _chunk(a, b, chunk):
            if one.alike:
                found.alike += 1
            else:
                found.differing.append(one)
                found.reasons.update(dict.fromkeys(_reasons(one), 1))
        progress(len(chunk))
    return found


def _marks(store: LanceReader, where: str | None) -> dict[str, tuple[Any, ...]]:
    rows = store.scan([KEY, *_MARKS], where, ID_BATCH_ROWS)
    return {row[KEY]: tuple(row[name] for name in _MARKS) for row in rows}


def _chunk(a: LanceReader, b: LanceReader, names: Sequence[str]) -> Iterator[EpisodeDiff]:
    try:
        pairs = list(zip(a.get_many(names), b.get_many(names), strict=True))
    except DamagedError:
        # One by one: the others can be compared all the same.
        for name in names:
            try:
                yield compare(a.get(name), b.get(name))
            except DamagedError as error:
                yield EpisodeDiff(name, problem=str(error))
        return
    for old, new in pairs:
        yield compare(old, new)


def compare(a: EpisodeRecord, b: EpisodeRecord) -> EpisodeDiff:
    """Two makings of one id."""
    found = compare_records(a, b)
    missing = (*found.missing, *found.gone)
    differing = [image for image in found.images if not image.identical]
    truth = [f"{image.name} {place}" for image in found.images for place in image.truth]
    return EpisodeDiff(
        a.episode_id,
        tuple(difference(a.job, b.job)),
        scene_changes(a.scene, b.scene),
        (*truth, *(f"{name}: in one of them only, or of another size" for name in missing)),
        {image.name: image.changed_pixels for image in differing},
        max((image.largest for image in differing), default=0),
        min((image.psnr for image in differing), default=math.inf),
    )


def _reasons(one: EpisodeDiff) -> list[str]:
    """What an episode is counted under: the differing part of its making, without the values."""
    parts = [line.split(": stored ", 1)[0] for line in one.made]
    reasons = ["spec" if part.startswith("spec ") else part for part in parts]
    told = (("Scene", one.scene), ("truth", one.truth), ("pictures", one.pixels), ("damaged", one.problem))
    return [*reasons, *(name for name, value in told if value)]
