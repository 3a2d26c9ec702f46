"""Contrasts of MEWL episodes: one factor of the query changes, and with it the option that names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, OBJECT_NUMBER, TYPES, VALUES
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec
from diorama.scene_specs.benchmarks.mewl.view import learner_view
from diorama.scene_specs.language.contrast import Edit, edits
from diorama.scene_specs.language.scene import Change


def contrasts(data: dict[str, Any], change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of the query. Refused: those after which no option, or more than one, is true of it."""
    for edit in edits(data, change, rng, [CONTEXTS], {**VALUES, "shape": _shapes(data["task"])}):
        task, problem = edit.data["task"], ""
        for option in task["options"]:
            task["answer"] = option
            if not (reason := verify_spec(edit.data)):
                break
            problem = problem or reason
        else:
            yield replace(edit, problem=problem)
            continue
        query = edit.data["frames"][CONTEXTS]
        query["truth"] = {**(query.get("truth") or {}), "names": _names(task, query["objects"], edit.data)}
        yield edit


def _shapes(task: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the shapes of an episode; invented ones stand for CLEVR's in their order."""
    return tuple(task.get("shapes", VALUES["shape"]))


def _names(task: Mapping[str, Any], objects: Sequence[Mapping[str, Any]], data: dict[str, Any]) -> list[str | None]:
    """Return the names of the query's objects in the published files; see draft.Image."""
    looks = [tuple(item[kind] for kind in TYPES) for item in objects]
    name, answer = task["name"], task["answer"]
    if name in ("shape", "color", "material"):
        clevr = dict(zip(_shapes(task), VALUES["shape"], strict=True))
        return [f"{answer} #{OBJECT_NUMBER[clevr[look[0]], *look[1:]]}" for look in looks]
    if name in ("object", "bootstrap"):
        words = {tuple(meaning): word for word, meaning in task["words"].items()}
        return [words.get(look) for look in looks]
    if name == "relation":
        return [f"{look[1]} {look[0]}" for look in looks]
    if name == "composite":
        return [answer for _ in looks]
    query = learner_view(data)["images"][CONTEXTS]
    return [answer if name == "pragmatic" and k == query["pointed"] else None for k in range(len(looks))]
