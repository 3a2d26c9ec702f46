"""Verification of MALeViC items: objects against what is shown, labels and answers recomputed from areas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.malevic.labels import K_MEAN, is_big, threshold
from scene_specs.benchmarks.malevic.sets import SETS, Set
from scene_specs.benchmarks.malevic.shapes import CANVAS, CLASSES, COLORS, Areas, area_of, circle_of
from scene_specs.benchmarks.malevic.table import footprint
from scene_specs.benchmarks.rendered import RenderedEpisode, RenderedImage, mask_of
from scene_specs.language.errors import spec_error

# Tolerance of sizes in a spec; the next size class is at least 16 % larger.
_NEAR = 1e-3
# In narrower images, in pixels, an object has too few pixels to tell its size class.
LEAST_WIDTH = 224


def task_of(episode: RenderedEpisode) -> Mapping[str, Any]:
    """Return the task of an episode. Raises ValueError if it is not a MALeViC item with exactly one image."""
    task = episode.scene.task or {}
    if task.get("benchmark") != "malevic" or task.get("name") not in SETS:
        raise ValueError("not a MALeViC item: its task does not name a set of that benchmark")
    if len(episode.images) != 1:
        raise ValueError(f"a MALeViC item has one image; found {len(episode.images)}")
    return task


def verify_spec(data: Mapping[str, Any]) -> str:
    """Return why the answer, labels or areas of a spec, as JSON data, contradict its objects; "" if they do not.

    Raises SpecError if the spec is not a complete MALeViC item.
    """
    try:
        task = data["task"]
        which, objects = SETS[task["name"]], task["objects"]
        shown = [(item["shape"], item["size"], item["color"]) for item in data["frames"][0]["objects"]]
        asked, adjective, k = objects[task["asked"]], task["adjective"], float(task["k"])
        if len(shown) != len(objects):
            return f"{len(shown)} objects are shown, {len(objects)} described"
        for number, (item, seen) in enumerate(zip(objects, shown, strict=True)):
            if reason := _difference(item, seen, task["areas"], task["world"]):
                return f"objects[{number}]: {reason}"
        label, vagueness = _word(which, objects, asked, k)
        answer = "yes" if label == adjective else "no"
    except (KeyError, IndexError, TypeError, ValueError) as error:
        problem = f"not a MALeViC item: {type(error).__name__}: {error}"
        raise spec_error(problem, episode=str(data.get("id", "")), path="task") from error
    if answer != task["answer"]:
        return f"the stored answer is {task['answer']!r}, but the {asked['color']} {asked['shape']} is {label}"
    if vagueness != task["vagueness"]:
        return f"vagueness is stored as {task['vagueness']!r}, and found {vagueness!r}"
    words = task["question"].split(" ")
    if (words[1], words[2]) != (asked["color"], asked["shape"]) or adjective not in words:
        return f"the question {task['question']!r} asks about something other than objects[{task['asked']}]"
    return ""


def _difference(item: Mapping[str, Any], seen: tuple[Any, Any, Any], areas: Areas, world: str) -> str:
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
    """Return the word for the target from areas alone, and its vagueness."""
    if which.kind == "sup1":
        sizes = sorted(CLASSES.index(item["radius"]) for item in objects)
        own = CLASSES.index(asked["radius"])
        alone = sizes.count(own) == 1
        return ("biggest" if own == sizes[-1] else "smallest" if own == sizes[0] else "between") * alone, "same"
    areas = [item["area"] for item in objects if not which.by_set or item["shape"] == asked["shape"]]
    here, there = (is_big(asked["area"], threshold(areas, value)) for value in (k, K_MEAN))
    return "big" if here else "small", "same" if here == there else "different"


def verify_record(episode: RenderedEpisode) -> str:
    """Return why the answer, labels or objects of a rendered item contradict its image, "" if they do not.

    Checks the Scene, and the pixels of images without antialiasing: each mask has the object's color throughout and the
    number of pixels of its size class (images of `LEAST_WIDTH` or wider), and all other pixels are black. Raises
    SpecError.
    """
    try:
        task = task_of(episode)
    except ValueError as error:
        raise spec_error(str(error), episode=episode.episode_id, path="task") from error
    prisms = task.get("world") == "3d"
    shown = [
        {"shape": {"outline": item.shape} if prisms else item.shape, "size": item.scale, "color": item.color}
        for item in episode.scene.frames[0].objects
    ]
    if reason := verify_spec({"id": episode.episode_id, "task": task, "frames": [{"objects": shown}]}):
        return reason
    image = episode.images[0]
    hidden = [item.name for item in image.annotation.objects if item.visible_pixels == 0]
    if hidden:
        return f"{', '.join(hidden)} not visible"
    return _pixel_difference(image, task) if episode.scene.frames[0].pixels == "center" else ""


def _pixel_difference(image: RenderedImage, task: Mapping[str, Any]) -> str:
    """Return how the pixels of a flat image differ from the described objects, "" if they do not."""
    pixels = image.color()
    rest = pixels.any(axis=2)
    for item, described in zip(image.annotation.objects, task["objects"], strict=True):
        mask = mask_of(item)
        rest &= ~mask
        if not (pixels[mask] == COLORS[described["color"]]).all():
            return f"{item.name}: not all of its pixels are {described['color']}"
        radius = _class_of(int(mask.sum()) * (CANVAS / pixels.shape[1]) ** 2, described["shape"], task["areas"])
        if pixels.shape[1] >= LEAST_WIDTH and radius != described["radius"]:
            found = f"its {int(mask.sum())} pixels are those of class {radius}"
            return f"{item.name}: {found}, described as {described['radius']}"
    return f"{int(rest.sum())} pixels of no object are not black" if rest.any() else ""


def _class_of(area: float, shape: str, areas: Areas) -> int:
    """Return the size class whose area is nearest, by ratio."""
    return min(CLASSES, key=lambda radius: abs(math.log(area / area_of(shape, radius, areas))))
