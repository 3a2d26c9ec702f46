"""The pinhole or orthographic camera, without Blender, and views from a yaw and elevation.

Plain float arithmetic, so that every machine computes the same numbers. Matrix products are written out, because BLAS
may use fused multiply-add and differ between processors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.rotation import Floats, Matrix, Vec, matrix_euler, multiply, transpose


def unit(v: Vec) -> Vec:
    """Scale a vector to length 1."""
    length = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return (v[0] / length, v[1] / length, v[2] / length)


def cross(a: Vec, b: Vec) -> Vec:
    """Return the cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Vec, b: Vec) -> float:
    """Return the dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@dataclass(frozen=True)
class Camera:
    """A camera at an image size. The camera frame is OpenCV's.

    Attributes:
        location: place in the world, Blender units.
        right: unit vector in the world; so are `down` and `forward`.
        focal: focal length in pixels or, with orthographic (parallel) rays, in pixels per Blender unit.
        center: principal point in pixels.
        width: pixels.
        height: pixels.
        clip: depth range in Blender units.
        orthographic: whether rays are parallel.
        side: direction on the ground that relations call right, a unit vector; None for that of the image.
    """

    location: Vec
    right: Vec
    down: Vec
    forward: Vec
    focal: float
    center: tuple[float, float]
    width: int
    height: int
    clip: tuple[float, float]
    orthographic: bool = False
    side: tuple[float, float] | None = None

    @classmethod
    def of(cls, camera: SceneCamera, width: int, height: int) -> Camera:
        """Return a Scene's camera at an image size. As in Blender, the sensor width belongs to the longer side."""
        delta = tuple(t - p for t, p in zip(camera.look_at, camera.location, strict=True))
        forward = unit((delta[0], delta[1], delta[2]))
        # Straight up or down there is no horizon; Blender's track quaternion then uses +Y as up.
        vertical = abs(forward[0]) < 1e-9 and abs(forward[1]) < 1e-9
        right = (1.0, 0.0, 0.0) if vertical else unit(cross(forward, (0.0, 0.0, 1.0)))
        down = cross(forward, right)
        scale = camera.ortho_scale
        longer, (across, up) = max(width, height), camera.shift
        focal = (camera.lens / camera.sensor_width if scale is None else 1.0 / scale) * longer
        center, location = (width / 2 - across * longer, height / 2 + up * longer), camera.location
        return cls(
            location, right, down, forward, focal, center, width, height, camera.clip, scale is not None, camera.right
        )  # fmt: skip

    @property
    def axes(self) -> Matrix:
        """The rows of the rotation from the world to the camera frame."""
        return (self.right, self.down, self.forward)

    def project(self, points: Floats) -> Floats:
        """Project world points (N, 3) to x, y in pixels (pixel centers at .5) and depth in Blender units, (N, 3)."""
        d = points - np.asarray(self.location)
        c = [d[:, 0] * a[0] + d[:, 1] * a[1] + d[:, 2] * a[2] for a in self.axes]
        depth = np.ones(len(d)) if self.orthographic else c[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = (self.center[k] + self.focal * c[k] / depth for k in range(2))
        return np.stack([x, y, c[2]], axis=1)

    def unproject(self, x: Floats, y: Floats, depth: Floats) -> list[Floats]:
        """Return world x, y and z of pixel positions (pixel centers at .5) at a depth; the inverse of `project`."""
        across, down = (x - self.center[0]) / self.focal, (y - self.center[1]) / self.focal
        if not self.orthographic:
            across, down = across * depth, down * depth
        return [
            self.location[k] + (across * self.right[k] + down * self.down[k] + depth * self.forward[k])
            for k in range(3)
        ]

    def matrices(self) -> tuple[tuple[Vec, Vec, Vec], tuple[tuple[float, ...], ...]]:
        """Return K and [R|t].

        A world point p has the camera coordinates c = [R|t] (p, 1) and the pixel K (c / c.z). Orthographic: K's focal
        length is in pixels per Blender unit, and the pixel is K (c.x, c.y, 1).

        Returns:
            K (3 x 3, pixels; pixel centers at .5) and [R|t] (3 x 4, world to camera: x right, y down, z forward).
        """
        k = ((self.focal, 0.0, self.center[0]), (0.0, self.focal, self.center[1]), (0.0, 0.0, 1.0))
        return k, tuple((*row, -dot(row, self.location)) for row in self.axes)

    def directions(self) -> dict[str, Vec]:
        """Return CLEVR's six directions: the camera's axes projected onto the ground, unit vectors, or as specified."""
        flat = (self.forward[0], self.forward[1], 0.0)
        # Looking straight down, the top of the image is behind.
        behind = unit(flat) if flat[0] or flat[1] else (-self.down[0], -self.down[1], 0.0)
        right = unit((self.right[0], self.right[1], 0.0))
        if self.side is not None:
            right, behind = (*self.side, 0.0), (-self.side[1], self.side[0], 0.0)
        return {
            "left": (-right[0], -right[1], 0.0),
            "right": right,
            "front": (-behind[0], -behind[1], 0.0),
            "behind": behind,
            "above": (0.0, 0.0, 1.0),
            "below": (0.0, 0.0, -1.0),
        }


def orbit_direction(yaw_deg: float, elevation_deg: float) -> Vec:
    """Return the unit vector from an object to a camera that orbits it.

    At yaw 0 and elevation 0 the camera is on the -Y side and looks along +Y, at the front of an unrotated object. Yaw
    90 is the +X side, elevation 90 is above.
    """
    yaw, elevation = math.radians(yaw_deg), math.radians(elevation_deg)
    flat = math.cos(elevation)
    return (math.sin(yaw) * flat, -math.cos(yaw) * flat, math.sin(elevation))


def seen_from(yaw_deg: float, elevation_deg: float, eye: Camera) -> Vec:
    """Return Euler XYZ in degrees of an object that `eye`, in any orientation, sees from this yaw and elevation."""
    yaw = math.radians(yaw_deg)
    towards = orbit_direction(yaw_deg, elevation_deg)
    forward = (-towards[0], -towards[1], -towards[2])
    # From yaw alone, which the forward direction lacks straight above.
    right = (math.cos(yaw), math.sin(yaw), 0.0)
    down = cross(forward, right)
    turn = multiply(transpose(eye.axes), (right, down, forward))
    x, y, z = (math.degrees(angle) for angle in matrix_euler(turn))
    return (x, y, z)


def orbit_distance(radius: float, framing: float, opening: float) -> float:
    """Return the distance at which a sphere fills the share `framing` of half an image side; infinite for 0.

    Args:
        radius: radius of the sphere, Blender units.
        opening: half the image side divided by the focal length.
    """
    share = math.sin(math.atan(framing * opening))
    return radius / share if share else math.inf
