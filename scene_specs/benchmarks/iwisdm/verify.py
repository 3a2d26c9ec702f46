"""Verification of trials: the stored answers are those that the instruction asks for, according to `reader.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from diorama.scene_specs.benchmarks.iwisdm import Answer
from diorama.scene_specs.benchmarks.iwisdm.copies import contradictions
from diorama.scene_specs.benchmarks.iwisdm.reader import Frames, Seen, UnreadableError, read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, LOCATIONS, VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth, Placed, Truth
from diorama.scene_specs.errors import located, spec_error
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.model_names import SYNSETS, parse_model
from diorama.scene_specs.language.validation import validated
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from diorama.scene_specs.model.spec import EpisodeData, EpisodeSpec, ObjectData
from diorama.scene_specs.tasks.benchmark import Result

_SHAPE = re.compile(r"shapenet:([^/]+)/(.+)")


def verify_spec(data: EpisodeData) -> str:
    """Why a spec's stored answers are wrong; "" if they are right. Raises SpecError for an unreadable task."""
    return find_contradiction(Truth.of_spec(data), frames_of(data))


def verify_record(episode: EpisodeRecord) -> str:
    """Return the same as `verify_spec`, from the rendered images: models as loaded, locations as measured."""
    truth = CompleteTruth.of_record(episode)
    return find_contradiction(truth, frames_of_record(episode, truth))


class _Frames(BaseModel):
    frames: list[list[dict[str, str]]]


def answer(options: Answer) -> Result:
    """Return the answers of an instruction about frames. Raises SpecError."""
    file, named = str(options.frames), {*DEFAULT.categories}
    with located(file=file):
        match parse_json(read_text(options.frames), file):
            case dict(data):
                spec: Any = validated(EpisodeSpec, data, file).model_dump(mode="json")
                frames = frames_of(spec)
                named.update((spec["task"] or {}).get("categories", ()))
            case data:
                frames = validated(_Frames, {"frames": data}, file).frames
    named.update(shown["category"] for row in frames for shown in row if "category" in shown)
    known = {"location": LOCATIONS, "category": named, "view_angle": VIEW_ANGLES}
    try:
        answers = read(options.instruction, frames, known).answers
    except UnreadableError as error:
        raise spec_error(f"INSTRUCTION: {error}") from None
    return Result({"answers": list(answers)}, "".join(f"{answer}\n" for answer in answers if answer != "null"))


def find_contradiction(truth: Truth, frames: Frames) -> str:
    """Why the stored answers differ from those of the second evaluator; "" if they agree."""
    stored = truth.answers
    try:
        derived = read(truth.instruction, frames).answers
    except UnreadableError as error:
        return f"the instruction can't be read: {error}"
    if stored == derived:
        return next(contradictions(truth, frames), "") if truth.has_objects else ""
    at = next((k for k, pair in enumerate(zip(stored, derived, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f"{len(stored)} answers are stored for {len(derived)} frames"
    return f"frame {at}: the stored answer is {stored[at]!r}, but the instruction and the frames give {derived[at]!r}"


def _seen_object(item: ObjectData) -> Seen:
    """Return the visible properties of a spec's object. Raises SpecError for a shape that is no model of a category."""
    shape, yaw_deg = item["shape"], (item.get("view") or {}).get("yaw_deg", 0.0)
    match = _SHAPE.fullmatch(str(shape))
    if match is None:
        raise spec_error(f"found shape {shape!r}; expected shapenet:<category>/<model>")
    return {
        "category": match.group(1),
        "identity": f"{match.group(1)}/{match.group(2)}",
        "location": item["place"].replace("_", " "),
        "view_angle": VIEW_ANGLES[round(yaw_deg / 90) % 4],
    }


def frames_of(spec: EpisodeData) -> Frames:
    """Return the visible objects of each frame of a spec (JSON data). Raises SpecError for objects without a place."""
    frames = []
    for index, frame in enumerate(spec["frames"]):
        row = []
        for number, item in enumerate(frame.get("objects") or ()):
            if not item.get("shape") or not item.get("place"):
                raise spec_error("expected shape and place", path=f"frames[{index}].objects[{number}]")
            row.append(_seen_object(item))
        frames.append(row)
    return frames


def measured_location(item: ObjectAnnotation, image: ImageRecord) -> str:
    """Return the quadrant of the center of an object's box. Raises SpecError for an object that is not visible."""
    if item.bbox is None:
        raise spec_error(f"image {image.name}: nothing is visible of object {item.name!r}")
    x, y, width, height = item.bbox
    row = "top" if y + height / 2 < image.height / 2 else "bottom"
    return f"{row} {'left' if x + width / 2 < image.width / 2 else 'right'}"


def seen_side(item: ObjectAnnotation) -> str:
    """Return the side of an object that faces the camera, from its rotation in the camera's frame."""
    w, i, j, k = item.camera_rotation
    # The direction to the camera is -z in its frame: in the object's own axes, minus the last row of the rotation.
    # Yaw 0 is the object's -Y side, yaw 90 its +X side.
    x, y = -2 * (i * k - w * j), -2 * (j * k + w * i)
    return VIEW_ANGLES[round(math.degrees(math.atan2(x, -y)) / 90) % 4]


def category_of(shape: str, categories: Sequence[str]) -> str:
    """Return the trial's word for a loaded model's folder. Raises SpecError for a model of another category."""
    name = parse_model(shape)
    matching = [word for word in categories if name and name.category in (word, SYNSETS.get(word))]
    if not matching:
        raise spec_error(f"found shape {shape!r}; expected a model of one of {', '.join(categories)}")
    return matching[0]


def frames_of_record(episode: EpisodeRecord, truth: Truth) -> Frames:
    """Return the visible objects of each rendered frame.

    Identities are the names of the trial's truth: an object's location identifies its entry there, and one model must
    have one name. Raises SpecError where an image contradicts the truth.
    """
    named: dict[str, str] = {}
    with located(episode=episode.episode_id):
        if beyond := [claim.frame for claim in truth.objects if claim.frame >= len(episode.images)]:
            raise spec_error(f"task.objects: found frame {beyond[0]}; there are {len(episode.images)}, counted from 0")
        frames = [
            _seen_objects(
                image, {claim.location: claim for claim in truth.objects if claim.frame == number}, truth, named
            )
            for number, image in enumerate(episode.images)
        ]
        if len({*named.values()}) < len(named):
            raise spec_error("two different models have one name")
    return frames


def _seen_objects(
    image: ImageRecord, expected: Mapping[str, Placed], truth: Truth, named: dict[str, str]
) -> list[Seen]:
    """Return the visible objects of an image. expected: by location. named: loaded model -> its name so far."""
    row: list[Seen] = []
    for item in image.annotation.objects:
        location, category = measured_location(item, image), category_of(item.shape, truth.categories)
        if location not in expected:
            raise spec_error(f"image {image.name}: found an object {location}; expected none there")
        identity = truth.models[expected[location].object]
        if named.setdefault(item.shape, identity) != identity:
            problem = f"image {image.name}: {item.shape} is {identity}, but {named[item.shape]} in an earlier image"
            raise spec_error(problem)
        row.append({"location": location, "category": category, "identity": identity, "view_angle": seen_side(item)})
    if missing := expected.keys() - {seen["location"] for seen in row}:
        raise spec_error(f"image {image.name}: found nothing {min(missing)}; expected an object there")
    return row
