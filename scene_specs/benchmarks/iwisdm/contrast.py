"""Contrasts of iWISDM trials: an object in another location, or another model, with the answers that follow."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.iwisdm.reader import UnreadableError, read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS, is_picture
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of
from diorama.scene_specs.language.rng import shuffled
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.contrast import Edit


def contrasts(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of one object; the instruction stays. Refused: those after which it can't be read.

    position: a free location of the frame. shape: another model, seen from the same direction; of models made of
    pictures, one that the trial shows from there, as others may lack this picture. Raises SpecError for a task without
    the truth about its objects.
    """
    truth, rows = CompleteTruth.of_spec(data), frames_of(data)
    known = {(known_object.frame, known_object.location) for known_object in truth.objects}
    views = {(seen["identity"], seen["view_angle"]) for row in rows for seen in row}
    edits: list[tuple[int, int, str, str]] = []
    for number, row in enumerate(rows):
        free = sorted({*LOCATIONS} - {seen["location"] for seen in row})
        for k, seen in enumerate(row):
            if (number, seen["location"]) not in known:
                continue
            if change == "position":
                edits += [(number, k, "place", place.replace(" ", "_")) for place in free]
            elif change == "shape":
                edits += [
                    (number, k, "shape", f"shapenet:{model}")
                    for model in truth.models
                    if model != seen["identity"] and (not is_picture(model) or (model, seen["view_angle"]) in views)
                ]
    for number, k, key, value in shuffled(rng, edits):
        yield _edit_object(data, number, k, key, value)


def _edit_object(data: EpisodeData, number: int, k: int, key: str, value: str) -> Edit:
    edited, problem = deepcopy(data), ""
    item: Any = edited["frames"][number]["objects"][k]
    task = edited["task"]
    at = (number, item["place"].replace("_", " "))
    truth = next(candidate for candidate in task["objects"] if (candidate["frame"], candidate["location"]) == at)
    name, before, item[key] = item["name"], item[key], value
    if key == "shape":
        identity = value.removeprefix("shapenet:")
        truth["object"] = task["models"].index(identity)
        truth["category"] = task["categories"].index(identity.partition("/")[0])
    else:
        truth["location"], item["name"] = value.replace("_", " "), value
    try:
        task["answers"] = list(read(task["instruction"], frames_of(edited)).answers)
    except UnreadableError as error:
        problem = f"the instruction can't be read: {error}"
    for frame, due in enumerate(task["answers"]):
        questions = [question for question in task["questions"] if question["answer_frame"] == frame]
        for question, answer in zip(questions, due.split("; "), strict=False):
            question["answer"] = answer
    return Edit(edited, number, tuple(dict.fromkeys((name, item["name"]))), before, value, problem)
