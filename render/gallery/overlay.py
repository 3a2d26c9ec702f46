"""The truth of an image drawn over it: masks tinted, visible boxes solid, amodal boxes dashed, names, the fingertip."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from pycocotools import mask as coco

from render.record import RLE, Box, FrameAnnotation

_TINT = 0.35
_DASH = 4


def decode_mask(rle: RLE) -> NDArray[np.bool_]:
    """(H, W) mask of a COCO run-length encoding."""
    decoded = coco.decode({"size": list(rle.size), "counts": rle.counts.encode("ascii")})
    mask: NDArray[np.bool_] = decoded.astype(bool)
    return mask


def color_of(index: int) -> tuple[int, int, int]:
    """A colour for the index-th object (from 1), far from its neighbours'."""
    # The golden ratio spreads hues of neighbouring numbers widely.
    red, green, blue = colorsys.hsv_to_rgb((index * 0.618034) % 1.0, 0.85, 1.0)
    return (round(255 * red), round(255 * green), round(255 * blue))


def overlay(color: NDArray[np.uint8], truth: FrameAnnotation, scale: int = 2) -> Image.Image:
    """An enlarged picture with all truth drawn in. color: (H, W, 3) display values; scale: whole factor."""
    tinted = color.astype(np.float32)
    for item in truth.objects:
        mask = decode_mask(item.rle)
        tinted[mask] = (1 - _TINT) * tinted[mask] + _TINT * np.array(color_of(item.index), dtype=np.float32)
    height, width = color.shape[:2]
    picture = Image.fromarray(np.rint(tinted).astype(np.uint8)).resize(
        (width * scale, height * scale), Image.Resampling.NEAREST
    )
    draw = ImageDraw.Draw(picture)
    for item in truth.objects:
        if item.amodal_bbox is not None and item.amodal_bbox != item.bbox:
            _dashed(draw, item.amodal_bbox, scale, color_of(item.index))
        box = item.bbox or item.amodal_bbox
        if item.bbox is not None:
            x, y, w, h = (value * scale for value in item.bbox)
            draw.rectangle((x, y, x + w - 1, y + h - 1), outline=color_of(item.index))
        if box is not None:
            label = item.name if item.visible_fraction >= 0.995 else f"{item.name} {item.visible_fraction:.0%}"
            place = (box[0] * scale + 1, max(0, box[1] * scale - 11))
            draw.text(place, label, fill=color_of(item.index), stroke_width=1, stroke_fill=(0, 0, 0))
    if truth.pointer is not None:
        across, down = (value * scale for value in truth.pointer.fingertip_pixel[:2])
        draw.ellipse((across - 3, down - 3, across + 3, down + 3), outline=(255, 255, 255))
    return picture


def _dashed(draw: ImageDraw.ImageDraw, box: Box, scale: int, color: tuple[int, int, int]) -> None:
    left, top, width, height = (value * scale for value in box)
    right, bottom = left + width - 1, top + height - 1
    for x in range(left, right, 2 * _DASH):
        end = min(x + _DASH, right)
        draw.line((x, top, end, top), fill=color)
        draw.line((x, bottom, end, bottom), fill=color)
    for y in range(top, bottom, 2 * _DASH):
        end = min(y + _DASH, bottom)
        draw.line((left, y, left, end), fill=color)
        draw.line((right, y, right, end), fill=color)
