"""Build the CLEVR shapes and the CLEVR ground: `python -m diorama.assets.build.shapes [FOLDER]`.

Each shape fills a 2 x 2 x 2 box about the origin. Silhouettes leave the true curve by less than 0.15 pixel for the
largest object at 1280 x 960; shading normals are the true surface's, so that few triangles look smooth.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from diorama.assets.build.meshes import Floats, Ints, revolve, write
from diorama.scene_specs.model.stage import StageGround, load_stage

# Fitted to two published pictures: a radius of 0.17 halves the error inside a cube against 0.10, because the published
# bevel of 5 % was rounded further by subdivision; larger ones make the silhouette too small.
CUBE_BEVEL = 0.17
CUBE_BEVEL_STEPS = 7
RIM = 0.05
RIM_STEPS = 5
SEGMENTS = 72


def cube() -> tuple[Floats, Floats, Ints]:
    """Return a rounded cube: each face is a grid whose outer rows bend around the edges."""
    angles = np.linspace(-np.pi / 4, 0, CUBE_BEVEL_STEPS + 1)
    # Positions along one axis of a face, in units of "inner corner plus bend": (flat part, tangent of the bend).
    bend = np.tan(angles)
    coordinates = [(-1.0, t) for t in bend] + [(1.0, -t) for t in bend[::-1]]
    side = len(coordinates)
    points: list[Floats] = []
    normals: list[Floats] = []
    faces: list[Ints] = []
    grid = np.arange(side * side, dtype=np.int32).reshape(side, side)
    a, b, c, d = grid[:-1, :-1].ravel(), grid[1:, :-1].ravel(), grid[1:, 1:].ravel(), grid[:-1, 1:].ravel()
    quads = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    inner = 1.0 - CUBE_BEVEL
    for axis in range(3):
        for sign in (1.0, -1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corner = np.zeros((side * side, 3))
            direction = np.zeros((side * side, 3))
            corner[:, axis] = sign * inner
            direction[:, axis] = sign
            for k, ((su, tu), (sv, tv)) in enumerate((p, q) for p in coordinates for q in coordinates):
                corner[k, u], corner[k, v] = su * inner, sv * inner
                direction[k, u], direction[k, v] = tu, tv
            direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
            points.append(corner + CUBE_BEVEL * direction)
            normals.append(direction)
            turned = quads if sign > 0 else quads[:, ::-1]
            faces.append(turned + np.int32(len(faces) * side * side))
    return np.concatenate(points), np.concatenate(normals), np.concatenate(faces).astype(np.int32)


def sphere() -> tuple[Floats, Floats, Ints]:
    """Return a UV sphere of radius 1, slightly enlarged: its silhouette straddles the true circle."""
    polar = np.linspace(0, np.pi, SEGMENTS // 2 + 1)
    direction = np.column_stack([np.sin(polar), np.cos(polar)])
    direction[0, 0] = direction[-1, 0] = 0.0
    grow = 2 / (1 + np.cos(np.pi / SEGMENTS))
    return revolve(direction * grow, direction, SEGMENTS)


def cylinder() -> tuple[Floats, Floats, Ints]:
    """Return a cylinder of radius 1 and height 2 with rounded rims."""
    bend = np.linspace(0, np.pi / 2, RIM_STEPS + 1)
    up = np.column_stack([np.sin(bend), np.cos(bend)])
    rim = np.column_stack([1 - RIM + RIM * up[:, 0], 1 - RIM + RIM * up[:, 1]])
    flip = np.array([1.0, -1.0])
    profile = np.concatenate([[[0.0, 1.0]], rim, rim[::-1] * flip, [[0.0, -1.0]]])
    normals = np.concatenate([[[0.0, 1.0]], up, up[::-1] * flip, [[0.0, -1.0]]])
    return revolve(profile, normals, SEGMENTS)


def ground(stage: StageGround) -> tuple[Floats, Floats, Ints]:
    """Return the ground of a stage: its profile, densely resampled and extruded.

    Heights are those of `diorama.render.geometry.ground`.
    """
    from diorama.render.geometry.ground import height_and_slope

    s = np.unique(np.concatenate([np.linspace(stage.profile[0][0], 6, 40), np.linspace(6, stage.profile[-1][0], 160)]))
    z, dz = height_and_slope(stage, s)
    across = np.linspace(stage.across[0], stage.across[1], 3)
    dx, dy = stage.direction
    grid_s, grid_t = np.meshgrid(s, across, indexing="ij")
    x = grid_s * dx + grid_t * dy
    y = grid_s * dy - grid_t * dx
    points = np.stack([x, y, np.repeat(z[:, None], len(across), axis=1)], axis=-1).reshape(-1, 3)
    normal = np.stack([-dz * dx, -dz * dy, np.ones_like(dz)], axis=-1)
    normals = np.repeat(normal[:, None], len(across), axis=1).reshape(-1, 3)
    index = np.arange(len(points), dtype=np.int32).reshape(len(s), len(across))
    a, b, c, d = index[:-1, :-1].ravel(), index[1:, :-1].ravel(), index[1:, 1:].ravel(), index[:-1, 1:].ravel()
    triangles = np.concatenate([np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)])
    first = points[triangles[0]]
    if np.cross(first[1] - first[0], first[2] - first[0])[2] < 0:
        triangles = triangles[:, ::-1]
    return points, normals, triangles.astype(np.int32)


def build(folder: Path) -> list[Path]:
    """Write every mesh and return the files."""
    stage = load_stage("clevr").ground
    assert stage is not None
    made = {"shapes/cube": cube(), "shapes/sphere": sphere(), "shapes/cylinder": cylinder()}
    made[f"meshes/{stage.mesh}"] = ground(stage)
    paths = []
    for name, parts in made.items():
        paths.append(folder / f"{name}.npz")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        write(paths[-1], *parts)
    return paths


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
