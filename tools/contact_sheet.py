"""All pictures below a folder on one sheet, each with its name: `python tools/contact_sheet.py FOLDER SHEET.png`."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

MARGIN = 6
CAPTION = 16
PAPER = (255, 255, 255)
INK = (40, 40, 40)


def pictures_below(folder: Path, sheet: Path) -> list[Path]:
    """PNG files below `folder` in the order of their names, without `sheet` itself."""
    return sorted(path for path in folder.rglob("*.png") if path.resolve() != sheet.resolve())


def make_sheet(
    paths: list[Path], names: list[str], columns: int, scale: float, largest: int | None = None
) -> Image.Image:
    """Paste the pictures row by row.

    paths: PNG files, at least one; names: the caption of each; columns: pictures a row; scale: their size on the sheet.
    largest: pixels that the longer side may have there; one of 1024 beside many of 320 would leave those lost in paper.
    Cells have the size of the largest picture, so that rows and columns line up.
    """
    pictures = [shrunk(path, scale) for path in paths]
    if largest is not None:
        for picture in pictures:
            picture.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    width = max(picture.width for picture in pictures) + MARGIN
    height = max(picture.height for picture in pictures) + MARGIN + CAPTION
    columns = min(columns, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    sheet = Image.new("RGB", (columns * width + MARGIN, rows * height + MARGIN), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=11)
    for k, (picture, name) in enumerate(zip(pictures, names, strict=True)):
        x, y = MARGIN + k % columns * width, MARGIN + k // columns * height
        sheet.paste(picture, (x, y + CAPTION))
        draw.text((x, y), fitting(name, width - MARGIN, font), fill=INK, font=font)
    return sheet


def shrunk(path: Path, scale: float) -> Image.Image:
    """One picture as RGB, made `scale` times as large; a high bit depth is shown at eight bits."""
    with Image.open(path) as opened:
        picture: Image.Image = opened
        if picture.mode.startswith(("I", "F")):
            low, high = (float(v) for v in picture.getextrema()[:2])  # type: ignore[arg-type]
            stretch = 255 / (high - low) if high > low else 0.0
            picture = picture.convert("F").point(lambda value: (value - low) * stretch)
            picture = picture.convert("L")
        picture = picture.convert("RGB")
    if scale == 1:
        return picture
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, Image.Resampling.LANCZOS)


def fitting(name: str, width: int, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> str:
    """`name`, its front cut away until it is at most `width` pixels wide: what differs stands at the end."""
    if font.getlength(name) <= width:
        return name
    while name and font.getlength("..." + name) > width:
        name = name[1:]
    return "..." + name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="All pictures below a folder on one sheet, each with its name.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("sheet", type=Path, help="PNG file to write")
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--scale", type=float, default=1.0, help="size of each picture on the sheet, 1 as it is")
    parser.add_argument("--largest", type=int, metavar="PIXELS", help="shrink what is longer than that on the sheet")
    given = parser.parse_args(arguments)
    if given.largest is not None and given.largest < 1:
        parser.error("--largest must be above 0")
    if given.columns < 1 or given.scale <= 0:
        parser.error("--columns and --scale must be above 0")
    paths = pictures_below(given.folder, given.sheet)
    if not paths:
        sys.stderr.write(f"contact_sheet: no .png below {given.folder}: nothing to show\n")
        return 1
    names = [path.relative_to(given.folder).with_suffix("").as_posix() for path in paths]
    given.sheet.parent.mkdir(parents=True, exist_ok=True)
    make_sheet(paths, names, given.columns, given.scale, given.largest).save(given.sheet, format="PNG")
    return 0


if __name__ == "__main__":
    sys.exit(main())
