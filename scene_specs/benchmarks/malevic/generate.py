"""MALeViC items: any one alone from (seed, set, split, number)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from scene_specs.benchmarks.malevic.draw import Drawn, Options, draw_scene
from scene_specs.benchmarks.malevic.labels import Label, askable, label_of
from scene_specs.benchmarks.malevic.sets import SETS, Class, Set, class_of, opposite, sentence
from scene_specs.benchmarks.malevic.shapes import Thing, placed
from scene_specs.benchmarks.malevic.table import on_table
from scene_specs.language.errors import Diagnostic, SpecError

World = Literal["flat", "3d"]
DEFAULT = Options()


def malevic_spec(
    seed: int, name: str, split: str, number: int, options: Options = DEFAULT, world: World = "flat"
) -> dict[str, Any]:
    """Item `number` of a split of a set, as JSON data that EpisodeSpec takes; no other item is needed.

    Id: `malevic/<set>/<split>/<6 digits>`. world: "flat", or "3d": the same scene and truth as prisms on a table.
    Generalisation sets have the pictures of set-pos-compositional, some with another question. Raises SpecError for
    arguments out of range.
    """
    which = _checked(seed, name, split, number)
    made, asked = class_of(which, split, number)
    drawn_as = SETS[which.base] if which.base else which
    drawn = draw_scene(seed, f"malevic/{drawn_as.name}/{split}/{number:06d}", drawn_as, made, options)
    shown = [on_table(thing) if world == "3d" else placed(thing, options.areas) for thing in drawn.things]
    objects = [{"name": f"object-{k}", **item} for k, item in enumerate(shown)]
    text = sentence(which, asked.shape, asked.color, asked.adjective)
    return {
        "version": 1,
        "id": f"malevic/{name}/{split}/{number:06d}",
        "seed": seed,
        "stage": "table" if world == "3d" else "flat",
        "split": split,
        "frames": [{"name": "scene", "utterance": text, "objects": objects}],
        "task": _task(which, split, number, drawn, asked, options, world, text),
    }


def _checked(seed: int, name: str, split: str, number: int) -> Set:
    problem = ""
    if name not in SETS:
        problem = f"found set {name!r}; allowed: {', '.join(SETS)}"
    elif split not in SETS[name].splits:
        problem = f"found split {split!r}; set {name} has: {', '.join(SETS[name].splits)}"
    elif not (0 <= seed < 2**63 and 0 <= number < 10**9):
        problem = f"found seed {seed} and number {number}; allowed: from 0, below 2^63 and 10^9"
    if problem:
        raise SpecError([Diagnostic("", 0, "", "", problem)])
    return SETS[name]


def _task(
    which: Set, split: str, number: int, drawn: Drawn, asked: Class, options: Options, world: World, text: str
) -> dict[str, Any]:
    things, k = drawn.things, drawn.k
    label = label_of(which, things, things[drawn.asked], k)
    return {
        "benchmark": "malevic",
        "name": which.name,
        "split": split,
        "number": number,
        "world": world,
        "variant": "static" if options.static else "vague",
        "areas": options.areas,
        "question": text,
        "options": ["yes", "no"],
        "answer": "yes" if asked.true else "no",
        "asked": drawn.asked,
        "adjective": asked.adjective,
        "k": k,
        **_numbers(label),
        "objects": [_object(which, things, thing, k) for thing in things],
        "captions": captions(which, things, k),
    }


def _numbers(label: Label) -> dict[str, Any]:
    """threshold and its distance, rounded to 4 decimals, and vagueness, as the published annotations call it."""
    if label.threshold is None or label.distance is None:
        return {"threshold": None, "distance": None, "vagueness": "same"}
    vagueness = "different" if label.vague else "same"
    return {"threshold": round(label.threshold, 4), "distance": round(label.distance, 4), "vagueness": vagueness}


def _object(which: Set, things: tuple[Thing, ...], thing: Thing, k: float) -> dict[str, Any]:
    label = label_of(which, things, thing, k)
    return {
        "shape": thing.shape,
        "color": thing.color,
        "radius": thing.radius,
        "area": thing.area,
        "row": thing.row,
        "column": thing.column,
        "turned": thing.turned,
        "size": label.size,
        **_numbers(label),
    }


def captions(which: Set, things: tuple[Thing, ...], k: float) -> list[dict[str, Any]]:
    """Every sentence that the set may ask of a scene, with its false twin; object: the number of what it is about."""
    found = []
    plain = replace(which, compositional=False)
    for index, thing in enumerate(things):
        size = label_of(plain, things, thing, k).size
        if size is None or not askable(plain, things, thing, k):
            continue
        texts = [sentence(plain, thing.shape, thing.color, word) for word in (size, opposite(plain, size))]
        found.append({"object": index, "true": texts[0], "false": texts[1]})
    return found
