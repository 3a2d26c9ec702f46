"""A trial in words: `observe object 1, delay, observe object 2, category of object 1 equals category of object 2?`

Objects are numbered by their frames. A run of empty frames is one `delay`. Joints stand in brackets only below another
joint, where their order would be open otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scene_specs.benchmarks.iwisdm.graph import Shown, TaskGraph


def numbers(frames: Sequence[Sequence[Shown]]) -> dict[int, int]:
    """Frame -> number of what it shows, from 1; empty frames have none."""
    filled = [frame for frame, shown in enumerate(frames) if shown]
    return {frame: number for number, frame in enumerate(filled, 1)}


def question(task: TaskGraph, constants: Mapping[int, str], number: Mapping[int, int], node: int | None = None) -> str:
    """What a task asks, with its question marks."""
    at = task.root if node is None else node
    if task.operator(at).gives != "branch":
        return f"{_words(task, constants, number, at)}?"
    condition, then, other = task.children[at]
    parts = (_words(task, constants, number, condition), *(question(task, constants, number, c) for c in (then, other)))
    return task.operator(at).text.format(*parts)


def _words(task: TaskGraph, constants: Mapping[int, str], number: Mapping[int, int], node: int) -> str:
    name = task.graph.nodes[node]["operator"]
    if name == "CONST":
        return constants[node]
    if name == "Select":
        text = f"object {number[task.frame(node)]}"
        # What comes after "of object 3" would be read as said of object 3.
        for child in sorted(task.children[node], key=lambda child: bool(task.children[child])):
            text += described(task.property_of(child), _words(task, constants, number, child))
        return text
    operator = task.operator(node)
    parts = []
    for child in task.children[node]:
        part = _words(task, constants, number, child)
        parts.append(f"({part})" if operator.join and task.operator(child).join else part)
    return operator.text.format(*parts)


def described(name: str, value: str) -> str:
    """What tells an object from others of its frame, as it follows `object <n>`."""
    return f" at location: {value}" if name == "location" else f" with {name}: {value}"


def instruction(
    frames: Sequence[Sequence[Shown]], described_by: Mapping[int, str], questions: Sequence[tuple[int, str]]
) -> str:
    """The whole trial. described_by: frame -> property that tells its object from the distractor beside it.

    questions: (frame of the answer, text), by frame.
    """
    number = numbers(frames)
    words = []
    for frame, shown in enumerate(frames):
        if shown:
            target = next((one.item for one in shown if not one.distractor), None)
            name = described_by.get(frame)
            detail = described(name, target.value(name)) if name and target else ""
            words.append(f"observe object {number[frame]}{detail},")
        elif frame == 0 or frames[frame - 1]:
            words.append("delay,")
        words += [text for at, text in questions if at == frame]
    return " ".join(words)
