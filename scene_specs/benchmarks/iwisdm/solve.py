"""Objects that fulfill what a trial demands: a small constraint problem, searched at random within a bound.

A variable is what can be drawn of an object on its own: its place, its model (category and identity together), its
side; or the value of a constant. A relation compares properties of two variables, or one with a fixed value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS, VIEW_ANGLES, Stimuli

# ("location" | "model" | "view_angle", frame, slot), or ("constant <property>", task, node).
Variable = tuple[str, int, int]
# Of "model" (category, identity), else (value,).
Choice = tuple[str, ...]
Solution = dict[Variable, Choice]
BOUND = 20_000


@dataclass(frozen=True)
class Side:
    """One property of one variable."""

    variable: Variable
    name: str

    def value(self, choice: Choice) -> str:
        """The property's value, once the variable has one."""
        return choice[1] if self.name == "identity" and len(choice) > 1 else choice[0]


@dataclass(frozen=True)
class Relation:
    """Both sides are equal, or they are not."""

    left: Side
    right: Side | str
    equal: bool


def object_variables(frame: int, slot: int) -> tuple[Variable, Variable, Variable]:
    """What is drawn of one object."""
    return (("location", frame, slot), ("model", frame, slot), ("view_angle", frame, slot))


def side_of(name: str, frame: int, slot: int) -> Side:
    """A property of one object."""
    return Side(("model" if name in ("category", "identity") else name, frame, slot), name)


def solve(
    variables: Sequence[Variable], relations: Sequence[Relation], stimuli: Stimuli, draws: Draws
) -> Solution | None:
    """A value for each variable, drawn at random among those that fulfill all relations; None if there are none.

    None as well after 20,000 steps in one part, which no task of a few dozen objects has come near.
    """
    rank = {variable: k for k, variable in enumerate(variables)}
    tests: dict[Variable, list[tuple[Side, Side | str, bool]]] = {variable: [] for variable in variables}
    for relation in relations:
        left, right = relation.left, relation.right
        if isinstance(right, Side) and rank[right.variable] > rank[left.variable]:
            left, right = right, left
        tests[left.variable].append((left, right, relation.equal))
    chosen: Solution = {}
    for part in _parts(variables, relations):
        found = _search(part, {variable: _domain(variable, stimuli) for variable in part}, tests, draws)
        if found is None:
            return None
        chosen |= found
    return chosen


def _parts(variables: Sequence[Variable], relations: Sequence[Relation]) -> list[list[Variable]]:
    """Variables that no relation connects go apart: what can't be had in one is not tried again with all of another."""
    graph = nx.Graph()
    graph.add_nodes_from(variables)
    pairs = ((one.left.variable, one.right.variable) for one in relations if isinstance(one.right, Side))
    graph.add_edges_from(pairs)
    parts = {variable: number for number, part in enumerate(nx.connected_components(graph)) for variable in part}
    found: dict[int, list[Variable]] = {}
    for variable in variables:
        found.setdefault(parts[variable], []).append(variable)
    return list(found.values())


def _domain(variable: Variable, stimuli: Stimuli) -> Sequence[Choice]:
    kind = variable[0].removeprefix("constant ")
    if kind == "model":
        return stimuli.identities
    if kind == "location":
        return _PLACES
    return _SIDES if kind == "view_angle" else [(value,) for value in stimuli.values(kind)]


_PLACES = [(value,) for value in LOCATIONS]
_SIDES = [(value,) for value in VIEW_ANGLES]


def _search(
    variables: Sequence[Variable],
    domains: Mapping[Variable, Sequence[Choice]],
    tests: Mapping[Variable, Sequence[tuple[Side, Side | str, bool]]],
    draws: Draws,
) -> Solution | None:
    """Depth first, without recursion: `open_` holds, for each variable that has a value, what else it could be."""
    chosen: Solution = {}
    open_: list[list[Choice]] = []
    for _ in range(BOUND):
        if len(open_) == len(chosen):
            if len(chosen) == len(variables):
                return chosen
            variable = variables[len(chosen)]
            open_.append(_allowed(domains[variable], tests[variable], chosen))
        if open_[-1]:
            last = open_[-1]
            at = draws.below(len(last))
            last[at], last[-1] = last[-1], last[at]
            chosen[variables[len(open_) - 1]] = last.pop()
            continue
        open_.pop()
        if not open_:
            return None
        chosen.popitem()
    return None


def _allowed(
    domain: Sequence[Choice], tests: Sequence[tuple[Side, Side | str, bool]], chosen: Solution
) -> list[Choice]:
    left = list(domain)
    for side, other, equal in tests:
        if isinstance(other, str):
            value = other
        elif other.variable == side.variable:
            # The same property of the same object, twice.
            left = left if equal else []
            continue
        else:
            value = other.value(chosen[other.variable])
        left = [choice for choice in left if (side.value(choice) == value) == equal]
    return left
