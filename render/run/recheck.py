"""Rendering episodes twice, to find devices that render wrong images without an error: a sample, and doubted ones."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain

from diorama.render.annotations.compare import compare_records
from diorama.render.episode.plausibility import is_cpu
from diorama.render.run.slot import Slot
from diorama.render.run.worker import Done, Failure, Task
from diorama.render.store.rows import decode, record_of
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord

# Between devices whose arithmetic differs: levels, dB, and pixels of an object.
MOST_MEAN_ERROR, LEAST_PSNR, MOST_PIXELS, MOST_SHARE = 1.0, 30.0, 5, 0.02


def is_sampled(episode_id: str, one_in: int | None) -> bool:
    """Return whether an episode is among the one in `one_in` that are rendered twice; decided by its id alone."""
    digest = hashlib.sha256(f"recheck {episode_id}".encode()).digest()
    return one_in is not None and int.from_bytes(digest[:8], "big") % one_in == 0


def may_take(slots: Sequence[Slot], slot: Slot, task: Task) -> bool:
    """Return whether a worker may have a task: a second render needs another GPU or, if there is none, worker.

    A second render by the CPU is for a worker of the GPU that it is to judge.
    """
    if task.first is None:
        return True
    number, card = task.first_on
    staying = [other for other in slots if not other.leaving]
    # It gets no worker of a GPU on which it failed while there is another.
    usable = [other for other in staying if other.card not in task.failed_on] or staying
    if task.by_cpu:
        return slot.card == card or all(other.card != card for other in usable)
    if any(other.card != card for other in usable):
        return slot.card != card
    return slot.number != number or all(other.number == number for other in usable)


def judge(first: Done, again: Done) -> Failure | None:
    """Return why an episode fails, None if its two renders are the same."""
    one, other = (record_of(row) for row in decode([first.row, again.row]).to_pylist())
    if not (problem := difference(one, other)):
        return None
    where = f"rendered on {first.device} and again on {again.device}, it differs: {problem}; nothing was stored"
    return Failure(first.episode_id, "Recheck", f"episode {first.episode_id}: {where}")


def difference(first: EpisodeRecord, again: EpisodeRecord) -> str:
    """Return how two renders of one episode differ more than they may; "" if they don't.

    Renders on processors of one kind, with the same versions, must be equal. On GPUs, and between kinds of processors,
    mean and PSNR of each image and the pixels of each object have the tolerances of this module.
    """
    comparison = compare_records(first, again)
    on_gpu = any(not is_cpu(record.provenance.device) for record in (first, again))
    if not comparison.changed and not on_gpu:
        if first.digest() == again.digest() and comparison.identical:
            return ""
        return next((image.line() for image in comparison.images if not image.identical), "passes or truth differ")
    for image in comparison.images:
        if image.mean > MOST_MEAN_ERROR or image.psnr < LEAST_PSNR:
            return image.pixel_errors()
    return next(chain.from_iterable(map(_pixel_differences, first.images, again.images)), "")


def _pixel_differences(one: ImageRecord, other: ImageRecord) -> list[str]:
    return [
        f"{one.name}: object {a.name!r} has {a.visible_pixels} pixels, and then {b.visible_pixels}"
        for a, b in zip(one.annotation.objects, other.annotation.objects, strict=True)
        if abs(a.visible_pixels - b.visible_pixels) > MOST_PIXELS + MOST_SHARE * max(a.visible_pixels, b.visible_pixels)
    ]
