"""Tasks as NetworkX graphs: nodes are operators, an edge leads from an operator to one that it takes a value from.

Node data: `operator`; of Select `frame` (0-based); of CONST `property` and `value` (None: drawn for every trial). Edge
data: `slot`, the position among the children.

Functions build tasks by hand:

    switch(same(get("location", 0), const("location", "top left")), get("category", 1), get("category", 2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx

from diorama.scene_specs.benchmarks.iwisdm.operators import GETTERS, GRAMMAR, Grammar, Operator, Value
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES, Item
from diorama.scene_specs.errors import spec_error


@dataclass(frozen=True)
class Expression:
    """A task as nested operators, before it becomes a graph."""

    operator: str
    children: tuple[Expression, ...] = ()
    frame: int | None = None
    property: str | None = None
    value: str | None = None


class Shown(NamedTuple):
    """An object of a frame.

    Attributes:
        distractor: the task ignores it.
    """

    item: Item
    distractor: bool = False


class TaskGraph:
    """A checked graph and queries on it. Raises SpecError for a graph that breaks the grammar's rules."""

    def __init__(self, graph: nx.DiGraph, grammar: Grammar = GRAMMAR) -> None:
        self.graph, self.grammar = graph, grammar
        self.root = _check_form(graph)
        # Every operator comes before those that it takes values from.
        self.order: tuple[int, ...] = tuple(nx.lexicographical_topological_sort(graph))
        self.children: Mapping[int, tuple[int, ...]] = {
            node: tuple(sorted(graph.successors(node), key=lambda child: graph.edges[node, child]["slot"]))
            for node in graph
        }
        for node in self.order:
            problem, hint = self._rule_problem(node)
            if problem:
                raise spec_error(f"node {node}: {problem}", hint)

    @classmethod
    def of(cls, expression: Expression, grammar: Grammar = GRAMMAR) -> TaskGraph:
        """Return the graph of nested operators; nodes are numbered depth first, the root is 0."""
        graph = nx.DiGraph()
        _add_expression(graph, expression)
        return cls(graph, grammar)

    def operator(self, node: int) -> Operator:
        """Return the operator of a node."""
        return self.grammar.operator(self.graph.nodes[node]["operator"])

    def _rule_problem(self, node: int) -> tuple[str, str]:
        """Return the rule that a node breaks, and a hint; empty strings if it breaks none."""
        data = self.graph.nodes[node]
        operator = data["operator"]
        names = [self.graph.nodes[child]["operator"] for child in self.children[node]]
        if not self.grammar.fits(operator, names):
            allowed = " or ".join(str(arm) for arm in self.operator(node).arms)
            return f"{operator} can't have the children ({', '.join(names)})", f"allowed: {allowed}"
        if operator == "Exist" and not self.children[self.children[node][0]]:
            return "Exist of an object without a description", "describe it: any object would do"
        if operator == "CONST" and data["property"] not in PROPERTIES:
            return f"CONST of {data['property']!r}", "name its property"
        return self._select_problem(node) if operator == "Select" else "", ""

    def _select_problem(self, node: int) -> str:
        if self.frame(node) < 0:
            return f"Select of frame {self.frame(node)}; frames start at 0"
        named = [self.property_of(child) for child in self.children[node]]
        if len({*named}) < len(named):
            return "Select names a property twice"
        below = [select for child in self.children[node] for select in self.children[child]]
        if any(self.children[select] for select in below):
            return "Select is described by an object that is described itself"
        return "Select is described by two other objects, which no text can tell apart" if len(below) > 1 else ""

    def frame(self, select: int) -> int:
        """Frame of a Select."""
        return int(self.graph.nodes[select]["frame"])

    def property_of(self, node: int) -> str:
        """Return the property that a Get gives, or that the value of a CONST belongs to."""
        data = self.graph.nodes[node]
        return str(data["property"] if data["operator"] == "CONST" else self.operator(node).gives)

    def _nodes_of(self, operator: str) -> tuple[int, ...]:
        return tuple(sorted(node for node, name in self.graph.nodes(data="operator") if name == operator))

    @cached_property
    def selects(self) -> tuple[int, ...]:
        """All Select nodes, by number."""
        return self._nodes_of("Select")

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """All CONST nodes, by number."""
        return self._nodes_of("CONST")

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """Frames that the task looks at, sorted."""
        return tuple(sorted({self.frame(node) for node in self.selects}))

    @cached_property
    def asked(self) -> Mapping[int, tuple[str, ...]]:
        """Frame -> properties of its object that the task uses."""
        properties: dict[int, set[str]] = {frame: set() for frame in self.frames}
        for node in self.selects:
            used = {self.property_of(child) for child in self.children[node]}
            used |= {self.operator(user).gives for user in self.graph.predecessors(node)}
            properties[self.frame(node)] |= used
        return {frame: tuple(name for name in PROPERTIES if name in names) for frame, names in properties.items()}

    def moved(self, by: int) -> TaskGraph:
        """Return the same task, `by` frames later."""
        graph = self.graph.copy()
        for node in self.selects:
            graph.nodes[node]["frame"] += by
        return TaskGraph(graph, self.grammar)

    def leaves(self, node: int | None = None) -> list[tuple[tuple[bool, ...], str]]:
        """(truth of each condition on the way, kind of the answer) of every question below the Switches at the root.

        A kind is "boolean" or a property. Then-branches come first.
        """
        at = self.root if node is None else node
        if self.operator(at).gives != "branch":
            return [((), self.operator(at).gives)]
        _, *branches = self.children[at]
        return [
            ((truth, *way), kind)
            for truth, branch in zip((True, False), branches, strict=True)
            for way, kind in self.leaves(branch)
        ]

    def evaluate(self, frames: Sequence[Sequence[Shown]], constants: Mapping[int, str]) -> dict[int, Value]:
        """Return the value of every node.

        A Select without a description takes the frame's only object that is not a distractor, a described one the first
        that fits.

        Args:
            frames: objects of each frame.
            constants: value of each CONST.

        Raises:
            SpecError: where a property is asked of an object that is missing.
        """
        values: dict[int, Value] = {}
        for node in reversed(self.order):
            name = self.graph.nodes[node]["operator"]
            if name == "CONST":
                values[node] = constants[node]
            elif name == "Select":
                wanted = [(self.property_of(child), values[child]) for child in self.children[node]]
                values[node] = _select_object(frames[self.frame(node)], wanted)
            else:
                forward = self.operator(node).forward
                if forward is None:
                    raise spec_error(f"operator {name} has no forward function")
                values[node] = forward([values[child] for child in self.children[node]])
        return values

    def data(self, constants: Mapping[int, str] | None = None, node: int | None = None) -> dict[str, Any]:
        """Return the graph as nested JSON data: `name`, `child`, and `frame`, or `property` and `value`."""
        at = self.root if node is None else node
        data = self.graph.nodes[at]
        nested: dict[str, Any] = {"name": data["operator"]}
        if data["operator"] == "Select":
            nested["frame"] = data["frame"]
        if data["operator"] == "CONST":
            nested |= {"property": data["property"], "value": (constants or {}).get(at, data["value"])}
        nested["child"] = [self.data(constants, child) for child in self.children[at]]
        return nested


class PlacedTask(NamedTuple):
    """A task whose frames are those of the trial, and the frame in which its answer is due."""

    task: TaskGraph
    answer_frame: int


def _select_object(shown: Sequence[Shown], wanted: Sequence[tuple[str, Value]]) -> Item | None:
    if not wanted:
        return next((seen.item for seen in shown if not seen.distractor), None)
    return next((seen.item for seen in shown if all(seen.item.value(name) == value for name, value in wanted)), None)


def _add_expression(graph: nx.DiGraph, expression: Expression) -> int:
    node: int = graph.number_of_nodes()
    graph.add_node(node, operator=expression.operator)
    if expression.operator == "Select":
        graph.nodes[node]["frame"] = -1 if expression.frame is None else expression.frame
    if expression.operator == "CONST":
        graph.nodes[node].update(property=expression.property, value=expression.value)
    for slot, child in enumerate(expression.children):
        graph.add_edge(node, _add_expression(graph, child), slot=slot)
    return node


def _check_form(graph: nx.DiGraph) -> int:
    """Return the root. Raises SpecError for a graph with cycles, several roots, or wrong slots."""
    if not graph or not nx.is_directed_acyclic_graph(graph):
        raise spec_error("a task's graph must have nodes and no cycle")
    roots = [node for node in graph if graph.in_degree(node) == 0]
    if len(roots) != 1:
        raise spec_error(f"a task's graph must have one root; found {len(roots)}: {roots}")
    for node in graph:
        slots = sorted(graph.edges[edge]["slot"] for edge in graph.out_edges(node))
        if slots != list(range(len(slots))):
            raise spec_error(f"node {node}: the slots of its edges must be 0, 1, ...; found {slots}")
    return int(roots[0])


def select(frame: int, *described: Expression) -> Expression:
    """Return the object of a frame (0-based).

    Args:
        described: constants, or properties of other objects, that it must have.
    """
    return Expression("Select", described, frame=frame)


def get(name: str, frame: int | Expression) -> Expression:
    """Return a property of the object of a frame, or of a selected object."""
    return Expression(GETTERS[name], (select(frame) if isinstance(frame, int) else frame,))


def const(name: str, value: str | None = None) -> Expression:
    """Return a value of a property; without a value, each trial draws its own."""
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
    """Return the answer to one question or to another."""
    return Expression("Switch", (condition, then, otherwise))
