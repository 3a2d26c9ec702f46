"""Draw all images in a folder on one sheet.

python -m tools contact-sheet FOLDER SHEET.png [--columns 4] [--largest PIXELS]
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image, ImageFont

from diorama.render.uses.draw.tile_grid import Tile, tile_grid
from diorama.render.uses.draw.typography import fitting
from tools.programs import positive

FONT_SIZE = 11


def load(path: Path, largest: int | None) -> Image.Image:
    """Return one image as RGB; a high bit depth is stretched to eight bits.

    largest: maximum length of the longer side, pixels; otherwise one large image would spread the small ones.
    """
    with Image.open(path) as opened:
        image: Image.Image = opened
        if image.mode.startswith(("I", "F")):
            low, high = (float(v) for v in image.getextrema()[:2])  # type: ignore[arg-type]
            stretch = 255 / (high - low) if high > low else 0.0
            image = image.convert("F").point(lambda value: (value - low) * stretch).convert("L")
        image = image.convert("RGB")
    if largest is not None:
        image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    return image


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("sheet", type=Path, help="PNG file to write")
    parser.add_argument("--columns", type=positive, default=4)
    parser.add_argument("--largest", type=positive, metavar="PIXELS", help="shrink longer images to this length")


def main(options: Namespace) -> int:
    """Write the sheet. Returns 1 if there are no images."""
    paths = sorted(path for path in options.folder.rglob("*.png") if path.resolve() != options.sheet.resolve())
    if not paths:
        sys.stderr.write(f"error: {options.folder}: found no .png files in this folder\n")
        return 1
    names = [path.relative_to(options.folder).with_suffix("").as_posix() for path in paths]
    images = [load(path, options.largest) for path in paths]
    width = max(image.width for image in images)
    # What is cut is the front of a name: names differ at the end.
    ends = [fitting(name[::-1], width, ImageFont.load_default(FONT_SIZE))[::-1] for name in names]
    tiles = [Tile(image, end) for image, end in zip(images, ends, strict=True)]
    options.sheet.parent.mkdir(parents=True, exist_ok=True)
    tile_grid(tiles, options.columns, gap=6, font_size=FONT_SIZE).save(options.sheet, format="PNG")
    return 0
