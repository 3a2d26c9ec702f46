"""A task as a NetworkX graph: nodes are operators, an edge leads from an operator to what it takes its value from.

Node data: `operator`; of Select `frame` (0-based); of CONST `property` and `value` (None: drawn anew for every trial).
Edge data: `slot`, the place among the children.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx

from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import GRAMMAR, Grammar, Operator, Value
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES, Item


@dataclass(frozen=True)
class Expression:
    """A task as nested operators, before it is a graph; see scene_specs.benchmarks.iwisdm.expressions."""

    operator: str
    children: tuple[Expression, ...] = ()
    frame: int | None = None
    property: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Shown:
    """An object of a frame. distractor: put there to be ignored."""

    item: Item
    distractor: bool = False


class TaskGraph:
    """A checked graph, and what can be asked of it. Raises SpecError for a graph that breaks the grammar's rules."""

    def __init__(self, graph: nx.DiGraph, grammar: Grammar = GRAMMAR) -> None:
        self.graph, self.grammar = graph, grammar
        _check_form(graph)
        self.root: int = next(node for node in graph if graph.in_degree(node) == 0)
        # Consumers before what they take their values from.
        self.order: tuple[int, ...] = tuple(nx.lexicographical_topological_sort(graph))
        self.children: Mapping[int, tuple[int, ...]] = {
            node: tuple(sorted(graph.successors(node), key=lambda child: graph.edges[node, child]["slot"]))
            for node in graph
        }
        self._check_rules()

    @classmethod
    def of(cls, expression: Expression, grammar: Grammar = GRAMMAR) -> TaskGraph:
        """The graph of nested operators; nodes are numbered depth first, the root is 0."""
        graph = nx.DiGraph()
        _add(graph, expression)
        return cls(graph, grammar)

    def operator(self, node: int) -> Operator:
        """The operator of a node."""
        return self.grammar.operator(self.graph.nodes[node]["operator"])

    def _check_rules(self) -> None:
        for node in self.order:
            data = self.graph.nodes[node]
            names = [self.graph.nodes[child]["operator"] for child in self.children[node]]
            if not self.grammar.fits(data["operator"], names):
                raise refused(
                    f"node {node}: {data['operator']} can't have the children ({', '.join(names)})",
                    f"allowed: {' or '.join(str(arm) for arm in self.operator(node).arms)}",
                )
            if data["operator"] == "Select":
                self._check_select(node)
            if data["operator"] == "Exist" and not self.children[self.children[node][0]]:
                raise refused(f"node {node}: Exist of an object without a description", "describe it: any would do")
        for node in self.order:
            if self.graph.nodes[node]["operator"] == "CONST" and self.graph.nodes[node]["property"] not in PROPERTIES:
                raise refused(f"node {node}: CONST of {self.graph.nodes[node]['property']!r}", "name its property")

    def _check_select(self, node: int) -> None:
        if self.frame(node) < 0:
            raise refused(f"node {node}: Select of frame {self.frame(node)}; frames start at 0")
        named = [self.property_of(child) for child in self.children[node]]
        if len({*named}) < len(named):
            raise refused(f"node {node}: Select names a property twice")
        below = [select for child in self.children[node] for select in self.children[child]]
        if any(self.children[select] for select in below):
            raise refused(f"node {node}: Select is described by an object that is described itself")
        if len(below) > 1:
            raise refused(
                f"node {node}: Select is described by two other objects", "in words that is not to be told apart"
            )

    def frame(self, select: int) -> int:
        """Frame of a Select."""
        return int(self.graph.nodes[select]["frame"])

    def property_of(self, node: int) -> str:
        """Property that a Get gives, or a CONST is a value of."""
        data = self.graph.nodes[node]
        return str(data["property"] if data["operator"] == "CONST" else self.operator(node).gives)

    @cached_property
    def selects(self) -> tuple[int, ...]:
        """All Select nodes, by number."""
        return tuple(sorted(node for node in self.graph if self.graph.nodes[node]["operator"] == "Select"))

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """All CONST nodes, by number."""
        return tuple(sorted(node for node in self.graph if self.graph.nodes[node]["operator"] == "CONST"))

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """Frames that the task looks at, sorted."""
        return tuple(sorted({self.frame(node) for node in self.selects}))

    @cached_property
    def asked(self) -> Mapping[int, tuple[str, ...]]:
        """Frame -> properties of its object that the task uses."""
        found: dict[int, set[str]] = {frame: set() for frame in self.frames}
        for node in self.graph:
            for child in self.children[node]:
                if self.graph.nodes[child]["operator"] == "Select" and self.operator(node).gives in PROPERTIES:
                    found[self.frame(child)].add(self.operator(node).gives)
        for node in self.selects:
            found[self.frame(node)] |= {self.property_of(child) for child in self.children[node]}
        return {frame: tuple(name for name in PROPERTIES if name in names) for frame, names in found.items()}

    def moved(self, by: int) -> TaskGraph:
        """The same task, so many frames later."""
        graph = self.graph.copy()
        for node in self.selects:
            graph.nodes[node]["frame"] += by
        return TaskGraph(graph, self.grammar)

    def kinds(self, node: int | None = None) -> tuple[str, ...]:
        """What each leaf of the Switches at the root gives, then-branches first: "boolean" or a property."""
        at = self.root if node is None else node
        if self.operator(at).gives != "branch":
            return (self.operator(at).gives,)
        _, then, other = self.children[at]
        return (*self.kinds(then), *self.kinds(other))

    def count(self, *names: str) -> int:
        """How many nodes have one of these operators."""
        return sum(self.graph.nodes[node]["operator"] in names for node in self.graph)

    def evaluate(self, frames: Sequence[Sequence[Shown]], constants: Mapping[int, str]) -> dict[int, Value]:
        """The value of every node. frames: objects of each frame. constants: value of each CONST.

        A Select without a description takes the frame's only object that is no distractor, a described one the first
        that fits. Raises SpecError where a property is asked of an object that is not there.
        """
        values: dict[int, Value] = {}
        for node in reversed(self.order):
            name = self.graph.nodes[node]["operator"]
            if name == "CONST":
                values[node] = constants[node]
            elif name == "Select":
                wanted = [(self.property_of(child), values[child]) for child in self.children[node]]
                values[node] = _found(frames[self.frame(node)], wanted)
            else:
                forward = self.operator(node).forward
                if forward is None:
                    raise refused(f"operator {name} has no forward function")
                values[node] = forward([values[child] for child in self.children[node]])
        return values

    def data(self, constants: Mapping[int, str] | None = None, node: int | None = None) -> dict[str, Any]:
        """The graph as nested JSON data: `name`, `child`, and `frame`, or `property` and `value`."""
        at = self.root if node is None else node
        data = self.graph.nodes[at]
        nested: dict[str, Any] = {"name": data["operator"]}
        if data["operator"] == "Select":
            nested["frame"] = data["frame"]
        if data["operator"] == "CONST":
            nested |= {"property": data["property"], "value": (constants or {}).get(at, data["value"])}
        nested["child"] = [self.data(constants, child) for child in self.children[at]]
        return nested


def expression_of(data: Mapping[str, Any]) -> Expression:
    """The inverse of TaskGraph.data."""
    children = tuple(expression_of(child) for child in data["child"])
    return Expression(data["name"], children, data.get("frame"), data.get("property"), data.get("value"))


def _found(shown: Sequence[Shown], wanted: Sequence[tuple[str, Value]]) -> Item | None:
    if not wanted:
        return next((one.item for one in shown if not one.distractor), None)
    fitting = (one.item for one in shown if all(one.item.value(name) == value for name, value in wanted))
    return next(fitting, None)


def _add(graph: nx.DiGraph, expression: Expression) -> int:
    node: int = graph.number_of_nodes()
    graph.add_node(node, operator=expression.operator)
    if expression.operator == "Select":
        graph.nodes[node]["frame"] = -1 if expression.frame is None else expression.frame
    if expression.operator == "CONST":
        graph.nodes[node].update(property=expression.property, value=expression.value)
    for slot, child in enumerate(expression.children):
        graph.add_edge(node, _add(graph, child), slot=slot)
    return node


def _check_form(graph: nx.DiGraph) -> None:
    if not graph or not nx.is_directed_acyclic_graph(graph):
        raise refused("a task's graph must have nodes and no cycle")
    roots = [node for node in graph if graph.in_degree(node) == 0]
    if len(roots) != 1:
        raise refused(f"a task's graph must have one root; found {len(roots)}: {roots}")
    for node in graph:
        slots = sorted(graph.edges[edge]["slot"] for edge in graph.out_edges(node))
        if slots != list(range(len(slots))):
            raise refused(f"node {node}: the slots of its edges must be 0, 1, ...; found {slots}")
