"""Executes programs on measured relations: sets are bits, and every step is a look-up in the tables of an image.

Sizes of objects and distances come from the annotation, too: `scale`, and locations in the camera frame. It shares no
function with positions_executor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial, reduce
from math import cos, dist, hypot, radians
from operator import eq, ge, gt, le, lt, or_
from typing import Any

from diorama.scene_specs.language.vocabulary import OPPOSITE
from diorama.scene_specs.tasks.questions import program
from diorama.scene_specs.tasks.questions.view import FACED, NOT_FACED, VAGUE, ImageView, bits_of

# By this factor one object must be larger than another, or farther away, for anyone to see it.
CLEARLY = 1.1
# Rearrangements of an image.
WORLDS = 32
_PRIMES = dict(zip(program.QUERIED, (7919, 7919, 6007, 4271, 2909), strict=True))
_MIXER = 0x9E3779B97F4A7C15
# Extreme -> the relation in which it has all others.
_SIDES = {"leftmost": "right", "rightmost": "left", "frontmost": "behind", "rearmost": "front"}


class RelationsExecutor:
    """Executes programs on one image. Results are kept for each program.

    Args:
        present: bits of the objects that exist.
        value_bits: attributes other than those of the image, see ImageView.
    """

    def __init__(
        self, view: ImageView, present: int | None = None, value_bits: Mapping[str, Mapping[str, int]] | None = None
    ) -> None:
        self._view, self._values = view, view.value_bits if value_bits is None else value_bits
        self._present = (1 << len(view.objects)) - 1 if present is None else present
        self._known: dict[program.Node, Any] = {}
        # Attribute -> bits of the objects that it is not clear of.
        self._unclear: dict[str, int] = {}

    def run(self, node: program.Node) -> Any:
        """Return a set's bits, an object's index, or an Answer. Raises PresuppositionError."""
        outcome = self.outcome(node)
        if isinstance(outcome, program.PresuppositionError):
            raise program.PresuppositionError(*outcome.args)
        return outcome

    def outcome(self, node: program.Node) -> Any:
        """Return the result of a program, or the PresuppositionError that it would raise."""
        outcome = self._known.get(node)
        if outcome is None:
            outcome = self._known[node] = self._run_step(node)
        return outcome

    def _run_step(self, node: program.Node) -> Any:
        inputs, known = [], self._known
        for part in node.inputs:
            # As `outcome`, without the call: most inputs are known.
            input_outcome = known.get(part)
            if input_outcome is None:
                input_outcome = known[part] = self._run_step(part)
            if isinstance(input_outcome, program.PresuppositionError):
                return input_outcome
            inputs.append(input_outcome)
        try:
            return _STEPS[node.op](self, node.value, *inputs)
        except program.PresuppositionError as error:
            return error.with_traceback(None)

    def having(self, name: str, value: Any, bits: int) -> int:
        """Return the objects of a set with this value of an attribute."""
        having, unclear = self.filtering(name, value)
        if bits & unclear:
            raise program.PresuppositionError(f"an object has no clear {name}")
        return bits & having

    def filtering(self, name: str, value: Any) -> tuple[int, int]:
        """Bits of the objects with this value of an attribute, and of those that it is not clear of."""
        if name not in self._unclear:
            needed = (name,) if name in program.DOUBTFUL else program.NOUNS
            self._unclear[name] = ~reduce(
                or_, (members for noun in needed for members in self._values[noun].values()), 0
            )
        return self._values[name].get(value, 0), self._unclear[name]

    def value(self, name: str, index: int) -> str:
        """Return an attribute of an object."""
        for value, members in self._values[name].items():
            if members >> index & 1:
                return value
        raise program.PresuppositionError(f"an object has no {name}")

    def same(self, name: str, index: int) -> int:
        """Return the other objects with the same value of an attribute."""
        return self.having(name, self.value(name, index), self._present) & ~(1 << index)

    def differ(self, name: str, index: int) -> int:
        """Return the objects with another value of an attribute."""
        return self._present & ~self.having(name, self.value(name, index), self._present)

    def unique(self, _: Any, bits: int) -> int:
        """Return the only object of a set."""
        if bits.bit_count() != 1:
            raise program.PresuppositionError(f"{bits.bit_count()} objects instead of one")
        return bits.bit_length() - 1

    def relate(self, relation: Any, index: int) -> int:
        """Objects in a relation to one."""
        program.refuse_if(relation not in self._view.relations, f"{relation} was not measured")
        return self._view.relations[relation][index] & self._present

    def falls(self, _: Any, index: int) -> int:
        """Objects that would fall if one were taken away; not said of what only might, see docs/questions.md."""
        program.refuse_if(self.relate("in", index), "something is in it")
        if self.relate("leaning", index) and self.relate("on", index):
            raise program.PresuppositionError("what falls from its top might hold up what leans on it")
        return self.relate("falls", index)

    def extreme(self, which: Any, bits: int) -> int:
        """Return the object of a set that has all others on its other side, or that is clearly larger or smaller."""
        members = [k for k in range(bits.bit_length()) if bits >> k & 1]
        program.refuse_if(len(members) < 2, "an extreme of fewer than two objects")
        if which in _SIDES:
            table = self._view.relations[_SIDES[which]]
            extremes = [k for k in members if table[k] & bits == bits ^ 1 << k]
        else:
            extremes = [k for k in members if all(self._is_larger(k, j, which) for j in members if j != k)]
        program.refuse_if(len(extremes) != 1, f"no object is clearly {which}")
        return extremes[0]

    def _is_larger(self, k: int, j: int, which: str) -> bool:
        large, small = (k, j) if which == "largest" else (j, k)
        return self._view.objects[large].scale >= CLEARLY * self._view.objects[small].scale

    def nearest(self, _: Any, bits: int, index: int) -> int:
        """Return the object of a set that is clearly nearest to another one."""
        own = self._view.objects[index].truth.camera_location
        others = [k for k in range(bits.bit_length()) if bits >> k & 1 and k != index]
        ranked = sorted((dist(own, self._view.objects[k].truth.camera_location), k) for k in others)
        program.refuse_if(len(ranked) < 2 or ranked[1][0] < CLEARLY * ranked[0][0], "no object is clearly nearest")
        return ranked[0][1]

    def compare(self, word: Any, index: int, other: int) -> bool:
        """Whether one object is larger."""
        first, second = self._view.objects[index].scale, self._view.objects[other].scale
        if not max(first, second) >= CLEARLY * min(first, second):
            raise program.PresuppositionError("two objects of about the same size, or of unknown size")
        return bool(first > second)

    def seen(self, side: Any, index: int, of: int, viewer: int) -> bool:
        """Whether an object is on a side of another one for somebody, or for that one itself; not on the opposite."""
        sides = self._view.viewpoints.get(viewer, {})
        for name in (side, OPPOSITE[side]):
            if sides and sides[name].get(of, 0) >> index & 1:
                return bool(name == side)
        raise program.PresuppositionError("on no side clearly, or not in view")

    def own_side(self, pair: Any, index: int, other: int, of: int) -> bool:
        """Whether two objects are on the same one of a pair of another one's own sides; they aren't by the other pair.

        Or they are by the other pair, but not by this one: so the answer depends on where the front is.
        """
        same = {key: self.seen(key, index, of, of) is self.seen(key, other, of, of) for key in ("left", "front")}
        program.refuse_if(same["left"] == same["front"], "the same answer by both pairs of sides")
        return same["left" if pair == "left-right" else "front"]

    def faces(self, _: Any, index: int, other: int) -> bool:
        """Whether another object is in the middle of what is in front of one; not if it is clearly beside that."""
        front = self._view.fronts.get(index)
        here, there = (self._view.objects[k].truth.location for k in (index, other))
        x, y = there[0] - here[0], there[1] - here[1]
        if front and hypot(x, y) > self._view.threshold:
            share = (x * front[0] + y * front[1]) / hypot(x, y)
            if share <= cos(radians(NOT_FACED)):
                return False
            if share >= cos(radians(FACED)) and self._view.viewpoints[index]["front"].get(index, 0) >> other & 1:
                return True
        raise program.PresuppositionError("not clearly faced, or without a front")

    def faced(self, _: Any, index: int) -> int:
        """Return the objects that one faces."""
        return sum(1 << k for k in bits_of(self._present & ~(1 << index)) if self.faces(None, index, k))

    def quantify(self, word: str, bits: int, others: int) -> bool:
        """Whether as much of a set as a quantifier says is in another one."""
        if word == "only" and not others:
            raise program.PresuppositionError("only some, of none")
        if word == "only" and bits.bit_count() >= program.QUANTIFIERS[word]:
            return not others & ~bits
        return self.share(word, bits.bit_count(), (bits & others).bit_count())

    def share(self, word: str, total: int, inside: int) -> bool:
        """Whether so many of the members of a set are as many as a quantifier says."""
        if total < program.QUANTIFIERS[word]:
            raise program.PresuppositionError(f"{word} of {total} objects")
        if word == "half" and total % 2:
            raise program.PresuppositionError("half of an odd number")
        limit = self._view.thresholds[word] if word in VAGUE else 0
        return {
            "all": inside == total, "none": inside == 0, "most": inside * 2 > total, "half": inside * 2 == total,
            "fewer_than_half": inside * 2 < total, "at_least_half": inside * 2 >= total,
            "few": inside / total <= limit, "many": inside / total >= limit,
        }[word]  # fmt: skip

    def twice(self, _: Any, number: int, half: int) -> bool:
        """Whether a number is twice another one."""
        program.refuse_if(not half, "twice as many as none")
        return number == 2 * half


class Rearrangements:
    """Executes programs on all rearrangements of an image: the same places, in which objects have others' attributes.

    A kind is exchanged as a whole: shape and category. In every second one, about a quarter of the objects is missing.
    Results are kept for each program.
    """

    def __init__(self, view: ImageView) -> None:
        count = len(view.objects)
        everything = (1 << count) - 1
        self._known: dict[program.Node, list[Any]] = {}
        self.images: list[RelationsExecutor] = []
        # Attribute and value -> `filtering` in each.
        self._filters: dict[tuple[str, Any], list[tuple[int, int]]] = {}

        @cache
        def moved(name: str, by: int) -> Mapping[str, int]:
            every = view.value_bits[name].items()
            return {value: (bits << by | bits >> count - by) & everything for value, bits in every}

        for number in range(1, WORLDS + 1):
            values = {name: moved(name, (number * prime >> 4) % count) for name, prime in _PRIMES.items()}
            mixed = number * _MIXER
            present = everything & (-1 if number % 2 else mixed >> 12 | mixed >> 32)
            self.images.append(RelationsExecutor(view, present, {**view.value_bits, **values}))
        self._share = cache(partial(attempt, self.images[0].share))

    def outcomes(self, node: program.Node) -> list[Any]:
        """Return the result of a program in each, None where a presupposition fails."""
        outcomes = self._known.get(node)
        if outcomes is None:
            outcomes = self._known[node] = self._run_step(node, *map(self.outcomes, node.inputs))
        return outcomes

    def _run_step(self, node: program.Node, *inputs: list[Any]) -> list[Any]:
        # The most frequent steps, without calls and errors.
        if node.op == "unique":
            return [bits.bit_length() - 1 if bits and not bits & bits - 1 else None for bits in inputs[0]]
        kind, _, name = node.op.partition("_")
        if kind == "filter":
            key = name, node.value
            if key not in self._filters:
                self._filters[key] = [executor.filtering(*key) for executor in self.images]
            tables = zip(inputs[0], self._filters[key], strict=True)
            return [None if bits is None or bits & table[1] else bits & table[0] for bits, table in tables]
        if node.op in program.QUANTIFIERS and node.op != "only":
            pairs, share = zip(*inputs, strict=True), self._share
            return [
                None if bits is None or other is None else share(node.op, bits.bit_count(), (bits & other).bit_count())
                for bits, other in pairs
            ]
        step, value = _STEPS[node.op], node.value
        return [
            None if None in arguments else attempt(step, arguments[0], value, *arguments[1:])
            for arguments in zip(self.images, *inputs, strict=True)
        ]


def attempt(step: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a step, None if its presupposition fails."""
    try:
        return step(*args)
    except program.PresuppositionError:
        return None


def _in_range(value: Any, bits: int) -> bool:
    low, high = map(int, value.split("-"))
    return low <= bits.bit_count() <= high


def _steps_about(name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield f"filter_{name}", lambda self, value, bits: self.having(name, value, bits)
    yield f"query_{name}", lambda self, _, index: self.value(name, index)
    yield f"same_{name}", lambda self, _, index: self.same(name, index)
    yield f"differ_{name}", lambda self, _, index: self.differ(name, index)
    yield f"equal_{name}", lambda _self, _, first, second: first == second


_METHODS = ("unique", "relate", "falls", "extreme", "nearest", "twice", "seen", "own_side", "faces", "faced")
_NUMERALS = {"exactly": eq, "at_least": ge, "at_most": le, "more_than": gt, "fewer_than": lt}
_NUMBERS = {"equal_integer": eq, "less_than": lt, "greater_than": gt}
_STEPS: dict[str, Callable[..., Any]] = {
    **{op: step for name in program.ATTRIBUTES for op, step in _steps_about(name)},
    **{name: getattr(RelationsExecutor, name) for name in _METHODS},
    **{op: lambda _self, number, bits, test=test: test(bits.bit_count(), number) for op, test in _NUMERALS.items()},
    **{op: lambda _self, _, first, second, test=test: test(first, second) for op, test in _NUMBERS.items()},
    **{op: lambda self, _, bits, others, op=op: self.quantify(op, bits, others) for op in program.QUANTIFIERS},
    "scene": lambda self, _: self._present,
    "count": lambda _self, _, bits: bits.bit_count(),
    "exist": lambda _self, _, bits: bits != 0,
    "between": lambda _self, value, bits: _in_range(value, bits),
    "not": lambda _self, _, truth: not truth,
    "except": lambda _self, _, bits, index: bits & ~(1 << index),
    "difference": lambda _self, _, bits, others: bits & ~others,
    "union": lambda _self, _, bits, others: bits | others,
    "intersect": lambda _self, _, bits, others: bits & others,
    "among": lambda _self, value, color: color if color in value.split(", ") else program.NONE_OF_THESE,
    "larger": RelationsExecutor.compare,
    "smaller": lambda self, word, index, other: self.compare(word, other, index),
    "own": lambda self, side, index, of: self.seen(side, index, of, of),
}
