"""Executes programs on measured relations: sets are bits, and every step is a look-up in the tables of an image.

Sizes of objects and distances come from the annotation, too: `scale`, and locations in the camera frame. It shares no
function with positions_executor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import dist
from operator import or_
from typing import Any

from scene_specs.questions.program import DOUBTFUL, NOUNS, Node, PresuppositionError
from scene_specs.questions.view import ImageView

# By this factor one object must be larger than another, or farther away, for anyone to see it.
CLEARLY = 1.1
# Extreme -> the relation in which it has all others.
_SIDES = {"leftmost": "right", "rightmost": "left", "frontmost": "behind", "rearmost": "front"}


class RelationsExecutor:
    """Executes programs on one image. present: bits of the objects that exist; results are kept for each program."""

    def __init__(self, view: ImageView, present: int | None = None) -> None:
        self._view = view
        self._present = (1 << len(view.objects)) - 1 if present is None else present
        self._known: dict[Node, Any] = {}

    def run(self, node: Node) -> Any:
        """Sets are bits, objects indices, other results an Answer. Raises PresuppositionError."""
        found = self._known.get(node, self)
        if found is self:
            try:
                found = self._step(node)
            except PresuppositionError as error:
                found = error
            self._known[node] = found
        if isinstance(found, PresuppositionError):
            raise found.with_traceback(None)
        return found

    def _step(self, node: Node) -> Any:
        inputs = [self.run(part) for part in node.inputs]
        kind, _, name = node.op.partition("_")
        if kind == "filter":
            return self._filter(inputs[0], name, str(node.value))
        if kind == "same":
            return self._filter(self._present, name, self._value(inputs[0], name)) & ~(1 << inputs[0])
        if kind == "query":
            return self._value(inputs[0], name)
        if kind == "equal":
            return inputs[0] == inputs[1]
        return _STEPS[node.op](self, node.value, *inputs)

    def _filter(self, bits: int, name: str, value: str) -> int:
        table = self._view.value_bits[name]
        needed = (name,) if name in DOUBTFUL else NOUNS
        if bits & ~reduce(or_, (having for one in needed for having in self._view.value_bits[one].values()), 0):
            raise PresuppositionError(f"an object has no clear {name}")
        return bits & table.get(value, 0)

    def _value(self, index: int, name: str) -> str:
        value = self._view.objects[index].values[name]
        if value is None:
            raise PresuppositionError(f"an object has no {name}")
        return value

    def unique(self, _: Any, bits: int) -> int:
        """The only object of a set."""
        if bits.bit_count() != 1:
            raise PresuppositionError(f"{bits.bit_count()} objects instead of one")
        return bits.bit_length() - 1

    def relate(self, relation: Any, index: int) -> int:
        """Objects in a relation to one."""
        return self._view.relations[relation][index] & self._present

    def extreme(self, which: Any, bits: int) -> int:
        """The object of a set that has all others on its other side, or that is clearly larger or smaller."""
        members = [k for k in range(bits.bit_length()) if bits >> k & 1]
        if len(members) < 2:
            raise PresuppositionError("an extreme of fewer than two objects")
        if which in _SIDES:
            table = self._view.relations[_SIDES[which]]
            found = [k for k in members if table[k] & bits == bits ^ 1 << k]
        else:
            scales = {k: self._view.objects[k].truth.scale for k in members}
            found = [k for k in members if all(self._is_larger(k, j, which, scales) for j in members if j != k)]
        if len(found) != 1:
            raise PresuppositionError(f"no object is clearly {which}")
        return found[0]

    def _is_larger(self, k: int, j: int, which: str, scales: dict[int, float]) -> bool:
        one, other = (k, j) if which == "largest" else (j, k)
        return scales[one] >= CLEARLY * scales[other]

    def nearest(self, _: Any, bits: int, index: int) -> int:
        """The object of a set that is clearly nearest to another one."""
        own = self._view.objects[index].truth.camera_location
        others = [k for k in range(bits.bit_length()) if bits >> k & 1 and k != index]
        ranked = sorted((dist(own, self._view.objects[k].truth.camera_location), k) for k in others)
        if len(ranked) < 2 or ranked[1][0] < CLEARLY * ranked[0][0]:
            raise PresuppositionError("no object is clearly nearest")
        return ranked[0][1]

    def compare(self, word: Any, one: int, other: int) -> bool:
        """Whether one object is larger."""
        first, second = self._view.objects[one].truth.scale, self._view.objects[other].truth.scale
        if max(first, second) < CLEARLY * min(first, second):
            raise PresuppositionError("two objects of about the same size")
        return bool(first > second)

    def all_of(self, _: Any, bits: int, others: int) -> bool:
        """Whether all objects of a set are in another one."""
        if bits.bit_count() < 2:
            raise PresuppositionError("all of fewer than two objects")
        return not bits & ~others

    def most(self, _: Any, bits: int, others: int) -> bool:
        """Whether more than half of a set is in another one."""
        if bits.bit_count() < 3:
            raise PresuppositionError("most of fewer than three objects")
        return (bits & others).bit_count() * 2 > bits.bit_count()


_STEPS: dict[str, Callable[..., Any]] = {
    "scene": lambda self, _: self._present,
    "unique": RelationsExecutor.unique,
    "relate": RelationsExecutor.relate,
    "extreme": RelationsExecutor.extreme,
    "nearest": RelationsExecutor.nearest,
    "count": lambda _self, _, bits: bits.bit_count(),
    "exist": lambda _self, _, bits: bits != 0,
    "exactly": lambda _self, number, bits: bits.bit_count() == number,
    "union": lambda _self, _, one, other: one | other,
    "intersect": lambda _self, _, one, other: one & other,
    "all": RelationsExecutor.all_of,
    "most": RelationsExecutor.most,
    "less_than": lambda _self, _, one, other: one < other,
    "greater_than": lambda _self, _, one, other: one > other,
    "larger": RelationsExecutor.compare,
    "smaller": lambda self, word, one, other: self.compare(word, other, one),
}
