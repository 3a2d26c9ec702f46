"""The pose of a person: where the head turns, where the eyes are, and how to look at a point."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.language.person import Gaze
from diorama.scene_specs.rotation import Floats, Vec, transform

Anchors = Mapping[str, Floats]

# Radius of the disc on the ground, at scale 1, over which a person is in any pose.
FOOTPRINT = 0.76
# What the head turns, degrees; the eyes turn the rest.
_HEAD_TURN, _HEAD_NOD = 65.0, 45.0
# The place of the eyes depends on the gaze, so `gaze_at` corrects it this often; a test bounds the error that is left.
_ROUNDS = 32


def _turn_points(points: Floats, pivot: Floats, turn: float, nod: float) -> Floats:
    """Points (N, 3), nodded about the X axis and then turned about Z, both through the pivot; degrees."""
    # The face is towards -Y, so that a positive rotation about X lowers it.
    return transform(points - pivot, (-nod, 0.0, turn), 1.0, (float(pivot[0]), float(pivot[1]), float(pivot[2])))


def _split_gaze(gaze: Gaze) -> tuple[tuple[float, float], tuple[float, float]]:
    """Turn and nod of the head, and of the eyes in it, degrees."""
    turn = max(-_HEAD_TURN, min(_HEAD_TURN, gaze.turn_deg))
    nod = max(-_HEAD_NOD, min(_HEAD_NOD, gaze.nod_deg))
    return (turn, nod), (gaze.turn_deg - turn, gaze.nod_deg - nod)


def posed(vertices: Floats, normals: Floats, joints: Floats, anchors: Anchors, gaze: Gaze) -> tuple[Floats, Floats]:
    """Return vertices (V, 3) and normals (V, 3) of the person, head and eyes turned; `joints` as in Mesh."""
    (turn, nod), (eye_turn, eye_nod) = _split_gaze(gaze)
    vertices, normals = vertices.copy(), normals.copy()
    for joint, eye in ((2, "eye_right"), (3, "eye_left")):
        part = joints == joint
        vertices[part] = _turn_points(vertices[part], anchors[eye], eye_turn, eye_nod)
        normals[part] = _turn_points(normals[part], np.zeros(3), eye_turn, eye_nod)
    head = joints > 0
    vertices[head] = _turn_points(vertices[head], anchors["neck"], turn, nod)
    normals[head] = _turn_points(normals[head], np.zeros(3), turn, nod)
    return vertices, normals


def eye_of(anchors: Anchors, gaze: Gaze, rotation_deg: float, scale: float, location: Vec) -> Vec:
    """Return the point between the eyes of a person in the world, Blender units."""
    middle = (anchors["eye_left"] + anchors["eye_right"])[None] / 2
    (turn, nod), _ = _split_gaze(gaze)
    placed = transform(_turn_points(middle, anchors["neck"], turn, nod), (0.0, 0.0, rotation_deg), scale, location)
    x, y, z = placed[0].tolist()
    return x, y, z


def gaze_at(anchors: Anchors, target: Vec, rotation_deg: float, scale: float, location: Vec) -> Gaze:
    """Return the gaze, possible or not, with which a person at a location looks at a point of the world."""
    gaze = Gaze(0.0, 0.0)
    for _ in range(_ROUNDS):
        eye = eye_of(anchors, gaze, rotation_deg, scale, location)
        x, y, z = (there - here for there, here in zip(target, eye, strict=True))
        # The face is towards -Y: a turn by t looks along (sin t, -cos t).
        turn = (math.degrees(math.atan2(x, -y)) - rotation_deg + 180.0) % 360.0 - 180.0
        gaze = Gaze(turn, math.degrees(math.atan2(z, math.hypot(x, y))))
    return Gaze(round(gaze.turn_deg, 4), round(gaze.nod_deg, 4))
