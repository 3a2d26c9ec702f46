"""The facts that MEWL's published files hold twice: `info.json` against the scene files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import BaseModel, Field, StrictInt

from diorama.scene_specs.benchmarks.mewl.draft import TYPES
from diorama.scene_specs.language.diagnostics import preview_json, value_at

HAND = ["arrow", "yellow", "rubber", "small"]
# Along a direction, Blender units: as in CLEVR, and the rounding of files.
_BESIDE, _ROUNDING = 0.2, 1e-3


def utterance_of(name: str) -> str:
    """Return what a context says, from its file name: equal utterances are distinguished by ` #<k>`."""
    return re.sub(r" #\d+$", "", name)


Path = tuple[str | int, ...]


class Panel(BaseModel):
    """What an image shows.

    Attributes:
        name: of the file of a context, without its suffix.
        objects: attributes of each, in any order, with those of the hand.
        arrow_idx: index of the object that the hand points at.
    """

    name: str = ""
    objects: list[list[str]] | None = None
    arrow_idx: StrictInt | None = None


class Question(Panel):
    """What the query shows, and the options."""

    choices: Any = None
    answer: Any = None


class Info(BaseModel):
    """The published `info.json`; other keys are ignored.

    Attributes:
        objects: name -> attributes.
        words: word -> meaning.
    """

    objects: dict[str, list[str]] | None = None
    words: dict[str, Any] | None = Field(None, alias="word-concept")
    context_panels: list[Panel]
    question: Question


def contradictions(info: Info, data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield path in `info.json` and problem of each fact that the scenes of an imported spec, JSON data, contradict."""
    for path, stated, in_scenes in _scene_copies(info, data["task"], data["frames"]):
        if stated != in_scenes:
            yield path, f"found {preview_json(stated)}; the scenes have {preview_json(in_scenes)}"


def _scene_copies(info: Info, task: Mapping[str, Any], frames: Sequence[Any]) -> Iterator[tuple[Path, Any, Any]]:
    """Yield path, value in `info.json`, and value in the scenes."""
    yield ("word-concept",), info.words, task.get("lexicon")
    yield ("question", "choices"), info.question.choices, task.get("options")
    yield ("question", "answer"), info.question.answer, task.get("answer")
    panels = [*info.context_panels, info.question]
    yield ("context_panels",), len(panels) - 1, len(frames) - 1
    named: dict[str, list[Any]] = {}
    for number, (panel, frame) in enumerate(zip(panels, frames, strict=False)):
        context = number < len(panels) - 1
        at: Path = ("context_panels", number) if context else ("question",)
        shown = [[item.get(kind) for kind in TYPES] for item in frame.get("objects", ())]
        for item, look in zip(frame.get("objects", ()), shown, strict=True):
            named.setdefault(str(item.get("name")), []).append(look)
        if context:
            yield (*at, "name"), utterance_of(panel.name), frame.get("utterance")
            if len(shown) == 1:
                named.setdefault(panel.name, []).append(shown[0])
        yield from _in_panel(at, panel, shown, frame)
    things = {word: meaning for word, meaning in (info.words or {}).items() if isinstance(meaning, list)}
    for key, table in (("objects", info.objects or {}), ("word-concept", things)):
        for name in sorted(table.keys() & named.keys()):
            # In `relation`, objects of several images can share a name, and one of them is listed.
            yield (key, name), table[name], table[name] if table[name] in named[name] else named[name][0]


def _in_panel(at: Path, panel: Panel, shown: list[Any], frame: Mapping[str, Any]) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the objects of a panel, in any order, and the pointed one."""
    listed, stated, hand, index = panel.objects, panel.arrow_idx, frame.get("pointer"), None
    if listed is not None:
        yield (*at, "objects"), sorted(listed, key=str), sorted([*shown, *([HAND] if hand else [])], key=str)
    if hand:
        names = [item.get("name") or f"object-{k}" for k, item in enumerate(frame["objects"])]
        index = names.index(hand["target"]) if hand["target"] in names else None
        if listed and stated is not None and 0 <= stated < len(listed) and index is not None:
            yield (*at, "arrow_idx"), listed[stated], shown[index]
            return
    yield (*at, "arrow_idx"), stated, index


def in_scene(scene: Mapping[str, Any], sizes: Mapping[str, float]) -> Iterator[tuple[Path, str]]:
    """Yield path and problem of each fact of a readable scene file that its own coordinates contradict.

    Args:
        sizes: word -> height of an object's center, Blender units.
    """
    places = {}
    for index, item in enumerate(scene["objects"]):
        if item["shape"] == HAND[0]:
            continue
        if isinstance(item.get("name"), str):
            places[item["name"]] = item["3d_coords"]
        if abs(item["3d_coords"][2] - sizes[item["size"]]) > _ROUNDING:
            problem = f"found {item['3d_coords'][2]:g}; a {item['size']} object on the ground has {sizes[item['size']]}"
            yield ("objects", index, "3d_coords", 2), problem
    sides = scene.get("relationships")
    for side, (name, place) in product(sides if isinstance(sides, dict) else (), places.items()):
        match value_at(sides, (side, name)), value_at(scene, ("directions", side)):
            case list(table), [float() | int(), float() | int(), float() | int()] as along:
                for other, there in places.items():
                    away = sum((b - a) * part for a, b, part in zip(place, there, along, strict=False))
                    related = other in table
                    if name != other and abs(away - _BESIDE) > _ROUNDING and related != (away > _BESIDE):
                        problem = f"{'lists' if related else 'lacks'} {other!r}, which is {away:.3g} along {side!r}"
                        yield ("relationships", side, name), f"{problem}; expected those beyond {_BESIDE}"
