"""All diagnostics in one run: stand-ins replace invalid parts, so that the semantics of the rest is checked too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import PathDiagnostic, value_at
from diorama.scene_specs.language.validation import form_diagnostics, key_meant, keys_at
from diorama.scene_specs.model.spec import EpisodeSpec

_ROUNDS = 4
_WIDE = [-1e4, 1e4]
# What takes the place of an invalid value that is required, or whose default would bring diagnostics of its own.
_STAND_INS: dict[str, Any] = {
    "version": 1,
    "id": "x",
    "stage": "?",
    "frames": [{}],
    "canvas": [10_000, 10_000],
    "area": {"x": _WIDE, "y": _WIDE},
    "x": _WIDE,
    "y": _WIDE,
    # Only objects at the same location overlap.
    "size": 1e-3,
    "target": "x",
    "count": 0,
}
_NAMED = ("views", "lights")
_ITEMS = ("frames", "objects", "constraints", *_NAMED)
# Objects whose diagnostics may all follow from one invalid key. Fields of the others are independent.
_DEPENDENT = ("constraints", "camera", "views", "material", "shape", "area")


def independent_diagnostics(
    value: dict[str, Any], form: list[PathDiagnostic], check: Callable[[EpisodeSpec], Iterable[PathDiagnostic]]
) -> list[PathDiagnostic]:
    """Return what `check` reports about an episode, except what follows from its diagnostics of form, `form`."""
    rest = json.loads(json.dumps(value))
    broken: list[Path] = []
    for _ in range(_ROUNDS):
        for diagnostic in form:
            if not diagnostic.path:
                return []
            _replace_invalid(rest, diagnostic.path, broken)
        try:
            spec = EpisodeSpec.model_validate_json(json.dumps(rest), strict=True)
        except ValidationError as error:
            form = form_diagnostics(error, EpisodeSpec, rest)
            continue
        return [found for found in check(spec) if not any(_may_follow(found, b, value) for b in broken)]
    return []


def _replace_invalid(rest: Any, path: Path, broken: list[Path]) -> None:
    """Replace what is invalid at a path by a stand-in, or remove it."""
    at = max((k for k, step in enumerate(path) if isinstance(step, str)), default=0)
    if at + 2 == len(path) and path[at] in _ITEMS and "constraints" not in path[:at]:
        at += 1
    holder, key, known = value_at(rest, path[:at]), path[at], keys_at(EpisodeSpec, path[:at])
    broken.append(path[: at + 1])
    match holder, key:
        case list(), int() if key < len(holder):
            holder[key] = {"name": f"x{key}"} if path[at - 1] in _NAMED else {}
        case dict(), _ if key in _STAND_INS and key in known:
            holder[key] = deepcopy(_STAND_INS[key])
        case dict(), _ if key == "name" and path[at - 2 : at - 1] and path[at - 2] in _NAMED:
            holder[key] = f"x{path[at - 1]}"
        # Others stood in something invalid, which is replaced already.
        case dict(), _:
            found = holder.pop(key, None)
            meant = key_meant(key, known) if key not in known else ""
            if meant and found is not None and holder.setdefault(meant, found) is found:
                broken.append((*path[:at], meant))


def _may_follow(found: PathDiagnostic, broken: Path, value: dict[str, Any]) -> bool:
    """Return whether a diagnostic may follow from what replaces the invalid part `broken` of the episode `value`."""
    path, holder, key = found.path, broken[:-1], broken[-1]
    inside = [step for step in holder if isinstance(step, str)][-1:]
    if path[: len(broken)] == broken or path == holder:
        return True
    if inside and inside[0] in _DEPENDENT and path[: len(holder)] == holder:
        return True
    if key in ("shape", "material") and path[:-1] == holder and path[-1] in ("normalize", "footprint", "color"):
        return True
    if len(broken) < 3 or path[:2] != broken[:2]:
        return False
    if broken[2] in ("camera", "views"):
        return path[2:3] == ("constraints",)
    if path == (*broken[:2], "objects"):
        # An object whose location can't be read counts as one without a location.
        return len(broken) < 5 or key in ("location", "place")
    if inside == ["random_objects"]:
        return path == (*holder, "count")
    # A reference may mean an object whose name can't be read.
    found_name, named = value_at(value, path), value_at(value, broken)
    refers = path[-1] in ("target", "subject", "of") or path[-2:-1] == ("objects",)
    unclear = len(broken) == 3 or found_name in (named if isinstance(named, list) else [named])
    return broken[2] == "objects" and refers and unclear
