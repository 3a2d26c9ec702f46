"""Annotations drawn over an image: masks tinted, amodal masks striped, boxes, names, the fingertip.

Boxes around visible parts are solid, amodal boxes dashed.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from diorama.render.uses.draw.typography import font
from diorama.scene_specs.model.record import Box, FrameAnnotation

Color = tuple[int, int, int]

_TINT = 0.35
_DASH = 4
_STRIPE = 5
_PLATE = (24, 26, 28)
_NAME = (245, 246, 248)


def color_of(index: int) -> Color:
    """Return an RGB color for object `index` (from 1) that differs from those of neighboring indices."""
    # Multiples of the golden ratio spread the hues of consecutive numbers.
    red, green, blue = colorsys.hsv_to_rgb((index * 0.618034) % 1.0, 0.85, 1.0)
    return (round(255 * red), round(255 * green), round(255 * blue))


def overlay(color: NDArray[np.uint8], truth: FrameAnnotation, scale: int = 2, tint: bool = True) -> Image.Image:
    """Draw all annotations over an enlarged image.

    Args:
        color: (H, W, 3) display values.
        scale: integer factor.
        tint: tint the masks; otherwise only their outlines are drawn, and the objects keep their colors.
    """
    tinted = color.astype(np.float32)
    for item in truth.objects if tint else ():
        mask = item.rle.mask()
        tinted[mask] = (1 - _TINT) * tinted[mask] + _TINT * np.array(color_of(item.index), dtype=np.float32)
        if item.amodal_rle is not None:
            # Hidden parts are striped, because the object in front of them keeps its tint.
            hidden = item.amodal_rle.mask() & ~mask & (np.add(*np.indices(mask.shape)) % _STRIPE == 0)
            tinted[hidden] = color_of(item.index)
    pixels = np.rint(tinted).astype(np.uint8).repeat(scale, axis=0).repeat(scale, axis=1)
    for item in truth.objects if not tint else ():
        pixels[_mask_border(item.rle.mask().repeat(scale, axis=0).repeat(scale, axis=1))] = color_of(item.index)
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    for item in truth.objects:
        if item.amodal_bbox is not None and item.amodal_bbox != item.bbox:
            _draw_dashed_box(draw, item.amodal_bbox, scale, color_of(item.index))
        if item.bbox is not None:
            x, y, w, h = (value * scale for value in item.bbox)
            draw.rectangle((x, y, x + w - 1, y + h - 1), outline=color_of(item.index))
    # Names last, so that no box crosses one.
    taken: list[Box] = []
    for item in truth.objects:
        if (box := item.bbox or item.amodal_bbox) is not None:
            label = item.name if item.visible_fraction >= 0.995 else f"{item.name} {item.visible_fraction:.0%}"
            x, y, w, h = (value * scale for value in box)
            taken.append(_draw_label(draw, (x, y, w, h), label, picture.size, color_of(item.index), taken))
    if truth.pointer is not None:
        across, down = (value * scale for value in truth.pointer.fingertip_pixel[:2])
        draw.ellipse((across - 3, down - 3, across + 3, down + 3), outline=(255, 255, 255))
    return picture


def _mask_border(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the pixels of a mask next to other pixels or to the image border."""
    padded = np.pad(mask, 1)
    inner = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    border: NDArray[np.bool_] = mask & ~inner
    return border


def _draw_label(
    draw: ImageDraw.ImageDraw, box: Box, text: str, size: tuple[int, int], color: Color, taken: Sequence[Box]
) -> Box:
    """Draw a name on a dark plate at a corner of its box, preferably a free one; return the plate."""
    letter = font(12)
    width, height = round(letter.getlength(text)) + 6, 15
    left, right = box[0], box[0] + box[2] - width
    above, below = box[1] - height, box[1] + box[3]
    corners = [(left, above), (right, above), (left, below), (right, below), (left, box[1] + 1)]
    plates = [
        (max(0, min(x, size[0] - width)), max(0, min(y, size[1] - height)), width, height)
        for x, y in corners
        if 0 <= y <= size[1] - height or (x, y) == corners[-1]
    ]
    x, y, _, _ = plate = next((p for p in plates if not any(_overlap(p, other) for other in taken)), plates[0])
    draw.rectangle((x, y, x + width - 1, y + height - 1), fill=_PLATE)
    draw.rectangle((x, y, x + 1, y + height - 1), fill=color)
    draw.text((x + 4, y), text, fill=_NAME, font=letter)
    return plate


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _draw_dashed_box(draw: ImageDraw.ImageDraw, box: Box, scale: int, color: Color) -> None:
    left, top, width, height = (value * scale for value in box)
    right, bottom = left + width - 1, top + height - 1
    for x in range(left, right, 2 * _DASH):
        for y in (top, bottom):
            draw.line((x, y, min(x + _DASH, right), y), fill=color)
    for y in range(top, bottom, 2 * _DASH):
        for x in (left, right):
            draw.line((x, y, x, min(y + _DASH, bottom)), fill=color)
