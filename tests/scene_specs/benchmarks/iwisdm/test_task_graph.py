"""Graphs of operators: what the rules let through, what they refuse, and operators that a user adds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import networkx as nx
import pytest

from diorama.scene_specs.benchmarks.iwisdm.constraints import TargetAnswer
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import FramePlan
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import GRAMMAR, Operator
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, Item
from diorama.scene_specs.benchmarks.iwisdm.task_graph import (
    Expression,
    PlacedTask,
    Shown,
    TaskGraph,
    both,
    const,
    different,
    either,
    exists,
    get,
    same,
    select,
    switch,
)
from diorama.scene_specs.benchmarks.iwisdm.trial import make_trial
from diorama.scene_specs.errors import SpecError


def expression_of(data: Mapping[str, Any]) -> Expression:
    """The inverse of TaskGraph.data."""
    children = tuple(expression_of(child) for child in data["child"])
    return Expression(data["name"], children, data.get("frame"), data.get("property"), data.get("value"))


CAR = Item("top left", "cars", "cars/#1", "front")
BOAT = Item("bottom right", "boats", "boats/#2", "left")
FRAMES = [[Shown(CAR)], [], [Shown(BOAT)], [Shown(BOAT, distractor=True), Shown(CAR)]]
CATEGORIES = same(get("category", 0), get("category", 2))

VALUES = [
    (get("location", 0), "top left"),
    (get("category", 2), "boats"),
    (get("identity", 0), "cars/#1"),
    (get("view_angle", 2), "left"),
    (CATEGORIES, False),
    (different(get("category", 0), get("category", 2)), True),
    (same(const("location", "top left"), get("location", 0)), True),
    (both(CATEGORIES, same(get("identity", 0), get("identity", 3))), False),
    (either(CATEGORIES, same(get("identity", 0), get("identity", 3))), True),
    (exists(select(3, const("category", "boats"))), True),
    (exists(select(3, const("category", "boats"), const("location", "top left"))), False),
    (exists(select(1, const("category", "boats"))), False),
    (get("location", select(3, get("category", 2))), "bottom right"),
    (switch(CATEGORIES, get("location", 0), get("category", 0)), "cars"),
]


@pytest.mark.parametrize(("expression", "value"), VALUES, ids=lambda part: getattr(part, "operator", str(part)))
def test_values_come_forwards(expression: Expression, value: object) -> None:
    task = TaskGraph.of(expression)
    constants = {node: task.graph.nodes[node]["value"] for node in task.constants}
    assert task.evaluate(FRAMES, constants)[task.root] == value
    assert expression_of(json.loads(json.dumps(task.data()))) == expression
    assert nx.is_directed_acyclic_graph(task.graph)


WRONG = [
    (same(get("category", 0), get("location", 1)), "IsSame can't have the children (GetCategory, GetLocation)"),
    (same(const("location"), const("location")), "can't have the children (CONST, CONST)"),
    (both(CATEGORIES, get("category", 0)), "And can't have"),
    (switch(get("category", 0), CATEGORIES, CATEGORIES), "Switch can't have"),
    (exists(select(0)), "Exist of an object without a description"),
    (get("category", -2), "frames start at 0"),
    (get("category", select(0, const("location"), get("location", 1))), "names a property twice"),
    (get("category", select(0, get("location", select(1, const("identity"))))), "described itself"),
    (exists(select(0, get("location", 1), get("category", 2))), "described by two other objects"),
    (Expression("Maybe"), "found operator 'Maybe'; allowed: Select"),
    (Expression("GetCategory", (Expression("Select"),)), "frames start at 0"),
]


@pytest.mark.parametrize(("expression", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_what_breaks_the_rules_is_refused(expression: Expression, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        TaskGraph.of(expression)
    assert problem in str(caught.value)


def test_a_graph_of_the_users_own() -> None:
    """Two comparisons may share a Select: a graph, not only a tree."""
    graph = nx.DiGraph()
    for node, operator in enumerate(
        ["And", "IsSame", "IsSame", "GetLocation", "GetCategory", "Select", "CONST", "CONST"]
    ):
        graph.add_node(node, operator=operator)
    graph.nodes[5]["frame"] = 0
    graph.nodes[6].update(property="location", value="top left")
    graph.nodes[7].update(property="category", value=None)
    for parent, *children in [(0, 1, 2), (1, 3, 6), (2, 4, 7), (3, 5), (4, 5)]:
        for slot, child in enumerate(children):
            graph.add_edge(parent, child, slot=slot)
    task = TaskGraph(graph)
    for wanted in (True, False):
        trial = make_trial(
            FramePlan(1, (PlacedTask(task, 0),)), [TargetAnswer(wanted)], DEFAULT, KeyedRng(1, "x", str(wanted))
        )
        assert trial.answers == (str(wanted).lower(),)
    graph.add_edge(5, 0, slot=0)
    with pytest.raises(SpecError, match="no cycle"):
        TaskGraph(graph)


XOR = Operator(
    "Xor", "boolean", arms=(("boolean", "boolean"),), text="either {0} or else {1}", join=True,
    forward=lambda sides: sides[0] != sides[1],
    backward=lambda wanted, rng: rng.pick([(True, not wanted), (False, wanted)]),
)  # fmt: skip


def test_an_operator_that_a_user_adds() -> None:
    grammar = GRAMMAR.with_operator(XOR)
    assert "Xor" not in GRAMMAR.operators
    sides = (same(get("category", 0), get("category", 2)), same(get("category", 1), const("category", "cars")))
    task = TaskGraph.of(Expression("Xor", sides), grammar)
    for number in range(40):
        for wanted in (True, False):
            rng = KeyedRng(number, "xor", str(wanted))
            trial = make_trial(FramePlan(6, (PlacedTask(task, 5),)), [TargetAnswer(wanted)], DEFAULT, rng)
            assert trial.answers[5] == str(wanted).lower()
            assert "either " in trial.instruction
