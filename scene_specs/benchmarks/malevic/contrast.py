"""Contrasts of MALeViC items: another object, with the labels, the threshold and the answer that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.malevic.generate import task_of_scene
from diorama.scene_specs.benchmarks.malevic.labels import label_of
from diorama.scene_specs.benchmarks.malevic.published import objects_of
from diorama.scene_specs.benchmarks.malevic.sets import Set, set_of
from diorama.scene_specs.benchmarks.malevic.shapes import CANVAS, Areas, Object, area_of, object_data, on_table
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.benchmarks.malevic.verify import verify_spec
from diorama.scene_specs.errors import located
from diorama.scene_specs.language.rng import shuffled
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.contrast import Edit

# Random positions to try.
_DRAWS = 40


def contrasts(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of one object; the sentence stays. Refused: those that the set would not have.

    count: an object is removed.
    """
    truth = Truth.of_spec(data)
    if not truth.question:
        return
    with located(episode=data["id"]):
        before, which, areas = objects_of(truth), set_of(truth), truth.areas
    for k, (item, old, new) in shuffled(rng, list(_possible_changes(before, change, which, areas, rng))):
        edited = deepcopy(data)
        objects = edited["frames"][0]["objects"]
        name, asked = objects[k]["name"], truth.asked - (item is None and k < truth.asked)
        after = (*before[:k], *([] if item is None else [item]), *before[k + 1 :])
        if item is None:
            objects.pop(k)
        else:
            objects[k] |= on_table(item) if truth.world == "3d" else object_data(item, areas)
        problem = "the object that the sentence is about is gone" if item is None and k == truth.asked else ""
        if not problem:
            query = (asked, truth.adjective, label_of(which, after, after[asked], truth.k).size == truth.adjective)
            given = {key: getattr(truth, key) for key in ("split", "number", "world", "variant", "areas")}
            edited["task"] = task_of_scene(which, after, truth.k, query, **given)
            problem = verify_spec(edited)
        yield Edit(edited, 0, (name,), old, new, problem)


def _possible_changes(
    objects: Sequence[Object], change: Change, which: Set, areas: Areas, rng: np.random.Generator
) -> Iterator[tuple[int, tuple[Object | None, Any, Any]]]:
    """Yield the index of an object, what it becomes (None: it is removed), and the values before and after."""
    key = "radius" if change == "size" else change
    some: dict[str, Sequence[Any]] = {"color": which.colors, "shape": which.shapes, "radius": which.rads}
    for k, item in enumerate(objects):
        for value in some.get(key, ()):
            if value != getattr(item, key):
                yield k, (_with_fields(item, areas, **{key: value}), getattr(item, key), value)
        if change == "count":
            yield k, (None, len(objects), len(objects) - 1)
    for _ in range(_DRAWS if change == "position" else 0):
        k, *spot = (int(rng.integers(0, most)) for most in (len(objects), CANVAS, CANVAS))
        yield k, (_move_to(objects[k], spot), _box_center(objects[k]), spot)


def _box_apex(item: Object) -> tuple[float, float]:
    """Return the column and row of an object from the center of its box; only those of a triangle are elsewhere."""
    reach = float(item.radius) if item.shape == "triangle" else 0.0
    return (reach, 0.0) if item.turned else (0.0, reach)


def _box_center(item: Object) -> list[float]:
    """Return column and row of the center of the object's box."""
    return [item.column - _box_apex(item)[0], item.row - _box_apex(item)[1]]


def _move_to(item: Object, center: Sequence[float]) -> Object:
    """Return the object with the center of its box elsewhere, at whole pixels."""
    return replace(item, column=round(center[0] + _box_apex(item)[0]), row=round(center[1] + _box_apex(item)[1]))


def _with_fields(item: Object, areas: Areas, **fields: Any) -> Object:
    """Return the object with other fields, the area that follows, and the same center of its box."""
    turned = item.turned and fields.get("shape", item.shape) in ("triangle", "rectangle")
    new = replace(item, **{"turned": turned, **fields})
    return _move_to(replace(new, area=area_of(new.shape, new.radius, areas)), _box_center(item))
