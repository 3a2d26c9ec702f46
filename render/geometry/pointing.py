"""The ray along which a pointer points, from the anchors of its mesh."""

from __future__ import annotations

import numpy as np

from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.rotation import Vec, transform
from diorama.render.model.errors import AssetError


def pointing_ray(shape: str, rotation_deg: Vec, scale: float, location: Vec) -> tuple[Vec, Vec]:
    """Knuckle and fingertip of a pointer in world coordinates. Raises AssetError for a mesh without these anchors."""
    anchors = load_mesh(shape).anchors
    if not {"knuckle", "fingertip"} <= anchors.keys():
        raise AssetError(f"mesh {shape!r} has no anchors knuckle and fingertip: it cannot be a pointer")
    points = np.array([anchors["knuckle"], anchors["fingertip"]])
    (ax, ay, az), (bx, by, bz) = transform(points, rotation_deg, scale, location).tolist()
    return (ax, ay, az), (bx, by, bz)
