"""What can be wrong about a stage's places, the view an object is seen from, background and fixation cross."""

from __future__ import annotations

from collections.abc import Iterator

from scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json
from scene_specs.language.spec import FrameSpec
from scene_specs.language.stage import Stage
from scene_specs.language.strict_json import Path


def place_issues(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Places that aren't there, given twice or beside a location; more objects than places."""
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
            yield PathDiagnostic(
                path, f"found {preview_json(item.place)}; allowed: {allowed}", did_you_mean(item.place, places)
            )
        elif item.location is not None:
            yield PathDiagnostic(path, "given beside location; allowed: place, or location", "leave one out")
        elif taken.setdefault(item.place, index) != index:
            text = f"found {preview_json(item.place)}, the place of objects[{taken[item.place]}]"
            yield PathDiagnostic(path, text, "two objects can't share a place")
    drawn = frame.random_objects
    if drawn is not None:
        without += drawn.count[0] if isinstance(drawn.count, tuple) else drawn.count
    if stage.places is not None and without > len(places) - len(taken):
        free = len(places) - len(taken)
        problem = f"{without} objects without place or location, {free} free places of stage {stage.name}"
        yield PathDiagnostic((*at, "objects"), problem, f"places: {', '.join(places)}")


def sight_issues(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Views of objects that stand on a ground; background and fixation on a stage that has none."""
    for index, item in enumerate(frame.objects):
        path = (*at, "objects", index, "view")
        if item.view is not None and item.rotation_deg is not None:
            yield PathDiagnostic(path, "given beside rotation_deg; allowed: view, or rotation_deg", "leave one out")
        if item.view is not None and stage.ground is not None:
            problem = f"found a view; stage {stage.name!r} has a ground, on which a tilted object cannot stand"
            yield PathDiagnostic(path, problem, "give rotation_deg, or place the camera")
    if frame.background is not None and stage.background is None:
        yield PathDiagnostic((*at, "background"), f"found a background; stage {stage.name!r} has none")
    if frame.fixation is not None and stage.fixation is None:
        yield PathDiagnostic((*at, "fixation"), f"found a fixation cross; stage {stage.name!r} has none")
    if frame.antialias is not None and stage.pixels != "center":
        yield PathDiagnostic(
            (*at, "antialias"), f"found antialias; stage {stage.name!r} is not flat, and always antialiased"
        )
