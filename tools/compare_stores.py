"""Compare truth and images of stores from two devices.

    python -m tools compare-stores A.lance B.lance

Boxes and masks may differ by pixels at edges, where devices round differently, and images by noise; `render-store diff`
compares exactly. Exit code 1 if a mask's overlap or an image's PSNR is too low, or if Scenes differ.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace

from render.annotations.compare import compare_images
from render.gallery.overlay import decode_mask
from render.model.errors import UsageError
from render.model.record import ObjectAnnotation
from render.store import open_store

MIN_OVERLAP, MIN_PSNR_DB = 0.95, 30.0


def overlap(a: ObjectAnnotation, b: ObjectAnnotation) -> float:
    """Return the intersection over union of two objects' masks, 1 if both are empty."""
    first, second = decode_mask(a.rle), decode_mask(b.rle)
    union = int((first | second).sum())
    return int((first & second).sum()) / union if union else 1.0


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("stores", nargs=2)


def main(options: Namespace) -> int:
    """Compare all episodes that both stores have. Raises UsageError if there are none."""
    stores = [open_store(url) for url in options.stores]
    names = sorted({name for name, _ in stores[0].ids()} & {name for name, _ in stores[1].ids()})
    if not names:
        raise UsageError("the stores have no episode in common")
    decibels: list[float] = []
    overlaps: list[float] = []
    scenes = 0
    for name in names:
        first, second = (store.get(name) for store in stores)
        scenes += first.scene != second.scene
        for a, b in zip(first.images, second.images, strict=True):
            decibels.append(compare_images(a, b).psnr)
            overlaps += [overlap(x, y) for x, y in zip(a.annotation.objects, b.annotation.objects, strict=True)]
    worst, least = min(decibels), min(overlaps, default=1.0)
    print(f"{len(names)} episodes, {len(decibels)} images, {scenes} Scenes differ")
    print(f"PSNR: median {statistics.median(decibels):.1f} dB, worst {worst:.1f} dB")
    print(f"masks: {overlaps.count(1.0)} of {len(overlaps)} equal, least overlap {least:.4f}")
    return int(worst < MIN_PSNR_DB or least < MIN_OVERLAP or scenes > 0)
