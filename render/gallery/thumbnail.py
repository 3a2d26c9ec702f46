"""The thumbnail of an episode: its images side by side."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from PIL import Image

from diorama.scene_specs.language.pictures import DAMAGED, open_png

# Twice the size of a card in the gallery, for screens with a device pixel ratio of 2.
SIZE = (480, 360)
_MAX_IMAGES = 9
_GAP = 6
_QUALITY = 78


def grid_of(count: int, aspect: float) -> tuple[int, int, int, int]:
    """(columns, rows, cell width, cell height) for `count` images of one aspect (width / height), as large as fit."""
    grids = []
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        space = ((SIZE[0] - _GAP * (columns - 1)) / columns, (SIZE[1] - _GAP * (rows - 1)) / rows)
        width = min(space[0], space[1] * aspect)
        grids.append((columns, rows, max(1, int(width)), max(1, int(width / aspect))))
    return max(grids, key=lambda grid: grid[2] * grid[3], default=(1, count, 1, 1))


def thumbnail(pngs: Sequence[bytes]) -> bytes:
    """Encode the first nine images as one WebP of at most SIZE pixels; a PNG that can't be decoded leaves a gap."""
    pictures = [_opened(png) for png in pngs[:_MAX_IMAGES]]
    first = next((picture for picture in pictures if picture), Image.new("RGB", (4, 3)))
    columns, rows, width, height = grid_of(len(pictures), first.width / first.height)
    if width > first.width:
        # Enlarging adds bytes without detail; the page can enlarge.
        width, height = first.size
    sheet = Image.new("RGBA", (columns * (width + _GAP) - _GAP, rows * (height + _GAP) - _GAP))
    for number, picture in enumerate(pictures):
        if picture is None:
            continue
        small = picture.resize(_inside(picture.size, (width, height)), Image.Resampling.BOX, reducing_gap=2.0)
        left = (number % columns) * (width + _GAP) + (width - small.width) // 2
        top = (number // columns) * (height + _GAP) + (height - small.height) // 2
        sheet.paste(small, (left, top))
    out = io.BytesIO()
    sheet.save(out, "WEBP", quality=_QUALITY, method=2)
    return out.getvalue()


def _opened(png: bytes) -> Image.Image | None:
    try:
        with open_png(png) as picture:
            return picture.convert("RGB")
    except DAMAGED:
        return None


def _inside(size: tuple[int, int], cell: tuple[int, int]) -> tuple[int, int]:
    factor = min(cell[0] / size[0], cell[1] / size[1])
    return (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))
