"""Edits of a spec that change one factor of one frame.

They work on JSON data of a spec in which everything is fixed (render/uses/rerender/pin_layout.py). A benchmark whose
truth depends on the objects offers `contrasts(data, change, rng)` in its file `contrast`: it yields the same kind of
edits, with the truth in `data` recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from diorama.scene_specs.language.rng import pick, shuffled
from diorama.scene_specs.language.vocabulary import CONTAINERS
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData
from diorama.scene_specs.model.stage import Stage, load_stage

# Random locations to try per frame.
_DRAWS = 40

# Names of the objects that an edit of a frame changes, and the value before and after.
_Change = tuple[tuple[str, ...], Any, Any]
_FrameEdit = Callable[[FrameData], _Change]


@dataclass(frozen=True)
class Edit:
    """A spec with one change.

    Attributes:
        data: the changed spec.
        frame: index of the changed frame.
        objects: names of the objects that differ.
        before: the value before the change.
        after: the value after it.
        problem: why a benchmark refuses the edit; "" if the truth in `data` is right.
    """

    data: EpisodeData
    frame: int
    objects: tuple[str, ...]
    before: Any
    after: Any
    problem: str = ""


def edits(
    data: EpisodeData,
    change: Change,
    rng: np.random.Generator,
    frames: Sequence[int] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[Edit]:
    """Yield the possible edits in random order; whether the compiler accepts their layouts is not checked.

    Args:
        frames: indices of frames to change; the default is all.
        values: factor -> possible values; the default is those of the stage.
    """
    stage = load_stage(data["stage"])
    numbers = range(len(data["frames"])) if frames is None else frames
    found = [(k, edit) for k in numbers for edit in _possible_edits(data["frames"][k], change, stage, values, rng)]
    for number, edit in shuffled(rng, found):
        edited = deepcopy(data)
        frame = edited["frames"][number]
        names, before, after = edit(frame)
        if change in ("position", "relation", "count", "observer"):
            frame["constraints"] = [one for one in frame.get("constraints") or () if not _names_any(one, names)]
        yield Edit(edited, number, names, before, after)


def _possible_edits(
    frame: FrameData, change: Change, stage: Stage, values: Mapping[str, Sequence[Any]] | None, rng: np.random.Generator
) -> list[_FrameEdit]:
    items: list[Any] = frame["objects"]
    pointer, drawn = frame.get("pointer") or {}, stage.defaults
    people = frame.get("observers", ())
    own = {"color": drawn.colors, "material": drawn.materials, "shape": drawn.shapes, "size": drawn.sizes}
    if change in own:
        known = (values or own)[change]
        some = [(k, item[change]) for k, item in enumerate(items) if item.get(change) in known]
        return [partial(_set_key, k, change, value) for k, now in some for value in known if value != now]
    if change == "pointer":
        return [partial(_move_pointer, item["name"]) for item in items if pointer and item["name"] != pointer["target"]]
    if change == "support":
        return [partial(_put_on_support, claim, item) for claim in _last_claims(frame) for item in items
                if item["name"] not in (claim["subject"], claim["of"])]  # fmt: skip
    placed = [k for k, item in enumerate(items) if item.get("location") is not None]
    if change == "relation":
        # Two objects that look alike would change nothing.
        looks = [[item.get(key) for key in own] for item in items]
        return [partial(_swap_objects, pair) for pair in combinations(placed, 2) if looks[pair[0]] != looks[pair[1]]]
    area = frame.get("area") or stage.placement.area.model_dump()
    spots = [[round(float(rng.uniform(*area[axis])), 3) for axis in "xy"] for _ in range(_DRAWS)]
    if change in ("position", "observer"):
        kind, now = ("objects", items) if change == "position" else ("observers", people)
        movable = placed if change == "position" else range(len(people))
        picked = [(pick(rng, movable), spot) for spot in spots if movable]
        return [partial(_set_key, k, "location", [*spot, *now[k]["location"][2:]], kind=kind) for k, spot in picked]
    watched = [pointer.get("target"), *(person["looks_at"] for person in people)]
    found: list[_FrameEdit] = [partial(_remove_object, k) for k in placed if items[k]["name"] not in watched]
    names = {item["name"] for item in (*items, *people)}
    name = next(name for k in range(len(names), 2 * len(names) + 1) if (name := f"object-{k}") not in names)
    for spot in spots[: max(len(found), 1)]:
        look = {key: pick(rng, some) for key, some in own.items() if some}
        item = {"name": name, **look, "location": spot, "rotation_deg": round(float(rng.uniform(0, 360)), 3)}
        found.append(partial(_add_object, item))
    return found


def _names_any(constraint: Any, names: Sequence[str]) -> bool:
    ends = {constraint.get(key) for key in ("subject", "of", "other")}
    return bool({*names} & {*ends, *(constraint.get("objects") or ())})


def _last_claims(frame: FrameData) -> list[Any]:
    """Return what puts an object that carries no other on or into another one."""
    claims = [one for one in frame.get("constraints") or () if one.get("relation") in ("on", "in", "leaning")]
    carriers = {one["of"] for one in claims}
    return [one for one in claims if one["subject"] not in carriers and one["relation"] != "leaning"]


def _set_key(k: int, key: str, value: Any, frame: Any, kind: str = "objects") -> _Change:
    item = frame[kind][k]
    before, item[key] = item[key], value
    return (item["name"],), before, value


def _move_pointer(target: str, frame: FrameData) -> _Change:
    """Point at another object; the compiler finds a new location for the pointer."""
    pointer = frame["pointer"]
    before, pointer["target"] = pointer["target"], target
    pointer.pop("location", None)
    return ("pointer",), before, target


def _put_on_support(claim: Any, support: ObjectData, frame: FrameData) -> _Change:
    """Put an object on or into another one; the compiler finds its place there."""
    subject = claim["subject"]
    relation = "in" if support["shape"] in CONTAINERS else "on"
    kept = [one for one in frame["constraints"] if not _names_any(one, (subject,))]
    frame["constraints"] = [*kept, {"relation": relation, "subject": subject, "of": support["name"]}]
    next(item for item in frame["objects"] if item["name"] == subject).pop("location", None)
    return (subject,), f"{claim['relation']} {claim['of']}", f"{relation} {support['name']}"


def _swap_objects(pair: tuple[int, int], frame: FrameData) -> _Change:
    first, second = (frame["objects"][k] for k in pair)
    before = [first["location"], second["location"]]
    first["location"], second["location"] = ([*b[:2], *a[2:]] for a, b in (before, before[::-1]))
    return (first["name"], second["name"]), before, [first["location"], second["location"]]


def _remove_object(k: int, frame: FrameData) -> _Change:
    count = len(frame["objects"])
    return (frame["objects"].pop(k)["name"],), count, count - 1


def _add_object(item: Any, frame: FrameData) -> _Change:
    frame["objects"].append(item)
    return (item["name"],), len(frame["objects"]) - 1, len(frame["objects"])
