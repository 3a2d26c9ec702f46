"""The facts that MEWL's published files hold twice: `info.json` against the scene files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from diorama.scene_specs.benchmarks.mewl.draft import TYPES
from diorama.scene_specs.language.diagnostics import preview_json

HAND = ["arrow", "yellow", "rubber", "small"]
# Along a direction, Blender units: as in CLEVR, and the rounding of files.
_BESIDE, _ROUNDING = 0.2, 1e-3


def utterance_of(name: str) -> str:
    """Return what a context says, from its file name: equal utterances are distinguished by ` #<k>`."""
    return re.sub(r" #\d+$", "", name)


Path = tuple[str | int, ...]


def contradictions(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield path in `info.json` and problem of each fact that the scenes of an imported spec, JSON data, contradict.

    Specs without `task.info` have none.
    """
    task = data.get("task") or {}
    info = task.get("info")
    if not isinstance(info, Mapping):
        return
    for path, stated, found in _copies(info, task, data["frames"]):
        if stated != found:
            yield path, f"found {preview_json(stated)}; the scenes have {preview_json(found)}"


def _copies(info: Mapping[str, Any], task: Mapping[str, Any], frames: Sequence[Any]) -> Iterator[tuple[Path, Any, Any]]:
    """Yield path, value in `info.json`, and value in the scenes."""
    question, looks, words = (_map(info.get(key)) for key in ("question", "objects", "word-concept"))
    yield ("word-concept",), info.get("word-concept"), task.get("lexicon")
    yield ("question", "choices"), question.get("choices"), task.get("options")
    yield ("question", "answer"), question.get("answer"), task.get("answer")
    panels = info.get("context_panels")
    panels = [*(panels if isinstance(panels, list) else ()), question]
    yield ("context_panels",), len(panels) - 1, len(frames) - 1
    named: dict[str, list[Any]] = {}
    for number, (panel, frame) in enumerate(zip(map(_map, panels), frames, strict=False)):
        context = number < len(panels) - 1
        at: Path = ("context_panels", number) if context else ("question",)
        shown = [[item.get(kind) for kind in TYPES] for item in frame.get("objects", ())]
        for item, look in zip(frame.get("objects", ()), shown, strict=True):
            named.setdefault(str(item.get("name")), []).append(look)
        if context:
            yield (*at, "name"), utterance_of(str(panel.get("name"))), frame.get("utterance")
            if len(shown) == 1:
                named.setdefault(str(panel.get("name")), []).append(shown[0])
        yield from _panel(at, panel, shown, frame)
    things = {word: meaning for word, meaning in words.items() if isinstance(meaning, list)}
    for key, table in (("objects", looks), ("word-concept", things)):
        for name in sorted(table.keys() & named.keys()):
            # In `relation`, objects of several images can share a name, and one of them is listed.
            yield (key, name), table[name], table[name] if table[name] in named[name] else named[name][0]


def _panel(
    at: Path, panel: Mapping[str, Any], shown: list[Any], frame: Mapping[str, Any]
) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the objects of a panel, in any order, and the pointed one."""
    listed, stated, hand, index = panel.get("objects"), panel.get("arrow_idx"), frame.get("pointer"), None
    if listed is not None:
        in_order = sorted(listed, key=str) if isinstance(listed, list) else listed
        yield (*at, "objects"), in_order, sorted([*shown, *([HAND] if hand else [])], key=str)
    if hand:
        names = [item.get("name") or f"object-{k}" for k, item in enumerate(frame["objects"])]
        index = names.index(hand["target"]) if hand["target"] in names else None
        if isinstance(listed, list) and type(stated) is int and 0 <= stated < len(listed) and index is not None:
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
    tables, directions = _map(scene.get("relationships")), _map(scene.get("directions"))
    for side in [*tables]:
        table, along = _map(tables[side]), directions.get(side)
        for one, place in places.items():
            if one not in table or not isinstance(table[one], list) or not _is_direction(along):
                continue
            for other, there in places.items():
                away = sum((b - a) * part for a, b, part in zip(place, there, along, strict=False))
                related = other in table[one]
                if one != other and abs(away - _BESIDE) > _ROUNDING and related != (away > _BESIDE):
                    problem = f"{'lists' if related else 'lacks'} {other!r}, which is {away:.3g} along {side!r}"
                    yield ("relationships", side, one), f"{problem}; expected those beyond {_BESIDE}"


def _is_direction(value: Any) -> TypeGuard[list[float]]:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(part, int | float) for part in value)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
