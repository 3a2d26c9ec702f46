"""What the pictures of a rendered iWISDM trial show: places as measured, categories and sides as they were loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from render.errors import Fault, SpecError
from render.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from scene_specs.iwisdm.prove import is_iwisdm
from scene_specs.iwisdm.reader import Frames
from scene_specs.iwisdm.stimuli import VIEW_ANGLES
from scene_specs.models import SYNSETS, parse_model


def _wrong(record: EpisodeRecord, problem: str, path: str = "") -> SpecError:
    return SpecError([Fault("", 0, record.episode_id, path, problem)])


def truth_of(record: EpisodeRecord) -> Mapping[str, Any]:
    """The episode's `task`. Raises SpecError for an episode that is none of iWISDM, or lacks what its trials have."""
    task = record.scene.task
    if task is None or not is_iwisdm(task):
        raise _wrong(record, f"found benchmark {(task or {}).get('benchmark')!r}; expected 'iwisdm'", "task")
    missing = [
        key for key in ("instruction", "answers", "questions", "objects", "categories", "models") if key not in task
    ]
    if missing:
        raise _wrong(record, f"no {', '.join(missing)}", "task")
    return task


def measured_location(item: ObjectAnnotation, image: ImageRecord) -> str:
    """The quadrant that holds the middle of an object's box. Raises ValueError where nothing of it is visible."""
    if item.bbox is None:
        raise ValueError(f"image {image.name}: nothing is visible of object {item.name!r}")
    x, y, width, height = item.bbox
    row = "top" if y + height / 2 < image.height / 2 else "bottom"
    return f"{row} {'left' if x + width / 2 < image.width / 2 else 'right'}"


def seen_side(item: ObjectAnnotation) -> str:
    """Which side of an object faces the camera, from its rotation in the camera's frame."""
    w, i, j, k = item.camera_rotation
    # Towards the camera is -z there: in the object's own axes, minus the last row of the rotation. Yaw 0 is its
    # -Y side, 90 its +X side.
    x, y = -2 * (i * k - w * j), -2 * (j * k + w * i)
    return VIEW_ANGLES[round(math.degrees(math.atan2(x, -y)) / 90) % 4]


def category_of(shape: str, categories: list[str]) -> str:
    """The trial's word for a loaded model's folder. Raises ValueError for a shape that is of none of its categories."""
    name = parse_model(shape)
    found = [word for word in categories if name and name.category in (word, SYNSETS.get(word))]
    if not found:
        raise ValueError(f"found shape {shape!r}; expected a model of one of {', '.join(categories)}")
    return found[0]


def frames_of_record(record: EpisodeRecord) -> Frames:
    """What each frame shows, in the form that scene_specs.iwisdm.reader takes.

    Identities have the names of the trial's truth: an object's place says which it is meant to be, and one model must
    have one name. Raises SpecError where a picture shows something else than the truth says.
    """
    task = truth_of(record)
    named: dict[str, str] = {}
    frames = []
    for number, image in enumerate(record.images):
        meant = {one["location"]: one for one in task["objects"] if one["frame"] == number}
        row = []
        for item in image.annotation.objects:
            try:
                location = measured_location(item, image)
                category = category_of(item.shape, task["categories"])
            except ValueError as error:
                raise _wrong(record, str(error)) from None
            if location not in meant:
                raise _wrong(record, f"image {image.name}: an object stands {location}, where none is meant to be")
            identity = task["models"][meant[location]["object"]]
            if named.setdefault(item.shape, identity) != identity:
                raise _wrong(
                    record, f"image {image.name}: {item.shape} is {identity}, and was {named[item.shape]} before"
                )
            row.append(
                {"location": location, "category": category, "identity": identity, "view_angle": seen_side(item)}
            )
        frames.append(row)
    if len({*named.values()}) < len(named):
        raise _wrong(record, "two different models have one name")
    return frames
