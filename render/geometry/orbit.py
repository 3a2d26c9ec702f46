"""Where a thing is seen from: yaw and elevation about it, as a place for a camera or as a turn of the thing.

Yaw 0, elevation 0 is the camera on the -Y side looking along +Y, at the front of whatever has no turn; yaw 90 is the +X
side, elevation 90 above.
"""

from __future__ import annotations

import math

from render.geometry.camera import Camera, Vec, cross
from render.geometry.rotation import Matrix, matrix_euler, multiply


def direction(yaw_deg: float, elevation_deg: float) -> Vec:
    """Unit vector from a thing to the camera that sees it so."""
    yaw, elevation = math.radians(yaw_deg), math.radians(elevation_deg)
    flat = math.cos(elevation)
    return (math.sin(yaw) * flat, -math.cos(yaw) * flat, math.sin(elevation))


def seen_from(yaw_deg: float, elevation_deg: float, eye: Camera) -> Vec:
    """Euler XYZ in degrees of a thing that `eye` sees from yaw and elevation, however `eye` itself is turned."""
    yaw = math.radians(yaw_deg)
    towards = direction(yaw_deg, elevation_deg)
    forward = (-towards[0], -towards[1], -towards[2])
    # From yaw alone: straight above, the forward direction has none.
    right = (math.cos(yaw), math.sin(yaw), 0.0)
    down = cross(forward, right)
    own: Matrix = (right, down, forward)
    axes: Matrix = (eye.right, eye.down, eye.forward)
    columns: Matrix = (
        (axes[0][0], axes[1][0], axes[2][0]),
        (axes[0][1], axes[1][1], axes[2][1]),
        (axes[0][2], axes[1][2], axes[2][2]),
    )
    x, y, z = (math.degrees(angle) for angle in matrix_euler(multiply(columns, own)))
    return (x, y, z)


def distance(radius: float, framing: float, opening: float) -> float:
    """How far off a sphere fills the share `framing` of half an image side; opening: half that side / focal length.

    Infinite where the share is none.
    """
    share = math.sin(math.atan(framing * opening))
    return radius / share if share else math.inf
