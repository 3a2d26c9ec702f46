"""Whether an episode's stored answers are what its instruction asks for, by the second evaluator (`reader.py`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.reader import Frames, Reading, Seen, UnreadableError, read

_SHAPE = re.compile(r"shapenet:([^/]+)/(.+)")
_SIDES = ("front", "left", "back", "right")


def seen_object(shape: str, place: str, yaw_deg: float) -> Seen:
    """What is seen of an object, from its spec. Raises SpecError for a shape that is no model of a category."""
    found = _SHAPE.fullmatch(shape)
    if found is None:
        raise refused(f"found shape {shape!r}; expected shapenet:<category>/<model>")
    return {
        "category": found.group(1),
        "identity": f"{found.group(1)}/{found.group(2)}",
        "location": place.replace("_", " "),
        "view_angle": _SIDES[round(yaw_deg / 90) % 4],
    }


def frames_of(spec: Mapping[str, Any]) -> Frames:
    """What the frames of an episode show, from its spec as JSON data. Raises SpecError for one without places."""
    frames = []
    for index, frame in enumerate(spec["frames"]):
        row = []
        for number, item in enumerate(frame.get("objects") or ()):
            if not item.get("shape") or not item.get("place"):
                raise refused("expected shape and place", path=f"frames[{index}].objects[{number}]")
            row.append(seen_object(item["shape"], item["place"], (item.get("view") or {}).get("yaw_deg", 0.0)))
        frames.append(row)
    return frames


def is_iwisdm(task: Mapping[str, Any] | None) -> bool:
    """Whether an episode's `task` says that it is one of iWISDM."""
    return (task or {}).get("benchmark") == "iwisdm"


def read_task(task: Mapping[str, Any], frames: Frames) -> Reading:
    """The second evaluator's answers. Raises SpecError for a task without an instruction, UnreadableError."""
    text = task.get("instruction")
    if not isinstance(text, str):
        raise refused("found no instruction; expected a text", path="task.instruction")
    return read(text, frames)


def stored_answers(task: Mapping[str, Any]) -> tuple[str, ...]:
    """A task's answers, one a frame. Raises SpecError for what is no list of texts."""
    answers = task.get("answers")
    if not isinstance(answers, list | tuple) or not all(isinstance(answer, str) for answer in answers):
        raise refused("expected a list of texts, one a frame", path="task.answers")
    return tuple(answers)


def find_contradiction(task: Mapping[str, Any], frames: Frames) -> str:
    """Why the stored answers are not what the instruction asks for; "" if they are. Raises SpecError as read_task."""
    stored = stored_answers(task)
    try:
        found = read_task(task, frames).answers
    except UnreadableError as error:
        return f"the instruction can't be read: {error}"
    if stored == found:
        return ""
    at = next((k for k, pair in enumerate(zip(stored, found, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f"{len(stored)} answers are stored for {len(found)} frames"
    return f"frame {at}: the stored answer is {stored[at]!r}, but the instruction and the frames give {found[at]!r}"
