"""Edits of a spec that change one factor of one frame.

They work on JSON data of a spec in which everything is fixed (render.episode.pin_layout). A benchmark whose truth
depends on the objects offers `contrasts(data, change, rng)` in its file `contrast`: it yields the same kind of edits,
with the truth in `data` recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from scene_specs.language.rng import pick, shuffled
from scene_specs.language.scene import Change
from scene_specs.language.stage import Stage, load_stage

# Random locations to try per frame.
_DRAWS = 40

Json = dict[str, Any]


@dataclass(frozen=True)
class Edit:
    """A spec with one change.

    data: the changed spec. frame: index of the changed frame. objects: names of the objects that differ. before, after:
    of the changed value. problem: why a benchmark refuses the edit; "" if the truth in `data` is right.
    """

    data: Json
    frame: int
    objects: tuple[str, ...]
    before: Any
    after: Any
    problem: str = ""


def edits(
    data: Json,
    change: Change,
    rng: np.random.Generator,
    frames: Sequence[int] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[Edit]:
    """Yield the possible edits in random order; whether the compiler accepts their layouts is not checked.

    frames: indices of frames to change, default all. values: factor -> possible values, default the stage's.
    """
    stage = load_stage(data["stage"])
    found: list[Callable[[], Edit]] = []
    for number in range(len(data["frames"])) if frames is None else frames:
        items, pointer = data["frames"][number]["objects"], data["frames"][number].get("pointer")
        if change == "pointer":
            names = [item["name"] for item in items if pointer and item["name"] != pointer["target"]]
            found += [partial(_pointing, data, number, name) for name in names]
        elif change in ("position", "relation", "count"):
            found += _layouts(data, number, change, stage, rng)
        else:
            known = (values or _values(stage))[change]
            for k, item in enumerate(items):
                if item.get(change) in known:
                    found += [partial(_with_value, data, number, k, change, v) for v in known if v != item[change]]
    for make in shuffled(rng, found):
        yield make()


def _values(stage: Stage) -> Mapping[str, Sequence[Any]]:
    drawn = stage.defaults
    return {"color": drawn.colors, "material": drawn.materials, "shape": drawn.shapes, "size": drawn.sizes}


def _with_value(data: Json, number: int, k: int, key: str, value: Any) -> Edit:
    edited = deepcopy(data)
    item = edited["frames"][number]["objects"][k]
    before, item[key] = item[key], value
    return Edit(edited, number, (item["name"],), before, value)


def _pointing(data: Json, number: int, target: str) -> Edit:
    """Point at another object; the compiler finds a new location for the pointer."""
    edited = deepcopy(data)
    pointer = edited["frames"][number]["pointer"]
    before, pointer["target"] = pointer["target"], target
    pointer.pop("location", None)
    return Edit(edited, number, ("pointer",), before, target)


def _layouts(data: Json, number: int, change: str, stage: Stage, rng: np.random.Generator) -> list[Callable[[], Edit]]:
    frame = data["frames"][number]
    placed = [k for k, item in enumerate(frame["objects"]) if item.get("location") is not None]
    if change == "relation":
        return [partial(_swapped, data, number, *pair) for pair in combinations(placed, 2)]
    area = frame.get("area") or stage.placement.area.model_dump()
    spots = [[round(float(rng.uniform(*area[axis])), 3) for axis in "xy"] for _ in range(_DRAWS)]
    if change == "position":
        return [partial(_moved, data, number, pick(rng, placed), spot) for spot in spots if placed]
    target = (frame.get("pointer") or {}).get("target")
    found: list[Callable[[], Edit]] = [
        partial(_removed, data, number, k) for k in placed if frame["objects"][k]["name"] != target
    ]
    names = {item["name"] for item in frame["objects"]}
    name = next(name for k in range(len(names), 2 * len(names) + 1) if (name := f"object-{k}") not in names)
    for spot in spots[: max(len(found), 1)]:
        drawn = {key: pick(rng, some) for key, some in _values(stage).items() if some}
        item = {"name": name, **drawn, "location": spot, "rotation_deg": round(float(rng.uniform(0, 360)), 3)}
        found.append(partial(_added, data, number, item))
    return found


def _free(frame: Json, names: Sequence[str]) -> None:
    """Remove the constraints that name an object."""
    frame["constraints"] = [
        one
        for one in frame.get("constraints") or ()
        if not {*names} & {one.get("subject"), one.get("of"), *(one.get("objects") or ())}
    ]


def _swapped(data: Json, number: int, first: int, second: int) -> Edit:
    edited = deepcopy(data)
    frame = edited["frames"][number]
    pair = [frame["objects"][k] for k in (first, second)]
    before = [list(item["location"]) for item in pair]
    for item, other in zip(pair, reversed(before), strict=True):
        item["location"] = [*other[:2], *item["location"][2:]]
    names = tuple(item["name"] for item in pair)
    _free(frame, names)
    return Edit(edited, number, names, before, [item["location"] for item in pair])


def _moved(data: Json, number: int, k: int, spot: Sequence[float]) -> Edit:
    edited = deepcopy(data)
    item = edited["frames"][number]["objects"][k]
    before = item["location"]
    item["location"] = [*spot, *before[2:]]
    _free(edited["frames"][number], [item["name"]])
    return Edit(edited, number, (item["name"],), before, item["location"])


def _removed(data: Json, number: int, k: int) -> Edit:
    edited = deepcopy(data)
    frame = edited["frames"][number]
    count = len(frame["objects"])
    item = frame["objects"].pop(k)
    _free(frame, [item["name"]])
    return Edit(edited, number, (item["name"],), count, count - 1)


def _added(data: Json, number: int, item: Json) -> Edit:
    edited = deepcopy(data)
    objects = edited["frames"][number]["objects"]
    objects.append(item)
    return Edit(edited, number, (item["name"],), len(objects) - 1, len(objects))
