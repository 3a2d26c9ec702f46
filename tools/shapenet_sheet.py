"""Models of a ShapeNet-layout library on one sheet, rendered as the `studio` stage shows them.

    python -m tools.shapenet_sheet OUT.jpg [all | CATEGORY | CATEGORY/MODEL ...] [--root DIR] [--size 112]
        [--yaw 30 --yaw 150 ...] [--elevation 25] [--columns 8] [--background 0,0,0] [--captions] [--cells FOLDER]

Without --root the packaged library is shown. Each model has a row of its own views side by side; `--columns` counts
pictures. --cells also writes every picture by itself, as CATEGORY_NUMBER_YAW.png. A .jpg is kept below 400 kB.
"""

from __future__ import annotations

import argparse
import io
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

import render
from render.geometry.shapenet import library
from render.geometry.shapenet.library import ROOT
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from scene_specs.language.model_names import word_of

CAPTION = 14
LARGEST = 400_000
QUALITIES = (92, 88, 84, 78, 72, 66, 60, 50, 40)


def names_of(wanted: list[str]) -> list[str]:
    """`category/#n` of everything that was asked for, in order."""
    source = library()
    names = []
    for word in source.categories() if "all" in wanted else wanted:
        if "/" in word:
            names.append(word)
        else:
            names += [f"{word}/#{number}" for number in range(1, len(source.models(word)) + 1)]
    return names


def spec(name: str, options: argparse.Namespace) -> dict[str, object]:
    """One model under every view that was asked for."""
    views = [
        {"name": f"view-{k}", "yaw_deg": yaw, "elevation_deg": options.elevation} for k, yaw in enumerate(options.yaw)
    ]
    frame = {
        "objects": [{"name": "model", "shape": f"shapenet:{name}", "rotation_deg": 0}],
        "views": views,
        "background": options.background,
    }
    return {"version": 1, "id": "sheet/model", "stage": "studio", "frames": [frame]}


def pictures(name: str, options: argparse.Namespace, renderer: CyclesRenderer) -> list[NDArray[np.uint8]]:
    """(size, size, 3) for each view."""
    scene = render.compile_spec(spec(name, options), options.profile, (options.size, options.size))
    return [image.passes.color for image in render.render_scene(scene, renderer=renderer)]


def captioned(picture: NDArray[np.uint8], text: str) -> NDArray[np.uint8]:
    """The picture with a line of text below it."""
    high, wide, _ = picture.shape
    tile = Image.new("RGB", (wide, high + CAPTION), (255, 255, 255))
    tile.paste(Image.fromarray(picture))
    ImageDraw.Draw(tile).text((2, high), text, fill=(40, 40, 40), font=ImageFont.load_default(size=10))
    return np.asarray(tile)


def sheet(tiles: list[NDArray[np.uint8]], columns: int) -> Image.Image:
    """Tiles of one size row by row."""
    blank = np.full_like(tiles[0], 255)
    rows = [tiles[k : k + columns] for k in range(0, len(tiles), columns)]
    return Image.fromarray(np.concatenate([np.hstack([*row, *[blank] * (columns - len(row))]) for row in rows]))


def write(picture: Image.Image, out: Path) -> None:
    """Write the sheet; a JPEG in the best quality that stays below LARGEST, or the last one tried."""
    if out.suffix.lower() not in (".jpg", ".jpeg"):
        picture.save(out)
        return
    for quality in QUALITIES:
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=quality, optimize=True)
        if buffer.tell() < LARGEST:
            break
    out.write_bytes(buffer.getvalue())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="*", default=["all"])
    parser.add_argument("--root")
    parser.add_argument("--size", type=int, default=112)
    parser.add_argument("--yaw", type=float, action="append")
    parser.add_argument("--elevation", type=float, default=25)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--background", type=lambda text: [int(part) for part in text.split(",")], default=[0, 0, 0])
    parser.add_argument("--profile", default="draft")
    parser.add_argument("--captions", action="store_true")
    parser.add_argument("--cells", type=Path)
    options = parser.parse_args()
    options.yaw = options.yaw or [35.0]
    return options


def main() -> None:
    """Render and write the sheet."""
    options = arguments()
    if options.root is not None:
        os.environ[ROOT] = options.root
    renderer = CyclesRenderer("cpu")
    tiles = []
    for name in tqdm(names_of(options.models or ["all"]), unit="model", delay=2):
        category, _, number = name.partition("/")
        for yaw, picture in zip(options.yaw, pictures(name, options, renderer), strict=True):
            if options.cells is not None:
                options.cells.mkdir(parents=True, exist_ok=True)
                cell = f"{word_of(category)}_{number.lstrip('#')}_{yaw:g}.png"
                Image.fromarray(picture).save(options.cells / cell)
            tiles.append(captioned(picture, f"{word_of(category)} {number}") if options.captions else picture)
    write(sheet(tiles, options.columns), options.out)


if __name__ == "__main__":
    main()
