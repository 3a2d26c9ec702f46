"""What the pictures of a rendered KiloGram episode show: the color that most pixels of each piece have."""

from __future__ import annotations

import numpy as np
from pycocotools import mask as coco

from render.model.png import decode_png
from render.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from scene_specs.benchmarks.kilogram.emit import TABLE_RGB
from scene_specs.benchmarks.kilogram.examples import RGB
from scene_specs.benchmarks.kilogram.verify import find_contradiction
from scene_specs.language.stage import load_stage
from scene_specs.language.vocabulary import linear_of_srgb


def _shown(item: ObjectAnnotation, image: ImageRecord) -> str:
    """The color of most of a piece's pixels, by its name where it is one of KiloGram's."""
    if not item.visible_pixels:
        return "nowhere to be seen"
    pixels = decode_png(image.png)
    mask = coco.decode({"size": list(item.rle.size), "counts": item.rle.counts.encode()}).astype(bool)
    colors, counts = np.unique(pixels[mask], axis=0, return_counts=True)
    most = tuple(map(int, colors[int(counts.argmax())]))
    return next((name for name, rgb in RGB.items() if rgb == most), f"{most}")


def _painted(item: ObjectAnnotation) -> str:
    """The color that a piece on the table was painted in: light decides what its pixels are."""
    if not item.visible_pixels:
        return "nowhere to be seen"
    for name, rgb in TABLE_RGB.items():
        if np.allclose(item.color_linear, linear_of_srgb(rgb), atol=1e-5):
            return name
    return f"{item.color_linear}"


def verify_record(record: EpisodeRecord) -> str:
    """Why a rendered episode contradicts itself, judged by its pixels where the stage is flat; "" if it does not."""
    flat = load_stage(record.scene.stage).pixels == "center"
    images = {image.frame: image for image in record.images}
    frames = []
    for frame in record.scene.frames:
        image = images[frame.name]
        colors = {item.name: _shown(item, image) if flat else _painted(item) for item in image.annotation.objects}
        frames.append({"name": frame.name, "utterance": frame.utterance, "truth": frame.truth, "colors": colors})
    return find_contradiction(record.scene.task or {}, frames)
