"""Executes programs on positions, the camera and masks: no relation of the annotation is read where extents are known.

Colors come from linear RGB, sizes from scales, visibility from masks, directions from the camera's matrix. It shares no
function with relations_executor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import product
from operator import and_, eq, ge, gt, le, lt, not_, or_, sub
from typing import Any

from diorama.scene_specs.language.vocabulary import COLORS, CONTAINERS, SIZES, SUPPORTED
from diorama.scene_specs.tasks.questions import view
from diorama.scene_specs.tasks.questions.program import NOUNS, QUANTIFIERS, Node, PresuppositionError, refuse_if

# Largest distance of linear RGB from CLEVR's palette; other colors have the names that stages give them.
_SAME_COLOR = 2e-3
# One object must be larger or farther away than another by a tenth, less what rounding may take away: where this
# executor hesitates, the other one has to.
_MARGIN = 0.1 - 1e-5
# Degrees by which an angle may differ that was computed in another way, as of an object exactly at 45 degrees.
_TIE = 1e-6
# Sine of the least angle at which an object leans.
_TILTED = 0.02


class PositionsExecutor:
    """Executes programs on one image."""

    def __init__(self, image: view.ImageView) -> None:
        self._view, self._items = image, image.objects
        self._attributes: dict[tuple[int, str], str | None] = {}
        self._everything = frozenset(range(len(image.objects)))
        # Without extents, all that is known of contacts are the stored relations.
        self._stored = image.contacts and "above" not in image.relations

    def run(self, node: Node) -> Any:
        """Return a frozenset of indices, an object's index, or an Answer. Raises PresuppositionError."""
        given = list(map(self.run, node.inputs))
        what, _, name = node.op.partition("_")
        if what in ("filter", "same", "differ", "query"):
            return self._by_attribute(what, name, node.value, given[0])
        if node.op in QUANTIFIERS:
            return self._share(node.op, *given)
        if node.op in _NUMERALS:
            return _NUMERALS[node.op](len(given[0]), node.value)
        plain = eq if what == "equal" else _PLAIN.get(node.op)
        return plain(*given) if plain else _STEPS[node.op](self, node.value, *given)

    def _by_attribute(self, what: str, name: str, value: Any, given: Any) -> Any:
        if what == "filter":
            return self._having(given, name, value)
        own = self._attribute(given, name)
        if own is None:
            raise PresuppositionError(f"without {name}")
        if what == "query":
            return own
        others = self._everything - {given}
        alike = self._having(others, name, own)
        return alike if what == "same" else others - alike

    def _having(self, members: frozenset[int], name: str, value: Any) -> frozenset[int]:
        owned = {k: self._attribute(k, name) for k in sorted(members)}
        doubtful = {k for k, own in owned.items() if own is None}
        if name in NOUNS:
            doubtful = {k for k in doubtful if not any(self._attribute(k, noun) for noun in NOUNS)}
        refuse_if(doubtful, f"{name} in doubt")
        return frozenset(k for k in owned if owned[k] == value)

    def _larger(self, index: int, other: int) -> bool:
        ratio = self._items[index].scale / self._items[other].scale
        refuse_if(not (ratio <= 1 / (1 + _MARGIN) or ratio >= 1 + _MARGIN), "no clear difference of size")
        return ratio > 1

    def _share(self, word: str, members: frozenset[int], others: frozenset[int]) -> bool:
        outside, within = len(members - others), len(others - members)
        inside = len(members) - outside
        refuse_if(len(members) < QUANTIFIERS[word] or (word == "only" and not others), "too few objects")
        refuse_if(word == "half" and len(members) & 1, "no half")
        limit = (self._view.thresholds[word] if word in view.VAGUE else 0) * len(members)
        return {
            "all": outside == 0, "none": inside == 0, "only": within == 0, "most": outside < inside,
            "half": outside == inside, "fewer_than_half": inside < outside, "at_least_half": inside >= outside,
            "few": inside <= limit, "many": inside >= limit,
        }[word]  # fmt: skip

    def _attribute(self, index: int, name: str) -> str | None:
        key = (index, name)
        if key not in self._attributes:
            self._attributes[key] = self._measure(self._items[index], name)
        return self._attributes[key]

    def _measure(self, item: view.ObjectView, name: str) -> str | None:
        named = item.values[name]
        if name == "color" and named is not None:
            linear = item.truth.color_linear
            near = (color for color, rgb in COLORS.items() if math.dist([v / 255 for v in rgb], linear) < _SAME_COLOR)
            return next(near, named)
        if name == "size" and named is not None:
            return next((size for size, scale in SIZES.items() if scale == item.truth.scale), named)
        if name == "visibility":
            alone = item.truth.alone_pixels
            seen = item.truth.rle.area() / alone if alone else 0.0
            if seen <= view.PARTIAL + 5e-7:
                return "partial"
            return "full" if seen >= view.FULL - 5e-7 and not item.truth.truncated else None
        return named

    @cached_property
    def _axes(self) -> dict[str, tuple[float, float]]:
        """Direction -> its x and y on the ground, unit length."""
        rows = self._view.extrinsics
        across, ahead = rows[0], rows[2]
        if math.hypot(ahead[0], ahead[1]) < 1e-9:
            # Straight down, the top of the image is behind.
            ahead = tuple(-part for part in rows[1])
        (x, y), (u, v) = ([part / math.hypot(*axis[:2]) for part in axis[:2]] for axis in (across, ahead))
        return {"right": (x, y), "left": (-x, -y), "behind": (u, v), "front": (-u, -v)}

    def _along(self, index: int, direction: str) -> float:
        axis, place = self._axes[direction], self._items[index].truth.location
        return float(place[0] * axis[0] + place[1] * axis[1])

    def _holds(self, relation: str, index: int, of: int) -> bool:
        if relation in self._axes:
            return self._along(index, relation) - self._along(of, relation) > self._view.threshold
        if relation in ("in", "leaning"):
            refuse_if(not self._view.contacts, "where objects touch is unknown")
        if relation in SUPPORTED and self._stored:
            return bool(self._view.relations[relation][of] >> index & 1)
        if relation == "in":
            return self._is_in(index, of)
        if relation == "leaning":
            return self._leaned_on(index) == of
        upper, lower = (of, index) if relation == "below" else (index, of)
        top, bottom = self._items[upper].extent, self._items[lower].extent
        gap = top[2][0] - bottom[2][1]
        middle = [(sum(top[k]) / 2, sum(bottom[k]) / 2) for k in (0, 1)]
        stacked = all(bottom[k][0] <= middle[k][0] <= bottom[k][1] for k in (0, 1)) or all(
            top[k][0] <= middle[k][1] <= top[k][1] for k in (0, 1)
        )
        return stacked and gap >= -view.CONTACT and (relation != "on" or gap <= view.CONTACT)

    def _seen(self, side: str, index: int, of: int, viewer: int) -> bool:
        """Whether an object is on a side of another one, within 60 degrees, rather than on the opposite side."""
        own, (front, eye) = of == viewer, (self._view.fronts.get(viewer), self._view.eyes.get(viewer))
        if front is None or (eye is None and not own) or index in (of, viewer):
            raise PresuppositionError("nobody sees it")
        x, y = (self._items[index].truth.location[k] - self._items[of].truth.location[k] for k in (0, 1))
        heading = math.atan2(front[1], front[0])
        if eye is not None and not own:
            refuse_if(self._items[of].truth.location[:2] == eye[:2], "out of view")
            across = [self._bearing(k, eye) for k in (index, of)]
            if max(abs(math.remainder(angle - heading, math.tau)) for angle in across) > math.pi / 3:
                raise PresuppositionError("out of view")
            heading = across[1]
            refuse_if(of in self._view.fronts and side in ("front", "behind"), "it has a front of its own")
        middle = {"left": 90, "right": -90, "front": 0 if own else 180, "behind": 180 if own else 0}[side]
        off = math.remainder(math.atan2(y, x) - heading - math.radians(middle), math.tau)
        if abs(math.cos(off)) < 0.5 or abs(math.cos(off)) * math.hypot(x, y) <= self._view.threshold:
            raise PresuppositionError("on neither side clearly")
        return abs(off) < math.pi / 2

    def _on_one_side(self, pair: str, index: int, other: int, of: int) -> bool:
        """Whether two objects are on one of a pair of another one's own sides, where only one pair has them so."""
        places = [{side for side in ("right", "behind") if self._seen(side, k, of, of)} for k in (index, other)]
        refuse_if(len(places[0] ^ places[1]) != 1, "together or apart by either pair")
        return (places[0] ^ places[1]).isdisjoint({"right"} if pair == "left-right" else {"behind"})

    def _faces(self, index: int, other: int) -> bool:
        """Whether the direction to another object is near an object's front, rather than far off."""
        front, (here, there) = self._view.fronts.get(index), (self._items[k].truth.location for k in (index, other))
        if front is None or math.dist(here[:2], there[:2]) <= self._view.threshold:
            raise PresuppositionError("no front, or no direction")
        ahead = math.atan2(front[1], front[0])
        off = abs(math.degrees(math.remainder(self._bearing(other, here) - ahead, math.tau)))
        refuse_if(view.FACED + _TIE < off < view.NOT_FACED - _TIE, "hardly faced")
        return off <= view.FACED + _TIE and self._seen("front", other, index, index)

    def _bearing(self, index: int, eye: tuple[float, float, float]) -> float:
        place = self._items[index].truth.location
        return math.atan2(place[1] - eye[1], place[0] - eye[0])

    def _is_in(self, index: int, of: int) -> bool:
        """Whether an object is in a container: its box is in the container's, but begins and ends higher."""
        item, holder = self._items[index].extent, self._items[of].extent
        inside = all(
            holder[k][0] <= item[k][0] + view.CONTACT and item[k][1] <= holder[k][1] + view.CONTACT for k in (0, 1)
        )
        higher = holder[2][0] + 1e-3 < item[2][0] and sum(item[2]) / 2 < holder[2][1]
        return inside and higher and self._items[of].truth.shape in CONTAINERS

    def _leaned_on(self, index: int) -> int | None:
        """Return what a tilted object leans on: the nearest that its box meets, 60 degrees around where it inclines."""
        place, turns = self._items[index].truth.location, self._items[index].truth.rotation_deg
        roll, tilt, yaw = map(math.radians, turns)
        x, y = math.sin(tilt) * math.cos(roll), -math.sin(roll)
        x, y = x * math.cos(yaw) - y * math.sin(yaw), x * math.sin(yaw) + y * math.cos(yaw)
        if math.hypot(x, y) <= _TILTED:
            return None
        ahead = {}
        for k in sorted(self._everything - {index}):
            pairs = zip(self._items[index].extent, self._items[k].extent, strict=True)
            if all(a[0] <= b[1] + view.CONTACT and b[0] <= a[1] + view.CONTACT for a, b in pairs):
                there = self._items[k].truth.location
                away = (there[0] - place[0], there[1] - place[1])
                along = away[0] * x + away[1] * y
                # What only stands beside it is not ahead.
                if along > 0.5 * math.hypot(*away) * math.hypot(x, y):
                    ahead[k] = along
        return min(ahead, key=lambda k: ahead[k], default=None)

    @cached_property
    def _carriers(self) -> dict[int, frozenset[int]]:
        """Object -> what it is in, leans on, and stands on: of tops of one height, the one under its center."""
        carriers = {}
        for k in self._everything:
            if self._stored:
                pairs = product(SUPPORTED, self._everything - {k})
                carriers[k] = frozenset(j for how, j in pairs if self._holds(how, k, j))
                continue
            below = [j for j in sorted(self._everything - {k}) if self._holds("on", k, j)]
            below.sort(key=lambda j: self._off_center(k, j))
            leaned = self._leaned_on(k)
            holders = frozenset(j for j in self._everything if j != k and self._is_in(k, j))
            carriers[k] = holders.union(below[:1], () if leaned is None else (leaned,))
        return carriers

    def _off_center(self, index: int, of: int) -> float:
        """How far from the middle of another object's box the middle of an object is, as a share of its half."""
        pairs = zip(self._items[index].extent[:2], self._items[of].extent[:2], strict=True)
        return max(abs(sum(a) - sum(b)) / (b[1] - b[0]) for a, b in pairs)

    def _falling(self, index: int) -> frozenset[int]:
        others = sorted(self._everything - {index})
        if not self._view.contacts or any(self._holds("in", k, index) for k in others):
            raise PresuppositionError("unknown, or something would only drop by a wall")
        if any(self._holds("leaning", k, index) for k in others) and any(self._holds("on", k, index) for k in others):
            raise PresuppositionError("what leans may be held up")
        fallen = {index}
        while more := {k for k in self._everything - fallen if self._carriers[k] & fallen}:
            fallen |= more
        return frozenset(fallen - {index})

    def _nearest(self, members: frozenset[int], point: tuple[float, float, float]) -> int:
        far = {k: math.dist(self._items[k].truth.location, point) for k in sorted(members)}
        best = min(far, key=lambda k: far[k], default=-1)
        if len(far) < 2 or any(far[k] < far[best] * (1 + _MARGIN) for k in far if k != best):
            raise PresuppositionError("none clearly nearest")
        return best

    def _extreme(self, members: frozenset[int], which: str) -> int:
        refuse_if(len(members) < 2, "too few objects")
        if which in ("largest", "smallest"):
            measured = {k: math.log(self._items[k].scale) * (1 if which == "largest" else -1) for k in sorted(members)}
            refuse_if(any(map(math.isnan, measured.values())), "a size is unknown")
            least = math.log1p(_MARGIN)
        else:
            direction = {"frontmost": "front", "rearmost": "behind"}.get(which, which.removesuffix("most"))
            measured = {k: self._along(k, direction) for k in sorted(members)}
            least = self._view.threshold
        second, first = sorted(measured.values())[-2:]
        gap = first - second
        refuse_if(gap < least or (gap == least and which not in ("largest", "smallest")), f"none clearly {which}")
        return max(measured, key=lambda k: measured[k])


def _only(members: frozenset[int]) -> int:
    refuse_if(len(members) != 1, "not exactly one object")
    return min(members)


def _is_double(number: int, half: int) -> bool:
    refuse_if(half == 0, "twice nothing")
    return number - half == half


_NUMERALS: Mapping[str, Callable[[Any, Any], bool]] = {
    "exactly": eq, "at_least": ge, "at_most": le, "more_than": gt, "fewer_than": lt,
}  # fmt: skip
# Steps without a value that need no image.
_PLAIN: Mapping[str, Callable[..., Any]] = {
    "union": or_, "intersect": and_, "difference": sub, "count": len, "exist": bool, "not": not_, "less_than": lt,
    "greater_than": gt, "except": lambda members, index: members - {index}, "unique": _only, "twice": _is_double,
}  # fmt: skip
_STEPS: Mapping[str, Callable[..., Any]] = {
    "scene": lambda self, _: self._everything,
    "relate": lambda self, how, of: frozenset(k for k in self._everything if k != of and self._holds(how, k, of)),
    "falls": lambda self, _, index: self._falling(index),
    "faced": lambda self, _, index: frozenset(k for k in self._everything if k != index and self._faces(index, k)),
    "nearest": lambda self, _, members, to: self._nearest(members - {to}, self._items[to].truth.location),
    "extreme": lambda self, which, members: self._extreme(members, which),
    "between": lambda _self, value, members: int(value.split("-")[0]) <= len(members) <= int(value.split("-")[1]),
    "among": lambda _self, value, color: next((word for word in value.split(", ") if word == color), "none of these"),
    "larger": lambda self, _, index, other: self._larger(index, other),
    "smaller": lambda self, _, index, other: self._larger(other, index),
    "own": lambda self, side, index, of: self._seen(side, index, of, of),
    "seen": lambda self, side, index, of, viewer: self._seen(side, index, of, viewer),
    "own_side": lambda self, pair, index, other, of: self._on_one_side(pair, index, other, of),
    "faces": lambda self, _, index, other: self._faces(index, other),
}
