"""Validation errors of pydantic as diagnostics: one per location, with the value found and the values allowed."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from diorama.scene_specs.errors import Diagnostic, spec_error
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.outlines import FLAT_SHAPES
from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES

_Model = TypeVar("_Model", bound=BaseModel)
_Form = TypeVar("_Form")
# Comparing a word with 100,000 others takes 17 s.
_MAX_KNOWN = 5000
# Comparing takes 500 MiB for a word of 30 MB, such as the line of a wrong file.
_LONGEST_WORD = 1000
# Of options and fields in a message.
_MOST_PROBLEMS, _LONGEST_NAME = 20, 200


class PathDiagnostic(NamedTuple):
    """A diagnostic without its file.

    Attributes:
        path: location inside the episode.
        hint: "" if there is none.
        line: 0 if unknown.
    """

    path: Path
    problem: str
    hint: str = ""
    line: int = 0

    def in_file(self, file: str = "", episode: str = "") -> Diagnostic:
        """Return the diagnostic with its file and episode id."""
        return Diagnostic(file, self.line, episode, path_text(self.path), self.problem, self.hint)


def path_text(path: Path) -> str:
    """Return a path as text, `frames[2].objects[0].color`; keys that are not plain words are quoted as JSON."""
    text = ""
    for step in path:
        if isinstance(step, str) and re.fullmatch(r"[A-Za-z0-9_$][A-Za-z0-9_$-]{0,60}", step):
            text += f".{step}" if text else step
        else:
            text += f"[{preview_json(step)}]"
    return text


def preview_json(value: Any, longest: int = 60) -> str:
    """Return a value as ASCII JSON without terminal control codes, shortened to `longest` characters."""
    text = json.dumps(value, default=str)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def option_problems(error: ValidationError) -> list[str]:
    """Return one line per wrong option of a function or benchmark: its name, the value found, the values allowed.

    Of more than 20, the others are a number in the last line.
    """
    lines, wrong = [], error.errors()
    for one in wrong[:_MOST_PROBLEMS]:
        name = ".".join(map(str, one["loc"]))
        name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}...{name[-_LONGEST_NAME // 2 :]}"
        # pydantic names the class, which may be private.
        reason = re.sub(r" or instance of \w+$", "", one["msg"].removeprefix("Value error, "))
        found = "" if one["type"] == "missing" else f"found {preview_json(one['input'])}: "
        lines.append(f"{name}: {found}{reason}" if name else reason)
    return [*lines, *([f"and {len(wrong) - _MOST_PROBLEMS} more"] if len(wrong) > _MOST_PROBLEMS else [])]


def validated(model: type[_Model], data: Any, file: str = "") -> _Model:
    """Return the data of a file as a model.

    Raises:
        SpecError: fields are wrong; lists them, see `option_problems`.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise spec_error("; ".join(option_problems(error)), file=file) from None


def of_form(form: type[_Form], data: Any, problem: str, file: str, line: int = 0) -> _Form:
    """Return JSON data of a file that has a form, such as `dict[str, list[str]]`. Raises SpecError with `problem`."""
    try:
        return TypeAdapter(form).validate_python(data, strict=True)
    except ValidationError:
        raise spec_error(problem, file=file, line=line) from None


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, "" if none is near."""
    if not isinstance(word, str) or len(word) > _LONGEST_WORD:
        return ""
    by_lower = {name.lower(): name for name in islice(known, _MAX_KNOWN)}
    near = difflib.get_close_matches(word.lower().strip(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else ""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return `did you mean ...?` with the known word nearest to `word`, "" if none is near."""
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near else ""


def key_meant(key: int | str, known: Sequence[str]) -> str:
    """Return the key that an unknown one probably stands for: what other programs call it, or a misspelling."""
    return next((word for word in _SYNONYMS.get(str(key).lower(), ()) if word in known), "") or nearest(key, known)


def unexpected(path: Path, found: Any, allowed: str, hint: str = "") -> PathDiagnostic:
    """Return the diagnostic of a wrong value: what was found against what is allowed."""
    return PathDiagnostic(path, f"found {preview_json(found)}; allowed: {allowed}", hint)


_ID = "segments of letters, digits and _ . + -, joined by '/', none beginning with a dot; such as demo/first/0001"
_NAME = "letters, digits, spaces and _ + # -, at most 100, beginning with a letter or digit"

# What other programs call a key, mapped to the keys that Diorama has for it.
_SYNONYMS = {
    word: keys.split("/")
    for keys, words in {
        "of/target": "object",
        "of": "target reference",
        "location": "position pos",
        "rotation_deg": "rotation angle",
        "yaw_deg/rotation_deg": "yaw azimuth",
        "size": "scale",
        "shape/name/relation/kind": "type kind",
        "name": "id label",
        "lens": "fov focal_length",
        "energy": "intensity power",
    }.items()
    for word in words.split()
}
# The forms of a value beside a name.
FORMS = {
    "color": "an sRGB triple of integers from 0 to 255, such as [240, 191, 29]",
    "material": '{"name": "emission", "strength": 5}, or {"blend": "materials/checker.blend", "group": "Checker"}',
    "size": "a scale in Blender units, above 0 and at most 100, such as 0.5",
    "shape": 'a model, such as shapenet:chairs/#3, a file of your own, {"mesh": "mugs/red.glb"}, or an outline, '
    'such as {"polygon": [[0, 0], [1, 0], [0, 1]], "height": 1} or {"outline": "circle", "height": 1}, or an invented '
    'shape, such as {"invented": {"family": "blob", "seed": 12}}',
}


def with_forms(key: str, names: Iterable[str]) -> str:
    """Return what a field allows that takes one of these names, or a value of another form."""
    return f"a name ({', '.join(names)}), or {FORMS[key]}"


_CORNER = "[x, y, z], such as [7, -6, 5]"
# What a field allows, if it has several types or its pattern needs words.
_ALLOWED = {
    "id": _ID,
    "name": _NAME,
    "subject": _NAME,
    "of": _NAME,
    "target": "the name of an object of this frame",
    "split": "letters, digits and _ . + -, at most 50",
    "color": with_forms("color", COLORS),
    "material": with_forms("material", (*MEWL_MATERIALS, "...")),
    "size": with_forms("size", SIZES),
    "shape": with_forms("shape", (*SHAPES, *FLAT_SHAPES)),
    "location": "[x, y] on the ground, such as [1, -0.5], or [x, y, z] of the center, such as [1, -0.5, 0.7], numbers "
    "from -10000 to 10000",
    "rotation_deg": "degrees about Z, such as 30, or three Euler angles XYZ in degrees, such as [90, 0, 45]",
    "count": "an integer from 0 to 100, such as 3, or [fewest, most], such as [3, 10]",
    "look_at": _CORNER,
    "combinations": 'a list of [shape, color] pairs, such as [["cube", "red"]]',
    "polygon": "three to 256 corners, [x, y] each, in order, such as [[0, 0], [1, 0], [0, 1]]",
    "canvas": "[width, height], integers from 1 to 10000, such as [640, 480]",
    "looks_at": "the name of an object of this frame, or a point [x, y, z]",
    "place": "the name of a place of the stage",
    "background": "an sRGB triple of integers from 0 to 255, such as [255, 255, 255]",
    "material.name": "a name, such as glass",
    "camera.location": _CORNER,
    "views.location": _CORNER,
    "lights.location": _CORNER,
    "lights.color": "linear [red, green, blue], numbers from 0, such as [1, 0.9, 0.8]",
    "pointer.size": "a scale, above 0 and at most 10, such as 0.6",
    **dict.fromkeys(("x", "y"), "[least, greatest], such as [-3, 3]"),
}
_VECTORS = ("color", "background", "canvas", "x", "y", "location", "look_at")
_RANGES = {"color": " from 0 to 255", "background": " from 0 to 255", "canvas": " from 1 to 10000"}
# Fields that hold objects, or lists of them -> an example. A value of the same type as that of its first key probably
# belongs to that key.
_EXAMPLES: dict[str, dict[str, Any]] = {
    "pointer": {"target": "a"},
    "observers": {"name": "Anna", "looks_at": "a"},
    "random_objects": {"count": [3, 10]},
    "camera": {"location": [7, -6, 5]},
    "view": {"yaw_deg": 30, "elevation_deg": 20},
    "area": {"x": [-3, 3], "y": [-3, 3]},
    "objects": {"shape": "cube"},
    "constraints": {"relation": "left", "subject": "a", "of": "b"},
    "views": {"name": "front"},
    "lights": {"name": "key", "energy": 200},
}
# Error types of pydantic for a JSON value of another kind than this branch of a union takes.
_KINDS = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
    "json_type": "JSON",
}
_BOUNDS = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "greater_than": "above {gt}",
    "less_than": "below {lt}",
    "finite_number": "a finite number",
    "string_too_short": "no empty text",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text like {pattern}",
    "too_short": "at least {min_length} item(s)",
    "too_long": "at most {max_length} items",
}
_LENGTHS = ("too_long", "too_short", "missing")


def form_diagnostics(error: ValidationError, model: type[BaseModel], data: Any) -> list[PathDiagnostic]:
    """Return the diagnostics of a failed validation of `data` (parsed JSON) as `model`, in the order of the fields."""
    groups: dict[Path, dict[str, list[tuple[Path, ErrorDetails]]]] = {}
    for detail in error.errors(include_url=False, include_context=True):
        if _follows_from_items(detail):
            continue
        path, union, branch = _resolve_location(detail["loc"], data, detail["type"])
        groups.setdefault(union if branch else path, {}).setdefault(branch, []).append((path, detail))
    diagnostics: dict[Path, PathDiagnostic] = {}
    for location, branches in groups.items():
        for diagnostic in _at_location(location, branches, model, data):
            diagnostics.setdefault(diagnostic.path, diagnostic)
    return list(diagnostics.values())


def _follows_from_items(detail: ErrorDetails) -> bool:
    """Return whether a list only counts as too short because pydantic left out its invalid items."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _resolve_location(loc: tuple[int | str, ...], data: Any, kind: str) -> tuple[Path, Path, str]:
    """Return the path without pydantic's union branches, the path of the first union, and its branch or ""."""
    path: list[int | str] = []
    union: Path = ()
    branch = ""
    value = data
    for position, step in enumerate(loc):
        last = position == len(loc) - 1
        match value, step:
            case list(), int():
                path.append(step)
                value = value[step] if step < len(value) else None
            case dict(), str() if step in value or (last and kind == "missing"):
                path.append(step)
                value = value.get(step)
            case _, str() if not branch:
                union, branch = tuple(path), step
    return tuple(path), union, branch


def _at_location(
    location: Path, branches: dict[str, list[tuple[Path, ErrorDetails]]], model: type[BaseModel], data: Any
) -> list[PathDiagnostic]:
    if list(branches) == [""]:
        return [_diagnostic_of(path, detail, model) for path, detail in branches[""]]

    def distance(details: list[tuple[Path, ErrorDetails]]) -> tuple[int, int, int]:
        """Rank how far a branch is from fitting: another kind of value, another length, other keys, or only details."""
        types = [(path, detail["type"]) for path, detail in details]
        if any(path == location and kind in _KINDS for path, kind in types):
            return (2, 0, len(details))
        lengths = any((path == location or path[:-1] == location) and kind in _LENGTHS for path, kind in types)
        other_keys = sum(kind == "extra_forbidden" for _, kind in types)
        return (int(lengths and not isinstance(value_at(data, location), dict)), other_keys, len(details))

    best = min(branches.values(), key=distance)
    if distance(best)[0] == 0:
        return [_diagnostic_of(path, detail, model) for path, detail in best]
    kinds = dict.fromkeys(_KINDS.get(d["type"], "") for details in branches.values() for _, d in details)
    allowed = _by_field(model, location, " or ".join(kind for kind in kinds if kind))
    found = value_at(data, location)
    return [unexpected(location, found, allowed, value_hint(location, "float_type", found))]


def value_at(value: Any, path: Path) -> Any:
    """Return the part of parsed JSON at a path, None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def keys_of(path: Path) -> list[str]:
    """Return the keys of a path, without the positions in lists."""
    return [step for step in path if isinstance(step, str)]


def _last_key(path: Path) -> str:
    """Return the last key of a path: the field that a list item belongs to."""
    return next(reversed(keys_of(path)), "")


def _in_list(path: Path) -> bool:
    """Return whether a path ends at an item of a list."""
    return bool(path) and isinstance(path[-1], int)


def _by_field(model: type[BaseModel], path: Path, otherwise: str) -> str:
    """Return what a field allows, by its name and the one above it, or by its name alone."""
    if getattr(model, "own_words", False):
        return otherwise
    return _ALLOWED.get(".".join(keys_of(path)[-2:])) or _ALLOWED.get(_last_key(path), otherwise)


def _diagnostic_of(path: Path, detail: ErrorDetails, model: type[BaseModel]) -> PathDiagnostic:
    kind, context, found = detail["type"], detail.get("ctx", {}), detail["input"]
    key = path[-1] if path else ""
    if kind == "extra_forbidden":
        known = keys_at(model, path[:-1], str(detail["loc"]))
        problem = f"unknown key {preview_json(key)}; allowed: {', '.join(known) or 'none'}"
        meant = key_meant(key, known)
        return PathDiagnostic(path, problem, f"did you mean {meant!r}?" if meant else _where_key_belongs(model, path))
    if kind == "missing":
        if _in_list(path):
            return unexpected(path[:-1], found, _by_field(model, path, "a longer list"))
        hints = {"version": 'write "version": 1', "id": _ID, "frames": "a list of frames, at least one"}
        return PathDiagnostic(path, f"required key {preview_json(key)} is missing", hints.get(_last_key(path), ""))
    if kind == "value_error":
        # A validator of the model, whose message states what was found and what is allowed.
        return PathDiagnostic(path, str(context["error"]))
    if kind == "literal_error":
        words = _parse_expected(context.get("expected", ""))
        hint = did_you_mean(found, (word for word in words if isinstance(word, str)))
        return unexpected(path, found, ", ".join(map(preview_json, words)), hint)
    hint = value_hint(path, kind, found, keys_at(model, path, str(detail["loc"])))
    return unexpected(path, found, _allowed_values(model, path, kind, context), hint)


def _parse_expected(expected: str) -> list[str | int]:
    """Parse pydantic's `'a', 'b' or 'c'`."""
    words = re.findall(r"'((?:[^'\\]|\\.)*)'|(\d+)", expected)
    return [int(number) if number else text for text, number in words]


def _allowed_values(model: type[BaseModel], path: Path, kind: str, context: dict[str, Any]) -> str:
    """Return what a location allows, in words."""
    field, inside = _last_key(path), _in_list(path)
    if kind.startswith("model") and field in _EXAMPLES:
        return f"an object, such as {preview_json(_EXAMPLES[field])}"
    if kind in _KINDS and inside:
        pair = {"polygon": "a corner, [x, y]", "combinations": 'a pair, such as ["cube", "red"]'}
        return pair.get(field) or _KINDS[kind] + (_RANGES.get(field, "") if kind.startswith("int") else "")
    if kind in _KINDS:
        return _KINDS[kind] if kind == "int_type" else _by_field(model, path, _KINDS[kind])
    if kind == "string_pattern_mismatch" or (kind in ("too_long", "too_short") and not inside):
        known = _by_field(model, path, "")
        if known:
            return known
    plain = {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}
    return _BOUNDS[kind].format(**plain) if kind in _BOUNDS else f"see the schema ({kind.replace('_', ' ')})"


def value_hint(path: Path, kind: str, found: Any, keys: Sequence[str] = ()) -> str:
    """Return what to do about a wrong value, "" if that cannot be guessed.

    Args:
        kind: pydantic's type of error.
        keys: of the objects that belong there.
    """
    if _last_key(path) == "id" and kind == "string_pattern_mismatch":
        if ".." in found or found.startswith(("/", "~")) or "\\" in found:
            return "an id is not a path: no '..', no leading '/', no backslash"
        near = re.sub(r"[^A-Za-z0-9_.+/-]+", "-", found).strip("-./")
        return f"such as {near[:80]}" if near else ""
    field, inside = _last_key(path), _in_list(path)
    key, example = next(iter(_EXAMPLES.get(field, {"": None}).items()))
    fits = type(found) is type(example) or (key == "count" and type(found) is int)
    if kind.startswith("model") and fits and key not in ("relation", "x"):
        return f"write {preview_json({key: found})}"
    if kind in ("tuple_type", "list_type") and not inside and field not in _VECTORS:
        one = isinstance(found, str) or (isinstance(found, dict) and not found.keys().isdisjoint(keys))
        return f"write {preview_json([found])}" if one else ""
    match found:
        case dict() if list(found) in (["x", "y"], ["x", "y", "z"], ["r", "g", "b"]):
            return f"write {preview_json(list(found.values()))}"
        case float() if field in ("color", "background") and 0 <= found <= 1:
            return f"8-bit colors: write {round(found * 255)}"
        case str() if field == "color" and re.fullmatch("#[0-9a-fA-F]{6}", found):
            return f"write {list(bytes.fromhex(found[1:]))}"
        case str() if kind in ("float_type", "int_type"):
            with suppress(ValueError):
                return f"write {float(found):g} without quotes"
    return ""


def keys_at(model: type[BaseModel], path: Path, loc: str = "") -> list[str]:
    """Return the keys of the model at a path.

    Args:
        loc: pydantic's location, which names the branches of unions.
    """
    found: type[BaseModel] = model
    for step in keys_of(path):
        if step in found.model_fields:
            inner = models_in(found.model_fields[step].annotation)
            found = next((one for one in inner if one.__name__ in loc), inner[0] if inner else found)
    return list(found.model_fields)


def _where_key_belongs(model: type[BaseModel], path: Path) -> str:
    """Return where an unknown key belongs if it is known in one other place, "" otherwise."""
    levels: list[tuple[str, tuple[type[BaseModel], ...]]] = [("the episode", (model,))]
    for _, above in levels:
        inside = ((name, models_in(field.annotation)) for name, field in above[-1].model_fields.items())
        # A model may contain itself.
        levels += [(name, (*above, one)) for name, models in inside for one in models if one not in above]
    labels = [label for label, above in levels if path[-1] in above[-1].model_fields]
    return f"a key of {labels[0]}" if len(labels) == 1 or (len(path) == 1 and "frames" in labels) else ""


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models inside an annotation, such as `tuple[A, ...] | None`."""
    if isinstance(annotation, type) and not get_args(annotation):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in get_args(annotation) for model in models_in(part)]
