"""Verification of KiloGram episodes: pieces, colors and texts agree, and a game has exactly one answer.

Written from the rules, independently of the generator; used for specs and for rendered episodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scene_specs.benchmarks.kilogram.emit import TABLE_RGB
from scene_specs.benchmarks.kilogram.examples import AUG, COLORS, CONDITIONS, RGB
from scene_specs.benchmarks.kilogram.games import SIZE
from scene_specs.benchmarks.kilogram.pieces import PIECES
from scene_specs.benchmarks.kilogram.wording import caption
from scene_specs.language.rendered import RenderedEpisode, RenderedImage, RenderedObject, mask_of
from scene_specs.language.stage import load_stage
from scene_specs.language.vocabulary import linear_of_srgb

_ARTICLE = re.compile(r"\s*(an?\s+)?", re.IGNORECASE)
_OPTIONAL_ARTICLE = r"\s*(?:[Aa]n?\s+)?"


def verify_spec(data: dict[str, Any]) -> str:
    """Return why a spec, as JSON data, contradicts itself; "" if it does not."""
    return find_contradiction(data["task"], frames_of(data))


def find_contradiction(task: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> str:
    """Return why an episode contradicts itself, "" if it does not.

    frames: each with `name`, `utterance`, `truth`, and `colors`: piece-1 to piece-7 -> name of the visible color, or a
    description of what is visible instead.
    """
    try:
        return next(_problems(task, frames), "")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        return f"its truth does not have KiloGram's form: {type(error).__name__} {error}"


def _problems(task: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    condition = task["name"]
    if condition not in (*CONDITIONS, AUG):
        yield f"found condition {condition!r}; allowed: {', '.join((*CONDITIONS, AUG))}"
        return
    with_parts, colored = CONDITIONS.get(condition, (True, True))
    for frame in frames:
        for problem in _frame_problems(frame, with_parts, colored):
            yield f"frame {frame['name']}: {problem}"
    if "answer" in task:
        yield from _game_problems(task, {frame["name"]: frame for frame in frames}, len(frames))


def _frame_problems(frame: Mapping[str, Any], with_parts: bool, colored: bool) -> Iterator[str]:
    truth = frame["truth"]
    parts = truth["parts"]
    pieces = [piece for part in parts for piece in part["pieces"]]
    if sorted(pieces) != [*PIECES] or not all(part["pieces"] for part in parts):
        yield f"its parts have the pieces {sorted(pieces)}; expected each of 1 to 7 once, and no empty part"
        return
    shown = [part for part in parts if part["shown"]]
    expected = dict.fromkeys(PIECES, "black")
    if colored:
        taken = [part["color"] for part in shown]
        if sorted(taken, key=COLORS.index) != list(COLORS[: len(shown)]):
            yield f"its parts have the colors {', '.join(taken)}; expected {', '.join(COLORS[: len(shown)])}"
            return
        for part in shown:
            expected |= dict.fromkeys(part["pieces"], part["color"])
        shown = sorted(shown, key=lambda part: COLORS.index(part["color"]))
    for piece in PIECES:
        seen = frame["colors"][f"piece-{piece}"]
        if seen != expected[piece]:
            yield f"piece {piece} is {seen}; its part has {expected[piece]}"
    names = [part["name"] for part in shown] if with_parts else []
    if not _is_caption(frame["utterance"], truth["whole"], names, with_parts):
        expected_text = caption(truth["whole"], names) if with_parts else truth["whole"]
        yield f"its text is {frame['utterance']!r}; expected {expected_text!r}"
    hashed = "#".join([truth["whole"], *names])
    if truth["hash_text"] != hashed:
        yield f"its hash_text is {truth['hash_text']!r}; expected {hashed!r}"


def _is_caption(text: str, whole: str, names: Sequence[str], with_parts: bool) -> bool:
    """Return whether a text names the whole and these parts. Articles are free: versions differ in them."""
    if not with_parts:
        return text == whole
    head, *parts = (_OPTIONAL_ARTICLE + re.escape(_ARTICLE.sub("", phrase, 1)) for phrase in (whole, *names))
    joined = ", ".join(parts[:-1]) + ", and " * (len(parts) > 1) + "".join(parts[-1:])
    return re.fullmatch(f"{head} with {joined}" if parts else head, text) is not None


def _game_problems(task: Mapping[str, Any], frames: Mapping[str, Any], count: int) -> Iterator[str]:
    if count != SIZE or len(frames) != SIZE or sorted(task["options"]) != sorted(frames):
        yield f"{count} frames and {len(task['options'])} options; expected {SIZE} of each, by the same names"
        return
    truths = [frame["truth"] for frame in frames.values()]
    for what in ("tangram", "whole"):
        values = [truth[what] for truth in truths]
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            yield f"two of its tangrams have the {what} {twice!r}"
    counts = [(len(truth["parts"]), sum(part["shown"] for part in truth["parts"])) for truth in truths]
    if len({*counts}) > 1:
        yield f"its tangrams have {', '.join(str(parts) for parts, _ in counts)} parts; expected equal numbers"
    if task["answer"] not in frames:
        yield f"the stored answer is {task['answer']!r}; expected one of {', '.join(frames)}"
        return
    answer = frames[task["answer"]]
    if task["text"] != answer["utterance"] or task["target"] != answer["truth"]["tangram"]:
        meant = [name for name, frame in frames.items() if frame["utterance"] == task["text"]]
        yield f"the stored answer is {task['answer']!r}, but the text is that of {', '.join(meant) or 'none'}"


def frames_of(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the frames of a spec, as JSON data, in the form of `find_contradiction`."""
    names = {rgb: name for name, rgb in (*RGB.items(), *TABLE_RGB.items())}
    made = []
    for frame in spec["frames"]:
        colors = {}
        for item in frame.get("objects") or ():
            color = item.get("color")
            colors[item.get("name")] = names.get(tuple(color), str(color)) if isinstance(color, list) else color
        made.append({key: frame.get(key) for key in ("name", "utterance", "truth")} | {"colors": colors})
    return made


def _shown(item: RenderedObject, image: RenderedImage) -> str:
    """Return the most frequent color of a visible piece's pixels, by name if it is one of KiloGram's."""
    colors, counts = np.unique(image.color()[mask_of(item)], axis=0, return_counts=True)
    most = tuple(map(int, colors[int(counts.argmax())]))
    return next((name for name, rgb in RGB.items() if rgb == most), f"{most}")


def _painted(item: RenderedObject) -> str:
    """Return the color of a piece on the table by its material, as its pixels depend on the light."""
    for name, rgb in TABLE_RGB.items():
        if np.allclose(item.color_linear, linear_of_srgb(rgb), atol=1e-5):
            return name
    return f"{item.color_linear}"


def verify_record(episode: RenderedEpisode) -> str:
    """Return why a rendered episode contradicts itself, by its pixels on a flat stage; "" if it does not."""
    flat = load_stage(episode.scene.stage).pixels == "center"
    images = {image.frame: image for image in episode.images}
    frames = []
    for frame in episode.scene.frames:
        image = images[frame.name]
        colors = {
            item.name: "not visible" if not item.visible_pixels else _shown(item, image) if flat else _painted(item)
            for item in image.annotation.objects
        }
        frames.append({"name": frame.name, "utterance": frame.utterance, "truth": frame.truth, "colors": colors})
    return find_contradiction(episode.scene.task or {}, frames)
