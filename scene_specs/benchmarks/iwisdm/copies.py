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
from diorama.scene_specs.files.strict_json import Path as JsonPath
from diorama.scene_specs.tasks.copies import Copy, lines_of
from diorama.scene_specs.tasks.importing.pictures import read_picture

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
    yield from lines_of(_in_truth(truth, frames))
    yield from lines_of(_by_graphs(truth, modern(truth.instruction), _shown_by(truth, frames)))


def _in_truth(truth: Truth, frames: Frames) -> Iterator[Copy]:
    objects, text = truth.objects, modern(truth.instruction)
    number = {at: k for k, at in enumerate((at for at, row in enumerate(frames) if row), 1)}
    asked: dict[int, set[str]] = {}
    for name, of in _ASKED.findall(text):
        asked.setdefault(int(of), set()).add(name)
    # Descriptions in a question attend to more than it asks for.
    plain = " with " not in text and " at location" not in text
    for name, table in (("categories", truth.categories), ("models", truth.models)):
        yield Copy(f"{name}, each once", len(table), len({*table}))
    yield Copy("categories of models", sorted({name.split("/")[0] for name in truth.models}), sorted(truth.categories))
    for at, item in enumerate(objects):
        where: JsonPath = ("objects", at)
        row = frames[item.frame] if item.frame < len(frames) else ()
        category, identity = truth.categories[item.category], truth.models[item.object]
        look = {"category": category, "identity": identity, "view_angle": item.view_angle}
        stated = {"location": item.location, **look}
        yield Copy(where, stated, stated if stated in row else [*row])
        yield Copy((*where, "number"), item.number, number.get(item.frame))
        attended = {str(name) for names in item.asked.values() for name in names}
        if attended and plain and not item.is_distractor:
            yield Copy((*where, "asked"), sorted(attended), sorted(asked.get(item.number, set())))
    yield Copy("number of objects", len(objects), sum(map(len, frames)))


def _shown_by(truth: Truth, frames: Frames) -> list[list[Shown]]:
    """Return what the operators of a graph see in each frame."""
    ignored = {(placed.frame, placed.location) for placed in truth.objects if placed.is_distractor}
    return [
        [
            Shown(
                Item(seen["location"], seen["category"], seen["identity"], seen["view_angle"]),
                (at, seen["location"]) in ignored,
            )
            for seen in row
        ]
        for at, row in enumerate(frames)
    ]


def _by_graphs(truth: Truth, text: str, shown: list[list[Shown]]) -> Iterator[Copy]:
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
            yield Copy(("questions", at), str(error), "a question about these frames")
            return
        yield Copy(("questions", at, "answer"), stored.answer, value)
        due.setdefault(stored.answer_frame, []).append(value)
    if told:
        yield Copy("instruction", text, " ".join(words for _, words in sorted(told, key=lambda pair: pair[0])))
        yield Copy("answers", list(truth.answers), ["; ".join(due.get(at, ())) or "null" for at in range(len(shown))])


def in_trial(info: Any, file: Path) -> Iterator[str]:
    """Yield what a published trial contradicts: among its objects, and in the images of its folder."""
    # In images beside trials with older names, rows and columns changed places.
    images = _in_images(info, file.parent) if file.name == "task_info.json" else ()
    return lines_of([*_in_objects(info), *images])


def in_task(task: Any) -> Iterator[str]:
    """Yield what a published task file contradicts: the frames of its operators are listed beside them."""
    listed = sorted(operator.when for operator in _operators(task.operator) if operator.when is not None)
    whens = sorted({*listed})
    stated = sorted((task.whens or {}).values())
    copies = [Copy(("whens",), stated, listed if len(stated) == len(listed) else whens)] if task.whens else []
    # Import refuses others than last0, last1, ...
    copies.append(Copy(("n_frames",), task.n_frames, 1 + max(int(when.removeprefix("last")) for when in whens)))
    for operator in _operators(task.operator):
        names = [child.name for child in operator.child if operator.name == "Select"]
        copies.append(Copy("attributes of a Select, each once", names, [*dict.fromkeys(names)]))
    yield from lines_of(copies)


def _operators(operator: Any) -> Iterator[Any]:
    yield operator
    for child in operator.child:
        yield from _operators(child)


def _in_objects(info: Any) -> Iterator[Copy]:
    frames = sorted({entry.obj.epochs for entry in info.objects if hasattr(entry, "obj")})
    for at, entry in enumerate(info.objects):
        obj, where = getattr(entry, "obj", entry), ("objects", at)
        if obj is not entry:
            yield Copy((*where, "count"), entry.count, frames.index(obj.epochs) + 1)
            attended = sorted(entry.attended_attr)
            if entry.tasks is not None:
                yield Copy((*where, "tasks"), sorted(map(str, entry.tasks)), attended)
            if any(entry.attended_attr.values()):
                yield Copy((*where, "obj", "is_distractor"), obj.is_distractor, False)
        # NumPy 2 writes `np.float64(0.5)`.
        place = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", str(obj.location))
        if obj.location:
            yield Copy((*where, "space"), list(obj.space), [int(float(coordinate) >= 0.5) for coordinate in place])


def _in_images(info: Any, folder: Path) -> Iterator[Copy]:
    """Yield the names of the images, if there are any, and which quadrants of each are not black.

    The cross in the middle covers less than a tenth of an image's side.
    """
    names = sorted(path.name for path in folder.glob("epoch*.png"))
    if not names:
        return
    yield Copy("images of frames", names, sorted(f"epoch{at}.png" for at in range(info.epochs)))
    places = {(obj.epochs, *obj.space) for obj in (getattr(entry, "obj", entry) for entry in info.objects)}
    for at in range(info.epochs):
        if f"epoch{at}.png" not in names:
            continue
        picture = read_picture(folder / f"epoch{at}.png").copy()
        height, width = (side // 2 for side in picture.shape[:2])
        picture[height - height // 5 : height + height // 5 + 1, width - width // 5 : width + width // 5 + 1] = 0
        quadrants = {(x, y): picture[y * height :, x * width :][:height, :width] for x in (0, 1) for y in (0, 1)}
        seen = sorted(list(place) for place, pixels in quadrants.items() if pixels.any())
        yield Copy(f"epoch{at}.png, quadrants with an object", seen, sorted([x, y] for t, x, y in places if t == at))
