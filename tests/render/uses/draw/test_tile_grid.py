"""Grids of images: each image and caption in its place, text inside the grid."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from diorama.render.uses.draw.tile_grid import Tile, tile_grid


def solid(width: int, height: int, level: int) -> Image.Image:
    return Image.new("RGB", (width, height), (level, level, level))


def test_tiles_stand_in_rows_and_columns_of_the_largest() -> None:
    tiles = [Tile(solid(40, 30, 10)), Tile(solid(60, 20, 20)), Tile(solid(50, 50, 30))]
    grid = tile_grid(tiles, columns=2, gap=4)
    assert grid.size == (2 * (60 + 4) + 4, 4 + (30 + 4) + (50 + 4))
    pixels = np.asarray(grid)[:, :, 0]
    assert (pixels[4:34, 4:44] == 10).all()
    assert (pixels[4:24, 68:128] == 20).all()
    assert (pixels[38:88, 4:54] == 30).all()
    assert (pixels[:4] == 255).all() and (pixels[88:] == 255).all()


@pytest.mark.parametrize("text", [{"caption": "a cube"}, {"note": "a cube " * 30}])
def test_captions_are_below_the_image_and_inside_the_column(text: dict[str, str]) -> None:
    plain = tile_grid([Tile(solid(80, 10, 255))], columns=1, gap=6)
    drawn = np.asarray(tile_grid([Tile(solid(80, 10, 255), **text)], columns=1, gap=6))[:, :, 0]
    assert drawn.shape[0] > plain.height
    rows, columns = np.nonzero(drawn < 255)
    assert rows.min() >= 16 and columns.min() >= 6 and columns.max() < 86


def test_title_and_notes_are_above_the_tiles() -> None:
    plain = tile_grid([Tile(solid(200, 10, 0))], columns=3, gap=6)
    titled = tile_grid([Tile(solid(200, 10, 0))], columns=3, gap=6, title="sheet/1", notes=["one", "two"])
    assert titled.width == plain.width and titled.height > plain.height
    assert np.array_equal(np.asarray(titled)[-16:], np.asarray(plain)[-16:])


def test_no_tiles_give_an_empty_grid() -> None:
    assert tile_grid([], columns=3, gap=5).size == (11, 5)
