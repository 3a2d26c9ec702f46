"""What the pictures of a rendered iWISDM trial show: places as measured, categories and sides as they were loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints, ValidationError

from render.model.errors import Diagnostic, SpecError
from render.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from scene_specs.benchmarks.iwisdm.reader import Frames
from scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from scene_specs.benchmarks.iwisdm.verify import is_iwisdm
from scene_specs.language.model_names import SYNSETS, parse_model

_Property = Literal["location", "category", "identity", "view_angle"]


def _wrong(record: EpisodeRecord, problem: str, path: str = "") -> SpecError:
    return SpecError([Diagnostic("", 0, record.episode_id, path, problem)])


class _Node(BaseModel):
    """An operator of a task's graph."""

    name: str
    child: list[_Node]
    frame: int | None = None
    property: _Property | None = None
    value: str | None = None


class _Question(BaseModel):
    answer_frame: int
    answer: str
    operator: _Node


class _Shown(BaseModel):
    number: int
    frame: int
    location: str
    category: int
    object: int
    view_angle: str
    is_distractor: bool
    asked: dict[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,4}$")], list[_Property]]


class _Truth(BaseModel):
    """What the task of a trial has at least (scene_specs.benchmarks.iwisdm.emit)."""

    instruction: str
    answers: list[str]
    questions: list[_Question]
    objects: list[_Shown]
    categories: list[str]
    models: list[str]


def truth_of(record: EpisodeRecord) -> Mapping[str, Any]:
    """The episode's `task`. Raises SpecError for an episode that is none of iWISDM, or lacks what its trials have."""
    task = record.scene.task
    if task is None or not is_iwisdm(task):
        raise _wrong(record, f"found benchmark {(task or {}).get('benchmark')!r}; expected 'iwisdm'", "task")
    try:
        truth = _Truth.model_validate(task)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(["task", *map(str, first["loc"])])
        raise _wrong(record, f"no trial of iWISDM: {first['msg']}", path) from None
    for number, one in enumerate(truth.objects):
        for name, count in (("frame", record.images), ("category", truth.categories), ("object", truth.models)):
            if not 0 <= getattr(one, name) < len(count):
                problem = f"found {getattr(one, name)}; there are {len(count)}, counted from 0"
                raise _wrong(record, problem, f"task.objects.{number}.{name}")
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
    """What each frame shows, in the form that scene_specs.benchmarks.iwisdm.reader takes.

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
        gone = meant.keys() - {one["location"] for one in row}
        if gone:
            raise _wrong(record, f"image {image.name}: nothing stands {min(gone)}, where an object is meant to be")
        frames.append(row)
    if len({*named.values()}) < len(named):
        raise _wrong(record, "two different models have one name")
    return frames
