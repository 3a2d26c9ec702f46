"""Draw models of a library in ShapeNet's layout.

    python -m tools shapenet-sheet OUT.jpg [all | CATEGORY | CATEGORY/MODEL ...] [--root DIR] [--size 112] [--limit 50]
        [--yaw 30 --yaw 150 ...] [--elevation 25] [--columns 8] [--background 0,0,0] [--captions]

Models look as the `studio` stage shows them. Without --root the sheet shows the packaged library. Each model has its
views side by side; `--columns` counts images. If the models face away from you, pass `--front`. A model that can't be
rendered is gray, and its error is printed; the exit code is then 1.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from tqdm import tqdm

import diorama
from diorama.render.draw.tile_grid import Tile, tile_grid
from diorama.render.geometry.shapenet import choose_library
from diorama.render.model.errors import DioramaError, UsageError
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.language.model_names import word_of
from tools.check_shapenet import add_library_options, names_of
from tools.option_types import positive

FONT_SIZE = 10
# The limit for a side of the sheet; a JPEG can't be higher.
MOST_PIXELS = 65_000


def spec(shape: str, yaws: Sequence[float], elevation: float, background: Sequence[int]) -> dict[str, object]:
    """Return a spec of one model (`shapenet:...`) in the studio with a view for each yaw. yaws, elevation: degrees."""
    frame: dict[str, object] = {
        "objects": [{"name": "model", "shape": shape, "rotation_deg": 0}],
        "views": [{"name": f"view-{k}", "yaw_deg": yaw, "elevation_deg": elevation} for k, yaw in enumerate(yaws)],
        "background": background,
    }
    return {"version": 1, "id": "sheet/model", "stage": "studio", "frames": [frame]}


def pictures(model: dict[str, object], profile: str, size: int, renderer: CyclesRenderer) -> list[Image.Image]:
    """Render each view of a spec, `size` x `size` pixels. Raises DioramaError."""
    scene = diorama.compile_spec(model, profile, (size, size))
    return [Image.fromarray(image.passes.color) for image in diorama.render_scene(scene, renderer=renderer)]


def check_size(images: int, options: Namespace) -> None:
    """Raise UsageError for a sheet that can't be written, before hours of rendering."""
    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"{options.out}: there is no folder {options.out.parent}")
    height = -(-images // options.columns) * options.size
    if max(height, options.columns * options.size) > MOST_PIXELS:
        hint = "name fewer models, or pass --columns, a smaller --limit or a smaller --size"
        raise UsageError(f"{options.out}: {images} images of {options.size} pixels don't fit {MOST_PIXELS}; {hint}")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="*", default=["all"])
    parser.add_argument("--root", type=Path)
    add_library_options(parser)
    parser.add_argument("--size", type=positive, default=112)
    parser.add_argument("--yaw", type=float, action="append")
    parser.add_argument("--elevation", type=float, default=25)
    parser.add_argument("--columns", type=positive, default=8)
    parser.add_argument("--background", type=lambda text: [int(part) for part in text.split(",")], default=[0, 0, 0])
    parser.add_argument("--profile", default="draft")
    parser.add_argument("--captions", action="store_true")


def main(options: Namespace) -> int:
    """Render and write the sheet; 1 if a model can't be rendered. Raises UsageError."""
    if options.root is not None:
        choose_library((str(options.root.absolute()), options.up, options.front))
    yaws, names = options.yaw or [35.0], names_of(options.models, options.limit)
    check_size(len(yaws) * len(names), options)
    renderer = CyclesRenderer("cpu")
    tiles, broken = [], 0
    for name in tqdm(names, unit="model", delay=2):
        model = spec(f"shapenet:{name}", yaws, options.elevation, options.background)
        try:
            images = pictures(model, options.profile, options.size, renderer)
        except DioramaError as error:
            sys.stderr.write(f"{name}: {error}\n")
            broken += 1
            images = [Image.new("RGB", (options.size, options.size), "gray")] * len(yaws)
        category, _, number = name.partition("/")
        caption = f"{word_of(category)} {number}" if options.captions else ""
        tiles += [Tile(image, caption) for image in images]
    tile_grid(tiles, options.columns, gap=0, font_size=FONT_SIZE).save(options.out, quality=88)
    return int(broken > 0)
