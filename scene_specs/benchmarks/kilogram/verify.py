"""Whether a KiloGram episode is what it says: pieces, colors and texts agree, and a game has one answer by its rules.

Written from the rules alone, without the generator's code, and used for specs and for what was rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scene_specs.benchmarks.kilogram.emit import TABLE_RGB
from scene_specs.benchmarks.kilogram.examples import AUG, COLORS, CONDITIONS, RGB
from scene_specs.benchmarks.kilogram.games import SIZE
from scene_specs.benchmarks.kilogram.pieces import PIECES
from scene_specs.benchmarks.kilogram.wording import caption


def find_contradiction(task: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> str:
    """Why an episode contradicts itself; "" if it does not.

    frames: each with `name`, `utterance`, `truth`, and `colors`, what each piece is seen in, by the names piece-1 to
    piece-7: a color's name, or what else there is to see.
    """
    try:
        return next(_problems(task, frames), "")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        return f"its truth has not the form of KiloGram's: {type(error).__name__} {error}"


def _problems(task: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    condition = task["name"]
    if condition not in (*CONDITIONS, AUG):
        yield f"found condition {condition!r}; allowed: {', '.join((*CONDITIONS, AUG))}"
        return
    said, colored = CONDITIONS.get(condition, (True, True))
    for frame in frames:
        for problem in _frame_problems(frame, said, colored):
            yield f"frame {frame['name']}: {problem}"
    if "answer" in task:
        yield from _game_problems(task, {frame["name"]: frame for frame in frames}, len(frames))


def _frame_problems(frame: Mapping[str, Any], said: bool, colored: bool) -> Iterator[str]:
    truth = frame["truth"]
    parts = truth["parts"]
    pieces = [piece for part in parts for piece in part["pieces"]]
    if sorted(pieces) != [*PIECES] or not all(part["pieces"] for part in parts):
        yield f"its parts have the pieces {sorted(pieces)}; expected each of 1 to 7 once, and no part without one"
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
    names = [part["name"] for part in shown] if said else []
    text = caption(truth["whole"], names) if said else truth["whole"]
    if frame["utterance"] != text:
        yield f"its text is {frame['utterance']!r}; expected {text!r}"
    if truth["hash_text"] != "#".join([truth["whole"], *names]):
        yield f"its hash_text is {truth['hash_text']!r}; expected {'#'.join([truth['whole'], *names])!r}"


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
    """What `find_contradiction` takes, from a spec as JSON data."""
    names = {rgb: name for name, rgb in (*RGB.items(), *TABLE_RGB.items())}
    made = []
    for frame in spec["frames"]:
        colors = {}
        for item in frame.get("objects") or ():
            color = item.get("color")
            colors[item.get("name")] = names.get(tuple(color), str(color)) if isinstance(color, list) else color
        made.append({key: frame.get(key) for key in ("name", "utterance", "truth")} | {"colors": colors})
    return made
