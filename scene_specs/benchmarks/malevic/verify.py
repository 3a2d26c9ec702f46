"""Whether an item's truth is that of what its spec shows: objects by their sizes, labels from these alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.malevic.labels import K_MEAN, is_big, threshold
from scene_specs.benchmarks.malevic.sets import SETS, Set
from scene_specs.benchmarks.malevic.shapes import CLASSES, Areas, area_of, circle_of
from scene_specs.benchmarks.malevic.table import footprint
from scene_specs.language.errors import Diagnostic, SpecError

# Of what a spec states as an area on the table; the next class is 16 % larger at the least.
_NEAR = 1e-3


def is_malevic(task: Mapping[str, Any] | None) -> bool:
    """Whether an episode's `task` says that it is one of MALeViC."""
    return (task or {}).get("benchmark") == "malevic"


def find_contradiction(spec: Mapping[str, Any]) -> str:
    """Why an item's answer, labels or areas are not what its objects give; "" if they are. spec: JSON data.

    Raises SpecError for an item that lacks what has to be read.
    """
    try:
        task = spec["task"]
        which, objects = SETS[task["name"]], task["objects"]
        shown = [(item["shape"], item["size"], item["color"]) for item in spec["frames"][0]["objects"]]
        asked, adjective, k = objects[task["asked"]], task["adjective"], float(task["k"])
        if len(shown) != len(objects):
            return f"{len(shown)} objects are shown, {len(objects)} described"
        for number, (item, seen) in enumerate(zip(objects, shown, strict=True)):
            if reason := _unlike(item, seen, task["areas"], task["world"]):
                return f"objects[{number}]: {reason}"
        label, vagueness = _word(which, objects, asked, k)
        answer = "yes" if label == adjective else "no"
    except (KeyError, IndexError, TypeError, ValueError) as error:
        problem = f"not a MALeViC item: {type(error).__name__}: {error}"
        raise SpecError([Diagnostic("", 0, str(spec.get("id", "")), "task", problem)]) from error
    if answer != task["answer"]:
        return f"the stored answer is {task['answer']!r}, but the {asked['color']} {asked['shape']} is {label}"
    if vagueness != task["vagueness"]:
        return f"vagueness is stored as {task['vagueness']!r}, and found {vagueness!r}"
    words = task["question"].split(" ")
    if (words[1], words[2]) != (asked["color"], asked["shape"]) or adjective not in words:
        return f"the question {task['question']!r} asks of something else than objects[{task['asked']}]"
    return ""


def _unlike(item: Mapping[str, Any], seen: tuple[Any, Any, Any], areas: Areas, world: str) -> str:
    shape, size, color = seen
    word = shape["outline"] if isinstance(shape, Mapping) else shape
    area = area_of(item["shape"], item["radius"], areas)
    if word != item["shape"]:
        return f"a {word} is shown, a {item['shape']} described"
    if color != item["color"]:
        return f"its color is shown as {color}, described as {item['color']}"
    if area != item["area"]:
        return f"its area is stored as {item['area']}, its class {item['radius']} has {area}"
    if world == "3d":
        size = math.sqrt(size * size * (math.pi if word == "circle" else 4.0) / footprint(1.0))
        expected = math.sqrt(area)
    else:
        expected = circle_of(item["radius"], areas)[2] if word == "circle" else item["radius"]
    return "" if abs(size - expected) <= _NEAR * expected else f"it is shown at size {size:g}, expected {expected:g}"


def _word(which: Set, objects: list[Mapping[str, Any]], asked: Mapping[str, Any], k: float) -> tuple[str, str]:
    """The word for the asked object, from areas alone, and its vagueness."""
    if which.kind == "sup1":
        sizes = sorted(CLASSES.index(item["radius"]) for item in objects)
        own = CLASSES.index(asked["radius"])
        alone = sizes.count(own) == 1
        return ("biggest" if own == sizes[-1] else "smallest" if own == sizes[0] else "between") * alone, "same"
    areas = [item["area"] for item in objects if not which.by_set or item["shape"] == asked["shape"]]
    here, there = (is_big(asked["area"], threshold(areas, value)) for value in (k, K_MEAN))
    return "big" if here else "small", "same" if here == there else "different"
