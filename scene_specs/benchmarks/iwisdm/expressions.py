"""Tasks by hand: `switch(same(get("location", 0), const("location", "top left")), get("category", 1), ...)`."""

from __future__ import annotations

from scene_specs.benchmarks.iwisdm.graph import Expression
from scene_specs.benchmarks.iwisdm.operators import GETTERS


def select(frame: int, *described: Expression) -> Expression:
    """The object of a frame (0-based); described: by constants, or by properties of other objects."""
    return Expression("Select", described, frame=frame)


def get(name: str, frame: int | Expression) -> Expression:
    """A property of the object of a frame, or of a selected object."""
    return Expression(GETTERS[name], (select(frame) if isinstance(frame, int) else frame,))


def const(name: str, value: str | None = None) -> Expression:
    """A value of a property; without one, each trial draws its own."""
    return Expression("CONST", property=name, value=value)


def same(left: Expression, right: Expression) -> Expression:
    """IsSame."""
    return Expression("IsSame", (left, right))


def different(left: Expression, right: Expression) -> Expression:
    """NotSame."""
    return Expression("NotSame", (left, right))


def both(left: Expression, right: Expression) -> Expression:
    """And."""
    return Expression("And", (left, right))


def either(left: Expression, right: Expression) -> Expression:
    """Or."""
    return Expression("Or", (left, right))


def exists(selected: Expression) -> Expression:
    """Whether the frame shows such an object."""
    return Expression("Exist", (selected,))


def switch(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """The answer to one question or to another."""
    return Expression("Switch", (condition, then, otherwise))
