"""Crops of pictures at four times their size, side by side: glass, metal, the hand, the edge of a shadow.

    python -m tools.quality_sheet SHEET.png [clevr-512 standard ...]

The pictures are those that bench_quality has measured, the last column is the reference. Of each kind the crop shows
the largest object of it in all scenes that every candidate has; the shadow's edge is where the reference is steepest on
open ground. Pixels are repeated, not smoothed. Exit codes: 0 done; 2 nothing measured.
"""

from __future__ import annotations

import argparse
import io
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from render.model.errors import UsageError
from render.model.profiles import settings_for
from render.model.scene import SceneFrame
from render.renderers.fake import FakeRenderer
from tools.contact_sheet import CAPTION, INK, MARGIN, PAPER, fitting
from tools.quality import references, results
from tools.quality.files import write_whole
from tools.quality.metrics import Picture
from tools.quality.scenes import TestScene, scenes
from tools.quality.shell import guarded, positive

SCALE = 4
# Of the picture's width and height.
_PART = 5
# The widest mean, in pixels, over which a shadow's edge must be steep; a single grain of noise is not an edge.
_EDGE = 3


@dataclass(frozen=True)
class Spot:
    """What a row shows. center: (x, y) pixels."""

    kind: str
    scene: TestScene
    center: tuple[int, int]


def spots(known: dict[str, Picture], among: list[TestScene]) -> list[Spot]:
    """One for each kind that the scenes have. known: scene -> reference's picture, 0 to 1."""
    best: dict[str, tuple[float, Spot]] = {}
    for scene in among:
        height, width = known[scene.name].shape[:2]
        compiled = scene.compiled(settings_for("draft", width, height))
        frame = compiled.frames[0]
        ids = FakeRenderer().render(compiled, frame, frame.views[0]).ids
        for kind, size, center in [*_objects(frame, ids), _shadow(known[scene.name], ids)]:
            if size > best.get(kind, (0.0,))[0]:
                best[kind] = (size, Spot(kind, scene, center))
    return [best[kind][1] for kind in ("glass", "metal", "hand", "shadow") if kind in best]


def _objects(frame: SceneFrame, ids: NDArray[np.uint16]) -> list[tuple[str, float, tuple[int, int]]]:
    """(kind, visible pixels, center) of glass, metal and the hand."""
    found = []
    for item in frame.objects:
        hand = frame.pointer is not None and item.index == frame.pointer.index
        kind = "hand" if hand else item.material.name
        rows, columns = np.nonzero(ids == item.index)
        if kind in ("glass", "metal", "hand") and len(rows):
            found.append((kind, float(len(rows)), (round(columns.mean()), round(rows.mean()))))
    return found


def _shadow(picture: Picture, ids: NDArray[np.uint16]) -> tuple[str, float, tuple[int, int]]:
    """Where luma steps most across a few pixels of ground, away from objects and from the picture's border."""
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
    """The part about a point, inside the picture, enlarged."""
    height, width = picture.shape[:2]
    w, h = max(1, width // _PART), max(1, height // _PART)
    x, y = (
        min(max(at - part // 2, 0), full - part) for at, part, full in ((center[0], w, width), (center[1], h, height))
    )
    part = np.rint(picture[y : y + h, x : x + w] * 255).astype(np.uint8)
    return Image.fromarray(part).resize((w * SCALE, h * SCALE), Image.Resampling.NEAREST)


def sheet(rows: list[tuple[str, list[Image.Image]]], names: list[str]) -> Image.Image:
    """Rows of crops, each under its row's and column's name."""
    width, height = rows[0][1][0].size
    full = (len(names) * (width + MARGIN) + MARGIN, len(rows) * (height + CAPTION + MARGIN) + MARGIN)
    made = Image.new("RGB", full, PAPER)
    draw, font = ImageDraw.Draw(made), ImageFont.load_default(size=11)
    for k, (kind, crops) in enumerate(rows):
        for j, (name, picture) in enumerate(zip(names, crops, strict=True)):
            x, y = MARGIN + j * (width + MARGIN), MARGIN + k * (height + CAPTION + MARGIN)
            draw.text((x, y), fitting(f"{kind}: {name}", width, font), fill=INK, font=font)
            made.paste(picture, (x, y + CAPTION))
    return made


def work(options: argparse.Namespace) -> int:
    """Write the sheet. Raises UsageError where nothing was measured."""
    measured = {name: results.results_in(options.results, name) for name in options.candidates}
    among = [scene for scene in scenes(options.limit) if all(scene.name in each for each in measured.values())]
    if not among:
        raise UsageError(
            f"{options.results}: no scene has pictures of {', '.join(options.candidates)}; "
            f"measure: bench_quality run {' '.join(options.candidates)}"
        )
    known = {scene.name: references.load_reference(options.references, scene).picture for scene in among}
    rows = []
    for spot in spots(known, among):
        pictures = [each[spot.scene.name].picture for each in measured.values()] + [known[spot.scene.name]]
        rows.append((f"{spot.kind}, {spot.scene.name}", [crop(picture, spot.center) for picture in pictures]))
    out = io.BytesIO()
    sheet(rows, [*options.candidates, "reference"]).save(out, format="PNG", optimize=True)
    write_whole(options.sheet, out.getvalue())
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheet", type=Path, help="PNG file to write")
    parser.add_argument("candidates", nargs="*", default=["clevr-512", "standard"], help="names, as measured")
    parser.add_argument("--limit", type=positive, help="the first so many scenes")
    parser.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
    parser.add_argument("--results", type=Path, default=results.FOLDER, help="folder of results")
    options = parser.parse_args(arguments)
    return guarded(lambda: work(options))


if __name__ == "__main__":
    sys.exit(main())
