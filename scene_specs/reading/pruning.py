"""All diagnostics in one run: invalid fields are removed, so that the semantics of the rest can be checked too."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from scene_specs.checks.semantics import spec_diagnostics
from scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, models_in
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.strict_json import Path

# Without these keys, valid references to them would look wrong.
_NEEDED = ("version", "id", "stage", "frames", "objects", "views", "constraints", "lights", "name", "area", "x", "y")


@cache
def _fields() -> frozenset[str]:
    """Return the keys of all models that an episode can hold."""
    models: list[type[BaseModel]] = [EpisodeSpec]
    for model in models:
        inner = [other for field in model.model_fields.values() for other in models_in(field.annotation)]
        models += [other for other in dict.fromkeys(inner) if other not in models]
    return frozenset(field for model in models for field in model.model_fields)


def diagnostics_of_rest(value: dict[str, Any], form: list[PathDiagnostic]) -> list[PathDiagnostic]:
    """Return the semantic diagnostics of an episode with the form diagnostics `form`; none if too little is left."""
    rest = json.loads(json.dumps(value))
    holders: list[Path] = []
    for diagnostic in form:
        key = max((k for k, step in enumerate(diagnostic.path) if isinstance(step, str)), default=-1)
        if key < 0 or _needed(diagnostic.path[key]):
            return []
        holder: Any = rest
        for step in diagnostic.path[:key]:
            holder = holder[step]
        holder.pop(diagnostic.path[key], None)
        holders.append(diagnostic.path[:key])
    try:
        spec = EpisodeSpec.model_validate_json(json.dumps(rest), strict=True)
    except ValidationError:
        return []
    return [found for found in spec_diagnostics(spec) if not any(_follows(found.path, holder) for holder in holders)]


def _needed(key: int | str) -> bool:
    """Return whether a key, or the key that a misspelled one probably stands for, is needed to check the rest."""
    return key in _NEEDED or (key not in _fields() and bool(did_you_mean(key, _NEEDED)))


def _follows(path: Path, holder: Path) -> bool:
    """Return whether a diagnostic can follow from a field removed from `holder`; fields of objects are independent."""
    if len(holder) > 1 and holder[-2] in ("objects", "frames"):
        return path == holder
    return bool(holder) and path[: len(holder)] == holder
