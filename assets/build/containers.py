"""Build the shapes that hold others: `python -m diorama.assets.build.containers [FOLDER]`.

`bowl` and `box` are open at the top, `shelf` has four cells that are open at the front (-Y). `open_cell` and
`closed_cell`, side by side, are a row of cells without floor and top, of which some have a back (+Y) and the others a
rail in its place; things between their walls stand on the ground. Each is 2 wide; heights differ. With the mesh, the
file stores what can't be computed from a convex hull: `part_<k>`, the corners of convex parts that together fill it;
and `cavity_<k>`, the floor of each space inside, whose last row has the floor's z, the z where the space ends and
whether it has a ceiling.
"""

from __future__ import annotations

import sys
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from diorama.assets.build.meshes import Floats, Ints, drop_degenerate, revolve, write

SEGMENTS = 72
# Convex parts of the wall of the bowl.
SECTORS = 24
WALL = 0.08
HALF = 0.5  # half the height of bowl and box
DEPTH = 0.45  # half the depth of the shelf
# Of a cell in a row: its walls, its back, half its depth, the height of its rail, z of its lower and upper ends.
CELL_WALL, CELL_BACK, CELL_DEPTH, CELL_RAIL, CELL_LOW, CELL_HIGH = 0.06, 0.09, 0.54, 0.18, -1.0, 0.4
FLOOR = 0.55  # radius of the flat floor of the bowl
Box = tuple[tuple[float, float, float], tuple[float, float, float]]


def _bend(inner: bool) -> Floats:
    """Profile of the wall of the bowl, from the floor to the rim."""
    t = np.linspace(0, np.pi / 2, 13)
    foot, z, height = (FLOOR, WALL - HALF, 2 * HALF - WALL) if inner else (FLOOR + WALL, -HALF, 2 * HALF)
    rim = 1 - WALL if inner else 1.0
    return np.column_stack([foot + (rim - foot) * np.sin(t), z + height * (1 - np.cos(t))])


def bowl() -> tuple[tuple[Floats, Floats, Ints], dict[str, Floats]]:
    """Return a bowl with a flat floor, and its parts and cavity."""
    inner, outer = _bend(inner=True), _bend(inner=False)[::-1]
    rim = np.array([inner[-1], outer[0]])
    floor, bottom = np.array([[0.0, inner[0, 1]], inner[0]]), np.array([outer[-1], [0.0, outer[-1, 1]]])
    pieces, count = [], 0
    for run in (floor, inner, rim, outer, bottom):
        along = np.gradient(run, axis=0)
        vertices, normals, triangles = revolve(run, np.column_stack([-along[:, 1], along[:, 0]]), SEGMENTS)
        pieces.append((vertices, normals, triangles + np.int32(count)))
        count += len(vertices)
    made = tuple(np.concatenate([piece[k] for piece in pieces]) for k in range(3))
    angles = np.arange(SEGMENTS + 1) * (2 * np.pi / SEGMENTS)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    data = {"part_00": _lift(ring[:-1] * (FLOOR + WALL), -HALF, WALL - HALF)}
    for k in range(SECTORS):
        around = ring[3 * k : 3 * k + 4]
        profile = np.concatenate([inner, outer])
        corners = (np.column_stack([around * radius, np.full(len(around), z)]) for radius, z in profile.tolist())
        data[f"part_{k + 1:02}"] = np.concatenate(list(corners))
    # Convex parts of the wall bulge by 0.005 over the floor.
    data["cavity_0"] = _cavity(ring[:-1] * (FLOOR - 0.01), WALL - HALF, HALF, ceiling=False)
    return (made[0], made[1], made[2]), data


def _lift(flat: Floats, *heights: float) -> Floats:
    return np.concatenate([np.column_stack([flat, np.full(len(flat), z)]) for z in heights])


def _cavity(floor: Floats, z: float, end: float, ceiling: bool) -> Floats:
    return np.concatenate([np.column_stack([floor, np.full(len(floor), z)]), [[z, end, float(ceiling)]]])


def _rectangle(low: tuple[float, ...], high: tuple[float, ...]) -> Floats:
    return np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])


def carve(low: tuple[float, ...], high: tuple[float, ...], holes: list[Box]) -> tuple[Floats, Floats, Ints]:
    """Return a block without some boxes, as the faces between filled and empty cells of a grid."""
    ends = [low, high, *(corner for hole in holes for corner in hole)]
    axes = [np.unique(np.clip([end[k] for end in ends], low[k], high[k])) for k in range(3)]
    middles = [(axis[1:] + axis[:-1]) / 2 for axis in axes]
    filled = np.zeros([len(middle) + 2 for middle in middles], dtype=bool)
    for cell in product(*(range(len(middle)) for middle in middles)):
        point = [middles[k][cell[k]] for k in range(3)]
        hollow = any(all(a[k] < point[k] < b[k] for k in range(3)) for a, b in holes)
        filled[cell[0] + 1, cell[1] + 1, cell[2] + 1] = not hollow
    points, normals = [], []
    for axis, side in product(range(3), (1, -1)):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for where in np.argwhere(filled & ~np.roll(filled, -side, axis=axis)).tolist():
            at = [k - 1 for k in where]
            corners = []
            for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1))[::side]:
                corner = [0.0] * 3
                corner[axis] = axes[axis][at[axis] + (side > 0)]
                corner[u], corner[v] = axes[u][at[u] + du], axes[v][at[v] + dv]
                corners.append(corner)
            points.append(corners)
            normals.append([[side * float(k == axis) for k in range(3)]] * 4)
    first = 4 * np.arange(len(points), dtype=np.int32)[:, None, None]
    triangles = (first + np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)).reshape(-1, 3)
    return np.array(points).reshape(-1, 3), np.array(normals).reshape(-1, 3), triangles


def _slabs(boxes: list[Box]) -> dict[str, Floats]:
    return {f"part_{k:02}": _lift(_rectangle(a, b), a[2], b[2]) for k, (a, b) in enumerate(boxes)}


def box() -> tuple[tuple[Floats, Floats, Ints], dict[str, Floats]]:
    """Return an open box, and its parts and cavity."""
    i, z = 1 - WALL, WALL - HALF
    walls: list[Box] = [((-1, -1, z), (1, -i, HALF)), ((-1, i, z), (1, 1, HALF))]
    walls += [((-1, -i, z), (-i, i, HALF)), ((i, -i, z), (1, i, HALF))]
    made = carve((-1, -1, -HALF), (1, 1, HALF), [((-i, -i, z), (i, i, 9))])
    data = _slabs([((-1, -1, -HALF), (1, 1, z)), *walls])
    return made, data | {"cavity_0": _cavity(_rectangle((-i, -i), (i, i)), z, HALF, ceiling=False)}


def shelf() -> tuple[tuple[Floats, Floats, Ints], dict[str, Floats]]:
    """Return a shelf of 2 x 2 cells with a back, and its parts and cavities."""
    half, back = WALL / 2, DEPTH - WALL
    spans = ((WALL - 1, -half), (half, 1 - WALL))
    cells: list[Box] = [((x0, -9, z0), (x1, back, z1)) for (z0, z1), (x0, x1) in product(spans, spans)]
    levels = [-1, WALL - 1, -half, half, 1 - WALL, 1]
    boards = [pair for k, pair in enumerate(pairwise(levels)) if k % 2 == 0]
    slabs: list[Box] = [((-1, -DEPTH, a), (1, DEPTH, b)) for a, b in boards]
    for z0, z1 in spans:
        slabs += [((a, -DEPTH, z0), (b, DEPTH, z1)) for a, b in boards]
        slabs += [((x0, back, z0), (x1, DEPTH, z1)) for x0, x1 in spans]
    made = carve((-1, -DEPTH, -1), (1, DEPTH, 1), cells)
    data = _slabs(slabs)
    for k, (a, b) in enumerate(cells):
        data[f"cavity_{k}"] = _cavity(_rectangle((a[0], -DEPTH), (b[0], b[1])), a[2], b[2], ceiling=True)
    return made, data


def cell(closed: bool) -> tuple[tuple[Floats, Floats, Ints], dict[str, Floats]]:
    """Return a cell of a row, and its parts."""
    inner, back, low = 1 - CELL_WALL, CELL_DEPTH - CELL_BACK, CELL_LOW if closed else CELL_HIGH - CELL_RAIL
    holes: list[Box] = [((-inner, -9, -9), (inner, back, 9))]
    holes += [] if closed else [((-inner, -9, -9), (inner, 9, low))]
    made = carve((-1, -CELL_DEPTH, CELL_LOW), (1, CELL_DEPTH, CELL_HIGH), holes)
    sides: list[Box] = [((x, -CELL_DEPTH, CELL_LOW), (x + CELL_WALL, CELL_DEPTH, CELL_HIGH)) for x in (-1, inner)]
    return made, _slabs([*sides, ((-inner, back, low), (inner, CELL_DEPTH, CELL_HIGH))])


def build(folder: Path) -> list[Path]:
    """Write every mesh and return the files."""
    paths = []
    made = {"bowl": bowl(), "box": box(), "shelf": shelf(), "open_cell": cell(False), "closed_cell": cell(True)}
    for name, (mesh, data) in made.items():
        vertices, normals, triangles = mesh
        _, place = np.unique(vertices.astype("<f4"), axis=0, return_inverse=True)
        flat = place.reshape(-1)[triangles].astype(np.int32)
        live = np.array([len({*row}) == 3 for row in flat.tolist()])
        triangles = drop_degenerate(triangles[live])
        paths.append(folder / "shapes" / f"{name}.npz")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        write(paths[-1], vertices, normals, triangles, data=data)
    return paths


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
