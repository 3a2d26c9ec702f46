"""Whether the change within each pair of a store can be seen, and where the images of a pair differ.

Two renders of one Scene differ by noise. Twins measure it: a few first members, rendered again with other seeds of
Cycles. A pixel counts as changed if it differs by more than NOISE of the pixels of twins do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from render.episode.find import only_frames, only_images
from render.episode.make_record import make_record
from render.episode.time_limit import run_within
from render.export.protocol import ExportReport, iter_valid_records
from render.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from render.renderers import make_renderer
from render.run.limits import KERNEL_SECONDS, timeout_of
from render.store.episode_store import EpisodeReader
from scene_specs.language.rendered import mask_of
from scene_specs.language.scene import Scene, pair_of_id
from scene_specs.language.tables import text_table

# Share of the pixels of twins that count as unchanged.
NOISE = 0.999
# Around the objects that change, a share of the image's width: their shadows and reflections.
_MARGIN = 0.05
# What another object may show less of, or where the box of the rest of it is.
_VISIBILITY = {"bbox", "rle", "visible_pixels", "visible_fraction", "coverage_pixels", "index"}
_Histogram = NDArray[np.int64]


@dataclass
class Step:
    """Two neighbors of a pair or chain. members: their numbers.

    changed: pixels of the changed objects, and of a margin of 5% of the width around them, that differ by more than
    noise. expected: the most that two seeds would change there, computed from the margins of all objects of a twin.
    beyond: share of all other pixels that differ so; twins: of all pixels of twins. same_truth: whether the annotations
    of all other objects are equal, except for what hides them.
    """

    pair: str
    change: str
    members: tuple[int, int]
    same_truth: bool
    changed: int = 0
    expected: float = 0.0
    beyond: float = 0.0
    twins: float = 0.0


@dataclass
class PairReport:
    """unseen: ids of pairs with fewer changed pixels than asked for. incomplete: of pairs that lack members."""

    steps: list[Step] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    members: dict[str, list[str]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**{name: getattr(self, name) for name in ("unseen", "incomplete", "damaged")}, "by_change": self.rows(),
                "steps": [asdict(step) for step in self.steps]}  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """A row per change: numbers of steps, median of changed pixels, and the shares beyond, see Step."""
        found = defaultdict(list)
        for step in self.steps:
            found[step.change].append(step)
        return [
            {
                "change": change, "steps": len(some), "unseen": sum(step.pair in self.unseen for step in some),
                "changed": median(step.changed for step in some),
                "beyond": sum(step.beyond for step in some) / len(some), "twins": some[0].twins,
                "within_noise": sum(step.beyond <= step.twins for step in some) / len(some),
                "same_truth": sum(step.same_truth for step in some),
            }
            for change, some in sorted(found.items())
        ]  # fmt: skip


def check_pairs(
    store: EpisodeReader, twins: int, least: int, device: str, progress: Callable[[int], None] = lambda done: None
) -> PairReport:
    """Compare the members of all pairs. least: changed pixels that a step must have, beyond what two seeds gave.

    twins: to render, per profile and image size. Memory: two histograms per pair. Raises RenderError, StoreError.
    """
    report, measured = PairReport(), defaultdict(list)
    noise: dict[str, list[tuple[_Histogram, _Histogram]]] = defaultdict(list)
    ids = sorted(key for key, _ in store.ids() if pair_of_id(key))
    spacing = max(sum(key.endswith("-0") for key in ids) // twins, 1)
    damage = ExportReport(damaged=report.damaged)
    for pair, some in groupby(_members(iter_valid_records(store, ids, damage, progress), progress), _pair_of):
        records = sorted(some, key=_member_of)
        report.members[pair] = [record.episode_id for record in records]
        contrast = records[0].scene.contrast
        if contrast is None or len(records) < contrast.members:
            report.incomplete.append(pair)
            continue
        group = records[0].scene.settings.model_dump_json()
        for old, new in pairwise(records):
            report.steps.append(Step(pair, contrast.change, (_member_of(old), _member_of(new)), _same_truth(old, new)))
            measured[group].append((report.steps[-1], *_differences(old, new, contrast.objects)))
        if len(measured[group]) % spacing == 1 % spacing and len(noise[group]) < twins:
            names = [item.name for frame in records[0].scene.frames for item in frame.objects]
            noise[group].append(_differences(records[0], _twin(records[0], device), names))
    for group, steps in measured.items():
        _judge(steps, noise[group], report, least)
    return report


def _members(records: Iterator[EpisodeRecord], progress: Callable[[int], None]) -> Iterator[EpisodeRecord]:
    for record in records:
        progress(1)
        if record.scene.contrast is not None:
            yield record


def _pair_of(record: EpisodeRecord) -> str:
    return record.scene.contrast.pair if record.scene.contrast else ""


def _member_of(record: EpisodeRecord) -> int:
    return record.scene.contrast.member if record.scene.contrast else 0


def _changed_images(record: EpisodeRecord) -> Sequence[ImageRecord]:
    assert record.scene.contrast is not None
    return only_images(record, [record.scene.contrast.frame]).images


def _differences(old: EpisodeRecord, new: EpisodeRecord, names: Sequence[str]) -> tuple[_Histogram, _Histogram]:
    """Histograms, (256,) each, of the largest difference of a channel.

    The first is of the pixels of the objects with these names and a margin, the second of all other pixels.
    """
    counts = np.zeros((2, 256), dtype=np.int64)
    for a, b in zip(_changed_images(old), _changed_images(new), strict=True):
        error = np.abs(a.color().astype(np.int16) - b.color()).max(axis=-1)
        inside = np.zeros(error.shape, dtype=bool)
        for item in (*a.annotation.objects, *b.annotation.objects):
            if item.name in names:
                inside |= mask_of(item)
        reach = ImageFilter.MaxFilter(2 * round(_MARGIN * a.width) + 1)
        near = np.array(Image.fromarray(inside).convert("L").filter(reach), dtype=bool)
        counts += [np.bincount(error[where], minlength=256) for where in (near, ~near)]
    return counts[0], counts[1]


def _same_truth(old: EpisodeRecord, new: EpisodeRecord) -> bool:
    """Whether the other objects of all images have equal annotations, except for what hides them."""
    contrast = new.scene.contrast
    assert contrast is not None

    def facts(image: ImageRecord, names: Sequence[str]) -> Any:
        truth = image.annotation
        kept: list[ObjectAnnotation] = [item for item in truth.objects if item.name not in names]
        relations = {
            relation: {of: [one for one in some if one not in names] for of, some in table.items() if of not in names}
            for relation, table in truth.relations.items()
        }
        return [item.model_dump(exclude=_VISIBILITY) for item in kept], relations, truth.camera, truth.directions

    return all(
        facts(a, names) == facts(b, names)
        for a, b in zip(old.images, new.images, strict=True)
        for names in [contrast.objects if a.frame == contrast.frame else ()]
    )


def _twin(record: EpisodeRecord, device: str) -> EpisodeRecord:
    """The changed frame of a record, rendered again with another seed. Raises RenderError."""
    assert record.scene.contrast is not None
    scene = only_frames(record.scene, [record.scene.contrast.frame])
    frames = tuple(frame.model_copy(update={"seed": frame.seed ^ 1}) for frame in scene.frames)
    scene = scene.model_copy(update={"frames": frames})
    settings = scene.settings
    samples = max(settings.samples, settings.glass_samples)
    limit = timeout_of(None, samples, settings.width, settings.height, len(frames[0].views)) + KERNEL_SECONDS
    return run_within(limit, f"twin of {record.episode_id}", _render, record, scene, device)


def _render(record: EpisodeRecord, scene: Scene, device: str) -> EpisodeRecord:
    renderer = make_renderer(record.job.renderer, device)
    try:
        return make_record(renderer, scene, record.job, scene.settings)
    finally:
        renderer.close()


def _judge(
    steps: Sequence[tuple[Step, _Histogram, _Histogram]],
    noise: Sequence[tuple[_Histogram, _Histogram]],
    report: PairReport,
    least: int,
) -> None:
    """Count changed pixels against the noise of twins with the same settings."""
    total = np.sum(noise, axis=(0, 1))
    level = int(np.searchsorted(np.cumsum(total), NOISE * total.sum()))

    def share(counts: _Histogram) -> float:
        return float(counts[level + 1 :].sum() / max(counts.sum(), 1))

    most = max(share(near) for near, _ in noise)
    for step, near, beyond in steps:
        step.changed, step.expected = int(near[level + 1 :].sum()), round(most * float(near.sum()), 1)
        step.beyond, step.twins = share(beyond), share(total)
        if step.changed - step.expected < least and step.pair not in report.unseen:
            report.unseen.append(step.pair)


def table(report: PairReport) -> list[str]:
    """The rows as lines of text, shares in percent."""
    head = ("change", "steps", "unseen", "changed", "beyond, %", "twins, %", "within noise, %", "same truth")
    return [
        *text_table(head, [
            (row["change"], str(row["steps"]), str(row["unseen"]), f"{row['changed']:g}", f"{100 * row['beyond']:.2f}",
             f"{100 * row['twins']:.2f}", f"{100 * row['within_noise']:.0f}", str(row["same_truth"]))
            for row in report.rows()
        ])
    ]  # fmt: skip
