"""A trial as a spec: frames of the `quadrants` stage, and its truth in `task`.

A frame holds nothing but what is seen, so equal frames of any trials have equal specs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.iwisdm.setup import Setup
from scene_specs.benchmarks.iwisdm.stimuli import Stimuli, object_spec
from scene_specs.benchmarks.iwisdm.trial import Trial, answer_text
from scene_specs.benchmarks.iwisdm.wording import numbers


def spec_of(trial: Trial, setup: Setup, name: str, number: int) -> dict[str, Any]:
    """The spec as JSON data; scene_specs.language.spec.EpisodeSpec takes it as it is.

    `task`: `instruction`, `answers` (one a frame, "null" where none is due), `objects` (what each frame shows, with the
    number that it has in the text), `questions` (each task's graph with its constants, its answer and when it is due),
    `categories` and `models`: what the numbers `category` and `object` of `objects` count.
    """
    due = {one.placed.answer_frame for one in trial.answered}
    frames = []
    for at, shown in enumerate(trial.frames):
        objects = sorted((object_spec(one.item, setup.split) for one in shown), key=lambda item: str(item["name"]))
        frame: dict[str, Any] = {"objects": objects} if objects else {}
        if setup.fixation != "none":
            frame["fixation"] = (at in due) == (setup.fixation == "action")
        if setup.background is not None:
            frame["background"] = list(setup.background)
        frames.append(frame)
    place = {"name": name, "number": number, "task": number // setup.trials_per_task}
    return {
        "version": 1,
        "id": f"iwisdm/{setup.split}/{name}/{number:06d}",
        "seed": setup.seed,
        "stage": "quadrants",
        "split": setup.split,
        "frames": frames,
        "task": {"benchmark": "iwisdm", **place, **_truth(trial, setup.stimuli)},
    }


def _truth(trial: Trial, stimuli: Stimuli) -> dict[str, Any]:
    questions = []
    for one in trial.answered:
        questions.append(
            {
                "answer_frame": one.placed.answer_frame,
                "answer": answer_text(one.value),
                "operator": one.placed.task.data(one.constants),
            }
        )
    return {
        "instruction": trial.instruction,
        "answers": list(trial.answers),
        "questions": questions,
        "objects": _objects(trial, stimuli),
        "categories": list(stimuli.categories),
        "models": [identity for _, identity in stimuli.identities],
    }


def _objects(trial: Trial, stimuli: Stimuli) -> list[Mapping[str, Any]]:
    number = numbers(trial.frames)
    names = [identity for _, identity in stimuli.identities]
    found: list[Mapping[str, Any]] = []
    for frame, shown in enumerate(trial.frames):
        for one in shown:
            asked = {
                str(k): list(task.placed.task.asked[frame])
                for k, task in enumerate(trial.answered)
                if frame in task.placed.task.asked and not one.distractor
            }
            found.append(
                {
                    "number": number[frame],
                    "frame": frame,
                    "location": one.item.location,
                    "category": stimuli.categories.index(one.item.category),
                    "object": names.index(one.item.identity),
                    "view_angle": one.item.view_angle,
                    "is_distractor": one.distractor,
                    "asked": asked,
                }
            )
    return found
