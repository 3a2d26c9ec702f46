"""The facts that a trial holds several times: in its objects, its instruction, the graphs of its tasks, its answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.iwisdm.reader import Frames
from diorama.scene_specs.benchmarks.iwisdm.stimuli import Item
from diorama.scene_specs.benchmarks.iwisdm.task_graph import Shown, TaskGraph
from diorama.scene_specs.benchmarks.iwisdm.trial import answer_text, object_numbers, question
from diorama.scene_specs.benchmarks.iwisdm.truth import Truth
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.diagnostics import preview_json

_EVENTS = re.compile(r"observe object [^,]*,|delay,")
_ASKED = re.compile(r"\b(\w+) of object (\d+)\b")
# Wordings of the paper and of older published code.
_OLDER = (
    (r"\bequal\b", "equals"), (r" \?", "?"), (r"\bloc of\b", "location of"), (r"\bobject of\b", "identity of"),
    (r"(?<!with )(?<!at )\b(location|category): ", ""), (r"\s+", " "),
)  # fmt: skip


def modern(text: str) -> str:
    """Return an instruction in today's wording, without the events before its questions."""
    text = _EVENTS.sub(" ", text)
    for old, new in _OLDER:
        text = re.sub(old, new, text)
    return text.strip()


def contradictions(truth: Truth, frames: Frames) -> Iterator[str]:
    """Yield what the objects and questions of a complete truth say otherwise than its frames and instruction."""
    objects, text = truth.objects, modern(truth.instruction)
    number = {at: k for k, at in enumerate((at for at, row in enumerate(frames) if row), 1)}
    asked: dict[int, set[str]] = {}
    for name, of in _ASKED.findall(text):
        asked.setdefault(int(of), set()).add(name)
    # Descriptions in a question attend to more than it asks for.
    plain = " with " not in text and " at location" not in text
    for at, item in enumerate(objects):
        where = f"objects[{at}]"
        row = frames[item.frame] if item.frame < len(frames) else ()
        category, identity = truth.categories[item.category], truth.models[item.object]
        look = {"category": category, "identity": identity, "view_angle": item.view_angle}
        stated = {"location": item.location, **look}
        if stated not in row:
            yield f"{where}: frame {item.frame} shows no {preview_json(stated)}"
        if item.number != number.get(item.frame):
            yield f"{where}: number: found {item.number}, but frame {item.frame} has {number.get(item.frame)}"
        attended = {str(name) for names in item.asked.values() for name in names}
        told = asked.get(item.number, set())
        if attended and attended != told and plain and not item.is_distractor:
            yield f"{where}: asked: found {sorted(attended)}, but the instruction asks for {sorted(told)}"
    if len(objects) != sum(map(len, frames)):
        yield f"objects: found {len(objects)}, but the frames show {sum(map(len, frames))}"
    ignored = {(item.frame, item.location) for item in objects if item.is_distractor}
    shown = [
        [
            Shown(
                Item(seen["location"], seen["category"], seen["identity"], seen["view_angle"]),
                (at, seen["location"]) in ignored,
            )
            for seen in row
        ]
        for at, row in enumerate(frames)
    ]
    yield from _by_graphs(truth, text, shown)


def _by_graphs(truth: Truth, text: str, shown: list[list[Shown]]) -> Iterator[str]:
    """Render the instruction and the answers from the graphs of the tasks, if the trial has them."""
    told: list[tuple[int, str]] = []
    due: dict[int, list[str]] = {}
    for at, stored in enumerate(truth.questions):
        try:
            graph = TaskGraph.of(stored.operator.expression())
            constants = {node: graph.graph.nodes[node]["value"] for node in graph.constants}
            value = answer_text(graph.evaluate(shown, constants)[graph.root])
            told.append((stored.answer_frame, question(graph, constants, object_numbers(shown))))
        except (DioramaError, KeyError, IndexError) as error:
            yield f"questions[{at}]: can't be asked about these frames: {error}"
            return
        if value != stored.answer:
            yield f"questions[{at}]: answer: found {stored.answer!r}, but its graph and the frames give {value!r}"
        due.setdefault(stored.answer_frame, []).append(value)
    if told:
        asked = " ".join(words for _, words in sorted(told, key=lambda pair: pair[0]))
        if asked != text:
            yield f"instruction: found {text!r}, but the graphs ask {asked!r}"
        answers = ["; ".join(due.get(at, ())) or "null" for at in range(len(shown))]
        if answers != list(truth.answers):
            yield f"answers: found {list(truth.answers)}, but the graphs give {answers}"


def in_trial(info: Any, file: Path) -> Iterator[str]:
    """Yield what the objects of a published trial contradict among themselves, and frames that its folder lacks."""
    frames = sorted({entry.obj.epochs for entry in info.objects if hasattr(entry, "obj")})
    for at, entry in enumerate(info.objects):
        obj = getattr(entry, "obj", entry)
        if obj is not entry and entry.count != (expected := frames.index(obj.epochs) + 1):
            yield f"objects[{at}]: count: found {entry.count}; expected {expected}, in order of epochs"
        if (
            obj is not entry
            and entry.tasks is not None
            and sorted(map(str, entry.tasks)) != sorted(entry.attended_attr)
        ):
            yield f"objects[{at}]: tasks: found {entry.tasks}, but attended_attr has {sorted(entry.attended_attr)}"
        # NumPy 2 writes `np.float64(0.5)`.
        place = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", str(obj.location))
        if obj.location and [int(float(part) >= 0.5) for part in place] != list(obj.space):
            yield f"objects[{at}]: location: found {obj.location!r}, which is not in space {list(obj.space)}"
    pictures = {path.name for path in sorted(file.parent.glob("epoch*.png"))}
    if (
        missing := [f"epoch{at}.png" for at in range(info.epochs) if f"epoch{at}.png" not in pictures]
        if pictures
        else []
    ):
        yield f"epochs: found {info.epochs}, but the folder lacks {', '.join(missing[:5])}"
    if len(pictures) > info.epochs - len(missing):
        yield f"epochs: found {info.epochs}, but the folder has {len(pictures)} images of frames"
