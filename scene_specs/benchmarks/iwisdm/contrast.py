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

    position: a free location of the frame. relation: two objects of a frame change places. shape: another model, seen
    from the same direction.
    """
    found: list[tuple[int, dict[int, tuple[str, Any]]]] = []
    for number, frame in enumerate(data["frames"]):
        places = [item["place"] for item in frame["objects"]]
        free = [place for name in LOCATIONS if (place := name.replace(" ", "_")) not in places]
        for k, item in enumerate(frame["objects"]):
            if change == "position":
                found += [(number, {k: ("place", place)}) for place in free]
            elif change == "relation":
                found += [(number, {j: ("place", places[k]), k: ("place", places[j])}) for j in range(k)]
            elif change == "shape":
                models = [f"shapenet:{name}" for name in data["task"]["models"]]
                found += [(number, {k: ("shape", model)}) for model in models if model != item["shape"]]
    for number, changed in shuffled(rng, found):
        yield _edit(data, number, changed)


def _edit(data: dict[str, Any], number: int, changed: dict[int, tuple[str, Any]]) -> Edit:
    edited = deepcopy(data)
    objects, task = edited["frames"][number]["objects"], edited["task"]
    listed = {(item["frame"], item["location"]): item for item in task["objects"]}
    names, before = set(), []
    for k, (key, value) in changed.items():
        item = objects[k]
        truth = listed[number, data["frames"][number]["objects"][k]["place"].replace("_", " ")]
        names.add(item["name"])
        before.append(item[key])
        item[key] = value
        if key == "shape":
            identity = value.removeprefix("shapenet:")
            truth |= {
                "object": task["models"].index(identity),
                "category": task["categories"].index(identity.partition("/")[0]),
            }
        else:
            truth["location"], item["name"] = value.replace("_", " "), value
        names.add(item["name"])
    problem = ""
    try:
        answers = read_task(task, frames_of(edited)).answers
    except UnreadableError as error:
        problem = f"the instruction can't be read: {error}"
    else:
        task["answers"] = list(answers)
        for at, due in enumerate(answers):
            questions = [one for one in task["questions"] if one["answer_frame"] == at]
            for question, answer in zip(questions, due.split("; "), strict=False):
                question["answer"] = answer
    return Edit(edited, number, tuple(sorted(names)), before, [value for _, value in changed.values()], problem)
