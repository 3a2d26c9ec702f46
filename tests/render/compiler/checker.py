"""An independent reading of the rules: does a Scene fulfill its spec? Nothing of the compiler is called."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.meshes import load_mesh
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.language.vocabulary import SIZES
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject
from diorama.scene_specs.model.spec import EpisodeSpec, FrameSpec, object_name
from diorama.scene_specs.model.stage import Stage, load_stage

Floats = NDArray[np.float64]
NEAR = 1e-9


def axes(frame: SceneFrame) -> tuple[Floats, Floats, Floats]:
    """right, up, forward of the first view's camera."""
    camera = frame.views[0].camera
    forward = np.array(camera.look_at) - np.array(camera.location)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def ground_directions(frame: SceneFrame) -> dict[str, Floats]:
    """The four directions on the ground, unit length."""
    right, _, forward = axes(frame)
    behind = np.array([forward[0], forward[1], 0.0])
    behind /= np.linalg.norm(behind)
    return {"right": right, "left": -right, "behind": behind, "front": -behind}


def in_frame(item: SceneObject, frame: SceneFrame, stage: Stage) -> bool:
    """Whether every vertex falls into the image of the stage's size."""
    turn = [math.radians(a) for a in item.rotation_deg]
    assert turn[0] == turn[1] == 0
    cos, sin = math.cos(turn[2]), math.sin(turn[2])
    points = load_mesh(item.shape).vertices @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    camera = frame.views[0].camera
    seen = points * item.scale + np.array(item.location) - np.array(camera.location)
    right, up, forward = axes(frame)
    depth = seen @ forward
    width, height = stage.size
    reach = camera.lens / camera.sensor_width * max(width, height)
    x, y = width / 2 + reach * (seen @ right) / depth, height / 2 - reach * (seen @ up) / depth
    return bool((depth > 0).all() and x.min() >= 0 and x.max() <= width and y.min() >= 0 and y.max() <= height)


def visible_pixels(scene: Scene, frame: SceneFrame, stage: Stage) -> dict[str, int]:
    """Visible pixels of each object at the stage's size, by the id buffer (which has tests of its own)."""
    small = scene.settings.model_copy(update={"width": stage.size[0], "height": stage.size[1]})
    ids = FakeRenderer().render(scene.model_copy(update={"settings": small}), frame, frame.views[0]).ids
    return {item.name: int((ids == item.index).sum()) for item in frame.objects}


def diagnostics(spec: EpisodeSpec, scene: Scene) -> list[str]:
    """Everything in which the Scene breaks its spec or its stage's rules."""
    stage = load_stage(spec.stage)
    found = []
    assert len(spec.frames) == len(scene.frames)
    for wanted, frame in zip(spec.frames, scene.frames, strict=True):
        found += [f"{frame.name}: {diagnostic}" for diagnostic in frame_faults(wanted, frame, scene, stage)]
    return found


def frame_faults(wanted: FrameSpec, frame: SceneFrame, scene: Scene, stage: Stage) -> list[str]:
    items = frame.objects
    free = {item.name for item in items}
    free -= {object_name(spec, k) for k, spec in enumerate(wanted.objects) if spec.location is not None}
    rules = stage.placement
    found = attribute_faults(wanted, items)
    if [item.index for item in items] != list(range(1, len(items) + 1)):
        found.append("indices do not follow the order")
    area = wanted.area or rules.area
    for item in items:
        x, y, z = item.location
        if item.name in free and not (area.x[0] <= x <= area.x[1] and area.y[0] <= y <= area.y[1] and z == item.scale):
            found.append(f"{item.name} outside the area or off the ground: {item.location}")
    found += pair_faults(wanted, frame, stage, free)
    stated = [c.in_frame for c in wanted.constraints if c.in_frame is not None]
    for item in items:
        must = any(stated) or (not stated and rules.in_frame and item.name in free)
        if must and not in_frame(item, frame, stage):
            found.append(f"{item.name} leaves the image")
    pixels = visible_pixels(scene, frame, stage)
    for item in items:
        floors = [
            c.min_visible_pixels
            for c in wanted.constraints
            if c.min_visible_pixels is not None and (c.objects is None or item.name in c.objects)
        ]
        least = max(floors) if floors else (rules.min_visible_pixels if item.name in free else 0)
        if pixels[item.name] < least:
            found.append(f"{item.name} shows {pixels[item.name]} of {least} pixels")
    return found


def pair_faults(wanted: FrameSpec, frame: SceneFrame, stage: Stage, free: set[str]) -> list[str]:
    rules, found = stage.placement, []
    place = {item.name: np.array(item.location) for item in frame.objects}
    directions = ground_directions(frame)
    margins = [c.axis_margin for c in wanted.constraints if c.axis_margin is not None]
    distances = [c.min_distance for c in wanted.constraints if c.min_distance is not None]
    margin, distance = max(margins, default=rules.axis_margin), max(distances, default=rules.min_distance)
    for a, b in combinations(frame.objects, 2):
        involved = a.name in free or b.name in free
        gap = place[a.name] - place[b.name]
        if (involved or margins) and min(abs(gap @ directions[k]) for k in ("right", "front")) < margin - NEAR:
            found.append(f"{a.name} and {b.name} differ by less than {margin} along an axis")
        room = math.hypot(gap[0], gap[1]) - a.scale - b.scale
        if (involved or distances) and room < distance - NEAR:
            found.append(f"{a.name} and {b.name} are {room} apart")
    for c in wanted.constraints:
        if c.relation is None:
            continue
        assert c.subject is not None
        assert c.of is not None
        least = c.margin
        if least is None:
            both_given = c.subject not in free and c.of not in free
            least = max(rules.relation_threshold, max(margins, default=0.0) if both_given else margin)
        if (place[c.subject] - place[c.of]) @ directions[c.relation] <= least - NEAR:
            found.append(f"{c.subject} is not {c.relation} of {c.of} by {least}")
    return found


def attribute_faults(wanted: FrameSpec, items: tuple[SceneObject, ...]) -> list[str]:
    """Given attributes are kept; drawn ones come from where they may; distinct is distinct."""
    found = []
    for spec, item in zip(wanted.objects, items, strict=False):
        kept = (
            (spec.name, item.name),
            (spec.shape, item.shape),
            (spec.color if isinstance(spec.color, str) else None, item.color),
            (spec.material, item.material.name),
            (spec.size, item.size if isinstance(spec.size, str) else item.scale),
            (spec.rotation_deg, item.rotation_deg[2]),
            (spec.location[:2] if spec.location else None, item.location[:2]),
        )
        found += [f"{item.name}: asked for {a!r}, got {b!r}" for a, b in kept if a is not None and a != b]
        if item.size is not None and item.scale != SIZES[item.size]:
            found.append(f"{item.name}: scale {item.scale}")
    more = wanted.random_objects
    drawn = items[len(wanted.objects) :]
    if more is None:
        return found + (["too many objects"] if drawn else [])
    fewest, most = more.count if isinstance(more.count, tuple) else (more.count, more.count)
    if not fewest <= len(drawn) <= most:
        found.append(f"{len(drawn)} drawn objects")
    for item in drawn:
        if more.combinations is not None and (item.shape, item.color) not in more.combinations:
            found.append(f"{item.name}: {item.shape}, {item.color} is no listed combination")
        if more.shapes is not None and more.combinations is None and item.shape not in more.shapes:
            found.append(f"{item.name}: {item.shape} is not listed")
    looks = [(item.shape, item.color_linear, item.material.name, item.scale) for item in items]
    if more.distinct and len(set(looks)) != len(looks):
        found.append("two objects look the same")
    return found
