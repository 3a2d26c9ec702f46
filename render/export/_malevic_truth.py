"""MALeViC's truth as its published files word it: annotations and questions, every value of an annotation a string.

And whether it is that of the picture that was rendered, for `render-specs check --prove --store`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pycocotools import mask as coco

from render.model.png import decode_png
from render.model.record import EpisodeRecord, ImageRecord
from scene_specs.benchmarks.malevic.labels import Label, label_of
from scene_specs.benchmarks.malevic.sets import SETS, Set
from scene_specs.benchmarks.malevic.shapes import CANVAS, CLASSES, COLORS, Areas, Thing, area_of
from scene_specs.benchmarks.malevic.verify import find_contradiction, is_malevic
from scene_specs.language.errors import Diagnostic, SpecError

Strings = dict[str, str]
# Narrower pictures, in pixels, have too few of an object to tell its class.
LEAST_WIDTH = 224


def task_of(record: EpisodeRecord) -> Mapping[str, Any]:
    """An episode's task. Raises ValueError for what is no MALeViC item, or has other than one picture."""
    task = record.scene.task
    if task is None or not is_malevic(task) or task.get("name") not in SETS:
        raise ValueError("not a MALeViC item: its task does not name a set of that benchmark")
    if len(record.images) != 1:
        raise ValueError(f"a MALeViC item has one picture, this one has {len(record.images)}")
    return task


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


def verify_record(record: EpisodeRecord) -> str:
    """Why a rendered item's answer, labels or objects are not those that its picture shows; "" if they are.

    Judged by what the Scene holds, and where edges are not blended by pixels, too: each object's mask has its color
    throughout, as many pixels as its class has (pictures of `LEAST_WIDTH` or wider), and all else is black. Raises
    SpecError.
    """
    try:
        task = task_of(record)
    except ValueError as error:
        raise SpecError([Diagnostic("", 0, record.episode_id, "task", str(error))]) from error
    shown = [
        {
            "shape": {"outline": item.shape} if task.get("world") == "3d" else item.shape,
            "size": item.scale,
            "color": item.color,
        }
        for item in record.scene.frames[0].objects
    ]
    if reason := find_contradiction({"id": record.episode_id, "task": task, "frames": [{"objects": shown}]}):
        return reason
    image = record.images[0]
    hidden = [item.name for item in image.annotation.objects if item.visible_pixels == 0]
    if hidden:
        return f"nothing is seen of {', '.join(hidden)}"
    return _unlike_pixels(image, task) if record.scene.frames[0].pixels == "center" else ""


def _unlike_pixels(image: ImageRecord, task: Mapping[str, Any]) -> str:
    """Where the pixels of a flat picture are not those of the described objects; "" if nowhere."""
    pixels = decode_png(image.png)
    rest = pixels.any(axis=2)
    for item, told in zip(image.annotation.objects, task["objects"], strict=True):
        mask = coco.decode({"size": list(item.rle.size), "counts": item.rle.counts.encode()}).astype(bool)
        rest &= ~mask
        if not (pixels[mask] == COLORS[told["color"]]).all():
            return f"{item.name}: not all of its pixels are {told['color']}"
        radius = _class_of(int(mask.sum()) * (CANVAS / pixels.shape[1]) ** 2, told["shape"], task["areas"])
        if pixels.shape[1] >= LEAST_WIDTH and radius != told["radius"]:
            return f"{item.name}: its {int(mask.sum())} pixels are those of class {radius}, told as {told['radius']}"
    return f"{int(rest.sum())} pixels of no object are not black" if rest.any() else ""


def _class_of(area: float, shape: str, areas: Areas) -> int:
    """The size class whose area is nearest, by ratio."""
    return min(CLASSES, key=lambda radius: abs(math.log(area / area_of(shape, radius, areas))))
