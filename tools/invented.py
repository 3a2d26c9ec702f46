"""Measure the steps along each axis of invented shapes.

    python -m tools invented [--seeds 60] [--steps 20] [--families blob,lathe,branch] [--first 0]

For each seed and axis, the tool draws all steps with the software rasterizer, 128 pixels wide. Prints a row per axis:
series; those in which the silhouette's distance to the start does not grow with every step; the least share of the
object's pixels in which neighbors differ (in the silhouette, or in depth by more than 0.02); and the least and mean
distance between both ends. Then: the most triangles, seconds per mesh, and the least distance of a silhouette to those
of CLEVR's shapes and of the models of shapenet_mini, at eight directions each. Exit code 1: a series is not monotone,
neighbors differ in less than 1 %, or a silhouette is nearer than 0.12 to one that has a name.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.asset_roots import package_assets
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Pose, rasterize
from diorama.render.geometry.solid import Solid, solid
from diorama.scene_specs.invented.invented_mesh import invented_mesh
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.scene import SceneCamera
from diorama.scene_specs.language.vocabulary import SHAPES
from tools.programs import positive

PIXELS = 128
DEPTH = 0.02
# Least distance of a silhouette from those of shapes that have names.
NEAREST = 0.12
Depths = NDArray[np.float64]
Masks = NDArray[np.bool_]


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the tool."""
    parser.add_argument("--seeds", type=positive, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=positive, default=20)
    parser.add_argument("--families", default="blob,lathe,branch")


def depths(body: Solid, yaws: tuple[float, ...]) -> Depths:
    """Draw a shape, turned about its axis, from 25 degrees above: depth (views, PIXELS, PIXELS), inf outside."""
    location = (0.0, -5.438, 2.536)
    plain = SceneCamera(location=location, look_at=(0.0, 0.0, 0.0), lens=75.0, sensor_width=32.0, clip=(0.1, 100.0))
    camera = Camera.of(plain, PIXELS, PIXELS)
    drawn = np.full((len(yaws), PIXELS, PIXELS), np.inf)
    for image, yaw in zip(drawn, yaws, strict=True):
        layer = rasterize(body, Pose((0.0, 0.0, yaw), 1.0, (0.0, 0.0, 0.0)), camera)
        rows, columns = layer.depth.shape
        image[layer.y : layer.y + rows, layer.x : layer.x + columns] = layer.depth
    return drawn


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
    names = [*SHAPES]
    for folder in sorted((package_assets() / "shapenet_mini").iterdir()):
        names += (
            [f"shapenet:{folder.name}/{model.name}" for model in sorted(folder.iterdir())] if folder.is_dir() else []
        )
    for name in names:
        yield from (np.isfinite(image) for image in depths(solid(name), tuple(45.0 * k for k in range(8))))


def _centered(mask: Masks) -> Masks:
    """A silhouette scaled and moved into a square of 64 pixels."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    side = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1
    at = (np.arange(64) + 0.5) / 64 * side - side / 2
    y = np.round((rows[0] + rows[-1]) / 2 + at).astype(int).clip(0, PIXELS - 1)
    x = np.round((columns[0] + columns[-1]) / 2 + at).astype(int).clip(0, PIXELS - 1)
    return mask[np.ix_(y, x)]


def main(options: Namespace) -> int:
    """Measure and print; see the module."""
    known = np.stack([_centered(mask) for mask in _known()])
    failed, most, nearest, built, seconds = 0, 0, [], 0, 0.0
    for family in options.families.split(","):
        for axis in plugin("families", family).load().AXES:
            ends, low, bad = [], 1.0, 0
            for seed in range(options.first, options.first + options.seeds):
                drawn = []
                for k in range(options.steps):
                    name = f"invented:{family}/{seed}?{axis}={k / (options.steps - 1):.4f}"
                    start = time.process_time()
                    triangles = invented_mesh(name)[1]
                    seconds += time.process_time() - start
                    built, most = built + 1, max(most, len(triangles))
                    drawn.append(depths(solid(name), (0.0,)))
                away = [distance(drawn[0], one) for one in drawn]
                bad += not all(b > a for a, b in pairwise(away))
                low = min(low, *(difference(a, b) for a, b in pairwise(drawn)))
                ends.append(away[-1])
                for one in (drawn[0], drawn[-1]):
                    for mask in map(_centered, np.isfinite(one)):
                        union, common = (known | mask).sum(axis=(1, 2)), (known & mask).sum(axis=(1, 2))
                        nearest.append(float((1 - common / union).min()))
            failed += bad + (low < 0.01)
            print(f"{family} {axis}: {len(ends)} series, {bad} not monotone; neighbors differ in at least "
                  f"{100 * low:.1f} %; ends differ by at least {min(ends):.3f}, mean {np.mean(ends):.3f}",
                  flush=True)  # fmt: skip
    print(f"{built} meshes, at most {most} triangles, {1000 * seconds / built:.1f} ms each")
    print(f"nearest known silhouette: least {min(nearest):.3f}, 1 % {np.quantile(nearest, 0.01):.3f}, "
          f"median {np.median(nearest):.3f} (1 - IoU, scaled and centered)")  # fmt: skip
    return 1 if failed or min(nearest) < NEAREST else 0
