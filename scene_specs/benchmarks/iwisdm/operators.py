"""The operators that tasks are made of, and which may stand below which; a user adds more with `with_operator`.

exclusive = Operator(
    "Xor", "boolean", arms=(("boolean", "boolean"),), text="either {0} or else {1}", join=True,
    forward=lambda sides: sides[0] != sides[1],
    backward=lambda wanted, draws: draws.pick([(True, not wanted), (False, wanted)]),
)
mine = GRAMMAR.with_operator(exclusive)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES, Item

# What flows along an edge: a truth value, the value of a property, or what Select found.
Value = bool | str | Item | None


@dataclass(frozen=True)
class Operator:
    """One kind of node.

    gives: "boolean", a property, "object" (Select), "constant" (CONST) or "branch" (Switch: what its branches give).
    arms: the rows of children that it may have, each child an operator's name or a group: "boolean" and each property
        are the operators that give it, "question" those that can be asked (boolean, properties, branch).
    more: groups of which any number of children may follow.
    text: how it reads; {0}, {1}, ... are its children. join: whether it counts as a joint operator (And, Or).
    forward: values of the children -> its value. backward: its wanted truth value -> wanted truth values of its
        children, with any draws that takes. equal: of a comparison, what it says of equal sides.
    """

    name: str
    gives: str
    arms: tuple[tuple[str, ...], ...]
    text: str = ""
    more: tuple[str, ...] = ()
    join: bool = False
    forward: Callable[[Sequence[Value]], Value] | None = None
    backward: Callable[[bool, Draws], Sequence[bool]] | None = None
    equal: bool | None = None


@dataclass(frozen=True)
class Grammar:
    """A set of operators, by name."""

    operators: Mapping[str, Operator]

    def with_operator(self, operator: Operator) -> Grammar:
        """This grammar and one operator more, or another one under its name."""
        return Grammar(MappingProxyType({**self.operators, operator.name: operator}))

    def operator(self, name: str) -> Operator:
        """By name. Raises SpecError for one that is not there."""
        if name not in self.operators:
            raise refused(f"found operator {name!r}; allowed: {', '.join(self.operators)}")
        return self.operators[name]

    def names(self, word: str) -> tuple[str, ...]:
        """The operators that a word of an arm stands for. Raises SpecError for a word that is neither."""
        if word in self.operators:
            return (word,)
        if word == "question":
            return tuple(n for n, op in self.operators.items() if op.gives in ("boolean", "branch", *PROPERTIES))
        found = tuple(name for name, op in self.operators.items() if op.gives == word)
        if not found:
            raise refused(f"found {word!r} below an operator; no operator is called so or gives it")
        return found

    def fits(self, name: str, children: Sequence[str]) -> bool:
        """Whether an operator may have these children, in this order."""
        operator = self.operator(name)
        for arm in operator.arms:
            head, rest = children[: len(arm)], children[len(arm) :]
            if len(head) == len(arm) and all(c in self.names(w) for c, w in zip(head, arm, strict=True)):
                extra = {n for word in operator.more for n in self.names(word)} if rest else frozenset[str]()
                if all(child in extra for child in rest):
                    return True
        return False

    def rows(self, name: str) -> tuple[tuple[str, ...], ...]:
        """All rows of children of an operator, groups spelled out, without the further ones."""
        return tuple(row for arm in self.operator(name).arms for row in product(*(self.names(word) for word in arm)))


# Of the three ways in which a conjunction can be false, one false side is as likely as sqrt(1/2) asks: the probability
# that each side is true, if both are true half the time (Lei et al. 2024, node initialisation).
_ONE_SIDED = (math.sqrt(0.5) * (1 - math.sqrt(0.5)), (1 - math.sqrt(0.5)) ** 2)


def _all(wanted: bool, draws: Draws) -> Sequence[bool]:
    if wanted:
        return (True, True)
    mixed, neither = _ONE_SIDED
    return ((True, False), (False, True), (False, False))[draws.weighted((mixed, mixed, neither))]


def _any(wanted: bool, draws: Draws) -> Sequence[bool]:
    return tuple(not side for side in _all(not wanted, draws))


def _value(name: str) -> Callable[[Sequence[Value]], Value]:
    def forward(children: Sequence[Value]) -> Value:
        (item,) = children
        if not isinstance(item, Item):
            raise refused(f"{name} is asked about an object that is not there")
        return item.value(name)

    return forward


_COMPARED = tuple(arm for name in PROPERTIES for arm in ((name, name), (name, "CONST"), ("CONST", name)))
_NAMES = {"location": "GetLocation", "category": "GetCategory", "identity": "GetIdentity", "view_angle": "GetViewAngle"}
GETTERS: Mapping[str, str] = MappingProxyType(_NAMES)

GRAMMAR = Grammar(
    MappingProxyType(
        {
            operator.name: operator
            for operator in (
                Operator("Select", "object", ((),), more=("CONST", *PROPERTIES)),
                Operator("CONST", "constant", ((),)),
                *(
                    Operator(getter, name, (("Select",),), f"{name} of {{0}}", forward=_value(name))
                    for name, getter in _NAMES.items()
                ),
                Operator("Exist", "boolean", (("Select",),), "exists {0}", forward=lambda found: found[0] is not None),
                Operator("IsSame", "boolean", _COMPARED, "{0} equals {1}", forward=lambda s: s[0] == s[1], equal=True),
                Operator(
                    "NotSame", "boolean", _COMPARED, "{0} not equals {1}", forward=lambda s: s[0] != s[1], equal=False
                ),
                Operator(
                    "And", "boolean", (("boolean", "boolean"),), "{0} and {1}", join=True,
                    forward=lambda s: bool(s[0] and s[1]), backward=_all,
                ),
                Operator(
                    "Or", "boolean", (("boolean", "boolean"),), "{0} or {1}", join=True,
                    forward=lambda s: bool(s[0] or s[1]), backward=_any,
                ),
                Operator(
                    "Switch", "branch", (("boolean", "question", "question"),), "if {0}, then {1} else {2}",
                    forward=lambda s: s[1] if s[0] else s[2],
                ),
            )
        }
    )
)  # fmt: skip
