"""A wanted answer goes backwards through a graph, and becomes what the objects have to fulfill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.graph import TaskGraph
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import Value
from scene_specs.benchmarks.iwisdm.session import Session, slots
from scene_specs.benchmarks.iwisdm.solve import Relation, Side, side_of
from scene_specs.benchmarks.iwisdm.stimuli import Stimuli


@dataclass(frozen=True)
class Wanted:
    """An answer to aim at. conditions: truth of the Switches on the way from the root; () leaves them to chance."""

    value: Value
    conditions: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Options:
    """condition_matters: both branches of a Switch give different answers.

    foils: of pairs that must differ in identity, the share that are of one category; None leaves it to chance.
    """

    condition_matters: bool = False
    foils: float | None = None

    def __post_init__(self) -> None:
        if self.foils is not None and not 0 <= self.foils <= 1:
            raise refused(f"found foils {self.foils}; expected a share from 0 to 1")


def domain(kind: str, stimuli: Stimuli) -> Sequence[Value]:
    """All answers of a kind: "boolean" or a property."""
    return (True, False) if kind == "boolean" else stimuli.values(kind)


class Way:
    """Backwards through one graph; `relations` collects what it asks of the objects."""

    def __init__(
        self, task: TaskGraph, number: int, session: Session, stimuli: Stimuli, draws: Draws, options: Options
    ) -> None:
        self.task, self.number, self.session = task, number, session
        self.stimuli, self.draws, self.options = stimuli, draws, options
        self.relations: list[Relation] = []

    def backwards(self, wanted: Wanted) -> bool:
        """Wanted value to the root, then from every operator to what it takes its value from. False: contradiction."""
        expected: dict[int, Value] = {self.task.root: wanted.value}
        conditions = {self.task.root: wanted.conditions}
        for node in self.task.order:
            if node not in expected:
                continue
            for child, value in self._step(node, expected[node], conditions).items():
                if expected.setdefault(child, value) != value:
                    return False
        return True

    def _step(self, node: int, value: Value, conditions: dict[int, tuple[bool, ...]]) -> dict[int, Value]:
        operator, children = self.task.operator(node), self.task.children[node]
        if operator.gives == "branch":
            given = conditions.get(node, ())
            truth = given[0] if given else self.draws.chance(0.5)
            taken, other = children[1:] if truth else reversed(children[1:])
            conditions[taken] = given[1:]
            return {children[0]: truth, taken: value, other: self._elsewhere(other, value)}
        if operator.equal is not None:
            self._compare(children, value == operator.equal)
        elif operator.backward is not None:
            return dict(zip(children, operator.backward(bool(value), self.draws), strict=True))
        elif operator.name == "Exist":
            self._exist(children[0], bool(value))
        elif operator.gives == "boolean":
            raise refused(f"operator {operator.name} has no backward function")
        else:
            self.relations.append(Relation(self._asked(node), str(value), True))
        return {}

    def _elsewhere(self, branch: int, value: Value) -> Value:
        """What the branch that is not taken shall give."""
        kind = self.draws.pick(self.task.kinds(branch)) if self.task.operator(branch).gives == "branch" else ""
        kind = kind or self.task.operator(branch).gives
        values = domain(kind, self.stimuli)
        if self.options.condition_matters:
            values = [other for other in values if other != value]
        return self.draws.pick(values)

    def _side(self, node: int) -> Side | str:
        """What a Get or a CONST stands for."""
        data = self.task.graph.nodes[node]
        if data["operator"] == "CONST":
            if data["value"] is not None:
                return str(data["value"])
            name = self.task.property_of(node)
            return Side((f"constant {name}", self.number, node), name)
        return self._asked(node)

    def _asked(self, node: int) -> Side:
        """The property that a Get reads."""
        (selected,) = self.task.children[node]
        return side_of(self.task.property_of(node), self.task.frame(selected), 0)

    def _compare(self, children: Sequence[int], equal: bool) -> None:
        first, second = (self._side(child) for child in children)
        left, right = (first, second) if isinstance(first, Side) else (second, first)
        if not isinstance(left, Side):
            raise refused("a comparison of two fixed values asks nothing")
        self.relations.append(Relation(left, right, equal))
        foils = self.options.foils
        if not equal and foils is not None and left.name == "identity" and isinstance(right, Side):
            alike = self.draws.chance(foils)
            self.relations.append(Relation(Side(left.variable, "category"), Side(right.variable, "category"), alike))

    def _described(self, selected: int) -> list[tuple[str, Side | str]]:
        return [(self.task.property_of(child), self._side(child)) for child in self.task.children[selected]]

    def _exist(self, selected: int, value: bool) -> None:
        frame = self.task.frame(selected)
        here = [slot for at, slot in slots(self.session) if at == frame]
        target = self.draws.pick(here) if value else None
        self._tell_apart(frame, here, target, self._described(selected))

    def descriptions(self) -> None:
        """A described object of which something is asked is the first of its frame, and the only one that fits."""
        for node in self.task.graph:
            for selected in self.task.children[node]:
                described = self.task.graph.nodes[selected]["operator"] == "Select" and self.task.children[selected]
                if described and self.task.operator(node).name != "Exist":
                    frame = self.task.frame(selected)
                    here = [slot for at, slot in slots(self.session) if at == frame]
                    self._tell_apart(frame, here, 0, self._described(selected))

    def _tell_apart(
        self, frame: int, here: Sequence[int], target: int | None, described: Sequence[tuple[str, Side | str]]
    ) -> None:
        for slot in here:
            named = described if slot == target else [self.draws.pick(described)]
            for name, value in named:
                self.relations.append(Relation(side_of(name, frame, slot), value, slot == target))
