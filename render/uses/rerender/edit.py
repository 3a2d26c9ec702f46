"""Edits of a stored episode: the Scene that --set, --unset, --set-scene, --recompile and --seed produce.

An edit of a spec compiles the spec again. An edit of a Scene changes the Scene alone: nothing is compiled. The only
checks are of the form, and that observers still look at their targets. In a Scene, an object also accepts the words of
a spec (`color=blue`, `size=large`, `material=metal`); the fields that depend on them (linear color, scale, height)
follow.

A path such as `frames[0].objects[1].color` has steps: a key (`.color`), a position (`[1]`), the name of a list item
(`[b]`), or `[+]` for a new item. Keys with other characters than letters, digits, `_`, `$` and `-` are quoted:
`task["my key"]`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from diorama.render.compiler import compile_episode
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.render.uses.rerender.request import EpisodeRequest
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.language.diagnostics import did_you_mean, path_text, preview_json, value_at
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import Stage, scene_stage
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.rotation import rounded3

_Form = TypeVar("_Form", EpisodeSpec, Scene)
Step = int | str
Assignment = tuple[tuple[Step, ...], Any]

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


def apply_edits(request: EpisodeRequest, source: EpisodeSpec | Scene, scene: Scene) -> tuple[Scene, EpisodeSpec | None]:
    """Apply the edits of a request.

    Args:
        request: request with the edits.
        source: the spec or Scene that the episode was made from.
        scene: the Scene before the edits, with the settings to render with.

    Returns:
        The edited Scene and its spec; the spec is None where no spec describes the Scene.

    Raises:
        UsageError: an edit names what does not exist, or changes the id or the settings.
        SpecError: an edit made the spec or Scene wrong.
        CompileError: no layout is found.
    """
    if request.scene_sets or isinstance(source, Scene):
        if request.seed is not None or request.recompile:
            raise UsageError(
                f"episode {scene.id} was made from a Scene, which leaves nothing open: --seed and --recompile would "
                "change nothing; change a field of the Scene with --set"
            )
        changes = [parse_assignment(text, "--set-scene") for text in (*request.sets, *request.scene_sets)]
        changes += [_parse_removal(text) for text in request.unsets]
        edited = change_scene(scene, changes, "--set-scene" if request.scene_sets else "--set")
        return _check_identity(edited, scene), None
    base = source
    if request.seed is not None:
        base = source.model_copy(update={"seed": request.seed})
    elif not request.recompile:
        base = pin_layout(source, scene, request.asset_roots)
    spec = _change_spec(base, request)
    return _check_identity(compile_episode(spec, scene.settings, request.asset_roots), scene), spec


def _check_identity(edited: Scene, before: Scene) -> Scene:
    """Return the edited Scene. Raises UsageError where an edit changed the id or the settings."""
    if edited.id != before.id:
        raise UsageError(f"--set id: would be another episode, {edited.id!r}; write a spec file and use --from")
    if edited.settings != before.settings:
        raise UsageError(
            "--set-scene settings: the numbers of a profile can't be changed; pass --profile, --size, --samples"
        )
    return edited


def _parse_removal(text: str) -> Assignment:
    path, rest = parse_path(text, "--unset")
    if rest:
        raise UsageError(f"--unset {text}: takes a path only, without {rest!r}")
    return path, REMOVED


def _change_spec(spec: EpisodeSpec, request: EpisodeRequest) -> EpisodeSpec:
    """Return the spec with --set and then --unset applied, in their order. Raises UsageError, SpecError."""
    document = spec.model_dump(mode="json")
    for text in request.sets:
        document, _ = changed(document, *parse_assignment(text))
    for text in request.unsets:
        document, _ = changed(document, *_parse_removal(text), "--unset")
    options = " and ".join(name for name, texts in (("--set", request.sets), ("--unset", request.unsets)) if texts)
    problem = "the result is a Scene instead of a spec; use --set-scene"
    return _parse_edited(document, options, EpisodeSpec, problem) if options else spec


def change_scene(scene: Scene, changes: Sequence[Assignment], option: str = "--set-scene") -> Scene:
    """Return the Scene with the changes applied in their order.

    Args:
        scene: left as it is.
        changes: path and value; REMOVED removes what is at the path.
        option: option that gives the changes, for messages.

    Raises:
        UsageError: a path or value does not exist.
        SpecError: the result is not a valid Scene.
    """
    document = scene.model_dump(mode="json")
    for steps, value in changes:
        edited, path = changed(document, steps, value, option)
        match path:
            case ["frames", k, "objects", n, str(field)]:
                # null, if an earlier change left that there.
                before, item = document["frames"][k]["objects"][n] or {}, edited["frames"][k]["objects"][n]
                _update_dependents(item, before, field, scene_stage(scene), option)
            case ["frames", k, "objects", int(n)] if value is REMOVED:
                _remove_observer(edited["frames"][k], n)
        _renumber_instances(edited)
        document = edited
    return _parse_edited(document, option, Scene, "the result is not a Scene; leave scene_version unchanged")


def _parse_edited(document: Any, option: str, form: type[_Form], problem: str) -> _Form:
    """Parse an edited document.

    Args:
        form: EpisodeSpec or Scene.
        problem: problem to report if the document is the other one.

    Raises:
        UsageError: it is the other one.
        SpecError: it is wrong; the diagnostics name the option.
    """
    try:
        parsed = parse_episode(json.dumps(document))
    except SpecError as error:
        diagnostics = [replace(diagnostic, file=f"after {option}", line=0) for diagnostic in error.diagnostics]
        raise SpecError(diagnostics) from error
    if not isinstance(parsed, form):
        raise UsageError(f"{option}: {problem}")
    return parsed


def _remove_observer(frame: dict[str, Any], position: int) -> None:
    """Remove the observer whose object was removed from a position, before the others are renumbered."""
    for observer in _dicts_in(frame.get("observers")):
        if observer.get("index") == position + 1:
            frame["observers"].remove(observer)


def _renumber_instances(document: dict[str, Any]) -> None:
    """Set instance ids, from 1 in the order of the objects, also after an object was added or removed."""
    for frame in _dicts_in(document.get("frames")):
        items = _dicts_in(frame.get("objects"))
        old = [item.get("index") for item in items]
        numbers = {index: number for number, index in enumerate(old, 1) if type(index) is int}
        # Of two objects with the same id, the one that did not move has it; the other is new.
        numbers |= {number: number for number, index in enumerate(old, 1) if index == number}
        for referrer in _dicts_in([frame.get("pointer"), *_dicts_in(frame.get("observers"))]):
            if type(referrer.get("index")) is int:
                referrer["index"] = numbers.get(referrer["index"], referrer["index"])
        for number, item in enumerate(items, 1):
            item["index"] = number


def _dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects of a list. Parsing reports other types later, with better messages."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _update_dependents(item: dict[str, Any], before: dict[str, Any], field: str, stage: Stage, option: str) -> None:
    """Update the fields of an object that depend on a changed one; names of colors and sizes are the stage's."""
    match field, item.get(field):
        case "color", str(name):
            item["color_linear"] = rounded3(stage.linear_of(_check_name(name, stage.color_names(), "color", option)))
        case "color", [_, _, _] as parts:
            red, green, blue = (_parse_byte(part, option) for part in parts)
            item |= {"color": None, "color_linear": rounded3(linear_of_srgb((red, green, blue)))}
        case "size", str(name):
            sizes = stage.size_names()
            item["scale"] = sizes[_check_name(name, sizes, "size", option)]
        case "size", int() | float() as scale:
            item |= {"size": None, "scale": scale}
        case "material", str(name):
            item["material"] = {"name": name}
        case "rotation_deg", int() | float() as degrees:
            item["rotation_deg"] = [0.0, 0.0, degrees]
    match field, item.get(field), before.get("location"):
        case "location", [x, y], [_, _, z]:
            item["location"] = [x, y, z]
        # An object that stood on the ground also stands on it in its new size.
        case "size", _, [x, y, z] if z is not None and z == before.get("scale"):
            item["location"] = [x, y, item["scale"]]


def _check_name(name: str, known: Iterable[str], kind: str, option: str) -> str:
    if name not in known:
        raise UsageError(hinted(f"{option}: unknown {kind} {name!r}; there are: {', '.join(known)}", name, known))
    return name


def _parse_byte(value: Any, option: str) -> int:
    if isinstance(value, int) and 0 <= value <= 255:
        return value
    raise UsageError(f"{option}: a color is a name or three integers from 0 to 255; found {value!r}")


def parse_path(text: str, option: str) -> tuple[tuple[Step, ...], str]:
    """Parse the path at the start of a text.

    Args:
        text: text such as `frames[0].objects[1].color=blue`.
        option: option that has the text, for messages.

    Returns:
        The steps, and the text after them.

    Raises:
        UsageError: there is no path.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text) and text[at] != "=":
        step = _STEP.match(text, at)
        # A key has a dot before it, except the first one.
        if step is None or (step["key"] is not None and bool(step["dot"]) != bool(steps)):
            raise UsageError(
                f"{option} {text}: no path at {text[at:]!r}; write one such as frames[0].objects[1].color, "
                "or frames[context-0].objects[b].color by names"
            )
        if step["index"] is not None:
            steps.append(int(step["index"]))
        elif step["quoted"] is not None:
            steps.append(_unquote(step["quoted"], f"{option} {text}"))
        else:
            steps.append(step["key"] or step["name"])
        at = step.end()
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
        option: option that has the text, for messages.

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
        path: path of the value.
        value: REMOVED removes the key or item.
        option: name of the option, for messages.

    Returns:
        The copy, and the path with names replaced by positions.

    Raises:
        UsageError: a step does not exist; the message lists the existing keys or items and the nearest match.
    """
    result = copy.deepcopy(document)
    where: tuple[Step, ...] = ()
    node = result
    for number, step in enumerate(path[:-1]):
        key = _resolve_step(node, step, where, option, make=False)
        if node[key] is None:
            node[key] = [] if isinstance(path[number + 1], int) or path[number + 1] == _APPEND else {}
        node = node[key]
        where = (*where, key)
    last = _resolve_step(node, path[-1], where, option, make=value is not REMOVED)
    if value is REMOVED:
        del node[last]
    elif last == len(node):  # Keys of objects are text.
        node.append(value)
    else:
        node[last] = value
    return result, (*where, last)


def _resolve_step(node: Any, step: Step, where: tuple[Step, ...], option: str, make: bool) -> Any:
    """Return the key or position of a step in a node. make: accept a key that does not exist yet."""
    parent = path_text(where) or "the episode"
    match node:
        case dict() if str(step) in node or make:
            return str(step)
        case dict():
            problem = f"{option}: {parent} has no {str(step)!r}; there are: {', '.join(node) or 'none'}"
            raise UsageError(hinted(problem, str(step), node))
        case list() if step == _APPEND and make:
            return len(node)
        case list():
            names = item_names(node, str(where[-1]) if where else "")
        case _:
            problem = f"{option}: {parent} is {preview_json(node)}; nothing is inside it, so {step!r} has no target"
            raise UsageError(problem)
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
    return [
        name if isinstance(name, str) and name else f"{field.removesuffix('s') or 'item'}-{index}"
        for index, name in enumerate([value_at(item, ("name",)) for item in items])
    ]
