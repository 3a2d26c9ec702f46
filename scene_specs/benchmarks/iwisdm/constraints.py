"""Constraints that a wanted answer puts on a trial's objects, and a bounded random search for a solution.

A variable is a part of an object that can be drawn independently: its location, its model (category and identity
together), its side; or the value of a constant. A constraint compares properties of two variables, or a property with a
fixed value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from diorama.scene_specs.benchmarks.iwisdm.frame_plan import Choice, Constraint, FramePlan, Term, Variable, object_term
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import Value
from diorama.scene_specs.benchmarks.iwisdm.stimuli import Stimuli
from diorama.scene_specs.errors import spec_error

Solution = dict[Variable, Choice]
# Steps of the search in one component. No task of a few dozen objects came near it.
MAX_STEPS = 20_000


def object_variables(frame: int, slot: int) -> tuple[Variable, Variable, Variable]:
    """Return the variables of one object."""
    return (("location", frame, slot), ("model", frame, slot), ("view_angle", frame, slot))


def solve(
    variables: Sequence[Variable], constraints: Sequence[Constraint], stimuli: Stimuli, rng: KeyedRng
) -> Solution | None:
    """Random values that fulfill all constraints; None if there are none, or after MAX_STEPS in one component."""
    rank = {variable: k for k, variable in enumerate(variables)}
    tests: dict[Variable, list[Constraint]] = {variable: [] for variable in variables}
    for constraint in constraints:
        left, right = constraint.left, constraint.right
        # A constraint is tested at the variable that gets its value later.
        if isinstance(right, Term) and rank[right.variable] > rank[left.variable]:
            left, right = right, left
        tests[left.variable].append(Constraint(left, right, constraint.equal))
    chosen: Solution = {}
    for component in _connected_variables(variables, constraints):
        domains: dict[Variable, Sequence[Choice]] = {}
        for variable in component:
            kind = variable[0].removeprefix("constant ")
            domains[variable] = stimuli.identities if kind == "model" else [(word,) for word in stimuli.values(kind)]
        solution = _search(component, domains, tests, rng)
        if solution is None:
            return None
        chosen |= solution
    return chosen


def _connected_variables(variables: Sequence[Variable], constraints: Sequence[Constraint]) -> list[list[Variable]]:
    """Return connected variables, which are searched apart: a failure in one component is not retried with another."""
    graph = nx.Graph()
    graph.add_nodes_from(variables)
    graph.add_edges_from((tie.left.variable, tie.right.variable) for tie in constraints if isinstance(tie.right, Term))
    # Components come in the order of their first nodes.
    return [[node for node in variables if node in component] for component in nx.connected_components(graph)]


def _search(
    variables: Sequence[Variable],
    domains: Mapping[Variable, Sequence[Choice]],
    tests: Mapping[Variable, Sequence[Constraint]],
    rng: KeyedRng,
) -> Solution | None:
    """Depth-first search without recursion. `untried` holds the remaining choices of each variable with a value."""
    chosen: Solution = {}
    untried: list[list[Choice]] = []
    for _ in range(MAX_STEPS):
        if len(untried) == len(chosen):
            if len(chosen) == len(variables):
                return chosen
            variable = variables[len(chosen)]
            untried.append(_allowed_choices(domains[variable], tests[variable], chosen))
        if untried[-1]:
            last = untried[-1]
            at = rng.below(len(last))
            last[at], last[-1] = last[-1], last[at]
            chosen[variables[len(untried) - 1]] = last.pop()
            continue
        untried.pop()
        if not untried:
            return None
        chosen.popitem()
    return None


def _allowed_choices(domain: Sequence[Choice], tests: Sequence[Constraint], chosen: Solution) -> list[Choice]:
    left = list(domain)
    for test in tests:
        if isinstance(test.right, str):
            value = test.right
        elif test.right.variable == test.left.variable:
            # A property of an object compared with itself.
            left = left if test.equal else []
            continue
        else:
            value = test.right.value(chosen[test.right.variable])
        left = [choice for choice in left if (test.left.value(choice) == value) == test.equal]
    return left


class TargetAnswer(NamedTuple):
    """A wanted answer.

    Attributes:
        conditions: truth of the Switches on the way from the root; () leaves them to chance.
    """

    value: Value
    conditions: tuple[bool, ...] = ()


class Requirements(NamedTuple):
    """What the objects of a trial have to be.

    Attributes:
        condition_matters: both branches of a Switch give different answers.
        foils: among pairs that must differ in identity, the share with the same category; None leaves it to chance.
    """

    condition_matters: bool = False
    foils: float | None = None


PUBLISHED = Requirements()


def answers_of(kind: str, stimuli: Stimuli) -> Sequence[Value]:
    """All answers of a kind: "boolean" or a property."""
    return (True, False) if kind == "boolean" else stimuli.values(kind)


class ConstraintBuilder:
    """Propagates a wanted answer backward through task `number` of a plan.

    `constraints` collects what it requires of the objects.
    """

    def __init__(self, plan: FramePlan, number: int, stimuli: Stimuli, rng: KeyedRng, required: Requirements) -> None:
        self.task, self.number, self.plan = plan.placed[number].task, number, plan
        self.stimuli, self.rng, self.required = stimuli, rng, required
        self.constraints: list[Constraint] = []

    def propagate(self, wanted: TargetAnswer) -> bool:
        """Propagate the wanted answer from the root to the objects. False: the draws contradict each other."""
        expected: dict[int, Value] = {self.task.root: wanted.value}
        conditions = {self.task.root: wanted.conditions}
        for node in self.task.order:
            if node not in expected:
                continue
            for child, value in self._node_values(node, expected[node], conditions).items():
                if expected.setdefault(child, value) != value:
                    return False
        return True

    def _node_values(self, node: int, value: Value, conditions: dict[int, tuple[bool, ...]]) -> dict[int, Value]:
        operator, children = self.task.operator(node), self.task.children[node]
        if operator.gives == "branch":
            remaining = conditions.get(node, ())
            truth = remaining[0] if remaining else self.rng.chance(0.5)
            taken, other = children[1:] if truth else reversed(children[1:])
            conditions[taken] = remaining[1:]
            return {children[0]: truth, taken: value, other: self._value_of_other_branch(other, value)}
        if operator.equal is not None:
            self._add_comparison(children, value == operator.equal)
        elif operator.backward is not None:
            return dict(zip(children, operator.backward(bool(value), self.rng), strict=True))
        elif operator.name == "Exist":
            frame, slots = self._slots_of(children[0])
            self._add_identification(frame, slots, self.rng.pick(slots) if value else None, children[0])
        elif operator.gives == "boolean":
            raise spec_error(f"operator {operator.name} has no backward function")
        else:
            self.constraints.append(Constraint(self._read_property(node), str(value), True))
        return {}

    def _value_of_other_branch(self, branch: int, value: Value) -> Value:
        """Return a value for the branch that is not taken."""
        kind = self.task.operator(branch).gives
        if kind == "branch":
            _, kind = self.rng.pick(self.task.leaves(branch))
        values = answers_of(kind, self.stimuli)
        if self.required.condition_matters:
            values = [other for other in values if other != value]
        return self.rng.pick(values)

    def _term_of(self, node: int) -> Term | str:
        """Return the term of a Get, or the value or term of a CONST."""
        data = self.task.graph.nodes[node]
        if data["operator"] == "CONST":
            if data["value"] is not None:
                return str(data["value"])
            name = self.task.property_of(node)
            return Term((f"constant {name}", self.number, node), name)
        return self._read_property(node)

    def _read_property(self, node: int) -> Term:
        """Return the property that a Get reads."""
        (selected,) = self.task.children[node]
        return object_term(self.task.property_of(node), self.task.frame(selected), 0)

    def _add_comparison(self, children: Sequence[int], equal: bool) -> None:
        match [self._term_of(child) for child in children]:
            case [Term() as left, right] | [str(right), Term() as left]:
                self.constraints.append(Constraint(left, right, equal))
            case _:
                raise spec_error("a comparison of two fixed values has a fixed answer")
        foils = self.required.foils
        if not equal and foils is not None and left.name == "identity" and isinstance(right, Term):
            alike = self.rng.chance(foils)
            categories = Term(left.variable, "category"), Term(right.variable, "category")
            self.constraints.append(Constraint(*categories, alike))

    def describe_targets(self) -> None:
        """Make a described object that a question is about the first of its frame, and the only one that fits."""
        for node in self.task.graph:
            for selected in self.task.children[node]:
                described = self.task.graph.nodes[selected]["operator"] == "Select" and self.task.children[selected]
                if described and self.task.operator(node).name != "Exist":
                    self._add_identification(*self._slots_of(selected), 0, selected)

    def _slots_of(self, selected: int) -> tuple[int, list[int]]:
        """Frame of a Select, and the slots of its objects."""
        frame = self.task.frame(selected)
        return frame, [slot for at, slot in self.plan.slots() if at == frame]

    def _add_identification(self, frame: int, slots: Sequence[int], target: int | None, selected: int) -> None:
        """Make the description of a Select fit the target slot, and no other."""
        described = [(self.task.property_of(child), self._term_of(child)) for child in self.task.children[selected]]
        for slot in slots:
            for name, value in described if slot == target else [self.rng.pick(described)]:
                self.constraints.append(Constraint(object_term(name, frame, slot), value, slot == target))
