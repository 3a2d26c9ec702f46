"""Validation errors of pydantic as diagnostics: one per location, with the value found and the values allowed.

What a value may be stands at the field of the model, as its type, its limits and `Allowed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, ErrorDetails

from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import (
    PathDiagnostic,
    did_you_mean,
    nearest,
    preview_json,
    unexpected,
    value_at,
)

_Located = tuple[Path, ErrorDetails]
_Model = TypeVar("_Model", bound=BaseModel)
_Form = TypeVar("_Form")
# Of options and fields in a message.
_MOST_PROBLEMS, _LONGEST_NAME = 20, 200


@dataclass(frozen=True, eq=False)
class Allowed:
    """What a field takes, if its type needs words; stands in `Annotated`. Messages and the JSON Schema have it.

    Attributes:
        form: of a value.
        examples: values, as JSON data.
        names: returns the names that stand for a value; not called before they are shown, as packages can add some.
    """

    form: str = ""
    examples: Sequence[Any] = ()
    names: Callable[[], Iterable[str]] = tuple

    def text(self, names: Iterable[str] | None = None) -> str:
        """Return what the field takes, with other names than its own if they are given."""
        known = ", ".join(self.names() if names is None else names)
        examples = " or ".join(preview_json(example, 100) for example in self.examples)
        form = f"{self.form}, such as {examples}" if self.form and examples else self.form
        return ", or ".join(filter(None, (f"a name ({known})" if known else "", form)))

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        examples = [*self.names(), *self.examples]
        return handler(core_schema) | ({"examples": examples} if examples else {})


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


def key_meant(key: int | str, known: Sequence[str]) -> str:
    """Return the key that an unknown one probably stands for: what other programs call it, or a misspelling."""
    return next((word for word in _SYNONYMS.get(str(key).lower(), ()) if word in known), "") or nearest(key, known)


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
    "json_invalid": "JSON ({error})",
}
_LENGTHS = ("too_long", "too_short", "missing")


def form_diagnostics(
    error: ValidationError, model: type[BaseModel], data: Any, root: type[BaseModel] | None = None
) -> list[PathDiagnostic]:
    """Return the diagnostics of a failed validation of `data` (parsed JSON) as `model`, in the order of the fields.

    Args:
        root: the model that `model` is a part of, if any; an unknown key may belong elsewhere in it.
    """
    explain = _Explanation(model, root or model, data)
    groups: dict[Path, dict[str, list[_Located]]] = {}
    for detail in error.errors(include_url=False, include_context=True):
        if _follows_from_items(detail):
            continue
        path, union, branch = _resolve_location(detail["loc"], data, detail["type"])
        groups.setdefault(union if branch else path, {}).setdefault(branch, []).append((path, detail))
    diagnostics: dict[Path, PathDiagnostic] = {}
    for location, branches in groups.items():
        for diagnostic in explain.at_location(location, branches):
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


def keys_of(path: Path) -> list[str]:
    """Return the keys of a path, without the positions in lists."""
    return [step for step in path if isinstance(step, str)]


def _last_key(path: Path) -> str:
    """Return the last key of a path: the field that a list item belongs to."""
    return next(reversed(keys_of(path)), "")


def _in_list(path: Path) -> bool:
    """Return whether a path ends at an item of a list."""
    return bool(path) and isinstance(path[-1], int)


def _parse_expected(expected: str) -> list[str | int]:
    """Parse pydantic's `'a', 'b' or 'c'`."""
    words = re.findall(r"'((?:[^'\\]|\\.)*)'|(\d+)", expected)
    return [int(number) if number else text for text, number in words]


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models inside an annotation, such as `tuple[A, ...] | None`."""
    if isinstance(annotation, type) and not get_args(annotation):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in get_args(annotation) for model in models_in(part)]


@dataclass(frozen=True)
class _Explanation:
    """Finds the words for errors of a validation.

    Attributes:
        root: the model that `model` is a part of, or the same.
        data: what was validated.
    """

    model: type[BaseModel]
    root: type[BaseModel]
    data: Any

    def at_location(self, location: Path, branches: dict[str, list[_Located]]) -> list[PathDiagnostic]:
        """Return the diagnostics of a value, whose errors are those of each branch of a union, or of the branch ""."""
        if list(branches) == [""]:
            return [self.diagnostic(path, detail) for path, detail in branches[""]]

        def distance(details: list[_Located]) -> tuple[int, int, int]:
            """Rank how far a branch is from fitting: another kind, another length, other keys, or only details."""
            types = [(path, detail["type"]) for path, detail in details]
            if any(path == location and kind in _KINDS for path, kind in types):
                return (2, 0, len(details))
            lengths = any((path == location or path[:-1] == location) and kind in _LENGTHS for path, kind in types)
            other_keys = sum(kind == "extra_forbidden" for _, kind in types)
            return (int(lengths and not isinstance(value_at(self.data, location), dict)), other_keys, len(details))

        best = min(branches.values(), key=distance)
        if distance(best)[0] == 0:
            return [self.diagnostic(path, detail) for path, detail in best]
        kinds = dict.fromkeys(_KINDS.get(d["type"], "") for details in branches.values() for _, d in details)
        found, annotation = value_at(self.data, location), annotation_at(self.model, location)
        allowed = _words(annotation) or " or ".join(kind for kind in kinds if kind)
        return [unexpected(location, found, allowed, value_hint(location, "float_type", found, annotation))]

    def diagnostic(self, path: Path, detail: ErrorDetails) -> PathDiagnostic:
        """Return the diagnostic of an error outside unions, or in the branch that fits best."""
        kind, context, found = detail["type"], detail.get("ctx", {}), detail["input"]
        key, loc = path[-1] if path else "", str(detail["loc"])
        annotation = annotation_at(self.model, path, loc)
        if kind == "extra_forbidden":
            known = keys_at(self.model, path[:-1], loc)
            problem = f"unknown key {preview_json(key)}; allowed: {', '.join(known) or 'none'}"
            meant = key_meant(key, known)
            return PathDiagnostic(path, problem, f"did you mean {meant!r}?" if meant else self._home_of(path))
        if kind == "missing":
            if _in_list(path):
                allowed = _words(annotation_at(self.model, path[:-1], loc)) or "a longer list"
                return unexpected(path[:-1], found, allowed)
            return PathDiagnostic(path, f"required key {preview_json(key)} is missing", _words(annotation))
        if kind == "value_error":
            # A validator of the model, whose message states what was found and what is allowed.
            return PathDiagnostic(path, str(context["error"]))
        if kind == "literal_error":
            words = _parse_expected(context.get("expected", ""))
            hint = did_you_mean(found, (word for word in words if isinstance(word, str)))
            return unexpected(path, found, ", ".join(map(preview_json, words)), hint)
        hint = value_hint(path, kind, found, annotation)
        return unexpected(path, found, _allowed_values(annotation, kind, context), hint)

    def _home_of(self, path: Path) -> str:
        """Return where an unknown key belongs if it is known in one other place, "" otherwise."""
        levels: list[tuple[str, tuple[type[BaseModel], ...]]] = [("the episode", (self.root,))]
        for _, above in levels:
            inside = ((name, models_in(field.annotation)) for name, field in above[-1].model_fields.items())
            # A model may contain itself.
            levels += [(name, (*above, each)) for name, models in inside for each in models if each not in above]
        labels = [label for label, above in levels if path[-1] in above[-1].model_fields]
        at_top = len(path) == 1 and self.model is self.root
        return f"a key of {labels[0]}" if len(labels) == 1 or (at_top and "frames" in labels) else ""


def _allowed_values(annotation: Any, kind: str, context: dict[str, Any]) -> str:
    """Return what a value of this type allows, in words."""
    if kind.startswith("model") and (example := _example(annotation)):
        return f"an object, such as {preview_json(example)}"
    if kind in (*_KINDS, *_LENGTHS, "string_pattern_mismatch") and (words := _words(annotation)):
        return words
    if kind in _KINDS:
        return _KINDS[kind]
    plain = {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}
    return _BOUNDS[kind].format(**plain) if kind in _BOUNDS else f"see the schema ({kind.replace('_', ' ')})"


def value_hint(path: Path, kind: str, found: Any, annotation: Any = None) -> str:
    """Return what to do about a wrong value, "" if that cannot be guessed.

    Args:
        kind: pydantic's type of error.
        annotation: type of the field.
    """
    field = _last_key(path)
    if field == "id" and kind == "string_pattern_mismatch":
        if ".." in found or found.startswith(("/", "~")) or "\\" in found:
            return "an id is not a path: no '..', no leading '/', no backslash"
        near = re.sub(r"[^A-Za-z0-9_.+/-]+", "-", found).strip("-./")
        return f"such as {near[:80]}" if near else ""
    # A value of the same type as that of the example's first key probably belongs to that key.
    key, example = next(iter(_example(annotation).items()), ("", None))
    fits = type(found) is type(example) or (key == "count" and type(found) is int)
    if kind.startswith("model") and fits and key not in ("relation", "x"):
        return f"write {preview_json({key: found})}"
    if kind in ("tuple_type", "list_type") and any(get_args(part)[1:] == (...,) for part in _branches(annotation)):
        keys = {key for model in models_in(annotation) for key in model.model_fields}
        is_item = isinstance(found, str) or (isinstance(found, dict) and not found.keys().isdisjoint(keys))
        return f"write {preview_json([found])}" if is_item else ""
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


def _branches(annotation: Any) -> Iterator[Any]:
    """Yield the types that a value may have: those of a union, without what `Annotated` adds."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Union, UnionType):
        for part in parts[:1] if origin is Annotated else parts:
            yield from _branches(part)
    else:
        yield annotation


def _inside(annotation: Any, step: int | str) -> Any:
    """Return the type of an item or a field of a value that is of no union; None if there is none."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and not parts and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(step))
        return field and (Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation)
    if origin is dict:
        return parts[1]
    return parts[0] if origin in (tuple, list) and isinstance(step, int) else None


def annotation_at(model: type[BaseModel], path: Path, loc: str = "") -> Any:
    """Return the type at a path of a model, None if it is unknown.

    Args:
        loc: pydantic's location, which names the branches of unions.
    """
    annotation: Any = model
    for step in path:
        branches = sorted(_branches(annotation), key=lambda part: getattr(part, "__name__", "?") not in loc)
        annotation = next((part for branch in branches if (part := _inside(branch, step)) is not None), None)
    return annotation


def keys_at(model: type[BaseModel], path: Path, loc: str = "") -> list[str]:
    """Return the keys of the object, or of the objects in a list, at a path of a model.

    Args:
        loc: as for `annotation_at`.
    """
    models = models_in(annotation_at(model, path, loc))
    chosen = next((each for each in models if each.__name__ in loc), models[0] if models else None)
    return list(chosen.model_fields) if chosen else []


def allowed_of(annotation: Any) -> Allowed | None:
    """Return what a type says that it allows, itself or in a branch of a union; the outermost counts."""
    own = [part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Allowed)]
    inner = get_args(annotation) if get_origin(annotation) in (Annotated, Union, UnionType) else ()
    return own[-1] if own else next(filter(None, map(allowed_of, inner)), None)


def _words(annotation: Any) -> str:
    allowed = allowed_of(annotation)
    return allowed.text() if allowed else ""


def _example(annotation: Any) -> dict[str, Any]:
    """Return the example of a value that is an object of a model, {} if there is none."""
    return next((part.EXAMPLE for part in _branches(annotation) if getattr(part, "EXAMPLE", None)), {})
