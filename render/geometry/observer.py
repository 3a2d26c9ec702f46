"""What people of a frame see, by cameras in the place of their eyes, and where its objects are from there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.person import eye_of
from diorama.render.geometry.raster import compose, object_layer
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.person import parse_person
from diorama.scene_specs.model.scene import SceneCamera, SceneObject
from diorama.scene_specs.model.stage import StageGround
from diorama.scene_specs.rotation import Vec, rotation_matrix

# Half the angle that a person sees, degrees, and the side of the image that stands for it, pixels.
HALF_VIEW_DEG, SIDE = 60.0, 512
_SENSOR = 36.0
# Cosines: how upright an object is whose front is said to be somewhere, and how near to the middle of a side a
# direction is that is clearly on this side. So much must also be in view of an observer.
_UPRIGHT, CLEAR = 0.9, 0.5


def front_of(shape: str, rotation_deg: Vec, front_deg: float | None) -> tuple[float, float] | None:
    """Return the unit vector on the ground of an upright object's own front, or of a person's gaze; None without."""
    gaze = parse_person(shape)
    turn = gaze.turn_deg if front_deg is None and gaze is not None else front_deg
    rows = rotation_matrix(rotation_deg)
    if turn is None or rows[2][2] < _UPRIGHT:
        return None
    ahead = (math.sin(math.radians(turn)), -math.cos(math.radians(turn)))
    x, y = (row[0] * ahead[0] + row[1] * ahead[1] for row in rows[:2])
    return x / math.hypot(x, y), y / math.hypot(x, y)


def place_of(target: str | Vec, places: Mapping[str, Vec]) -> Vec | None:
    """Return the point that an observer looks at, or where the object is whose name is given; None without a place."""
    return places.get(target) if isinstance(target, str) else target


def clear_sides(
    subject: Sequence[float],
    of: Sequence[float],
    front: Sequence[float],
    eye: Sequence[float] | None,
    margin: float,
    least: float = CLEAR,
) -> list[str]:
    """Return where an object clearly is from another one: of left, right, front and behind, none, one or two.

    Args:
        subject: x, y of the object, Blender units; further coordinates are not used.
        of: x, y of the other object.
        front: direction on the ground of the other object's front, or of the observer's gaze.
        eye: place of an observer, for whom what is nearer is in front; None for the other object's own sides.
        margin: Blender units.
        least: cosine of the angle from the middle of a side up to which a direction is clear.
    """
    x, y = front[0], front[1]
    if eye is not None:
        for place in (subject, of):
            sight = (place[0] - eye[0], place[1] - eye[1])
            if sight[0] * x + sight[1] * y < least * math.hypot(*sight) * math.hypot(x, y):
                return []
        x, y = of[0] - eye[0], of[1] - eye[1]
    size, away = math.hypot(x, y), (subject[0] - of[0], subject[1] - of[1])
    if not size:
        return []
    ahead, left = (away[0] * x + away[1] * y) / size, (away[1] * x - away[0] * y) / size
    nearer = ahead if eye is None else -ahead
    along = {"left": left, "right": -left, "front": nearer, "behind": -nearer}
    return [name for name, far in along.items() if far > margin and far >= least * math.hypot(*away)]


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
