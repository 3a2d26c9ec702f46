"""Entries of MALeViC's published question and annotation files; every value of an annotation is a string."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.malevic.labels import Label, label_of
from scene_specs.benchmarks.malevic.sets import SETS, Set
from scene_specs.benchmarks.malevic.shapes import Thing

Strings = dict[str, str]


def things_of(task: Mapping[str, Any]) -> list[Thing]:
    """The objects of an item. Raises ValueError where one is not described."""
    keys = ("shape", "color", "radius", "row", "column", "turned", "area")
    try:
        return [Thing(**{key: item[key] for key in keys}) for item in task["objects"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"task.objects: {type(error).__name__}: {error}") from error


def question(task: Mapping[str, Any], index: int, split: str) -> dict[str, Any]:
    """A question file's entry, for picture `index` of its split."""
    return {
        "image_index": index,
        "question_index": index,
        "image_filename": f"{index}.png",
        "image_filename_original": f"{task['number']}.png",
        "program": [],
        "question_family_index": int(task["adjective"] in ("big", "biggest")),
        "split": split,
        "answer": task["answer"],
        "question": task["question"],
    }


def annotation(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """An annotation file's entry: the scene, its objects, and a pair of captions for each object one may ask about."""
    which, things = SETS[task["name"]], things_of(task)
    objects = [_object(which, things, number, float(task["k"])) for number in range(len(things))]
    pairs = [_captions(which, objects[item["object"]], item, float(task["k"])) for item in task["captions"]]
    return [_scene(task["number"], things), {"objects": objects}, *pairs]


def _scene(number: int, things: list[Thing]) -> Strings:
    areas, radii = [thing.area for thing in things], [thing.radius for thing in things]
    return {
        "image_id": str(number),
        "image_url": f"{number}.png",
        "n_objects": str(len(things)),
        "n_colors": str(len({thing.color for thing in things})),
        "total_area_px": str(sum(areas)),
        "avg_area_px": str(round(sum(areas) / len(areas), 4)),
        "min_area": str(min(areas)),
        "max_area": str(max(areas)),
        "min_radius": str(min(radii)),
        "max_radius": str(max(radii)),
    }


def _object(which: Set, things: list[Thing], number: int, k: float) -> Strings:
    thing = things[number]
    label = label_of(which, things, thing, k)
    # Of a rectangle's middle the half of its short side is a fraction in the published files, whole or not.
    across = thing.shape == "rectangle"
    facts = {
        "object_id": str(number),
        "rr": _place(thing.row, across and thing.turned),
        "cc": _place(thing.column, across and not thing.turned),
        "color": thing.color,
        "shape": thing.shape,
        "radius": str(thing.radius),
        "area": str(thing.area),
        "size": label.size or "NA",
    }
    if which.kind == "sup1":
        return facts
    away = "nan" if label.distance is None else str(round(label.distance, 4))
    vague = "different" if label.vague else "same"
    return {**facts, "prob": _decimals(probability(thing, label)), "thresh_dist": away, "k": str(k), "vagueness": vague}


def _place(value: float, fraction: bool) -> str:
    return str(float(value)) if fraction else str(int(value))


def _decimals(value: float) -> str:
    return str(round(value, 4))


def probability(thing: Thing, label: Label) -> float:
    """Published `prob`: how sure the label is by a normal curve of the area's distance from the threshold."""
    if label.threshold is None:
        return 0.5
    above = 0.5 * (1 + math.erf((thing.area - label.threshold) * 1e-5 / 0.05 / math.sqrt(2)))
    return above if label.size == "big" else 1 - above


def _captions(which: Set, item: Strings, pair: Mapping[str, Any], k: float) -> dict[str, list[Strings]]:
    true, false = {"caption_true": pair["true"]}, {"caption_false": pair["false"]}
    if which.kind != "sup1":
        rest = {"k": str(k), "vagueness": item["vagueness"]}
        away = item["thresh_dist"]
        # The published key of the true caption ends in a colon; both spellings are given.
        true |= {"prob_RH_R_true": item["prob"], "dist_from_thresh": away, "dist_from_thresh:": away, **rest}
        false |= {"prob_RH_R_false": _decimals(1 - float(item["prob"])), "dist_from_thresh": away, **rest}
    return {"captions": [true, false]}
