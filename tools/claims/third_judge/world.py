"""An image as `render-export` writes it, for the third judge: what is where, by its annotation alone."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from pycocotools import mask

USUAL = {
    "size": ("large", "small"),
    "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "material": ("rubber", "metal"),
    "kind": ("cube", "sphere", "cylinder"),
}
_KINDS = {
    "02691156": "airplane", "02828884": "bench", "02958343": "car", "03001627": "chair", "03636649": "lamp",
    "04256520": "sofa", "04379243": "table", "04530566": "watercraft",
}  # fmt: skip
# Of these, all models have a front.
_FRONTED = ("airplane", "car", "chair", "sofa", "watercraft")
Things = frozenset[int]


class Unclear(Exception):
    """A text has no answer: it can't be read, or what it presupposes does not hold."""


def unclear_if(fails: object, problem: str) -> None:
    """Raise Unclear if something is true."""
    if fails:
        raise Unclear(problem)


class World:
    """An image as exported: its annotation in JSON, with `fronts` {} if its stage has no ground.

    Args:
        threshold: Blender units by which one object must be beside another.
        share: of the threshold of "few" and "many", from the line of the question.
    """

    def __init__(self, annotation: Mapping[str, Any], threshold: float, share: float | None = None) -> None:
        pointer = (annotation.get("pointer") or {}).get("name")
        self.items = [item for item in annotation["objects"] if item["name"] != pointer]
        self._relations = annotation["relations"]
        self.all, self.threshold, self.share = frozenset(range(len(self.items))), threshold, share
        fronts = annotation.get("fronts")
        self._fronts = own_fronts(self.items) if fronts is None else fronts
        self._eyes = {one["name"]: one["eye"] for one in annotation.get("observers", ())}
        turn = annotation["camera"]["rotation"]
        ahead, up = turned(turn, (0, 0, 1)), turned(turn, (0, -1, 0))
        if math.hypot(ahead[0], ahead[1]) < 1e-6:
            ahead = up
        self._right, self._ahead = turned(turn, (1, 0, 0)), ahead

    @cached_property
    def values(self) -> dict[str, list[str | None]]:
        """Attribute -> value of each object, in words; None if it has none."""
        kinds = [kind_of(one["shape"]) for one in self.items]
        return {"kind": kinds, **{name: [one[name] for one in self.items] for name in ("color", "size", "material")}}

    def having(self, name: str, value: str) -> Things:
        """Objects with a value."""
        return frozenset(k for k in self.all if self.values[name][k] == value)

    def along(self, side: str, k: int) -> float:
        """How far an object lies to a side, Blender units."""
        axis = self._right if side in ("left", "right") else self._ahead
        sign = -1 if side in ("left", "front") else 1
        x, y, _ = self.items[k]["location"]
        return float(sign * (x * axis[0] + y * axis[1]) / math.hypot(axis[0], axis[1]))

    def beside(self, side: str, k: int) -> Things:
        """Objects on a side of another one."""
        if side in ("in", "leaning", "stands"):
            unclear_if("leaning" not in self._relations, "the annotation does not say what touches")
            names = self._relations["on" if side == "stands" else side][self.items[k]["name"]]
            return frozenset(j for j in self.all if self.items[j]["name"] in names)
        if side in ("above", "below", "on"):
            return frozenset(j for j in self.all - {k} if self._stacked(*((j, k) if side != "below" else (k, j)), side))
        own = self.along(side, k)
        return frozenset(j for j in self.all - {k} if self.along(side, j) - own > self.threshold)

    def sees(self, side: str, j: int, k: int, viewer: int) -> bool:
        """Whether an object is on a side of another one for a viewer, and not on the opposite one."""
        names = [self.items[one]["name"] for one in (j, k, viewer)]
        front, eye = self._fronts.get(names[2]), self._eyes.get(names[2])
        ahead, away = complex(*(front or (0, 0))), self._place(j) - self._place(k)
        if k != viewer and eye is not None:
            sights = [self._place(one) - complex(*eye[:2]) for one in (j, k)]
            unclear_if(any((sight * ahead.conjugate()).real <= 0.5 * abs(sight) for sight in sights), "out of view")
            ahead = -sights[1] / abs(sights[1])
        elif k != viewer or not front:
            raise Unclear("nobody looks")
        # A front that looks back at the viewer has its left where the viewer's right is.
        across = (away * ahead.conjugate()).imag * (1 if k == viewer else -1)
        far = {"left": across, "right": -across}.get(side, (away * ahead.conjugate()).real * (-1) ** (side == "behind"))
        unclear_if(abs(far) < 0.5 * abs(away) or abs(far) <= self.threshold or j == viewer, "on neither side")
        if k != viewer and names[1] in self._fronts and side in ("front", "behind"):
            raise Unclear("its own front or the viewer's")
        return bool(far > 0)

    def together(self, i: int, j: int, k: int) -> list[bool]:
        """Whether two objects are both left or both right of another one, as it faces; and both in front or behind."""
        same = [self.sees(side, i, k, k) == self.sees(side, j, k, k) for side in ("left", "front")]
        unclear_if(sum(same) != 1, "it does not matter how the other one is turned")
        return same

    def faces(self, k: int, j: int) -> bool:
        """Whether an object is within 20 degrees of another one's front, and not beyond 45."""
        front, away = self._fronts.get(self.items[k]["name"]), self._place(j) - self._place(k)
        if not front or abs(away) <= self.threshold:
            raise Unclear("no front or no distance")
        degrees = abs(math.degrees(cmath.phase(away / complex(*front))))
        unclear_if(20.00001 < degrees < 44.99999, "almost in front")
        return degrees < 21 and self.sees("front", j, k, k)

    def ahead(self, k: int) -> Things:
        """Objects that another one faces."""
        return frozenset(j for j in self.all - {k} if self.faces(k, j))

    def _place(self, k: int) -> complex:
        return complex(*self.items[k]["location"][:2])

    def _stacked(self, over: int, under: int, side: str) -> bool:
        (top, high), (base, low) = ((self.items[k]["location"], self._reach(k)) for k in (over, under))
        gap = (top[2] - high[1]) - (base[2] + low[1])
        flat = [abs(top[i] - base[i]) for i in (0, 1)]
        within = max(flat) <= low[0] or max(flat) <= high[0]
        return bool(within and gap >= -0.02 and (side != "on" or gap <= 0.02))

    def _reach(self, k: int) -> tuple[float, float]:
        """Half of the width and of the height of a primitive."""
        item = self.items[k]
        unclear_if(item["shape"] not in USUAL["kind"], "the extent of a model is not exported")
        angle = math.radians(item["rotation_deg"][2])
        wide = abs(math.cos(angle)) + abs(math.sin(angle)) if item["shape"] == "cube" else 1
        return item["scale"] * wide, item["scale"]

    def visible(self, k: int) -> bool | None:
        """Whether an object is fully visible, by its mask; None if it is neither that nor partly hidden."""
        item = self.items[k]
        share = int(mask.area(item["rle"])) / max(item["alone_pixels"], 1)
        return None if share > 0.7 and (share < 0.95 or item["truncated"]) else share > 0.7

    def most(self, word: str, some: Things) -> int:
        """The object that a superlative of a set means."""
        if word.removesuffix("most") in ("left", "right", "front", "rear"):
            side = {"rear": "behind"}.get(word[:-4], word[:-4])
            order = sorted(some, key=lambda k: self.along(side, k))
            clear = len(order) > 1 and self.along(side, order[-1]) - self.along(side, order[-2]) > self.threshold
        else:
            power = 1 if word in ("largest", "biggest") else -1
            order = sorted(some, key=lambda k: self.items[k]["scale"] ** power)
            sizes = [self.items[k]["scale"] ** power for k in order]
            clear = len(order) > 1 and sizes[-1] > sizes[-2] * 1.0999
        unclear_if(not clear, f"no {word}")
        return order[-1]

    def nearest(self, some: Things, k: int) -> int:
        """The object of a set that is nearest to another one."""
        order = sorted((math.dist(self.items[j]["location"], self.items[k]["location"]), j) for j in some - {k})
        unclear_if(len(order) < 2 or order[1][0] < order[0][0] * 1.0999, "none is nearest")
        return order[0][1]


def kind_of(shape: str) -> str | None:
    """A noun for a shape; None for models other than Diorama's own."""
    kind, _, rest = shape.partition(":")
    return _KINDS.get(rest[:8]) if kind == "shapenet" else kind if kind == "person" or not rest else None


def own_fronts(items: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Name -> direction on the ground of the front of each upright model that has one: -Y without rotation."""
    found = {}
    for one in items:
        (x, y, _), up = (turned(one["rotation"], axis) for axis in ((0, -1, 0), (0, 0, 1)))
        if kind_of(one["shape"]) in _FRONTED and up[2] >= 0.9:
            found[one["name"]] = (float(x / math.hypot(x, y)), float(y / math.hypot(x, y)))
    return found


def turned(quaternion: Sequence[float], vector: Sequence[float]) -> Any:
    """A vector rotated by a quaternion w, x, y, z."""
    w, *axis = quaternion
    twice = 2 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)
