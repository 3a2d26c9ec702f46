"""How the episodes of two stores differ, in truth and in pictures: python tools/compare_stores.py A.lance B.lance

Boxes and masks may differ by the pixels at edges where another device rounds otherwise; pictures by noise.
"""

from __future__ import annotations

import logging
import statistics
import sys

from pycocotools import mask as coco

from render.annotations.compare import compare_images
from render.model.record import ObjectAnnotation
from render.store import open_store

log = logging.getLogger("compare")

LEAST_OVERLAP, LEAST_PSNR = 0.95, 30.0


def overlap(a: ObjectAnnotation, b: ObjectAnnotation) -> float:
    """Intersection over union of two objects' masks, 1 if both are empty."""
    masks = [coco.decode({"size": list(o.rle.size), "counts": o.rle.counts.encode()}).astype(bool) for o in (a, b)]
    union = int((masks[0] | masks[1]).sum())
    return int((masks[0] & masks[1]).sum()) / union if union else 1.0


def main() -> int:
    """Compare all episodes that both have. Exit code 1 beyond LEAST_OVERLAP or LEAST_PSNR (dB), or if Scenes differ."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    stores = [open_store(url) for url in sys.argv[1:3]]
    names = sorted({name for name, _ in stores[0].ids()} & {name for name, _ in stores[1].ids()})
    if not names:
        log.error("the stores have no episode in common")
        return 1
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
    log.info("%d episodes, %d images, %d Scenes differ", len(names), len(decibels), scenes)
    log.info("PSNR: median %.1f dB, worst %.1f dB", statistics.median(decibels), worst)
    log.info("masks: %d of %d equal, least overlap %.4f", overlaps.count(1.0), len(overlaps), least)
    return int(worst < LEAST_PSNR or least < LEAST_OVERLAP or scenes > 0)


if __name__ == "__main__":
    sys.exit(main())
