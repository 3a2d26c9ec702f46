"""Verification of novel episodes: measured distances between the shapes give one option, the stored answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diorama.scene_specs.benchmarks.novel.concepts import Truth
from diorama.scene_specs.benchmarks.novel.surface_distance import chamfer
from diorama.scene_specs.errors import counted
from diorama.scene_specs.language.invented import parse_invented
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData

# How much nearer the right choice is than every other one.
MARGIN = 1.25
# Shape, color, material and size.
Seen = tuple[str, str | None, str, str | None]


def nearest_exemplar(shape: str, exemplars: Sequence[str]) -> float:
    """Return the chamfer distance of a shape to the nearest exemplar."""
    return min(chamfer(shape, exemplar) for exemplar in exemplars)


def verify_spec(data: EpisodeData) -> str:
    """Return why the stored truth of a spec, as JSON data, is wrong; "" if it is right."""
    truth = Truth.of_spec(data)
    shown: dict[str, Seen] = {}
    for number, frame in enumerate(data["frames"]):
        name, items = frame.get("name") or f"frame-{number}", frame.get("objects") or []
        more = [key for key in ("random_objects", "pointer", "observers") if frame.get(key)]
        if len(items) != 1 or more:
            return f"{name}: found {', '.join((counted(len(items), 'object'), *more))}; expected one object alone"
        look: dict[str, Any] = {key: items[0].get(key) for key in ("shape", "color", "material", "size")}
        if wrong := [key for key, value in look.items() if not isinstance(value, str)]:
            return f"{name}: found {wrong[0]} {look[wrong[0]]!r}; expected a name"
        shown[name] = (look["shape"], look["color"], look["material"], look["size"])
    return _find_problem(truth, shown)


def verify_record(episode: EpisodeRecord) -> str:
    """Return why the stored truth contradicts what the images show; "" if it does not."""
    shown: dict[str, Seen] = {}
    for image in episode.images:
        items = image.annotation.objects
        if len(items) != 1 or not items[0].visible_pixels:
            return f"image {image.name} shows {len(items)} objects; expected one that is visible"
        shown[image.frame] = (items[0].shape, items[0].color, items[0].material, items[0].size)
    return _find_problem(Truth.of_record(episode), shown)


def _find_problem(truth: Truth, shown: Mapping[str, Seen]) -> str:
    listed = [*(exemplar.frame for exemplar in truth.exemplars), *(choice.frame for choice in truth.choices)]
    if listed != list(shown):
        return f"the truth lists the frames {', '.join(listed)}; found {', '.join(shown)}"
    for frame, (shape, *_) in shown.items():
        if parse_invented(shape) is None:
            return f"{frame}: found shape {shape!r}; expected an invented one"
    shapes = [shown[exemplar.frame][0] for exemplar in truth.exemplars]
    for exemplar, shape in zip(truth.exemplars, shapes, strict=True):
        center = truth.words.get(exemplar.word, "no shape")
        if shape.partition("?")[0] != center.partition("?")[0]:
            return f"{exemplar.frame}: found shape {shape!r}; {exemplar.word!r} means {center!r}"
    for choice in truth.choices:
        distance = nearest_exemplar(shown[choice.frame][0], shapes)
        if abs(distance - choice.distance) > 1e-5:
            return f"{choice.frame}: the stored distance is {choice.distance:g}; found {distance:g}"
    if truth.name == "shape-bias":
        for at, kind in ((1, "color"), (2, "material"), (3, "size")):
            if len({shown[exemplar.frame][at] for exemplar in truth.exemplars}) == 1:
                return f"all exemplars have the same {kind}"
    answers = _answer_distances(truth, {frame: shape for frame, (shape, *_) in shown.items()})
    if len(answers) < 2:
        return f"found {len(answers)} possible answers; expected several"
    (first, nearest), (second, next_nearest) = sorted(answers.items(), key=lambda pair: pair[1])[:2]
    if next_nearest < MARGIN * nearest or nearest == next_nearest:
        return f"{first} and {second} are about as likely: distances {nearest:g} and {next_nearest:g}"
    return "" if first == truth.answer else f"the stored answer is {truth.answer!r}; the distances say {first!r}"


def _answer_distances(truth: Truth, shapes: Mapping[str, str]) -> dict[str, float]:
    """Return how far each answer is: a word from the query, or a choice from the asked word.

    From a word without exemplars, it is the closeness to the others.
    """
    of_word: dict[str, list[str]] = {}
    for exemplar in truth.exemplars:
        of_word.setdefault(exemplar.word, []).append(shapes[exemplar.frame])
    if truth.asked is None:
        query = shapes[truth.choices[0].frame]
        return {word: nearest_exemplar(query, named) for word, named in of_word.items()}
    known = truth.asked in of_word
    return {
        choice.frame[-1].upper(): choice.distance if known else 1 / max(choice.distance, 1e-6)
        for choice in truth.choices
    }
