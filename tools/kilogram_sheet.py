"""A sheet of tangrams, drawn without rendering: `python -m tools.kilogram_sheet SHEET.png [--svg DIR] [--pieces]`.

Ours, colored by the parts of their first description and called by its whole; or the drawings of a folder. `--pieces`
colors and numbers the pieces instead: the sheet by which descriptions are written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from scene_specs.benchmarks.kilogram.annotations import Annotation
from scene_specs.benchmarks.kilogram.dataset import own_dataset, read_drawings
from scene_specs.benchmarks.kilogram.examples import COLORS, RGB, whole_example
from scene_specs.benchmarks.kilogram.figure import Figure
from scene_specs.benchmarks.kilogram.pieces import PIECES

CAPTION = 16
MARGIN = 8
# Drawn larger and made smaller again: Pillow draws without blended edges.
FINER = 3
_BY_PIECE = [RGB[name] for name in COLORS]


def cell(figure: Figure, annotation: Annotation | None, side: int) -> Image.Image:
    """One tangram with its caption; by pieces, with their numbers, where there is no annotation."""
    inner = (side - 2 * MARGIN) * FINER
    picture = Image.new("RGB", (side * FINER, (side + CAPTION) * FINER), "white")
    draw = ImageDraw.Draw(picture)
    colors = [RGB[name] for name in whole_example(annotation, 0).colors("part+color")] if annotation else _BY_PIECE
    placed = [[(x + MARGIN * FINER, y + MARGIN * FINER) for x, y in one] for one in figure.placed(inner)]
    for polygon, color in zip(placed, colors, strict=True):
        draw.polygon(polygon, fill=color, outline="white", width=FINER)
    small = picture.resize((side, side + CAPTION), Image.Resampling.LANCZOS)
    draw = ImageDraw.Draw(small)
    font = ImageFont.load_default(10)
    if annotation is None:
        for piece, polygon in zip(PIECES, placed, strict=True):
            middle = tuple(sum(corner[k] for corner in polygon) / len(polygon) / FINER for k in (0, 1))
            draw.text((middle[0], middle[1]), str(piece), fill="black", font=font, anchor="mm")
    text = f"{figure.name.removeprefix('own-')} {annotation.whole}" if annotation else figure.name
    draw.text((side // 2, side + CAPTION // 2), text, fill="black", font=font, anchor="mm")
    return small


def sheet(figures: list[Figure], annotations: list[Annotation | None], columns: int, side: int) -> Image.Image:
    """All of them, row by row."""
    rows = -(-len(figures) // columns)
    made = Image.new("RGB", (columns * side, rows * (side + CAPTION)), "white")
    for number, (figure, annotation) in enumerate(zip(figures, annotations, strict=True)):
        at = (number % columns * side, number // columns * (side + CAPTION))
        made.paste(cell(figure, annotation, side), at)
    return made


def main() -> int:
    """Write the sheet; exit code 2 where the folder has no drawing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--svg", type=Path, help="folder of drawings instead of our own")
    parser.add_argument("--pieces", action="store_true", help="colors and numbers of pieces, no description")
    parser.add_argument("--columns", type=int, default=14)
    parser.add_argument("--side", type=int, default=116, help="pixels of a tangram")
    given = parser.parse_args()
    dataset = own_dataset()
    figures = list((dataset.figures if given.svg is None else read_drawings(given.svg)[0]).values())
    if not figures:
        sys.stderr.write(f"{given.svg}: no drawing that can be read\n")
        return 2
    named = given.svg is None and not given.pieces
    annotations = [dataset.annotations[figure.name][0] if named else None for figure in figures]
    sheet(figures, annotations, given.columns, given.side).save(given.sheet, quality=88)
    return 0


if __name__ == "__main__":
    sys.exit(main())
