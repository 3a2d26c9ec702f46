"""One place of a JSON document changed by its path: `frames[0].objects[1].color=blue`.

A step is a key (`.color`), a position (`[1]`), the name of a list's item (`[b]`), or `[+]` for one more item. A key
that is no plain word is quoted: `task["my key"]`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from render.model.errors import UsageError
from render.model.json_diff import preview_json
from scene_specs.language.diagnostics import did_you_mean, path_text

Step = int | str

_STEP = re.compile(
    r"""(?P<dot>\.?)(?P<key>[A-Za-z0-9_$][A-Za-z0-9_$-]*)
    |\[(?P<index>\d{1,6})\]
    |\[(?P<quoted>"(?:[^"\\]|\\.)*")\]
    |\[(?P<name>[^\[\]"=]+)\]""",
    re.VERBOSE,
)
_MORE = "+"
# Stands for the value of a place that is taken out.
REMOVED: Final = object()


def parse_path(text: str, option: str) -> tuple[tuple[Step, ...], str]:
    """The steps that `text` begins with, and what follows them. Raises UsageError, which names `option`."""
    steps: list[Step] = []
    at = 0
    while at < len(text) and text[at] != "=":
        found = _STEP.match(text, at)
        key_apart = found is not None and found["key"] is not None and bool(found["dot"]) != bool(steps)
        if found is None or key_apart:
            raise UsageError(
                f"{option} {text}: no path at {text[at:]!r}; write one such as frames[0].objects[1].color, "
                "or frames[context-0].objects[b].color by names"
            )
        if found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["quoted"] is not None:
            steps.append(_unquoted(found["quoted"], f"{option} {text}"))
        else:
            steps.append(found["key"] or found["name"])
        at = found.end()
    if not steps:
        raise UsageError(f"{option} {text}: names no place; write one such as frames[0].objects[1].color")
    return tuple(steps), text[at:]


def _unquoted(key: str, where: str) -> str:
    try:
        word: str = json.loads(key)
    except ValueError as error:
        raise UsageError(
            f'{where}: {key} is no JSON string ({error}); a backslash in a key is written "\\\\"'
        ) from error
    return word


def parse_assignment(text: str, option: str = "--set") -> tuple[tuple[Step, ...], Any]:
    """`PATH=VALUE` as steps and value. VALUE is JSON; what is none is taken as text. Raises UsageError."""
    path, rest = parse_path(text, option)
    if not rest:
        raise UsageError(f"{option} {text}: no value; write PATH=VALUE, such as {text}=blue")
    try:
        return path, json.loads(rest[1:], parse_constant=_refuse_constant)
    except ValueError:
        return path, rest[1:]


def _refuse_constant(word: str) -> Any:
    raise ValueError(word)


def changed(document: Any, path: Sequence[Step], value: Any, option: str = "--set") -> tuple[Any, tuple[Step, ...]]:
    """A copy of `document` with one place changed, and its path with names turned into positions.

    value: REMOVED takes the place out. A place that is null or left out on the way is made. Raises UsageError for a
    step that leads nowhere, with what is there and the nearest match.
    """
    result = copy.deepcopy(document)
    where: tuple[Step, ...] = ()
    node = result
    for number, step in enumerate(path[:-1]):
        key = _resolved(node, step, where, option, make=False)
        if node[key] is None:
            node[key] = [] if isinstance(path[number + 1], int) or path[number + 1] == _MORE else {}
        node = node[key]
        where = (*where, key)
    last = _resolved(node, path[-1], where, option, make=value is not REMOVED)
    if value is REMOVED:
        del node[last]
    elif isinstance(node, list) and last == len(node):
        node.append(value)
    else:
        node[last] = value
    return result, (*where, last)


def _resolved(node: Any, step: Step, where: tuple[Step, ...], option: str, make: bool) -> Any:
    """The key or position that a step means in a node. make: whether a key that isn't there may be."""
    place = path_text(where) or "the episode"
    if isinstance(node, dict):
        key = str(step)
        if key in node or make:
            return key
        hint = did_you_mean(key, node)
        raise UsageError(
            f"{option}: {place} has no {key!r}; there are: {', '.join(node) or 'none'}" + (f" ({hint})" if hint else "")
        )
    if isinstance(node, list):
        return _position(node, step, where, option, make)
    raise UsageError(f"{option}: {place} is {preview_json(node)}; nothing is inside it, so {step!r} leads nowhere")


def _position(node: list[Any], step: Step, where: tuple[Step, ...], option: str, make: bool) -> int:
    if step == _MORE and make:
        return len(node)
    names = item_names(node, str(where[-1]) if where else "")
    if step in names:
        return names.index(str(step))
    if str(step).isdecimal() and int(step) < len(node):
        return int(step)
    there = ", ".join(f"[{index}] {name}" for index, name in enumerate(names)) or "none"
    hint = did_you_mean(step, names)
    raise UsageError(
        f"{option}: {path_text(where)} has no item {step!r}; there are: {there}" + (f" ({hint})" if hint else "")
    )


def item_names(items: Sequence[Any], field: str) -> list[str]:
    """What the items of a list are called: by their own `name`, else as the compiler calls them: `object-1`."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    return [
        name if isinstance(name, str) and name else f"{field.removesuffix('s') or 'item'}-{index}"
        for index, name in enumerate(names)
    ]
