"""The second evaluator, sentence by sentence; and that it says what it can't read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.iwisdm.reader import UnreadableError, read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, LOCATIONS, PROPERTIES, VIEW_ANGLES, Item
from diorama.scene_specs.benchmarks.iwisdm.task_graph import (
    Expression,
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
from diorama.scene_specs.benchmarks.iwisdm.trial import answer_text, instruction
from diorama.scene_specs.benchmarks.iwisdm.trial import question as worded

CAR = {"category": "cars", "identity": "cars/#1", "location": "top left", "view_angle": "front"}
OTHER = {"category": "cars", "identity": "cars/#2", "location": "top right", "view_angle": "left"}
BOAT = {"category": "boats", "identity": "boats/#1", "location": "bottom left", "view_angle": "front"}
TWO = "observe object 1, observe object 2, "

SENTENCES = [
    (TWO + "category of object 1 equals category of object 2?", [[CAR], [OTHER]], "true"),
    (TWO + "identity of object 1 equals identity of object 2?", [[CAR], [OTHER]], "false"),
    (TWO + "location of object 2 not equals top right?", [[CAR], [OTHER]], "false"),
    (TWO + "bottom left equals location of object 2?", [[CAR], [BOAT]], "true"),
    (TWO + "view_angle of object 1 equals view_angle of object 2 and category of object 2 equals boats?",
     [[CAR], [BOAT]], "true"),
    (TWO + "category of object 1 equals boats or category of object 2 equals boats?", [[CAR], [OTHER]], "false"),
    (TWO + "(category of object 1 equals boats or category of object 2 equals cars) and location of object 1 equals "
     "top left?", [[CAR], [OTHER]], "true"),
    (TWO + "if category of object 1 equals cars, then location of object 2? else category of object 2?",
     [[CAR], [BOAT]], "bottom left"),
    (TWO + "if category of object 1 equals boats, then location of object 2? else if category of object 2 equals "
     "cars, then category of object 1? else location of object 1?", [[CAR], [BOAT]], "top left"),
    # Older published code, and the paper.
    (TWO + "loc of object 1 equal loc of object 2 ?", [[CAR], [OTHER]], "false"),
    (TWO + "object of object 1 equal object of object 2 ?", [[CAR], [CAR]], "true"),
    (TWO + "category of object 1 not equal category of object 2 and location of object 1 equals location: top left ?",
     [[CAR], [BOAT]], "true"),
    (TWO + "if location: top left not equal location of object 1, then category of object 1 ? else category of "
     "object 2 ?", [[CAR], [BOAT]], "boats"),
    ("observe object 1, exists object 1 with category: boats?", [[CAR, BOAT]], "true"),
    ("observe object 1, exists object 1 with category: boats at location: top left?", [[CAR, BOAT]], "false"),
    ("observe object 1, location of object 1 with category: boats?", [[CAR, BOAT]], "bottom left"),
    (TWO + "location of object 2 with category: category of object 1?", [[CAR], [BOAT, OTHER]], "top right"),
    ("observe object 1 at location: bottom left, category of object 1?", [[CAR, BOAT]], "boats"),
    ("observe object 1 with category: cars, identity of object 1 equals cars/#1?", [[BOAT, CAR]], "true"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "frames", "answer"), SENTENCES, ids=[text for text, _, _ in SENTENCES])
def test_a_sentence(text: str, frames: list[list[dict[str, str]]], answer: str) -> None:
    found = read(text, frames).answers
    assert found[-1] == answer
    assert {*found[:-1]} <= {"null"}


def test_delays_have_any_length_and_answers_their_own_frames() -> None:
    text = (
        "observe object 1, delay, location of object 1? observe object 2, category of object 2? view_angle of object 1?"
    )
    assert read(text, [[CAR], [], [], [BOAT]]).answers == ("null", "null", "top left", "boats; front")
    assert read("observe object 1, category of object 1?", [[CAR]]).answers == ("cars",)


def test_both_branches_are_told() -> None:
    text = TWO + "if category of object 1 equals cars, then location of object 1? else category of object 2?"
    assert read(text, [[CAR], [BOAT]]).branches == (("top left", "boats"),)


UNREADABLE = [
    ("observe object 1, category of object 1", [[CAR]], r"expected '\?'"),
    ("category of object 1?", [[CAR]], "expected 'observe object 1,'"),
    ("observe object 1, category of object 2?", [[CAR]], "an observed object"),
    ("observe object 1, delay, category of object 1?", [[CAR], [BOAT]], "frame 1 contradicts"),
    ("observe object 1, observe object 2, category of object 1?", [[CAR]], "frame 1 contradicts"),
    ("observe object 1, category of object 1?", [[CAR], [BOAT]], "ends at frame 0; there are 2"),
    ("observe object 1, category of object 1?", [[CAR, BOAT]], "2 objects fit"),
    ("observe object 1 with category: boats, location of object 1?", [[CAR]], "0 objects fit"),
    ("observe object 1, colour of object 1?", [[CAR]], "unknown property 'colour'"),
    ("observe object 1, if category of object 1, then location of object 1? else location of object 1?", [[CAR]],
     "neither true nor false"),
    (TWO + "category of object 1 equals a and category of object 1 equals b or category of object 1 equals c?",
     [[CAR], [BOAT]], "without brackets"),
    (TWO + "category of object 1 and category of object 2 equals b?", [[CAR], [BOAT]], "not true or false"),
    (f"observe object {'1' * 5000}, location of object 1?", [[CAR]], "expected 'observe object 1,'"),
    (f"observe object 1, location of object {'1' * 5000}?", [[CAR]], "expected an observed object"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "frames", "problem"), UNREADABLE, ids=[problem for _, _, problem in UNREADABLE])
def test_what_it_cannot_read_it_says(text: str, frames: list[list[dict[str, str]]], problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem):
        read(text, frames)


ITEM = st.builds(
    lambda place, model, side: Item(place, model[0], model[1], side),
    st.sampled_from(LOCATIONS), st.sampled_from(DEFAULT.identities[:20]), st.sampled_from(VIEW_ANGLES),
)  # fmt: skip
LENGTH = 4
LOOKS = st.integers(0, LENGTH - 1)
GETS = st.builds(get, st.sampled_from(PROPERTIES), LOOKS)


@st.composite
def comparisons(draw: st.DrawFn) -> Expression:
    name = draw(st.sampled_from(PROPERTIES))
    word = const(name, draw(st.sampled_from(DEFAULT.values(name))))
    sides = [get(name, draw(LOOKS)), draw(st.sampled_from([word, get(name, draw(LOOKS))]))]
    left, right = draw(st.permutations(sides))
    return draw(st.sampled_from([same, different]))(left, right)


@st.composite
def existences(draw: st.DrawFn) -> Expression:
    names = draw(st.lists(st.sampled_from(PROPERTIES), min_size=1, max_size=3, unique=True))
    words = [const(name, draw(st.sampled_from(DEFAULT.values(name)))) for name in names[1:]]
    first = draw(st.sampled_from([const(names[0], DEFAULT.values(names[0])[0]), get(names[0], draw(LOOKS))]))
    return exists(select(draw(LOOKS), first, *words))


CONDITIONS = st.recursive(
    comparisons() | existences(),
    lambda below: st.builds(both, below, below) | st.builds(either, below, below),
    max_leaves=5,
)
QUESTIONS = st.recursive(
    CONDITIONS | GETS, lambda below: st.builds(switch, CONDITIONS, below, below), max_leaves=4
)  # fmt: skip


@given(QUESTIONS, st.lists(ITEM, min_size=LENGTH, max_size=LENGTH), st.integers(0, 3))
def test_reading_and_graphs_agree_on_any_question(question: Expression, items: list[Item], delay: int) -> None:
    """Two programs that share nothing but the language: values up the graph, and the words read."""
    task = TaskGraph.of(question)
    constants = {node: str(task.graph.nodes[node]["value"]) for node in task.constants}
    shown = [[Shown(item)] for item in items]
    # Delays come first, so that frames and numbers differ.
    frames: list[list[Shown]] = [[] for _ in range(delay)] + shown
    value = task.evaluate(shown, constants)[task.root]
    number = {frame: frame + 1 for frame in range(LENGTH)}
    text = instruction(frames, {}, [(len(frames) - 1, worded(task, constants, number))])
    seen = [[{name: one.item.value(name) for name in PROPERTIES} for one in row] for row in frames]
    assert read(text, seen).answers[-1] == answer_text(value)


@pytest.mark.parametrize("question", ["category of object 1 equals car", "car not equals category of object 1"])
def test_values_that_are_not_known_are_refused(question: str) -> None:
    known = {"category": ("cars", "boats"), "location": LOCATIONS}
    text = f"observe object 1, {question}?"
    assert read(text.replace("car", "cars"), [[CAR]], known).answers == ("true" if "not" not in question else "false",)
    assert read(text, [[CAR]]).answers == ("false" if "not" not in question else "true",)
    with pytest.raises(UnreadableError, match="found 'car'; expected one of boats, cars at 'car"):
        read(text, [[CAR]], known)
    # Identities have no list.
    assert read("observe object 1, identity of object 1 equals cars/#9?", [[CAR]], known).answers == ("false",)
