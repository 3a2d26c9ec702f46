"""Measure the steps along each axis of invented shapes.

    python -m tools invented [--seeds 60] [--steps 20] [--families blob,lathe,branch] [--first 0] [--cycles]

For each seed and axis, the tool draws all steps 256 pixels wide, with the software rasterizer or with Cycles. A series
fails if the silhouette's distance to the start does not grow with every step, neighbors differ in less than 1 % of the
object's pixels, or the silhouette of an end is nearer than 0.12 to one of CLEVR's shapes or of the models of
shapenet_mini, at eight directions each. Pixels differ in the silhouette, or by more than 0.02 in depth; with Cycles, by
more than 0.02 of the brightest color. Prints a row per axis: series, the seeds that fail, the least difference of
neighbors, and the least and mean distance between both ends. Then: the most triangles, milliseconds per mesh, and the
distances to what has a name. Exit code 1: a series fails.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diorama.render.api import compile_spec
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Pose, rasterize
from diorama.render.geometry.solid import Solid, solid
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.vocabulary import SHAPES
from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.shapes.invented.invented_mesh import invented_mesh
from tools.programs import positive

# Of 3,340 series, one is not monotone with 128, as its silhouette gains and loses single pixels.
PIXELS = 256
DEPTH = 0.02
# Least distance of a silhouette from those of shapes that have names.
NEAREST = 0.12
# Least share of the pixels in which neighbors differ.
LEAST = 0.01
_CAMERA = (0.0, -5.438, 2.536)
Depths = NDArray[np.float64]
Masks = NDArray[np.bool_]


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the tool."""
    parser.add_argument("--seeds", type=positive, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=positive, default=20)
    parser.add_argument("--families", default="blob,lathe,branch")
    parser.add_argument("--cycles", action="store_true")


def depths(body: Solid, yaws: tuple[float, ...]) -> Depths:
    """Draw a shape, turned about its axis, from 25 degrees above: depth (views, PIXELS, PIXELS), inf outside."""
    plain = SceneCamera(location=_CAMERA, look_at=(0.0, 0.0, 0.0), lens=75.0, sensor_width=32.0, clip=(0.1, 100.0))
    camera = Camera.of(plain, PIXELS, PIXELS)
    drawn = np.full((len(yaws), PIXELS, PIXELS), np.inf)
    for image, yaw in zip(drawn, yaws, strict=True):
        layer = rasterize(body, Pose((0.0, 0.0, yaw), 1.0, (0.0, 0.0, 0.0)), camera)
        rows, columns = layer.depth.shape
        image[layer.y : layer.y + rows, layer.x : layer.x + columns] = layer.depth
    return drawn


def rendered(renderer: CyclesRenderer, name: str) -> Depths:
    """Render a shape with Cycles as `depths` draws it: mean color (1, PIXELS, PIXELS), inf outside."""
    item = {"shape": name, "color": "red", "material": "rubber", "size": 1, "location": [0, 0], "rotation_deg": 0}
    x, y, z = _CAMERA
    frame = {"objects": [item], "camera": {"location": [x, y, z + 1], "look_at": [0, 0, 1], "lens": 75}}
    scene = compile_spec({"version": 1, "id": "invented", "seed": 1, "frames": [frame]}, "draft", (PIXELS, PIXELS))
    passes = renderer.render(scene, scene.frames[0], scene.frames[0].views[0])
    return np.where(passes.ids == 1, passes.color.mean(axis=2) / 255, np.inf)[None]


def distance(one: Depths, other: Depths) -> float:
    """Return 1 - IoU of the silhouettes."""
    a, b = np.isfinite(one), np.isfinite(other)
    return float(1 - (a & b).sum() / (a | b).sum())


def difference(one: Depths, other: Depths) -> float:
    """Return the share of the objects' pixels that differ in silhouette or depth."""
    a, b = np.isfinite(one), np.isfinite(other)
    with np.errstate(invalid="ignore"):
        return float(((a != b) | (a & b & (np.abs(one - other) > DEPTH))).sum() / (a | b).sum())


def _known() -> Iterator[Masks]:
    """Yield the silhouettes of the shapes and models that have names, centered as seen."""
    models = sorted((package_assets() / "shapenet_mini").glob("*/*"))
    for name in (*SHAPES, *(f"shapenet:{model.parent.name}/{model.name}" for model in models)):
        yield from (np.isfinite(image) for image in depths(solid(name), tuple(45.0 * k for k in range(8))))


def _centered(mask: Masks) -> Masks:
    """A silhouette scaled and moved into a square of 64 pixels."""
    low, high = np.argwhere(mask).min(axis=0), np.argwhere(mask).max(axis=0)
    side = (high - low).max() + 1
    at = (np.arange(64) + 0.5) / 64 * side - side / 2
    y, x = np.round((low + high)[:, None] / 2 + at).astype(int).clip(0, PIXELS - 1)
    return mask[np.ix_(y, x)]


def _nearest(drawn: Depths, known: Masks) -> float:
    """The least distance of a silhouette from the known ones."""
    mask = _centered(np.isfinite(drawn[0]))
    return float((1 - (known & mask).sum(axis=(1, 2)) / (known | mask).sum(axis=(1, 2))).min())


def main(options: Namespace) -> int:
    """Measure and print; see the module."""
    renderer = CyclesRenderer() if options.cycles else None
    known = np.stack([_centered(mask) for mask in _known()])
    failed, nearest, sizes, seconds = 0, [], list[int](), list[float]()
    for family in options.families.split(","):
        for axis in plugin("families", family).load().AXES:
            ends, low, bad = [], 1.0, []
            for seed in range(options.first, options.first + options.seeds):
                drawn = []
                for k in range(options.steps):
                    name = f"invented:{family}/{seed}?{axis}={k / (options.steps - 1):.4f}"
                    start = time.process_time()
                    sizes.append(len(invented_mesh(name)[1]))
                    seconds.append(time.process_time() - start)
                    drawn.append(rendered(renderer, name) if renderer else depths(solid(name), (0.0,)))
                away = [distance(drawn[0], one) for one in drawn]
                least = min(difference(a, b) for a, b in pairwise(drawn))
                near = min(_nearest(one, known) for one in (drawn[0], drawn[-1]))
                if not all(b > a for a, b in pairwise(away)) or least < LEAST or near < NEAREST:
                    bad.append(str(seed))
                low = min(low, least)
                ends.append(away[-1])
                nearest.append(near)
            failed += len(bad)
            print(f"{family} {axis}: {len(ends)} series, failing seeds: {', '.join(bad) or 'none'}; "
                  f"neighbors differ in at least {100 * low:.1f} %; ends differ by at least {min(ends):.3f}, "
                  f"mean {np.mean(ends):.3f}", flush=True)  # fmt: skip
    print(f"{len(sizes)} meshes, at most {max(sizes)} triangles, {1000 * np.mean(seconds):.1f} ms each")
    print(f"nearest known silhouette: least {min(nearest):.3f}, 1 % {np.quantile(nearest, 0.01):.3f}, "
          f"median {np.median(nearest):.3f} (1 - IoU, scaled and centered)")  # fmt: skip
    return 1 if failed else 0
