"""What people of a frame see: cameras in the place of their eyes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.person import eye_of
from diorama.render.geometry.raster import compose, object_layer
from diorama.render.model.errors import AssetError
from diorama.scene_specs.language.person import parse_person
from diorama.scene_specs.language.scene import SceneCamera, SceneObject
from diorama.scene_specs.language.stage import StageGround

# Half the angle that a person sees, degrees, and the side of the image that stands for it, pixels.
HALF_VIEW_DEG, SIDE = 60.0, 512
_SENSOR = 36.0


def eye_camera(person: SceneObject) -> Camera:
    """Return a camera between the eyes of a person, along the gaze, at SIDE x SIDE pixels.

    Raises:
        AssetError: the object is no person.
    """
    gaze = parse_person(person.shape)
    if gaze is None:
        raise AssetError(f"object {person.name}: found shape {person.shape!r}; an observer is person:<turn>/<nod>")
    turn = person.rotation_deg[2]
    eye = eye_of(load_mesh("person").anchors, gaze, turn, person.scale, person.location)
    around, up = math.radians(turn + gaze.turn_deg), math.radians(gaze.nod_deg)
    flat = math.cos(up)
    along = (eye[0] + math.sin(around) * flat, eye[1] - math.cos(around) * flat, eye[2] + math.sin(up))
    lens = _SENSOR / (2 * math.tan(math.radians(HALF_VIEW_DEG)))
    camera = SceneCamera(location=eye, look_at=along, lens=lens, sensor_width=_SENSOR, clip=(0.01, 1000.0))
    return Camera.of(camera, SIDE, SIDE)


def seen_by(person: SceneObject, objects: Sequence[SceneObject], ground: StageGround | None) -> dict[str, float]:
    """Return the share of each other object that a person sees, of what is within the view; 0 outside of it.

    Raises:
        AssetError: a mesh can't be read, or the object is no person.
    """
    camera = eye_camera(person)
    others = [item for item in objects if item.name != person.name]
    layers = [object_layer(item, camera, ground) for item in others]
    ids, _ = compose(layers, SIDE, SIDE)
    counts = np.bincount(ids.ravel(), minlength=len(others) + 1).tolist()
    return {
        item.name: round(counts[number] / max(layer.pixels, 1), 6)
        for number, (item, layer) in enumerate(zip(others, layers, strict=True), start=1)
    }
