from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import (
    OPERATIONS,
    Node,
    PresuppositionError,
    clevr_json,
    parse_clevr,
    parse_program,
    program_json,
)
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor
from diorama.scene_specs.tasks.questions.view import bits_of
from tests.scene_specs.tasks.questions.images import images

VALUES: dict[str, list[Any]] = {
    "filter_size": ["large", "small"], "filter_color": ["red", "blue", "cyan"], "filter_material": ["rubber", "metal"],
    "among": ["blue, gray, red"], "filter_shape": ["cube", "sphere", "cylinder"], "filter_category": ["chair", "car"],
}  # fmt: skip


@st.composite
def programs(draw: Any, output: str, depth: int = 5) -> Node:
    made = sorted(name for name, kind in OPERATIONS.items() if kind.output == output)
    flat = [name for name in made if not OPERATIONS[name].inputs]
    op = draw(st.sampled_from(flat if depth <= 0 and flat else made))
    kind = OPERATIONS[op]
    inputs = tuple(draw(programs(one, depth - 1)) for one in kind.inputs)
    allowed: list[Any] = VALUES.get(op, [*(kind.values or ())])
    return Node(op, draw(st.sampled_from(allowed)) if allowed else None, inputs)


ANY = st.sampled_from(sorted({kind.output for kind in OPERATIONS.values()})).flatmap(programs)


def outcome(run: Any, program: Node) -> Any:
    try:
        return run(program)
    except PresuppositionError:
        return PresuppositionError


@settings(max_examples=60, deadline=None)
@given(ANY)
def test_programs_survive_both_forms(program: Node) -> None:
    assert parse_program(json.loads(json.dumps(program_json(program)))) == program
    assert parse_clevr(json.loads(json.dumps(clevr_json(program)))) == program


@settings(max_examples=150, deadline=None)
@given(ANY)
def test_executors_agree_on_results_and_on_failures(program: Node) -> None:
    for view in images():
        looked_up = outcome(RelationsExecutor(view).run, program)
        computed = outcome(PositionsExecutor(view).run, program)
        if program.output == "set" and looked_up is not PresuppositionError:
            looked_up = frozenset(bits_of(looked_up))
        assert looked_up == computed, (view.episode, program)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("count", "expected a step"),
        (["counts", ["scene"]], "unknown operation 'counts'"),
        (["count"], "found inputs (); expected (set)"),
        (["count", ["unique", ["scene"]]], "found inputs (object)"),
        (["count", 3, ["scene"]], "found the value 3; expected none"),
        (["relate", "near", ["unique", ["scene"]]], "expected left, right"),
        (["filter_color", 3, ["scene"]], "expected one text"),
        (["exactly", True, ["scene"]], "exactly: found [True]"),
    ],
)
def test_wrong_programs_are_named(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"found|unknown") as caught:
        parse_program(data)
    assert message in str(caught.value)


def test_long_programs_are_refused() -> None:
    data: Any = ["scene"]
    for _ in range(300):
        data = ["filter_color", "red", data]
    with pytest.raises(ValueError, match="more than 200 steps"):
        parse_program(data)
    doubling: list[dict[str, Any]] = [{"type": "scene", "inputs": []}]
    doubling += [{"type": "union", "inputs": [k, k]} for k in range(150)]
    with pytest.raises(ValueError, match="more than 200 steps"):
        parse_clevr(doubling)


@pytest.mark.parametrize("steps", [[], "x", [{"type": "scene", "inputs": [0]}], [{"type": "scene"}], [3]])
def test_wrong_clevr_programs_are_named(steps: Any) -> None:
    with pytest.raises(ValueError, match="found"):
        parse_clevr(steps)


def test_steps_of_the_generator_are_read() -> None:
    steps = [
        {"type": "scene", "inputs": []},
        {"type": "filter_color", "inputs": [0], "side_inputs": ["red"]},
        {"type": "count", "inputs": [1]},
    ]
    assert program_json(parse_clevr(steps)) == ["count", ["filter_color", "red", ["scene"]]]
