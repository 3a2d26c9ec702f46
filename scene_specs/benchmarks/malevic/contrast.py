"""Contrasts of MALeViC items: another object, with the labels, the threshold and the answer that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from scene_specs.benchmarks.malevic.generate import task_of_scene
from scene_specs.benchmarks.malevic.labels import label_of
from scene_specs.benchmarks.malevic.sets import SETS
from scene_specs.benchmarks.malevic.shapes import (
    CANVAS,
    CLASSES,
    COLORS,
    SHAPES,
    Areas,
    Object,
    anchor,
    area_of,
    extent,
    placed,
)
from scene_specs.benchmarks.malevic.table import on_table
from scene_specs.benchmarks.malevic.verify import verify_spec
from scene_specs.language.contrast import Edit
from scene_specs.language.rng import pick, shuffled
from scene_specs.language.scene import Change

# Random changes of position and number to try.
_DRAWS = 40
_FIELDS = ("shape", "color", "radius", "area", "row", "column", "turned")
_Scene = tuple[Object, ...]


def contrasts(data: dict[str, Any], change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of the scene; the sentence stays. Refused: those that the set would not have.

    relation: two objects change places. count: an object is added at the end, or removed.
    """
    task = data["task"]
    if "question" not in task:
        return
    before = tuple(Object(**{key: item[key] for key in _FIELDS}) for item in task["objects"])
    found = shuffled(rng, list(_scenes(before, change, task["areas"], rng)))
    for changed, (after, old, new) in found:
        edited = deepcopy(data)
        objects = edited["frames"][0]["objects"]
        names = [item["name"] for item in objects]
        asked: int | None = task["asked"]
        if len(after) < len(before):
            (gone,) = changed
            objects.pop(gone)
            asked = None if asked == gone else task["asked"] - (gone < task["asked"])
        for k in changed if len(after) >= len(before) else ():
            item = on_table(after[k]) if task["world"] == "3d" else placed(after[k], task["areas"])
            name = names[k] if k < len(names) else f"object-{max(int(one.split('-')[1]) for one in names) + 1}"
            objects[k : k + 1] = [{**(objects[k] if k < len(names) else {}), "name": name, **item}]
        shown = [objects[k]["name"] if len(after) >= len(before) else names[k] for k in changed]
        problem = "the object that the sentence is about is gone" if asked is None else ""
        if asked is not None:
            label = label_of(SETS[task["name"]], after, after[asked], task["k"])
            query = (asked, task["adjective"], label.size == task["adjective"])
            given = {key: task[key] for key in ("split", "number", "world", "variant", "areas")}
            edited["task"] = task_of_scene(SETS[task["name"]], after, task["k"], query, **given)
            problem = verify_spec(edited)
        yield Edit(edited, 0, tuple(shown), old, new, problem)


def _scenes(
    objects: _Scene, change: Change, areas: Areas, rng: np.random.Generator
) -> Iterator[tuple[tuple[int, ...], tuple[_Scene, Any, Any]]]:
    """Yield the indices of changed objects, the new objects, and the values before and after."""
    for k, item in enumerate(objects):
        if change in ("color", "shape", "size"):
            key = "radius" if change == "size" else change
            some: dict[str, Sequence[Any]] = {"color": [*COLORS], "shape": SHAPES, "radius": CLASSES}
            for value in some[key]:
                if value != getattr(item, key):
                    yield (k,), (_with(objects, k, _changed(item, areas, **{key: value})), getattr(item, key), value)
        elif change == "relation":
            for j, other in enumerate(objects[:k]):
                one, two = _center(other, areas), _center(item, areas)
                after = _with(_with(objects, k, _at(item, one, areas)), j, _at(other, two, areas))
                yield (j, k), (after, [one, two], [two, one])
        elif change == "count":
            yield (k,), (objects[:k] + objects[k + 1 :], len(objects), len(objects) - 1)
    for _ in range(_DRAWS if change in ("position", "count") else 0):
        spot = [int(value) for value in rng.integers(0, CANVAS, 2)]
        if change == "position":
            k = int(rng.integers(len(objects)))
            yield (
                (k,),
                (_with(objects, k, _at(objects[k], (spot[0], spot[1]), areas)), [*_center(objects[k], areas)], spot),
            )
        else:
            other = _changed(pick(rng, objects), areas, color=pick(rng, [*COLORS]), radius=pick(rng, CLASSES))
            added = (*objects, _at(other, (spot[0], spot[1]), areas))
            yield (len(objects),), (added, len(objects), len(objects) + 1)


def _with(objects: _Scene, k: int, item: Object) -> _Scene:
    return (*objects[:k], item, *objects[k + 1 :])


def _center(item: Object, areas: Areas) -> tuple[float, float]:
    """Return column and row of the center of the object's box."""
    kind = (item.shape, item.radius, item.turned, areas)
    return (
        item.column - anchor(*kind)[0] + extent(*kind)[0] / 2,
        item.row - anchor(*kind)[1] + extent(*kind)[1] / 2,
    )


def _at(item: Object, center: tuple[float, float], areas: Areas) -> Object:
    """Return the object with the center of its box elsewhere, at whole pixels."""
    x, y = _center(item, areas)
    return replace(item, column=round(item.column + center[0] - x), row=round(item.row + center[1] - y))


def _changed(item: Object, areas: Areas, **fields: Any) -> Object:
    """Return the object with other fields, the area that follows, and the same center of its box."""
    turned = item.turned and fields.get("shape", item.shape) in ("triangle", "rectangle")
    new = replace(item, **{"turned": turned, **fields})
    new = replace(new, area=area_of(new.shape, new.radius, areas))
    return _at(new, _center(item, areas), areas)
