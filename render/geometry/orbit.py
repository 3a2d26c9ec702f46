"""Views from a yaw and elevation about an object, as a direction for the camera or as a rotation of the object.

At yaw 0 and elevation 0 the camera is on the -Y side and looks along +Y, at the front of an unrotated object. Yaw 90 is
the +X side, elevation 90 is above.
"""

from __future__ import annotations

import math

from diorama.render.geometry.camera import Camera, Vec, cross
from diorama.render.geometry.rotation import matrix_euler, multiply, transpose


def direction(yaw_deg: float, elevation_deg: float) -> Vec:
    """Unit vector from the object to the camera."""
    yaw, elevation = math.radians(yaw_deg), math.radians(elevation_deg)
    flat = math.cos(elevation)
    return (math.sin(yaw) * flat, -math.cos(yaw) * flat, math.sin(elevation))


def seen_from(yaw_deg: float, elevation_deg: float, eye: Camera) -> Vec:
    """Euler XYZ in degrees of an object that `eye`, in any orientation, sees from this yaw and elevation."""
    yaw = math.radians(yaw_deg)
    towards = direction(yaw_deg, elevation_deg)
    forward = (-towards[0], -towards[1], -towards[2])
    # From yaw alone, which the forward direction lacks straight above.
    right = (math.cos(yaw), math.sin(yaw), 0.0)
    down = cross(forward, right)
    turn = multiply(transpose((eye.right, eye.down, eye.forward)), (right, down, forward))
    x, y, z = (math.degrees(angle) for angle in matrix_euler(turn))
    return (x, y, z)


def distance(radius: float, framing: float, opening: float) -> float:
    """Distance at which a sphere fills the share `framing` of half an image side; infinite for a share of 0.

    opening: half the image side divided by the focal length.
    """
    share = math.sin(math.atan(framing * opening))
    return radius / share if share else math.inf
