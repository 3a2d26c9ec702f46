"""Draw crops of measured images side by side, enlarged 4 times.

    python -m tools quality-sheet SHEET.png [clevr-512 standard ...]

Shows glass, metal, the hand and the edge of a shadow in the images that bench-quality has measured; the last column is
the reference. Each row shows the largest object of its kind in all scenes that every candidate has; the shadow's edge
is where the reference is steepest on open ground. Pixels are repeated, not smoothed.
"""

from __future__ import annotations

import io
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.draw.tile_grid import Tile, tile_grid
from diorama.render.model.errors import UsageError
from diorama.render.model.profiles import settings_for
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.language.scene import SceneFrame
from diorama.scene_specs.language.writing import write_atomic
from tools.programs import positive
from tools.quality import references, results
from tools.quality.metrics import Picture
from tools.quality.scenes import TestScene, scenes

GAP = 6
FONT_SIZE = 11
SCALE = 4
# A crop is this fraction (1 / 5) of the image's width and height.
_PART = 5
# The distance in pixels over which a shadow's edge must be steep; a single grain of noise is not an edge.
_EDGE = 3


class Spot(NamedTuple):
    """The content of a row. center: (x, y) pixels."""

    kind: str
    scene: TestScene
    center: tuple[int, int]


def spots(known: dict[str, Picture], usable: list[TestScene]) -> list[Spot]:
    """Return one spot for each kind in the scenes. known: scene -> reference image, 0 to 1."""
    best: dict[str, tuple[float, Spot]] = {}
    for scene in usable:
        height, width = known[scene.name].shape[:2]
        compiled = scene.compiled(settings_for("draft", width, height))
        frame = compiled.frames[0]
        ids = FakeRenderer().render(compiled, frame, frame.views[0]).ids
        for kind, size, center in [*_objects(frame, ids), _shadow(known[scene.name], ids)]:
            if size > best.get(kind, (0.0,))[0]:
                best[kind] = (size, Spot(kind, scene, center))
    return [best[kind][1] for kind in ("glass", "metal", "hand", "shadow") if kind in best]


def _objects(frame: SceneFrame, ids: NDArray[np.uint16]) -> list[tuple[str, float, tuple[int, int]]]:
    """Return (kind, visible pixels, center) of glass, metal and the hand."""
    found = []
    for item in frame.objects:
        hand = frame.pointer is not None and item.index == frame.pointer.index
        kind = "hand" if hand else item.material.name
        rows, columns = np.nonzero(ids == item.index)
        if kind in ("glass", "metal", "hand") and len(rows):
            found.append((kind, float(len(rows)), (round(columns.mean()), round(rows.mean()))))
    return found


def _shadow(picture: Picture, ids: NDArray[np.uint16]) -> tuple[str, float, tuple[int, int]]:
    """Return the steepest change of luma across a few pixels of ground, away from objects and the border."""
    luma = picture @ [0.2126, 0.7152, 0.0722]
    steep = np.zeros_like(luma)
    k = _EDGE
    steep[k:-k, k:-k] = np.hypot(luma[k:-k, 2 * k :] - luma[k:-k, : -2 * k], luma[2 * k :, k:-k] - luma[: -2 * k, k:-k])
    free = ids == 0
    for _ in range(2 * k):
        free[1:-1, 1:-1] &= free[:-2, 1:-1] & free[2:, 1:-1] & free[1:-1, :-2] & free[1:-1, 2:]
    free[: 2 * k] = free[-2 * k :] = free[:, : 2 * k] = free[:, -2 * k :] = False
    y, x = np.unravel_index(int(np.argmax(np.where(free, steep, 0.0))), steep.shape)
    return "shadow", float(np.where(free, steep, 0.0)[y, x]), (int(x), int(y))


def crop(picture: Picture, center: tuple[int, int]) -> Image.Image:
    """Return the enlarged part around a point, moved inside the image."""
    height, width = picture.shape[:2]
    w, h = max(1, width // _PART), max(1, height // _PART)
    x, y = (
        min(max(at - part // 2, 0), full - part) for at, part, full in ((center[0], w, width), (center[1], h, height))
    )
    part = np.rint(picture[y : y + h, x : x + w] * 255).astype(np.uint8)
    return Image.fromarray(part).resize((w * SCALE, h * SCALE), Image.Resampling.NEAREST)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("sheet", type=Path, help="PNG file to write")
    parser.add_argument("candidates", nargs="*", default=["clevr-512", "standard"], help="names, as measured")
    parser.add_argument("--limit", type=positive, help="number of scenes, from the first")
    parser.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
    parser.add_argument("--results", type=Path, default=results.FOLDER, help="folder of results")


def main(options: Namespace) -> None:
    """Write the sheet. Raises UsageError if nothing was measured."""
    measured = {name: results.results_in(options.results, name) for name in options.candidates}
    usable = [scene for scene in scenes(options.limit) if all(scene.name in each for each in measured.values())]
    if not usable:
        raise UsageError(
            f"{options.results}: no scene has images of {', '.join(options.candidates)}; "
            f"measure: bench-quality run {' '.join(options.candidates)}"
        )
    known = {scene.name: references.load_reference(options.references, scene).picture for scene in usable}
    tiles = []
    for spot in spots(known, usable):
        pictures = {name: each[spot.scene.name].picture for name, each in measured.items()}
        for name, picture in {**pictures, "reference": known[spot.scene.name]}.items():
            tiles.append(Tile(crop(picture, spot.center), f"{name}: {spot.kind}, {spot.scene.name}"))
    out = io.BytesIO()
    tile_grid(tiles, len(measured) + 1, GAP, font_size=FONT_SIZE).save(out, format="PNG", optimize=True)
    write_atomic(options.sheet, out.getvalue())
