"""Build the pointing hand: `python -m diorama.assets.build.hand [FOLDER]`.

A right hand, palm down, that points along -Y: index finger stretched, the other fingers folded, thumb along its side,
wrist cut clean. Bones are swept balls that blend into one another like skin. Extents about the origin are those of the
published pointer: x -0.62 to 0.96, y -0.94 (tip of the index finger, at x 0.37, z 0.05) to 1.48 (wrist), z -0.54 to
0.44.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

from diorama.assets.build.meshes import Floats, Ints, write
from diorama.assets.build.surface import Field, blend, cut, flattened, round_cone, surface_nets

# Few triangles keep the compiler's id buffer fast; normals are those of the true surface, so the hand looks smooth.
STEP = 0.045
# Joint: x, y, z, radius.
Joint = tuple[float, float, float, float]
INDEX: tuple[Joint, ...] = (
    (0.391, 0.151, 0.086, 0.147),
    (0.388, -0.252, 0.102, 0.109),
    (0.355, -0.579, 0.057, 0.085),
    (0.386, -0.838, 0.047, 0.081),
)
MIDDLE: tuple[Joint, ...] = (
    (0.106, 0.434, 0.205, 0.186),
    (0.080, 0.038, -0.081, 0.139),
    (0.081, 0.127, -0.360, 0.127),
    (0.097, 0.422, -0.330, 0.119),
)
RING: tuple[Joint, ...] = (
    (-0.156, 0.463, 0.133, 0.152),
    (-0.203, 0.074, -0.188, 0.126),
    (-0.189, 0.195, -0.419, 0.120),
    (-0.174, 0.442, -0.371, 0.107),
)
LITTLE: tuple[Joint, ...] = (
    (-0.405, 0.557, -0.017, 0.115),
    (-0.480, 0.205, -0.217, 0.128),
    (-0.443, 0.278, -0.405, 0.123),
    (-0.390, 0.503, -0.331, 0.129),
)
THUMB: tuple[Joint, ...] = (
    (0.396, 0.975, -0.148, 0.169),
    (0.613, 0.584, -0.136, 0.133),
    (0.793, 0.173, -0.164, 0.129),
    (0.873, -0.075, -0.206, 0.096),
)
WRIST = (0.127, 1.254, 0.118)


def finger(joints: tuple[Joint, ...]) -> Field:
    """Return the field of a chain of swept balls with slightly soft joints."""
    parts = [round_cone(a[:3], b[:3], a[3], b[3]) for a, b in itertools.pairwise(joints)]
    return blend(parts, 0.05)


def palm() -> Field:
    """Return the field of the back of the hand: bones from the wrist to each knuckle, blended."""
    bones = [
        round_cone((WRIST[0] + dx, WRIST[1], WRIST[2]), j[0][:3], 0.164, j[0][3] - 0.02)
        for dx, j in ((0.13, INDEX), (0.04, MIDDLE), (-0.06, RING), (-0.14, LITTLE))
    ]
    heel = round_cone((-0.135, 0.975, -0.135), (-0.367, 0.447, -0.156), 0.138, 0.132)
    ball = round_cone((0.349, 0.959, -0.112), (0.459, 0.467, -0.018), 0.138, 0.114)
    filling = round_cone((0.153, 1.004, 0.080), (0.175, 0.389, 0.099), 0.232, 0.213)
    web = round_cone((0.306, 1.103, 0.065), (0.512, 0.738, -0.029), 0.187, 0.260)
    return blend([*bones, heel, ball, filling, web], 0.22)


def wrist() -> Field:
    """Return the field of the wrist, an oval."""
    tube = round_cone((WRIST[0], 1.05, WRIST[2]), (WRIST[0], 1.90, WRIST[2]), 0.25, 0.25)
    return flattened(tube, WRIST, (1.222, 1.0, 0.947))


def hand() -> Field:
    """Return the field of the right hand."""
    body = blend([palm(), wrist()], 0.25)
    folded = [finger(joints) for joints in (MIDDLE, RING, LITTLE)]
    skin = blend([body, *folded], 0.06)
    skin = blend([skin, finger(INDEX)], 0.08)
    skin = blend([skin, finger(THUMB)], 0.12)
    return cut(skin, (0.10, 0.995, 0.0), 1.478, 0.03)


def mesh() -> tuple[Floats, Floats, Ints]:
    """Return vertices, normals and triangles of the right hand."""
    return surface_nets(hand(), np.array([-0.9, -1.2, -0.8]), np.array([1.25, 1.7, 0.7]), STEP)


def build(folder: Path) -> list[Path]:
    """Write the right and the left hand and return the files."""
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
