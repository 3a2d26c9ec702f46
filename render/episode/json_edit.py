"""Edit a JSON document by path: `frames[0].objects[1].color=blue`.

A step is a key (`.color`), a position (`[1]`), the name of a list item (`[b]`), or `[+]` for a new item. Keys with
other characters than letters, digits, `_`, `$` and `-` are quoted: `task["my key"]`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.diagnostics import did_you_mean, path_text, preview_json

Step = int | str

_STEP = re.compile(
    r"""(?P<dot>\.?)(?P<key>[A-Za-z0-9_$][A-Za-z0-9_$-]*)
    |\[(?P<index>\d{1,6})\]
    |\[(?P<quoted>"(?:[^"\\]|\\.)*")\]
    |\[(?P<name>[^\[\]"=]+)\]""",
    re.VERBOSE,
)
_APPEND = "+"
# The value that removes the item or key at a path.
REMOVED: Final = object()


def parse_path(text: str, option: str) -> tuple[tuple[Step, ...], str]:
    """Parse the path at the start of a text.

    Args:
        text: such as `frames[0].objects[1].color=blue`.
        option: that has the text, for messages.

    Returns:
        The steps, and the text after them.

    Raises:
        UsageError: there is no path.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text) and text[at] != "=":
        found = _STEP.match(text, at)
        # A key has a dot before it, except the first one.
        if found is None or (found["key"] is not None and bool(found["dot"]) != bool(steps)):
            raise UsageError(
                f"{option} {text}: no path at {text[at:]!r}; write one such as frames[0].objects[1].color, "
                "or frames[context-0].objects[b].color by names"
            )
        if found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["quoted"] is not None:
            steps.append(_unquote(found["quoted"], f"{option} {text}"))
        else:
            steps.append(found["key"] or found["name"])
        at = found.end()
    if not steps:
        raise UsageError(f"{option} {text}: no path; write one such as frames[0].objects[1].color")
    return tuple(steps), text[at:]


def _unquote(key: str, where: str) -> str:
    try:
        return str(json.loads(key))
    except ValueError as error:
        raise UsageError(
            f'{where}: {key} is not a JSON string ({error}); write a backslash in a key as "\\\\"'
        ) from error


def parse_assignment(text: str, option: str = "--set") -> tuple[tuple[Step, ...], Any]:
    """Parse `PATH=VALUE`; a VALUE that is not JSON is a string.

    Args:
        text: the assignment.
        option: that has the text, for messages.

    Returns:
        The steps and the value.

    Raises:
        UsageError: there is no path or no value.
    """
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
    """Change one value in a copy of a document. A null on the way becomes an object or a list.

    Args:
        document: JSON data.
        path: of the value.
        value: REMOVED removes the key or item.
        option: for messages.

    Returns:
        The copy, and the path with names replaced by positions.

    Raises:
        UsageError: a step does not exist; the message lists the existing keys or items and the nearest match.
    """
    result = copy.deepcopy(document)
    where: tuple[Step, ...] = ()
    node = result
    for number, step in enumerate(path[:-1]):
        key = _resolve(node, step, where, option, make=False)
        if node[key] is None:
            node[key] = [] if isinstance(path[number + 1], int) or path[number + 1] == _APPEND else {}
        node = node[key]
        where = (*where, key)
    last = _resolve(node, path[-1], where, option, make=value is not REMOVED)
    if value is REMOVED:
        del node[last]
    elif isinstance(node, list) and last == len(node):
        node.append(value)
    else:
        node[last] = value
    return result, (*where, last)


def _resolve(node: Any, step: Step, where: tuple[Step, ...], option: str, make: bool) -> Any:
    """The key or position of a step in a node. make: accept a key that does not exist yet."""
    parent = path_text(where) or "the episode"
    if isinstance(node, dict):
        if str(step) in node or make:
            return str(step)
        problem = f"{option}: {parent} has no {str(step)!r}; there are: {', '.join(node) or 'none'}"
        raise UsageError(hinted(problem, str(step), node))
    if not isinstance(node, list):
        raise UsageError(f"{option}: {parent} is {preview_json(node)}; nothing is inside it, so {step!r} has no target")
    if step == _APPEND and make:
        return len(node)
    names = item_names(node, str(where[-1]) if where else "")
    if step in names:
        return names.index(str(step))
    if str(step).isdecimal() and int(step) < len(node):
        return int(step)
    listed = ", ".join(f"[{index}] {name}" for index, name in enumerate(names)) or "none"
    raise UsageError(hinted(f"{option}: {path_text(where)} has no item {step!r}; there are: {listed}", step, names))


def hinted(problem: str, word: object, known: Iterable[str]) -> str:
    """Add the known word nearest to `word` to a problem, in parentheses, if one is near."""
    hint = did_you_mean(word, known)
    return f"{problem} ({hint})" if hint else problem


def item_names(items: Sequence[Any], field: str) -> list[str]:
    """Return the names of a list's items: their own `name`, or the compiler's name for them, such as `object-1`."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    return [
        name if isinstance(name, str) and name else f"{field.removesuffix('s') or 'item'}-{index}"
        for index, name in enumerate(names)
    ]
