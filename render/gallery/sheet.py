"""A whole episode as one picture: every image with its truth drawn over it, utterances, options, answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image, ImageDraw

from render.gallery.overlay import overlay
from render.gallery.text import FAINT, INK, PAPER, font, wrapped
from render.model.png import decode_png
from render.model.record import EpisodeRecord, ImageRecord

_GAP = 12
_LINE = 19
_HEAD = 22
# Up to so many images are shown so wide; the picture stays below about 8,000 pixels a side for any number.
_WIDTHS = ((4, 640), (12, 480), (40, 320), (200, 160))
_LEAST_WIDTH = 64
_WIDEST = 3
_MOST = 2000


@dataclass(frozen=True)
class _Tile:
    picture: Image.Image
    lines: list[str]


def sheet(record: EpisodeRecord) -> Image.Image:
    """One RGB picture of all images of an episode, in their order, with boxes, masks and names; the task above.

    Images of any sizes are shown at one width, chosen by their number; of more than 2,000 the first are shown.
    """
    width = _tile_width(record)
    tiles = [_tile(image, _utterance(record, image), width) for image in record.images[:_MOST]]
    columns = _columns(len(tiles), width)
    across = columns * (width + _GAP) + _GAP
    head = _head(record, across - 2 * _GAP)
    rows = [tiles[k : k + columns] for k in range(0, len(tiles), columns)]
    heights = [max(t.picture.height + _LINE * len(t.lines) for t in row) + _GAP for row in rows]
    top = _GAP + _HEAD + _LINE * (len(head) - 1) + _GAP // 2
    whole = Image.new("RGB", (across, top + sum(heights)), PAPER)
    draw = ImageDraw.Draw(whole)
    draw.text((_GAP, _GAP), head[0], fill=INK, font=font(17))
    for number, line in enumerate(head[1:]):
        draw.text((_GAP, _GAP + _HEAD + number * _LINE), line, fill=FAINT, font=font(14))
    for row, height in zip(rows, heights, strict=True):
        for column, tile in enumerate(row):
            left = _GAP + column * (width + _GAP)
            whole.paste(tile.picture, (left, top))
            for number, line in enumerate(tile.lines):
                place = (left, top + tile.picture.height + 2 + number * _LINE)
                draw.text(place, line, fill=FAINT if number else INK, font=font(14))
        top += height
    return whole


def _tile_width(record: EpisodeRecord) -> int:
    count = len(record.images)
    wide = next((width for most, width in _WIDTHS if count <= most), _LEAST_WIDTH)
    largest = max((image.width for image in record.images), default=wide)
    # Small pictures are enlarged, but not into a few huge pixels.
    return max(_LEAST_WIDTH, min(wide, largest * _WIDEST))


def _columns(count: int, width: int) -> int:
    """Few images go in few columns; many make a sheet that is about as wide as high."""
    return max(1, min(count, max(1920 // width, math.ceil(math.sqrt(count)))) if count != 4 else 2)


def _utterance(record: EpisodeRecord, image: ImageRecord) -> str | None:
    return next((frame.utterance for frame in record.scene.frames if frame.name == image.frame), None)


def _tile(image: ImageRecord, utterance: str | None, width: int) -> _Tile:
    # Drawn at a whole factor near the size wanted, so that lines and letters stay sharp.
    scale = max(1, round(width / image.width))
    picture = overlay(decode_png(image.png), image.annotation, scale, tint=False)
    if picture.width != width:
        picture = picture.resize(
            (width, max(1, round(picture.height * width / picture.width))), Image.Resampling.LANCZOS
        )
    lines = wrapped(image.name, width, font(14), 1)
    return _Tile(picture, lines + (wrapped(utterance, width, font(14), 4) if utterance else []))


def _head(record: EpisodeRecord, width: float) -> list[str]:
    """The id, then what it is, then what its task asks."""
    settings, task = record.scene.settings, record.scene.task or {}
    kind = "/".join(str(task[key]) for key in ("benchmark", "name") if task.get(key) is not None)
    facts = [kind, record.scene.split, settings.profile, f"{settings.width} x {settings.height}"]
    lines = [*wrapped(record.episode_id, width, font(17), 1), " · ".join(str(fact) for fact in facts if fact)]
    for key in ("instruction", "question", "options", "answer"):
        value = task.get(key)
        if value is None:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        lines += wrapped(f"{key}: {text}", width, font(14), 3)
    hidden = len(record.images) - _MOST
    return [*lines, f"and {hidden} more images"] if hidden > 0 else lines
