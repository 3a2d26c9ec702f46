"""Who sees what, from a spec alone: geometry of bodies on the ground, with margins within which nothing is clear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from operator import mul, sub
from typing import Any, NamedTuple

from diorama.scene_specs.benchmarks.perspective.truth import SCREEN
from diorama.scene_specs.language.outlines import distance_to_edge, turn_of
from diorama.scene_specs.model.spec import FrameData

Point = tuple[float, float]
Point3 = tuple[float, float, float]
# Of a person of size 1 who looks straight ahead: height of the neck above the ground, and the eyes in front of it and
# above it; the head nods about the neck. And the radius of what no pose leaves, as seen from above.
NECK, AHEAD, ABOVE, WIDE = 1.14, 0.335, 0.46, 0.76
# Half the length of the screen, half its thickness, and its height, which is more than that of any eyes.
LONG, THICK, HIGH = 1.3, 0.1, 1.9
CORNERS = [[-LONG, -THICK], [LONG, -THICK], [LONG, THICK], [-LONG, THICK]]
# A shelf is a row of cells: their size, and, at size 1, their height, half their depth, and the middle lines and half
# the thickness of side walls and of the back. An open cell has a rail instead of a back, of the last height.
CELLS, CELL = ("open_cell", "closed_cell"), 0.65
_TALL, _DEEP, _SIDES, _BACK, _RAIL = 1.4, 0.54, (0.97, 0.03), (0.495, 0.045), 0.18
# Angle from the gaze up to which an object is in view, and from which it is behind the person; between the two, people
# see something from the corner of the eye. Degrees.
VIEW, BEHIND = 57.0, 108.0
# Least angles between what is left and what is right for a person, and between the gaze and what it passes, degrees;
# and least distance of what is left and right in the image, of a plane at distance 1.
SIDE, GAZE, IMAGE_SIDE = 12.0, 18.0, 0.07
# The camera of a photograph: how far it is ahead of the eyes, and the angle from its axis up to which what it shows is
# whole in images of 4:3, degrees.
PHOTO_AHEAD, PICTURED = 0.3, 53.0
PHOTO_LENS = {"lens": 10.0, "sensor_width": 36.0}
# Least distances of lines of sight from what hides nothing, and from the ends of the screen.
_CLEAR, _EDGE = 0.08, 0.06


class Body(NamedTuple):
    """Something upright, as seen from above: all points within `radius` of the line between two ends.

    Attributes:
        low: height of its lower end, 0 on the ground.
        depth: of the cell whose back this is, from the middle line to the ends of its side walls.
    """

    start: Point
    end: Point
    radius: float
    height: float
    low: float = 0.0
    depth: float = 0.0

    @property
    def middle(self) -> Point:
        """The point between the ends."""
        return (self.start[0] + self.end[0]) / 2, (self.start[1] + self.end[1]) / 2


class Layout(NamedTuple):
    """What stands where.

    Attributes:
        bodies: by name, the screen and the person among them.
        person: name of the person.
        target: name of what it looks at.
        camera: its location.
        look_at: the point that it is aimed at.
    """

    bodies: dict[str, Body]
    person: str
    target: str
    camera: Point3
    look_at: Point3

    @classmethod
    def of(cls, frame: FrameData) -> Layout:
        """Read a frame of a spec, as JSON data."""
        bodies: dict[str, Body] = {}
        for item in (*frame["objects"], *frame["observers"]):
            bodies |= walls_of(item) if item.get("shape") in CELLS else {item["name"]: body_of(item)}
        return cls.about(bodies, frame)

    @classmethod
    def about(cls, bodies: dict[str, Body], frame: FrameData) -> Layout:
        """Return a layout of some bodies of a frame."""
        (person,), camera = frame["observers"], (frame.get("views") or [frame.get("camera")])[0]
        return cls(bodies, person["name"], person["looks_at"], tuple(camera["location"]), tuple(camera["look_at"]))

    def eyes(self) -> Point3:
        """Return the point between the eyes of the person, wherever its body turns."""
        person, target = self.bodies[self.person], self.bodies[self.target]
        (x, y), size = person.middle, person.height / 2
        away, nod, ahead, high = math.dist((x, y), target.middle), 0.0, 0.0, 0.0
        for _ in range(8):
            ahead = size * (AHEAD * math.cos(nod) + ABOVE * math.sin(nod))
            high = size * (NECK + ABOVE * math.cos(nod) - AHEAD * math.sin(nod))
            nod = math.atan2(high - target.height / 2, away - ahead)
        part = ahead / away
        return x + part * (target.middle[0] - x), y + part * (target.middle[1] - y), high

    def sees(self, name: str) -> bool | None:
        """Return whether the person sees an object: all of it, or nothing; None in between."""
        eye, body = self.eyes(), self.bodies[name]
        angle, half = self._from_gaze(name, eye)
        if angle >= BEHIND or (angle <= VIEW and any(hides(obstacle, eye, body) for obstacle in self.bodies.values())):
            return False
        return True if angle + half <= VIEW and self._line_is_free(name, eye, body.radius, _CLEAR) else None

    def angle(self, of: str, name: str) -> float:
        """Return the angle from one object to another for the person, degrees; positive is to the left."""
        eye = self.eyes()
        turns = [math.atan2(y - eye[1], x - eye[0]) for x, y in (self.bodies[of].middle, self.bodies[name].middle)]
        return (math.degrees(turns[1] - turns[0]) + 180) % 360 - 180

    def side(self, name: str, of: str) -> str:
        """Return on which side of another object an object is for the person; "" if that is not clear."""
        angle = self.angle(of, name)
        return "" if not SIDE <= abs(angle) <= 180 - SIDE else "left" if angle > 0 else "right"

    def camera_side(self, name: str, of: str) -> str:
        """Return on which side of another object an object is in the image; "" if that is not clear."""
        away = self.column(name) - self.column(of)
        return "" if abs(away) < IMAGE_SIDE else "right" if away > 0 else "left"

    def column(self, name: str) -> float:
        """Return how far right of the middle an object is in the image, of a plane at distance 1."""
        right, ahead = self._for_camera(tuple(map(sub, self._point_of(name), self.camera)))
        return right / ahead

    def reach(self, eye: Point, along: Point, column: float) -> float:
        """Return how far from an eye, in a direction on the ground, what is low is in a column of the image."""
        right, ahead = self._for_camera(tuple(map(sub, (*eye, 0.0), self.camera)))
        across, further = self._for_camera((*along, 0.0))
        return (column * ahead - right) / (across - column * further)

    def _for_camera(self, away: tuple[float, ...]) -> tuple[float, float]:
        """How far a vector goes to the right, and ahead, for the camera."""
        axis = tuple(map(sub, self.look_at, self.camera))
        right = (away[0] * axis[1] - away[1] * axis[0]) / math.hypot(*axis[:2])
        return right, sum(map(mul, away, axis)) / math.hypot(*axis)

    def photo(self) -> dict[str, Any]:
        """Return the camera that the person holds, as JSON data: a little ahead of the eyes, along the gaze."""
        eye, target = self.eyes(), self._point_of(self.target)
        part = PHOTO_AHEAD / math.dist(eye, target)
        location = [round(a + part * (b - a), 4) for a, b in zip(eye, target, strict=True)]
        return {"location": location, "look_at": [round(value, 4) for value in target], **PHOTO_LENS}

    def pictured(self, name: str) -> bool | None:
        """Return whether a photograph shows all of an object; None if that is not clear."""
        camera = tuple(self.photo()["location"])
        whole = sum(self._from_gaze(name, camera)) <= PICTURED
        return (whole and self._line_is_free(name, camera, self.bodies[name].radius, _CLEAR)) or None

    def photo_side(self, name: str, of: str) -> str:
        """Return on which side of another object an object is in a photograph; "" if that is not clear."""
        camera = self.photo()
        photo = self._replace(camera=tuple(camera["location"]), look_at=tuple(camera["look_at"]))
        side = photo.camera_side(name, of)
        # What is clear for the person is clear in an image that is wider than others, too.
        return side if side == self.side(name, of) else ""

    def beside_gaze(self, name: str) -> bool | None:
        """Return whether the gaze passes an object at a distance; None if it may be looked at."""
        return abs(self.angle(self.target, name)) >= GAZE or None

    def gaze_is_clear(self) -> bool:
        """Return whether the gaze passes every object at a distance, except the one that is looked at."""
        return all(self.beside_gaze(name) for name in {*self.bodies} - {self.target, self.person, SCREEN})

    def shown(self, name: str) -> bool:
        """Return whether at least the middle of a body is in sight of the camera."""
        return self._line_is_free(name, self.camera, 0.0, self.bodies[name].radius / 2)

    def nearer(self, name: str, other: str) -> bool:
        """Return whether an object is nearer to the camera than another one."""
        own_distance, other_distance = (math.dist(self.camera[:2], self.bodies[item].middle) for item in (name, other))
        return own_distance < other_distance

    def size(self, name: str) -> float:
        """Return half the height of an object."""
        return self.bodies[name].height / 2

    def _point_of(self, name: str) -> Point3:
        return (*self.bodies[name].middle, self.size(name))

    def _from_gaze(self, name: str, eye: Point3) -> tuple[float, float]:
        """Angle of the middle of an object from the gaze, and by how much its ends may differ from it. Degrees."""
        gaze, away = (tuple(map(sub, self._point_of(seen), eye)) for seen in (self.target, name))
        far = math.hypot(*away)
        size = math.hypot(self.bodies[name].radius, self.size(name))
        cosine = sum(map(mul, gaze, away)) / (far * math.hypot(*gaze))
        return math.degrees(math.acos(max(-1.0, min(cosine, 1.0)))), math.degrees(math.asin(min(size / far, 1.0)))

    def _line_is_free(self, name: str, eye: Point3, half: float, least: float) -> bool:
        """Return whether lines from an eye to the middle of a body, and to `half` beside it, keep clear of all else."""
        (x, y), top = self.bodies[name].middle, self.bodies[name].height
        across, along = eye[0] - x, eye[1] - y
        far = math.hypot(across, along)
        for side in (-half, 0.0, half):
            start = (x - along / far * side, y + across / far * side)
            for other, hider in self.bodies.items():
                # Further up, lines of sight pass over it; lower down, those to the top of the body pass under it.
                parts = (max(hider.low - top, 0.0) / max(eye[2] - top, 0.01), min(hider.height / eye[2], 1.0))
                begin, end = ((start[0] + (eye[0] - start[0]) * k, start[1] + (eye[1] - start[1]) * k) for k in parts)
                own = other == name or (other == self.person and eye != self.camera)
                if not own and gap(begin, end, hider) < least:
                    return False
        return True


def body_of(item: Any) -> Body:
    """Return the body of an object or observer of a spec, as JSON data."""
    x, y = item["location"][:2]
    if item["name"] == SCREEN:
        turn = math.radians(item["rotation_deg"])
        across, along = math.cos(turn) * LONG, math.sin(turn) * LONG
        return Body((x - across, y - along), (x + across, y + along), THICK, HIGH)
    # The corners of a cube, and a person in any pose.
    wide = {"cube": math.sqrt(2), None: WIDE}.get(item.get("shape"), 1)
    return Body((x, y), (x, y), item["size"] * wide, 2 * item["size"])


def walls_of(cell: Any) -> dict[str, Body]:
    """Return the walls of a cell of a shelf: name -> JSON data of a spec."""
    turn, high, (side, thin), (back, thick) = math.radians(cell["rotation_deg"]), _TALL * CELL, _SIDES, _BACK
    low = high - _RAIL * CELL if cell["shape"] == "open_cell" else 0.0

    def at(across: float, along: float) -> Point:
        return beside(cell["location"], turn, across * CELL, along * CELL)

    return {
        f"{cell['name']}, left": Body(at(-side, -_DEEP), at(-side, _DEEP), thin * CELL, high),
        f"{cell['name']}, right": Body(at(side, -_DEEP), at(side, _DEEP), thin * CELL, high),
        f"{cell['name']}, back": Body(at(-side, back), at(side, back), thick * CELL, high, low, (back + _DEEP) * CELL),
    }


def beside(point: Sequence[float], turn: float, across: float, along: float = 0.0) -> Point:
    """Return a point that is some way from another one, along axes that are turned, radians."""
    x, y = math.cos(turn), math.sin(turn)
    return point[0] + across * x - along * y, point[1] + across * y + along * x


def hides(wall: Body, eye: Point3, body: Body) -> bool:
    """Return whether each line from an eye to a body crosses a screen, away from its ends, or its closed cell."""
    if wall.start == wall.end or wall.low or wall.height < body.height + _EDGE:
        return False
    (x, y), half = wall.middle, math.dist(wall.start, wall.end) / 2
    across, along = (wall.end[0] - x) / half, (wall.end[1] - y) / half
    # Along the wall, and away from it.
    (u1, v1), (u2, v2) = (
        ((px - x) * across + (py - y) * along, (py - y) * across - (px - x) * along)
        for px, py in (eye[:2], body.middle)
    )
    if wall.depth:
        # From behind, lines come in by the back or a side, all of them below the upper edge.
        far = body.radius - v2
        within = body.radius < -v2 and far <= wall.depth - _EDGE and abs(u2) + body.radius <= half - _EDGE
        crossed = body.height + (eye[2] - body.height) * far / (far + max(v1, _EDGE))
        return within and v1 > wall.radius + _EDGE and crossed <= wall.height - _EDGE
    if v1 * v2 >= 0 or abs(v1) < wall.radius + _EDGE or abs(v2) < wall.radius + body.radius + _EDGE:
        return False
    ends = product((u2 - body.radius, u2 + body.radius), (abs(v2) - body.radius, abs(v2) + body.radius))
    return wall.height > eye[2] and all(abs((u1 * v + u * abs(v1)) / (v + abs(v1))) <= half - _EDGE for u, v in ends)


def gap(a: Point, b: Point, body: Body) -> float:
    """Return the distance of a line between two points from a body; at most 0 if they meet."""
    c, d = body.start, body.end
    if c == d:
        return distance_to_edge(c, a, b) - body.radius
    if turn_of(a, b, c) * turn_of(a, b, d) < 0 and turn_of(c, d, a) * turn_of(c, d, b) < 0:
        return -body.radius
    ends = ((a, c, d), (b, c, d), (c, a, b), (d, a, b))
    return min(distance_to_edge(*end) for end in ends) - body.radius
