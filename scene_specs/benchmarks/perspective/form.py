"""The form of the specs about which `sight.py` tells the truth: bodies that stand on the ground, of stated sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH, Layout
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN, Truth
from diorama.scene_specs.language.spec_data import EpisodeData, FrameData
from diorama.scene_specs.language.vocabulary import SHAPES


def form_problem(data: EpisodeData, truth: Truth) -> str:
    """Return the first reason why the geometry can't tell who sees what in a valid spec, as JSON data; "" if it can."""
    if len(data["frames"]) != 1:
        return f"expected 1 of frames; found {len(data['frames'])}"
    (frame,) = data["frames"]
    people, objects = frame.get("observers") or [], frame["objects"]
    if len(people) != 1 or not isinstance(people[0]["looks_at"], str):
        return "expected one of observers, whose looks_at names an object"
    if unknown := [key for key in ("random_objects", "pointer") if frame.get(key)]:
        return f"the geometry knows nothing of {unknown[0]}"
    cameras, count = frame.get("views") or [frame.get("camera") or {}], 1 + truth.is_photographed
    if len(cameras) != count:
        return f"expected cameras: {count}; found {len(cameras)} of views"
    if missing := [key for key in ("location", "look_at") if not cameras[0].get(key)]:
        return f"expected {missing[0]} of the camera; found none"
    if any(camera.get("jitter") for camera in cameras):
        return "the geometry knows nothing of jitter"
    screens = [(item.get("shape"), item.get("size")) for item in objects if item.get("name") == SCREEN]
    if screens != [({"polygon": CORNERS, "height": HIGH}, 1)]:
        return f"expected one object {SCREEN}, of the shape and size that render-specs perspective writes"
    problems = (_body_problem(item, item in people) for item in (*objects, *people))
    return next(filter(None, problems), "")


def photo_problem(frame: FrameData, layout: Layout) -> str:
    """Return why the second camera of a frame, if any, is not that of the person; "" if it is."""
    for camera in (frame.get("views") or [])[1:]:
        for key, expected in layout.photo().items():
            if not np.allclose(camera.get(key, math.nan), expected, rtol=0, atol=0.01):
                return f"{key} of the second camera: expected {expected}, for {layout.person}; found {camera.get(key)}"
    return ""


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
