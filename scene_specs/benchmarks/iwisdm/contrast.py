"""Contrasts of iWISDM trials: an object in another location, or another model, with the answers that follow."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from scene_specs.benchmarks.iwisdm.reader import UnreadableError
from scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS
from scene_specs.benchmarks.iwisdm.verify import frames_of, read_task
from scene_specs.language.contrast import Edit
from scene_specs.language.rng import shuffled
from scene_specs.language.scene import Change


def contrasts(data: dict[str, Any], change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of one object; the instruction stays. Refused: those after which it can't be read.

    position: a free location of the frame. shape: another model, seen from the same direction.
    """
    found: list[tuple[int, int, str, str]] = []
    for number, frame in enumerate(data["frames"]):
        places = [item["place"] for item in frame["objects"]]
        for k, item in enumerate(frame["objects"]):
            if change == "position":
                free = {name.replace(" ", "_"): None for name in LOCATIONS}.keys() - {*places}
                found += [(number, k, "place", place) for place in sorted(free)]
            elif change == "shape":
                models = [f"shapenet:{name}" for name in data["task"]["models"]]
                found += [(number, k, "shape", model) for model in models if model != item["shape"]]
    for number, k, key, value in shuffled(rng, found):
        yield _edit(data, number, k, key, value)


def _edit(data: dict[str, Any], number: int, k: int, key: str, value: str) -> Edit:
    edited, problem = deepcopy(data), ""
    item, task = edited["frames"][number]["objects"][k], edited["task"]
    at = (number, item["place"].replace("_", " "))
    truth = next(one for one in task["objects"] if (one["frame"], one["location"]) == at)
    name, before, item[key] = item["name"], item[key], value
    if key == "shape":
        identity = value.removeprefix("shapenet:")
        truth["object"] = task["models"].index(identity)
        truth["category"] = task["categories"].index(identity.partition("/")[0])
    else:
        truth["location"], item["name"] = value.replace("_", " "), value
    try:
        task["answers"] = list(read_task(task, frames_of(edited)).answers)
    except UnreadableError as error:
        problem = f"the instruction can't be read: {error}"
    for frame, due in enumerate(task["answers"]):
        questions = [one for one in task["questions"] if one["answer_frame"] == frame]
        for question, answer in zip(questions, due.split("; "), strict=False):
            question["answer"] = answer
    return Edit(edited, number, tuple(dict.fromkeys((name, item["name"]))), before, value, problem)
