"""Checks of named places, views of objects, backgrounds and fixation crosses against the stage."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.checks.object_checks import beside
from diorama.scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json, unexpected
from diorama.scene_specs.language.spec import FrameSpec
from diorama.scene_specs.language.stage import Stage
from diorama.scene_specs.language.strict_json import Path
from diorama.scene_specs.language.tables import counted


def place_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report places that are unknown, given twice or beside a location, and more objects than places."""
    places = stage.places or {}
    taken: dict[str, int] = {}
    without = 0
    for index, item in enumerate(frame.objects):
        path = (*at, "objects", index, "place")
        if item.place is None:
            without += item.location is None
            continue
        if item.place not in places:
            allowed = ", ".join(places) or f"none, stage {stage.name} has no places"
            yield unexpected(path, item.place, allowed, did_you_mean(item.place, places))
        elif item.location is not None:
            yield beside(path, "location", "place, or location")
        elif taken.setdefault(item.place, index) != index:
            text = f"found {preview_json(item.place)}, the place of objects[{taken[item.place]}]"
            yield PathDiagnostic(path, text, "two objects can't share a place")
    if frame.random_objects is not None:
        without += frame.random_objects.bounds[0]
    if stage.places is not None and without > len(places) - len(taken):
        free = counted(len(places) - len(taken), "free place")
        problem = f"{counted(without, 'object')} without place or location, {free} of stage {stage.name}"
        yield PathDiagnostic((*at, "objects"), problem, f"places: {', '.join(places)}")


def sight_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report views on a stage with a ground, and backgrounds and fixation crosses on a stage without them."""
    for index, item in enumerate(frame.objects):
        path = (*at, "objects", index, "view")
        if item.view is not None and item.rotation_deg is not None:
            yield beside(path, "rotation_deg", "view, or rotation_deg")
        if item.view is not None and stage.ground is not None:
            problem = f"found a view; stage {stage.name!r} has a ground, on which a tilted object cannot stand"
            yield PathDiagnostic(path, problem, "give rotation_deg, or place the camera")
    if frame.background is not None and stage.background is None:
        yield PathDiagnostic((*at, "background"), f"found a background; stage {stage.name!r} has none")
    if frame.fixation is not None and stage.fixation is None:
        yield PathDiagnostic((*at, "fixation"), f"found a fixation cross; stage {stage.name!r} has none")
    if frame.antialias is not None and stage.pixels != "center":
        problem = f"found antialias; stage {stage.name!r} is not flat, and always antialiased"
        yield PathDiagnostic((*at, "antialias"), problem)
