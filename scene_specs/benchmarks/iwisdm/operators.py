"""The operators of tasks, and which operators each takes as children. Add your own with `with_operator`:

exclusive = Operator(
    "Xor", "boolean", arms=(("boolean", "boolean"),), text="either {0} or else {1}", join=True,
    forward=lambda sides: sides[0] != sides[1],
    backward=lambda wanted, rng: rng.pick([(True, not wanted), (False, wanted)]),
)
mine = GRAMMAR.with_operator(exclusive)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES, Item
from diorama.scene_specs.errors import check_choice, spec_error

# The value of a node: a truth value, the value of a property, or the object that Select found.
Value = bool | str | Item | None


@dataclass(frozen=True)
class Operator:
    """One kind of node.

    Attributes:
        gives: "boolean", a property, "object" (Select), "constant" (CONST) or "branch" (Switch: what its branches
            give).
        arms: the allowed rows of children. Each child is an operator's name or a group: "boolean" and each property are
            the operators that give it, "question" those that can be a question (boolean, properties, branch).
        more: groups from which any number of further children may follow.
        text: its words; {0}, {1}, ... are its children.
        join: whether it counts as a joint operator (And, Or).
        forward: values of the children -> its value.
        backward: its wanted truth value -> wanted truth values of its children.
        equal: of a comparison, its value for equal sides.
    """

    name: str
    gives: str
    arms: tuple[tuple[str, ...], ...]
    text: str = ""
    more: tuple[str, ...] = ()
    join: bool = False
    forward: Callable[[Sequence[Value]], Value] | None = None
    backward: Callable[[bool, KeyedRng], Sequence[bool]] | None = None
    equal: bool | None = None


@dataclass(frozen=True)
class Grammar:
    """A set of operators: name -> operator."""

    operators: Mapping[str, Operator]

    def with_operator(self, operator: Operator) -> Grammar:
        """Return this grammar with an additional operator, which replaces one of the same name."""
        return Grammar({**self.operators, operator.name: operator})

    def operator(self, name: str) -> Operator:
        """Return the operator of a name. Raises SpecError for an unknown one."""
        check_choice("operator", name, self.operators)
        return self.operators[name]

    def names(self, word: str) -> tuple[str, ...]:
        """Return the operators that a word of an arm stands for. Raises SpecError for an unknown word."""
        if word in self.operators:
            return (word,)
        if word == "question":
            return tuple(n for n, op in self.operators.items() if op.gives in ("boolean", "branch", *PROPERTIES))
        operators = tuple(name for name, op in self.operators.items() if op.gives == word)
        if not operators:
            raise spec_error(f"found {word!r} below an operator; no operator has this name or gives this")
        return operators

    def fits(self, name: str, children: Sequence[str]) -> bool:
        """Whether an operator may have these children, in this order."""
        operator = self.operator(name)
        more = {allowed for word in operator.more for allowed in self.names(word)}
        return any(
            len(arm) <= len(children)
            and all(child in self.names(word) for child, word in zip(children, arm, strict=False))
            and more.issuperset(children[len(arm) :])
            for arm in operator.arms
        )


# Probabilities of one false side (each) and of two in a false conjunction: each side is true with probability
# sqrt(1/2), so that both are true half the time (Lei et al. 2024, node initialization).
_MIXED, _NEITHER = math.sqrt(0.5) * (1 - math.sqrt(0.5)), (1 - math.sqrt(0.5)) ** 2


def _sides_of_and(wanted: bool, rng: KeyedRng) -> Sequence[bool]:
    if wanted:
        return (True, True)
    return ((True, False), (False, True), (False, False))[rng.weighted((_MIXED, _MIXED, _NEITHER))]


def _reader_of(name: str) -> Callable[[Sequence[Value]], Value]:
    def forward(children: Sequence[Value]) -> Value:
        match children:
            case [Item() as item]:
                return item.value(name)
        raise spec_error(f"{name} is asked of an object that is missing")

    return forward


_COMPARED = tuple(arm for name in PROPERTIES for arm in ((name, name), (name, "CONST"), ("CONST", name)))
GETTERS: Mapping[str, str] = {name: f"Get{name.title().replace('_', '')}" for name in PROPERTIES}

_OPERATORS = (
    Operator("Select", "object", ((),), more=("CONST", *PROPERTIES)),
    Operator("CONST", "constant", ((),)),
    *(
        Operator(getter, name, (("Select",),), f"{name} of {{0}}", forward=_reader_of(name))
        for name, getter in GETTERS.items()
    ),
    Operator("Exist", "boolean", (("Select",),), "exists {0}", forward=lambda selected: selected[0] is not None),
    Operator("IsSame", "boolean", _COMPARED, "{0} equals {1}", forward=lambda s: s[0] == s[1], equal=True),
    Operator("NotSame", "boolean", _COMPARED, "{0} not equals {1}", forward=lambda s: s[0] != s[1], equal=False),
    Operator(
        "And", "boolean", (("boolean", "boolean"),), "{0} and {1}", join=True,
        forward=lambda s: bool(s[0] and s[1]), backward=_sides_of_and,
    ),
    Operator(
        "Or", "boolean", (("boolean", "boolean"),), "{0} or {1}", join=True,
        forward=lambda s: bool(s[0] or s[1]),
        backward=lambda wanted, rng: [not side for side in _sides_of_and(not wanted, rng)],
    ),
    Operator(
        "Switch", "branch", (("boolean", "question", "question"),), "if {0}, then {1} else {2}",
        forward=lambda s: s[1] if s[0] else s[2],
    ),
)  # fmt: skip
GRAMMAR = Grammar({operator.name: operator for operator in _OPERATORS})
