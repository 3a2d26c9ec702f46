"""Builds the pointing hand: `python -m assets.build.hand [FOLDER]`.

A right hand, palm down, that points along -Y: index finger stretched, the other fingers folded, thumb along its
side, wrist cut
clean. Bones are balls swept into one another and blended, as skin does. Extents about the origin are those of the
published
pointer: x -0.62 to 0.96, y -0.94 (tip of the index finger, at x 0.37, z 0.05) to 1.48 (wrist), z -0.54 to 0.44.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

from assets.build.meshes import Floats, Ints, write
from assets.build.surface import Field, blend, cut, flattened, round_cone, surface_nets

# Light enough to be quick in the compiler's id buffer; normals are the true surface's, so it looks smooth.
STEP = 0.045
# Joint: x, y, z, radius.
Joint = tuple[float, float, float, float]
INDEX: tuple[Joint, ...] = (
    (0.385, 0.160, 0.086, 0.145),
    (0.383, -0.250, 0.074, 0.106),
    (0.378, -0.560, 0.066, 0.091),
    (0.370, -0.857, 0.050, 0.077),
)
MIDDLE: tuple[Joint, ...] = (
    (0.113, 0.413, 0.212, 0.179),
    (0.083, 0.013, -0.103, 0.139),
    (0.083, 0.143, -0.370, 0.124),
    (0.093, 0.403, -0.360, 0.114),
)
RING: tuple[Joint, ...] = (
    (-0.147, 0.463, 0.137, 0.159),
    (-0.197, 0.083, -0.173, 0.137),
    (-0.187, 0.183, -0.410, 0.124),
    (-0.157, 0.443, -0.370, 0.114),
)
LITTLE: tuple[Joint, ...] = (
    (-0.397, 0.543, -0.003, 0.129),
    (-0.482, 0.223, -0.223, 0.129),
    (-0.447, 0.283, -0.390, 0.119),
    (-0.397, 0.503, -0.360, 0.104),
)
THUMB: tuple[Joint, ...] = (
    (0.385, 0.960, -0.150, 0.185),
    (0.615, 0.580, -0.170, 0.158),
    (0.800, 0.160, -0.200, 0.124),
    (0.855, -0.085, -0.215, 0.103),
)
WRIST = (0.150, 1.270, 0.140)


def finger(joints: tuple[Joint, ...]) -> Field:
    """A chain of swept balls, joints slightly soft."""
    parts = [round_cone(a[:3], b[:3], a[3], b[3]) for a, b in itertools.pairwise(joints)]
    return blend(parts, 0.05)


def palm() -> Field:
    """The back of the hand: a fan of bones from the wrist to each knuckle, melted together."""
    bones = [
        round_cone((WRIST[0] + dx, WRIST[1], WRIST[2]), j[0][:3], 0.164, j[0][3] - 0.02)
        for dx, j in ((0.13, INDEX), (0.04, MIDDLE), (-0.06, RING), (-0.14, LITTLE))
    ]
    heel = round_cone((-0.16, 1.0, -0.103), (-0.34, 0.42, -0.183), 0.144, 0.124)
    ball = round_cone((0.32, 1.0, -0.06), (0.44, 0.45, -0.10), 0.154, 0.134)
    filling = round_cone((0.16, 1.05, 0.10), (0.20, 0.36, 0.08), 0.21, 0.20)
    web = round_cone((0.30, 1.20, 0.04), (0.52, 0.75, -0.04), 0.22, 0.19)
    return blend([*bones, heel, ball, filling, web], 0.22)


def wrist() -> Field:
    """The forearm's beginning, an oval."""
    tube = round_cone((WRIST[0], 1.05, WRIST[2]), (WRIST[0], 1.90, WRIST[2]), 0.25, 0.25)
    return flattened(tube, WRIST, (1.299, 1.0, 0.976))


def hand() -> Field:
    """The whole right hand."""
    body = blend([palm(), wrist()], 0.25)
    folded = [finger(joints) for joints in (MIDDLE, RING, LITTLE)]
    whole = blend([body, *folded], 0.06)
    whole = blend([whole, finger(INDEX)], 0.08)
    whole = blend([whole, finger(THUMB)], 0.12)
    return cut(whole, (0.10, 0.995, 0.0), 1.478, 0.03)


def mesh() -> tuple[Floats, Floats, Ints]:
    """Vertices, normals and triangles of the right hand."""
    return surface_nets(hand(), np.array([-0.9, -1.2, -0.8]), np.array([1.25, 1.7, 0.7]), STEP)


def build(folder: Path) -> list[Path]:
    """Write the right and the left hand; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    vertices, normals, triangles = mesh()
    mirror = np.array([-1.0, 1.0, 1.0])
    paths = [folder / "hand.npz", folder / "hand_left.npz"]
    anchors = {"knuckle": INDEX[0][:3], "fingertip": INDEX[-1][:3]}
    write(paths[0], vertices, normals, triangles, anchors)
    mirrored = {name: (-x, y, z) for name, (x, y, z) in anchors.items()}
    write(paths[1], vertices * mirror, normals * mirror, triangles[:, ::-1], mirrored)
    return paths


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "meshes")
