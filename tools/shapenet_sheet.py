"""Draw models of a library in ShapeNet's layout.

    python -m tools shapenet-sheet OUT.jpg [all | CATEGORY | CATEGORY/MODEL ...] [--root DIR] [--size 112]
        [--yaw 30 --yaw 150 ...] [--elevation 25] [--columns 8] [--background 0,0,0] [--captions] [--cells FOLDER]

Models look as the `studio` stage shows them. Without --root the sheet shows the packaged library. Each model has its
views side by side; `--columns` counts images. --cells also writes each image to a file CATEGORY_NUMBER_YAW.png. A .jpg
stays below 400 kB.
"""

from __future__ import annotations

import io
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from tqdm import tqdm

import render
from render.gallery.tile_grid import Tile, tile_grid
from render.geometry.shapenet import library
from render.geometry.shapenet.library import ROOT
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from scene_specs.language.model_names import word_of
from tools.sheets import FONT_SIZE

LARGEST = 400_000
QUALITIES = (92, 88, 84, 78, 72, 66, 60, 50, 40)


def names_of(wanted: list[str]) -> list[str]:
    """Return `category/#n` of all requested models, in order."""
    source = library()
    names = []
    for word in source.categories() if "all" in wanted else wanted:
        if "/" in word:
            names.append(word)
        else:
            names += [f"{word}/#{number}" for number in range(1, len(source.models(word)) + 1)]
    return names


def spec(
    shape: str, yaws: Sequence[float], elevation: float, background: Sequence[int] | None = None
) -> dict[str, object]:
    """Return a spec of one model (`shapenet:...`) in the studio with a view for each yaw. yaws, elevation: degrees."""
    frame: dict[str, object] = {
        "objects": [{"name": "model", "shape": shape, "rotation_deg": 0}],
        "views": [{"name": f"view-{k}", "yaw_deg": yaw, "elevation_deg": elevation} for k, yaw in enumerate(yaws)],
    }
    if background is not None:
        frame["background"] = background
    return {"version": 1, "id": "sheet/model", "stage": "studio", "frames": [frame]}


def pictures(model: dict[str, object], profile: str, size: int, renderer: CyclesRenderer) -> list[Image.Image]:
    """Render each view of a spec, `size` x `size` pixels. Raises DioramaError."""
    scene = render.compile_spec(model, profile, (size, size))
    return [Image.fromarray(image.passes.color) for image in render.render_scene(scene, renderer=renderer)]


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


def add_options(parser: ArgumentParser) -> None:
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


def main(options: Namespace) -> None:
    """Render and write the sheet."""
    if options.root is not None:
        os.environ[ROOT] = options.root
    yaws = options.yaw or [35.0]
    renderer = CyclesRenderer("cpu")
    tiles = []
    for name in tqdm(names_of(options.models or ["all"]), unit="model", delay=2):
        category, _, number = name.partition("/")
        model = spec(f"shapenet:{name}", yaws, options.elevation, options.background)
        for yaw, picture in zip(yaws, pictures(model, options.profile, options.size, renderer), strict=True):
            if options.cells is not None:
                options.cells.mkdir(parents=True, exist_ok=True)
                picture.save(options.cells / f"{word_of(category)}_{number.lstrip('#')}_{yaw:g}.png")
            tiles.append(Tile(picture, f"{word_of(category)} {number}" if options.captions else ""))
    write(tile_grid(tiles, options.columns, gap=0, font_size=FONT_SIZE), options.out)
