"""The form of the specs about which `sight.py` tells the truth: bodies that stand on the ground, of stated sizes."""

from __future__ import annotations

from typing import Any

from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN
from diorama.scene_specs.language.vocabulary import SHAPES


def form_problem(data: dict[str, Any]) -> str:
    """Return the first reason why the geometry can't tell who sees what in a valid spec, as JSON data; "" if it can."""
    if len(data["frames"]) != 1:
        return f"expected 1 of frames; found {len(data['frames'])}"
    (frame,) = data["frames"]
    people, objects = frame.get("observers") or [], frame["objects"]
    if len(people) != 1 or not isinstance(people[0]["looks_at"], str):
        return "expected one of observers, whose looks_at names an object"
    if unknown := [key for key in ("random_objects", "pointer", "views") if frame.get(key)]:
        return f"the geometry knows nothing of {unknown[0]}"
    if missing := [key for key in ("location", "look_at") if not (frame.get("camera") or {}).get(key)]:
        return f"expected {missing[0]} of the camera; found none"
    screens = [(item.get("shape"), item.get("size")) for item in objects if item.get("name") == SCREEN]
    if screens != [({"polygon": CORNERS, "height": HIGH}, 1)]:
        return f"expected one object {SCREEN}, of the shape and size that render-specs perspective writes"
    problems = (_body_problem(item, item in people) for item in (*objects, *people))
    return next(filter(None, problems), "")


def _body_problem(item: dict[str, Any], person: bool) -> str:
    name = item.get("name")
    for key in ("size",) if person else ("size", "rotation_deg"):
        if not isinstance(item.get(key), int | float):
            return f"{name}: expected a number as {key}; found {item.get(key, 'none')}"
    for key in ("location",) if person else ("name", "location", "color"):
        if item.get(key) is None:
            return f"{name}: expected a {key}; found none"
    if not person and name != SCREEN and item.get("shape") not in SHAPES:
        return f"{name}: expected one of the shapes {', '.join(SHAPES)}; found {item.get('shape', 'none')}"
    half = HIGH / 2 if name == SCREEN else item["size"]
    # A person in a pose is a little lower than one who looks straight ahead.
    if any(abs(z - half) > 0.01 * half for z in item["location"][2:]):
        return f"{name} does not stand on the ground: expected z = {half:g}; found {item['location'][2]:g}"
    return ""
