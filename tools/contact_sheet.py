"""Draw all images in a folder on one sheet.

python -m tools contact-sheet FOLDER SHEET.png [--columns 4] [--largest PIXELS]
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image, ImageFont

from diorama.render.draw.tile_grid import Tile, tile_grid
from diorama.render.draw.typography import fitting
from tools.programs import positive

FONT_SIZE = 11


def images_in(folder: Path, sheet: Path) -> list[Path]:
    """Return the PNG files in `folder` and its subfolders, sorted by name, without `sheet` itself."""
    return sorted(path for path in folder.rglob("*.png") if path.resolve() != sheet.resolve())


def load(path: Path, largest: int | None) -> Image.Image:
    """Return one image as RGB; a high bit depth is stretched to eight bits.

    largest: maximum length of the longer side, pixels; otherwise one large image would spread the small ones.
    """
    with Image.open(path) as opened:
        image: Image.Image = opened
        if image.mode.startswith(("I", "F")):
            low, high = (float(v) for v in image.getextrema()[:2])  # type: ignore[arg-type]
            stretch = 255 / (high - low) if high > low else 0.0
            image = image.convert("F").point(lambda value: (value - low) * stretch)
            image = image.convert("L")
        image = image.convert("RGB")
    if largest is not None:
        image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    return image


def fit_end(name: str, width: int) -> str:
    """Cut the front of `name` until it is at most `width` pixels wide: names differ at the end."""
    return fitting(name[::-1], width, ImageFont.load_default(FONT_SIZE))[::-1]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("sheet", type=Path, help="PNG file to write")
    parser.add_argument("--columns", type=positive, default=4)
    parser.add_argument("--largest", type=positive, metavar="PIXELS", help="shrink longer images to this length")


def main(options: Namespace) -> int:
    """Write the sheet. Returns 1 if there are no images."""
    paths = images_in(options.folder, options.sheet)
    if not paths:
        sys.stderr.write(f"error: {options.folder}: found no .png files in this folder\n")
        return 1
    names = [path.relative_to(options.folder).with_suffix("").as_posix() for path in paths]
    images = [load(path, options.largest) for path in paths]
    width = max(image.width for image in images)
    tiles = [Tile(image, fit_end(name, width)) for image, name in zip(images, names, strict=True)]
    options.sheet.parent.mkdir(parents=True, exist_ok=True)
    tile_grid(tiles, options.columns, gap=6, font_size=FONT_SIZE).save(options.sheet, format="PNG")
    return 0
