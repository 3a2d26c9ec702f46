"""Places of objects about which something must be so, drawn far from where it is not clear."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.perspective.sight import (
    BEHIND,
    GAZE,
    IMAGE_SIDE,
    PICTURED,
    SIDE,
    VIEW,
    Layout,
    Point,
    body_of,
    gap,
)
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN
from diorama.scene_specs.language.rng import pick

# Half the side of the area, and of that of the screen; greatest distance from an eye; least distance between bodies on
# the ground, and from the line between an eye and what it sees.
_AREA, _MIDDLE, _REACH, _APART = 2.8, 1.2, 6.0, 0.2
# Least distance from an eye.
_NEAR = 1.5
_TRIES = 20
# How far from the limits of what is clear places are drawn, degrees: objects have a size, and gazes go down.
_WITHIN = 18.0


class Wish(NamedTuple):
    """What must be so about an object.

    Attributes:
        seen: whether the person sees it; None: whether the gaze passes it.
        of: name of the object from which the sides are counted, if any.
        side: for the person.
        camera_side: in the image.
        photo: whether to see is to photograph.
    """

    seen: bool | None
    of: str = ""
    side: str = ""
    camera_side: str = ""
    photo: bool = False

    def found(self, layout: Layout, name: str) -> tuple[bool | str | None, ...]:
        """Return what is so, with None or "" for what is not clear."""
        if self.seen is None:
            return (layout.beside_gaze(name),)
        seen, side = (layout.pictured, layout.photo_side) if self.photo else (layout.sees, layout.side)
        return seen(name), *((side(name, self.of), layout.camera_side(name, self.of)) if self.of else ())

    def expected(self) -> tuple[bool | str, ...]:
        """Return what must be found."""
        return self.seen is not False, *filter(None, (self.side, self.camera_side))


def place(
    rng: np.random.Generator, item: dict[str, Any], layout: Layout, wish: Wish | None, drawn: Counter[str]
) -> bool:
    """Find a free place for an item, in sight of the camera, that is as wished; False without one.

    Args:
        item: as JSON data of a spec; its location is set.
        layout: of what was placed before; gets the item.
        wish: None if nothing is asked about the item.
        drawn: counts free places of what is asked about, and those of them for which the wish is not clear. Of what is
            to be seen, places with something on the way from the eye are not free.
    """
    name, others = item["name"], [*layout.bodies.items()]
    most, target = _MIDDLE if name == SCREEN else _AREA, name == layout.target
    # Before anything is looked at, the person stands for its eyes.
    eye = layout.bodies[layout.person].middle if target else layout.eyes()[:2] if wish else None
    for _ in range(_TRIES):
        spot = _spot(rng, layout, eye, wish, target) if eye and wish else _anywhere(rng, most)
        item["location"] = [round(value, 2) for value in spot]
        body = layout.bodies[name] = body_of(item)
        # Nothing stands between the eye and what is to be seen; the eye is inside the person's own body.
        start = eye if eye and wish and wish.seen else body.start
        starts = (body.start if other == layout.person else start for other, _ in others)
        free = all(gap(a, body.end, one) - body.radius > _APART for a, (_, one) in zip(starts, others, strict=True))
        if not free or max(map(abs, spot)) > most or not (name == SCREEN or layout.shown(name)):
            continue
        if wish is None:
            return True
        found = wish.found(layout, name)
        if not target:
            drawn["drawn"] += 1
            drawn["near-ties"] += None in found or "" in found
        if found == wish.expected():
            return True
    return False


def _spot(rng: np.random.Generator, layout: Layout, eye: Point, wish: Wish, target: bool) -> Point:
    """Draw a place for which a wish is likely to hold: behind the screen, or in a range of directions from the gaze."""
    # Looking down steeply, a person sees little of what is far away.
    near = 2.2 if target else 1.8 if wish.photo else _NEAR
    far = math.sqrt(between(rng, near**2, _REACH**2))
    if target:
        return _ahead(eye, math.radians(between(rng, -180, 180)), far)
    if wish.seen is False and (spot := _behind_screen(rng, layout, eye)):
        return spot
    (x, y), most = layout.bodies[layout.target].middle, (PICTURED if wish.photo else VIEW) - _WITHIN
    low, high = {None: (GAZE, 180.0), False: (BEHIND + _WITHIN, 180.0), True: (0.0, most)}[wish.seen]
    sign = {"left": 1, "right": -1}.get(wish.side) or pick(rng, (-1, 1))
    if wish.of:
        low = sign * layout.angle(layout.target, wish.of) + SIDE
    elif wish.photo:
        # What sides are counted from has room on both.
        high /= 2
    turn = math.atan2(y - eye[1], x - eye[0]) + math.radians(sign * between(rng, low, high))
    if wish.of:
        away = between(rng, 1.2 * IMAGE_SIDE, 5 * IMAGE_SIDE) * (1 if wish.camera_side == "right" else -1)
        far = layout.reach(eye, _ahead((0.0, 0.0), turn, 1.0), layout.column(wish.of) + away)
        # This column of the image may be behind the person, or too near; then nothing is placed.
        far = far if far > near else 2 * _REACH
    return _ahead(eye, turn, far)


def _behind_screen(rng: np.random.Generator, layout: Layout, eye: Point) -> Point | None:
    """Draw a place behind the middle of the screen; None if the screen is not in view, or seen from its end."""
    start, end, *_ = layout.bodies[SCREEN]
    part = between(rng, 0.35, 0.65)
    x, y = (a + part * (b - a) - e for a, b, e in zip(start, end, eye, strict=True))
    sine = (x * (end[1] - start[1]) - y * (end[0] - start[0])) / (math.hypot(x, y) * math.dist(start, end))
    if abs(layout.angle(layout.target, SCREEN)) > VIEW - _WITHIN or abs(sine) < 0.5:
        return None
    return _ahead(eye, math.atan2(y, x), math.hypot(x, y) + between(rng, 1.2, 3))


def _anywhere(rng: np.random.Generator, most: float) -> Point:
    return between(rng, -most, most), between(rng, -most, most)


def _ahead(point: Point, turn: float, far: float) -> Point:
    return point[0] + far * math.cos(turn), point[1] + far * math.sin(turn)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number with two decimals."""
    return round(low + (high - low) * float(rng.random()), 2)
