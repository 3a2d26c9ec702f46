"""All diagnostics in one run: what is wrong in form is taken out, so that the rest can be checked for meaning too."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from scene_specs.checks.semantics import spec_issues
from scene_specs.language.diagnostics import PathDiagnostic, did_you_mean
from scene_specs.language.spec import (
    ConstraintSpec,
    EpisodeSpec,
    FrameSpec,
    LightSpec,
    MaterialSpec,
    ObjectSpec,
    ObjectViewSpec,
    OutlineSpec,
    RandomObjectsSpec,
    ViewSpec,
)
from scene_specs.language.strict_json import Path

# Without these, what refers to them would look wrong though it is right.
_NEEDED = ("version", "id", "stage", "frames", "objects", "views", "constraints", "lights", "name", "area", "x", "y")
_FIELDS = frozenset(
    field
    for model in (
        EpisodeSpec,
        FrameSpec,
        ObjectSpec,
        ObjectViewSpec,
        OutlineSpec,
        MaterialSpec,
        RandomObjectsSpec,
        ConstraintSpec,
        ViewSpec,
        LightSpec,
    )
    for field in model.model_fields
)


def issues_of_rest(value: dict[str, Any], form: list[PathDiagnostic]) -> list[PathDiagnostic]:
    """Issues of meaning of an episode that has the issues `form`; none where these leave too little to judge by."""
    rest = json.loads(json.dumps(value))
    holders: list[Path] = []
    for issue in form:
        key = max((k for k, step in enumerate(issue.path) if isinstance(step, str)), default=-1)
        if key < 0 or _needed(issue.path[key]):
            return []
        holder: Any = rest
        for step in issue.path[:key]:
            holder = holder[step]
        holder.pop(issue.path[key], None)
        holders.append(issue.path[:key])
    try:
        spec = EpisodeSpec.model_validate_json(json.dumps(rest), strict=True)
    except ValidationError:
        return []
    return [issue for issue in spec_issues(spec) if not any(_follows(issue.path, holder) for holder in holders)]


def _needed(key: int | str) -> bool:
    """Whether a key, or what a misspelt key is likely to stand for, is needed to judge the rest."""
    return key in _NEEDED or (key not in _FIELDS and bool(did_you_mean(key, _NEEDED)))


def _follows(path: Path, holder: Path) -> bool:
    """Whether an issue may come of what was taken out of `holder`; fields of objects and frames stand by themselves."""
    if len(holder) > 1 and holder[-2] in ("objects", "frames"):
        return path == holder
    return bool(holder) and path[: len(holder)] == holder
