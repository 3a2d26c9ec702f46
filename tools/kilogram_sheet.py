"""Draw a sheet of tangrams without rendering.

    python -m tools kilogram-sheet SHEET.png [--svg DIR] [--pieces]

Shows our tangrams, colored by the parts of their first description, with its name for the figure, or the drawings of a
folder. `--pieces` colors and numbers the pieces instead: the sheet from which descriptions are written.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from render.gallery.tile_grid import Tile, tile_grid
from render.model.errors import UsageError
from scene_specs.benchmarks.kilogram.annotations import Annotation
from scene_specs.benchmarks.kilogram.dataset import own_dataset, read_drawings
from scene_specs.benchmarks.kilogram.examples import COLORS, RGB, whole_example
from scene_specs.benchmarks.kilogram.figure import Figure
from scene_specs.benchmarks.kilogram.pieces import PIECES

MARGIN = 8
FONT_SIZE = 10
# Drawn at this scale and then reduced, because Pillow draws without antialiasing.
SUPERSAMPLING = 3
_BY_PIECE = [RGB[name] for name in COLORS]


def tangram_tile(figure: Figure, annotation: Annotation | None, side: int) -> Tile:
    """Draw one tangram with its caption; without an annotation, its pieces with their numbers."""
    inner = (side - 2 * MARGIN) * SUPERSAMPLING
    picture = Image.new("RGB", (side * SUPERSAMPLING, side * SUPERSAMPLING), "white")
    draw = ImageDraw.Draw(picture)
    colors = [RGB[name] for name in whole_example(annotation, 0).colors("part+color")] if annotation else _BY_PIECE
    offset = MARGIN * SUPERSAMPLING
    placed = [[(x + offset, y + offset) for x, y in polygon] for polygon in figure.placed(inner)]
    for polygon, color in zip(placed, colors, strict=True):
        draw.polygon(polygon, fill=color, outline="white", width=SUPERSAMPLING)
    small = picture.resize((side, side), Image.Resampling.LANCZOS)
    if annotation is not None:
        return Tile(small, f"{figure.name.removeprefix('own-')} {annotation.whole}")
    draw = ImageDraw.Draw(small)
    for piece, polygon in zip(PIECES, placed, strict=True):
        x, y = (sum(corner[axis] for corner in polygon) / len(polygon) / SUPERSAMPLING for axis in (0, 1))
        draw.text((x, y), str(piece), fill="black", font=ImageFont.load_default(FONT_SIZE), anchor="mm")
    return Tile(small, figure.name)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--svg", type=Path, help="folder of drawings to show instead of ours")
    parser.add_argument("--pieces", action="store_true", help="color and number the pieces, without descriptions")
    parser.add_argument("--columns", type=int, default=14)
    parser.add_argument("--side", type=int, default=116, help="size of a tangram, pixels")


def main(options: Namespace) -> None:
    """Write the sheet. Raises UsageError if the folder has no drawing."""
    dataset = own_dataset()
    figures = list((dataset.figures if options.svg is None else read_drawings(options.svg)[0]).values())
    if not figures:
        raise UsageError(f"{options.svg}: found no readable drawing")
    named = options.svg is None and not options.pieces
    annotations = [dataset.annotations[figure.name][0] if named else None for figure in figures]
    tiles = [tangram_tile(figure, each, options.side) for figure, each in zip(figures, annotations, strict=True)]
    tile_grid(tiles, options.columns, gap=0, font_size=FONT_SIZE).save(options.sheet, quality=88)
