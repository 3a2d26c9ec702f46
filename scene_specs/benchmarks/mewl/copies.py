"""The facts that MEWL's published files hold twice: `info.json` against the scene files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import BaseModel, Field, StrictInt

from diorama.scene_specs.benchmarks.mewl.draft import OBJECT_NUMBER, TYPES
from diorama.scene_specs.language.diagnostics import value_at
from diorama.scene_specs.tasks.copies import Copy, differences

HAND = ["arrow", "yellow", "rubber", "small"]
# Along a direction, Blender units: as in CLEVR, and the rounding of files.
_BESIDE, _ROUNDING = 0.2, 1e-3
# By how much jitter can turn the camera around the origin, radians: it moves by 0.5 on each axis, 9.9 away.
_TURN = 0.072


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
    return differences(_scene_copies(info, data["task"], data["frames"]))


def _scene_copies(info: Info, task: Mapping[str, Any], frames: Sequence[Any]) -> Iterator[Copy]:
    """Yield what `info.json` states of the scenes."""
    yield Copy(("word-concept",), info.words, task.get("lexicon"))
    yield Copy(("question", "choices"), info.question.choices, task.get("options"))
    yield Copy(("question", "answer"), info.question.answer, task.get("answer"))
    panels = [*info.context_panels, info.question]
    yield Copy(("context_panels",), len(panels) - 1, len(frames) - 1)
    named: dict[str, list[Any]] = {}
    for number, (panel, frame) in enumerate(zip(panels, frames, strict=False)):
        context = number < len(panels) - 1
        at: Path = ("context_panels", number) if context else ("question",)
        shown = [[item.get(kind) for kind in TYPES] for item in frame.get("objects", ())]
        for item, look in zip(frame.get("objects", ()), shown, strict=True):
            named.setdefault(str(item.get("name")), []).append(look)
        if context:
            yield Copy((*at, "name"), utterance_of(panel.name), frame.get("utterance"))
            if len(shown) == 1:
                named.setdefault(panel.name, []).append(shown[0])
        yield from _in_panel(at, panel, shown, frame)
    things = {word: meaning for word, meaning in (info.words or {}).items() if isinstance(meaning, list)}
    for key, table in (("objects", info.objects or {}), ("word-concept", things)):
        for name in sorted(table.keys() & named.keys()):
            # In `relation`, objects of several images can share a name, and one of them is listed.
            yield Copy((key, name), table[name], table[name] if table[name] in named[name] else named[name][0])
    kind = str(task["name"])
    if kind == "number":
        looks = sorted(look for panel in panels for look in panel.objects or ())
        yield Copy(("objects",), sorted((info.objects or {}).values()), looks)
    for name, look in (info.objects or {}).items() if kind in TYPES else ():
        yield Copy(("objects", name), look[TYPES.index(kind)], (info.words or {}).get(utterance_of(name)))


def _in_panel(at: Path, panel: Panel, shown: list[Any], frame: Mapping[str, Any]) -> Iterator[Copy]:
    """Yield the objects of a panel, in any order, and the pointed one."""
    listed, stated, hand, index = panel.objects, panel.arrow_idx, frame.get("pointer"), None
    if listed is not None:
        yield Copy((*at, "objects"), sorted(listed, key=str), sorted([*shown, *([HAND] if hand else [])], key=str))
    if hand:
        names = [item.get("name") or f"object-{k}" for k, item in enumerate(frame["objects"])]
        index = names.index(hand["target"]) if hand["target"] in names else None
        if listed and stated is not None and 0 <= stated < len(listed) and index is not None:
            yield Copy((*at, "arrow_idx"), listed[stated], shown[index])
            return
    yield Copy((*at, "arrow_idx"), stated, index)


def _in_directions(scene: Mapping[str, Any]) -> Iterator[Copy]:
    """Yield the directions that follow from `behind`, if the file has all of them as vectors on the ground."""
    for name, height in (("above", 1.0), ("below", -1.0)):
        axis = value_at(scene, ("directions", name))
        if isinstance(axis, list) and len(axis) == 3:
            for at, share in enumerate((0.0, 0.0, height)):
                yield Copy(("directions", name, at), axis[at], share, _ROUNDING)
    axes = {name: value_at(scene, ("directions", name)) for name in ("behind", "front", "left", "right")}
    for axis in axes.values():
        if not (
            isinstance(axis, list | tuple) and len(axis) == 3 and all(isinstance(share, int | float) for share in axis)
        ):
            return
    x, y, _ = axes["behind"]
    yield Copy(("directions", "behind"), math.hypot(*axes["behind"]), 1.0, _ROUNDING)
    for name, derived in {
        "behind": (x, y, 0.0),
        "front": (-x, -y, 0.0),
        "left": (-y, x, 0.0),
        "right": (y, -x, 0.0),
    }.items():
        for at, share in enumerate(derived):
            yield Copy(("directions", name, at), axes[name][at], share, _ROUNDING)


def in_spec(truth: Any, data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield path and problem of each name that a published file would give an object otherwise, and of the id.

    An id of another form says nothing.

    Args:
        truth: of the spec, which was generated.
    """
    known = re.fullmatch(
        r"((?:live|like|balanced)\.[0-9.]+/)?mewl/(\w+)/(\w+)/([0-9]{6})(\+[a-z]+-[0-9]+)?", data["id"]
    )
    if not known:
        return
    stated = [data.get("split"), truth.name, truth.number]
    yield from differences([Copy(("id",), [known[2], known[3], int(known[4])], stated)])
    for at, frame in enumerate(data["frames"]):
        names = (frame.get("truth") or {}).get("names")
        if isinstance(names, list):
            yield from differences([Copy(("frames", at, "truth", "names"), names, published_names(truth, frame))])


def published_names(truth: Any, frame: Mapping[str, Any]) -> list[str | None]:
    """Return the names of a frame's objects in the published files; see draft.Image."""
    name, words = truth.name, {meaning: word for word, meaning in truth.meanings.items()}
    looks = [tuple(shown.get(kind) for kind in TYPES) for shown in frame.get("objects", ())]
    if name in TYPES:
        numbers = [OBJECT_NUMBER.get((truth.as_clevr.get(shape), *look)) for shape, *look in looks]
        spoken = (words.get(look[TYPES.index(name)]) for look in looks)
        return [f"{word} #{number}" for word, number in zip(spoken, numbers, strict=True)]
    if name == "composite":
        return [" ".join(str(words.get(look[TYPES.index(kind)])) for kind in truth.types) for look in looks]
    if name in ("object", "bootstrap"):
        return [words.get(look) for look in looks]
    if name == "relation":
        return [f"{look[1]} {look[0]}" for look in looks]
    # The hand points at the object that the word of a context, or the answer, is about.
    said, target = frame.get("utterance") or truth.answer, (frame.get("pointer") or {}).get("target")
    own = [shown.get("name") or f"object-{k}" for k, shown in enumerate(frame.get("objects", ()))]
    return [said if target is not None and target == called else None for called in own]


def in_scene(
    scene: Mapping[str, Any], sizes: Mapping[str, float], info: Info, shown: tuple[int, float] | None
) -> Iterator[tuple[Path, str]]:
    """Yield path and problem of each fact of a readable scene file that others in it or in `info.json` contradict.

    Args:
        sizes: word -> height of an object's center, Blender units.
        shown: width of the image, and pixels per unit at a distance of one; None if they are not known.
    """
    places = {}
    for index, item in enumerate(scene["objects"]):
        look = [item.get(kind) for kind in TYPES]
        if item["shape"] == HAND[0]:
            yield from differences([Copy(("objects", index), look, HAND)])
            continue
        if re.search(r" #\d+$", name := str(item.get("name"))):
            yield from differences([Copy(("objects", index), look, (info.objects or {}).get(name))])
        # A camera aimed at the origin has that in the middle. The file's `right` is that of a camera without jitter.
        match item.get("pixel_coords"), value_at(scene, ("directions", "right")):
            case [column, _, float() | int() as depth], [float() | int() as east, float() | int() as north, _] if (
                shown and depth > 0 and "camera" not in scene
            ):
                at, unit = item["3d_coords"][:2], shown[1] / depth
                derived = shown[0] / 2 + (east * at[0] + north * at[1]) * unit
                moved = 1.5 + _TURN * math.hypot(*at) * unit
                yield from differences([Copy(("objects", index, "pixel_coords", 0), column, derived, moved)])
        if isinstance(item.get("name"), str):
            places[item["name"]] = item["3d_coords"]
        on_ground = Copy(("objects", index, "3d_coords", 2), item["3d_coords"][2], sizes[item["size"]], _ROUNDING)
        yield from differences([on_ground])
    yield from differences(_in_directions(scene))
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
