"""A ray caster that tries every triangle at every pixel: slow, and written apart from the rasteriser it judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.meshes import Mesh
from diorama.render.geometry.raster import Pose
from diorama.scene_specs.rotation import transform

Floats = NDArray[np.float64]


def mesh_of(vertices: Floats, triangles: NDArray[np.int32]) -> Mesh:
    """A mesh for a test."""
    return Mesh("test", vertices, np.zeros_like(vertices), triangles, "")


def cast(mesh: Mesh, pose: Pose, camera: Camera, slack: float) -> Floats:
    """Depth (H, W) along the camera's axis of the first surface at each pixel's center, inf for none.

    Moeller and Trumbore's test; slack widens (or, negative, shrinks) each triangle, in barycentric coordinates.
    """
    near, far = camera.clip
    world = transform(mesh.vertices, pose.rotation_deg, pose.scale, pose.location)
    a, b, c = (world[mesh.triangles[:, k]] for k in range(3))
    eye = np.array(camera.location)
    right, down, forward = (np.array(v) for v in (camera.right, camera.down, camera.forward))
    result = np.full((camera.height, camera.width), np.inf)
    for row in range(camera.height):
        for column in range(camera.width):
            ray = (
                forward
                + right * ((column + 0.5 - camera.center[0]) / camera.focal)
                + down * ((row + 0.5 - camera.center[1]) / camera.focal)
            )
            p = np.cross(ray, c - a)
            det = ((b - a) * p).sum(axis=1)
            safe = np.where(np.abs(det) < 1e-14, 1.0, det)
            s = eye - a
            u = (s * p).sum(axis=1) / safe
            q = np.cross(s, b - a)
            v = (q * ray).sum(axis=1) / safe
            # ray has length 1 along the axis, so its parameter is the depth.
            depth = ((c - a) * q).sum(axis=1) / safe
            hit = (np.abs(det) >= 1e-14) & (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack)
            hit &= (depth >= near) & (depth <= far)
            if hit.any():
                result[row, column] = depth[hit].min()
    return result
