"""Verification of trials: the stored answers are those that the instruction asks for, according to `reader.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints, model_validator

from diorama.scene_specs.benchmarks.iwisdm import Answer
from diorama.scene_specs.benchmarks.iwisdm.copies import contradictions
from diorama.scene_specs.benchmarks.iwisdm.reader import Frames, Reading, Seen, UnreadableError, read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from diorama.scene_specs.language.benchmark import Result
from diorama.scene_specs.language.diagnostics import validated
from diorama.scene_specs.language.errors import located, spec_error
from diorama.scene_specs.language.foreign import parse_json, read_text
from diorama.scene_specs.language.model_names import SYNSETS, parse_model
from diorama.scene_specs.language.rendered import ImageRecord, ObjectAnnotation, RenderedEpisode
from diorama.scene_specs.language.spec import EpisodeSpec

_SHAPE = re.compile(r"shapenet:([^/]+)/(.+)")
_Property = Literal["location", "category", "identity", "view_angle"]


def verify_spec(data: dict[str, Any]) -> str:
    """Why a spec's stored answers are wrong; "" if they are right. Raises SpecError for an unreadable task."""
    return find_contradiction(data["task"], frames_of(data))


def verify_record(episode: RenderedEpisode) -> str:
    """The same as `verify_spec`, from the rendered images: models as loaded, locations as measured."""
    return find_contradiction(episode.scene.task or {}, frames_of_record(episode))


class _Frames(BaseModel):
    frames: list[list[dict[str, str]]]


def answer(options: Answer) -> Result:
    """The answers of an instruction about frames. Raises SpecError."""
    file = str(options.frames)
    data = parse_json(read_text(options.frames), file)
    with located(file=file):
        if isinstance(data, dict):
            frames = frames_of(validated(EpisodeSpec, data, file).model_dump(mode="json"))
        else:
            frames = validated(_Frames, {"frames": data}, file).frames
    try:
        answers = read(options.instruction, frames).answers
    except UnreadableError as error:
        raise spec_error(f"INSTRUCTION: {error}") from None
    return Result({"answers": list(answers)}, "".join(f"{one}\n" for one in answers if one != "null"))


def find_contradiction(task: Mapping[str, Any], frames: Frames) -> str:
    """Why the stored answers differ from those of the second evaluator; "" if they agree. Raises SpecError as
    `read_task` does.
    """
    stored = stored_answers(task)
    try:
        found = read_task(task, frames).answers
    except UnreadableError as error:
        return f"the instruction can't be read: {error}"
    if stored == found:
        return next(contradictions(check_truth(task, len(frames), ""), frames), "") if "objects" in task else ""
    at = next((k for k, pair in enumerate(zip(stored, found, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f"{len(stored)} answers are stored for {len(found)} frames"
    return f"frame {at}: the stored answer is {stored[at]!r}, but the instruction and the frames give {found[at]!r}"


def read_task(task: Mapping[str, Any], frames: Frames) -> Reading:
    """The second evaluator's answers.

    Raises:
        SpecError: the task has no instruction.
        UnreadableError: the instruction is not of the language.
    """
    text = task.get("instruction")
    if not isinstance(text, str):
        raise spec_error("found no instruction; expected a text", path="task.instruction")
    return read(text, frames)


def stored_answers(task: Mapping[str, Any]) -> tuple[str, ...]:
    """A task's answers, one per frame. Raises SpecError for anything but a list of strings."""
    answers = task.get("answers")
    if not isinstance(answers, list | tuple) or not all(isinstance(answer, str) for answer in answers):
        raise spec_error("expected a list of texts, one per frame", path="task.answers")
    return tuple(answers)


def _seen_object(item: Mapping[str, Any]) -> Seen:
    """The visible properties of an object of a spec. Raises SpecError for a shape that is not a model of a category."""
    shape, yaw_deg = item["shape"], (item.get("view") or {}).get("yaw_deg", 0.0)
    found = _SHAPE.fullmatch(shape)
    if found is None:
        raise spec_error(f"found shape {shape!r}; expected shapenet:<category>/<model>")
    return {
        "category": found.group(1),
        "identity": f"{found.group(1)}/{found.group(2)}",
        "location": item["place"].replace("_", " "),
        "view_angle": VIEW_ANGLES[round(yaw_deg / 90) % 4],
    }


def frames_of(spec: Mapping[str, Any]) -> Frames:
    """The visible objects of each frame of a spec (JSON data). Raises SpecError for objects without a place."""
    frames = []
    for index, frame in enumerate(spec["frames"]):
        row = []
        for number, item in enumerate(frame.get("objects") or ()):
            if not item.get("shape") or not item.get("place"):
                raise spec_error("expected shape and place", path=f"frames[{index}].objects[{number}]")
            row.append(_seen_object(item))
        frames.append(row)
    return frames


class _Node(BaseModel):
    """An operator of a task's graph."""

    name: str
    child: list[_Node]
    frame: int | None = None
    property: _Property | None = None
    value: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> _Node:
        if None in {"Select": (self.frame,), "CONST": (self.property, self.value)}.get(self.name, ()):
            raise ValueError(f"{self.name}: expected frame of a Select, property and value of a CONST")
        return self

    def selects(self) -> bool:
        """Whether it looks at an object."""
        return self.name == "Select" or any(child.selects() for child in self.child)


class _Question(BaseModel):
    answer_frame: int
    answer: str
    operator: _Node

    @model_validator(mode="after")
    def _about_objects(self) -> _Question:
        if not self.operator.selects():
            raise ValueError("found no Select; expected a question about an object")
        return self


class _Object(BaseModel):
    number: int
    frame: int
    location: str
    category: int
    object: int
    view_angle: str
    is_distractor: bool
    asked: dict[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,4}$")], list[_Property]]


class _Truth(BaseModel):
    """The keys of a trial's `task` that exports need (see diorama.scene_specs.benchmarks.iwisdm.generate)."""

    instruction: str
    answers: list[str]
    questions: list[_Question]
    objects: list[_Object]
    categories: list[str]
    models: list[str]


def truth_of(episode: RenderedEpisode) -> Mapping[str, Any]:
    """The episode's `task`. Raises SpecError for an episode of another benchmark, or with missing or wrong keys."""
    return check_truth(episode.scene.task or {}, len(episode.images), episode.episode_id)


def check_truth(task: Mapping[str, Any], frames: int, episode: str) -> Mapping[str, Any]:
    """The `task` of an episode with this number of frames. Raises SpecError as `truth_of` does."""
    with located(episode=episode, path="task"):
        if task.get("benchmark") != "iwisdm":
            raise spec_error(f"found benchmark {task.get('benchmark')!r}; expected 'iwisdm'")
        truth = validated(_Truth, task)
        for number, item in enumerate(truth.objects):
            for name, count in (("frame", frames), ("category", len(truth.categories)), ("object", len(truth.models))):
                if not 0 <= getattr(item, name) < count:
                    problem = f"found {getattr(item, name)}; there are {count}, counted from 0"
                    raise spec_error(problem, path=f"task.objects.{number}.{name}")
    return task


def measured_location(item: ObjectAnnotation, image: ImageRecord) -> str:
    """The quadrant of the center of an object's box. Raises SpecError for an object that is not visible."""
    if item.bbox is None:
        raise spec_error(f"image {image.name}: nothing is visible of object {item.name!r}")
    x, y, width, height = item.bbox
    row = "top" if y + height / 2 < image.height / 2 else "bottom"
    return f"{row} {'left' if x + width / 2 < image.width / 2 else 'right'}"


def seen_side(item: ObjectAnnotation) -> str:
    """The side of an object that faces the camera, from its rotation in the camera's frame."""
    w, i, j, k = item.camera_rotation
    # The direction to the camera is -z in its frame: in the object's own axes, minus the last row of the rotation.
    # Yaw 0 is the object's -Y side, yaw 90 its +X side.
    x, y = -2 * (i * k - w * j), -2 * (j * k + w * i)
    return VIEW_ANGLES[round(math.degrees(math.atan2(x, -y)) / 90) % 4]


def category_of(shape: str, categories: list[str]) -> str:
    """The trial's word for a loaded model's folder. Raises SpecError for a model of another category."""
    name = parse_model(shape)
    found = [word for word in categories if name and name.category in (word, SYNSETS.get(word))]
    if not found:
        raise spec_error(f"found shape {shape!r}; expected a model of one of {', '.join(categories)}")
    return found[0]


def frames_of_record(episode: RenderedEpisode) -> Frames:
    """The visible objects of each rendered frame.

    Identities are the names of the trial's truth: an object's location identifies its entry there, and one model must
    have one name. Raises SpecError where an image contradicts the truth.
    """
    task = truth_of(episode)
    named: dict[str, str] = {}
    with located(episode=episode.episode_id):
        frames = [
            _seen_objects(
                image, {one["location"]: one for one in task["objects"] if one["frame"] == number}, task, named
            )
            for number, image in enumerate(episode.images)
        ]
        if len({*named.values()}) < len(named):
            raise spec_error("two different models have one name")
    return frames


def _seen_objects(
    image: ImageRecord, expected: Mapping[str, Mapping[str, Any]], task: Mapping[str, Any], named: dict[str, str]
) -> list[Seen]:
    """The visible objects of an image. expected: by location. named: loaded model -> its name so far."""
    row: list[Seen] = []
    for item in image.annotation.objects:
        location, category = measured_location(item, image), category_of(item.shape, task["categories"])
        if location not in expected:
            raise spec_error(f"image {image.name}: found an object {location}; expected none there")
        identity = task["models"][expected[location]["object"]]
        if named.setdefault(item.shape, identity) != identity:
            problem = f"image {image.name}: {item.shape} is {identity}, but {named[item.shape]} in an earlier image"
            raise spec_error(problem)
        row.append({"location": location, "category": category, "identity": identity, "view_angle": seen_side(item)})
    missing = expected.keys() - {seen["location"] for seen in row}
    if missing:
        raise spec_error(f"image {image.name}: found nothing {min(missing)}; expected an object there")
    return row
