"""Contrasts of MEWL episodes: one factor of the query changes, and with it the option that names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, OBJECT_NUMBER, VALUES, Object
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec
from diorama.scene_specs.benchmarks.mewl.view import learner_view
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData, ObjectData
from diorama.scene_specs.tasks.contrast import Edit, edits


def contrasts(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of the query. Refused: those after which no option, or more than one, is true of it."""
    truth = Truth.of_spec(data)
    for edit in edits(data, change, rng, [CONTEXTS], {**VALUES, "shape": truth.shapes}):
        task, problem = edit.data["task"], ""
        for option in truth.options:
            task["answer"] = option
            if not (reason := verify_spec(edit.data)):
                break
            problem = problem or reason
        else:
            yield replace(edit, problem=problem)
            continue
        query = edit.data["frames"][CONTEXTS]
        query["truth"] = {
            **(query.get("truth") or {}),
            "names": _published_names(Truth.of_spec(edit.data), query["objects"], edit.data),
        }
        yield edit


def _published_names(truth: Truth, objects: Sequence[ObjectData], data: EpisodeData) -> list[str | None]:
    """Return the names of the query's objects in the published files; see draft.Image."""
    looks: list[Object] = [(item["shape"], item["color"], item["material"], item["size"]) for item in objects]
    name, answer = truth.name, truth.answer
    if name in ("shape", "color", "material"):
        return [f"{answer} #{OBJECT_NUMBER[truth.as_clevr[look[0]], *look[1:]]}" for look in looks]
    if name in ("object", "bootstrap"):
        words = {meaning: word for word, meaning in truth.meanings.items()}
        return [words.get(look) for look in looks]
    if name == "relation":
        return [f"{look[1]} {look[0]}" for look in looks]
    if name == "composite":
        return [answer for _ in looks]
    pointed = learner_view(data, truth).query.pointed
    return [answer if name == "pragmatic" and k == pointed else None for k in range(len(looks))]
