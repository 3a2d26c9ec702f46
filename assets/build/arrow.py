"""Build the arrow, a plain pointer: `python -m diorama.assets.build.arrow [FOLDER]`.

It lies along -Y like the hand, tip at y -0.94, tail at 0.9, and hovers at the hand's height: a round shaft with a cone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from diorama.assets.build.meshes import Floats, Ints, revolve, write

SEGMENTS = 48
TIP = (0.0, -0.94, 0.0)
TAIL = (0.0, 0.9, 0.0)
# Radius and position along the axis, from the tip to the tail; a pair of equal points is a crease.
OUTLINE = ((0.0, 0.94), (0.36, 0.22), (0.36, 0.22), (0.14, 0.22), (0.14, 0.22), (0.14, -0.9), (0.14, -0.9), (0.0, -0.9))


def mesh() -> tuple[Floats, Floats, Ints]:
    """Return vertices, normals and triangles."""
    profile = np.array(OUTLINE)
    edges = [profile[k + 1] - profile[k] for k in range(0, len(profile), 2)]
    outward = np.array([[-edge[1], edge[0]] for edge in edges])
    normals = np.repeat(outward, 2, axis=0)
    # The tip is a point where all side normals meet, so its normal points ahead.
    normals[0] = (0.0, 1.0)
    vertices, directions, triangles = revolve(profile, normals, SEGMENTS)
    # A crease is two rings at one position: the triangles between them have no area.
    corners = vertices[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    triangles = triangles[(area * area).sum(axis=1) > 1e-12]
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return vertices @ turn, directions @ turn, triangles


def build(folder: Path) -> Path:
    """Write the arrow and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "arrow.npz"
    write(path, *mesh(), anchors={"fingertip": TIP, "knuckle": TAIL})
    return path


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "meshes")
