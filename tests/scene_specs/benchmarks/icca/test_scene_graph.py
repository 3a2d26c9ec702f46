"""Descriptions against an exhaustive search that shares no code with them."""

from __future__ import annotations

from itertools import chain, combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.icca.layout import (
    SceneGraph,
    agreement,
    count_differences,
    graph_from_json,
    graph_of,
    is_true_of,
    subgraph,
)
from diorama.scene_specs.benchmarks.icca.referring_expressions import (
    IndistinguishableError,
    Lexicon,
    full_brevity,
    incremental,
    pruned_incremental,
    single_names,
    text_of,
)
from tests.scene_specs.benchmarks.icca.pieces import pictures


def true_of(description: SceneGraph, picture: SceneGraph) -> bool:
    """By trying every way to point at the things that are spoken of."""
    for taken in permutations(range(len(picture.objects)), len(description.objects)):
        fits = all({*said} <= {*picture.objects[k]} for said, k in zip(description.objects, taken, strict=True))
        stands = all((name, taken[a], taken[b]) in picture.relations for name, a, b in description.relations)
        if fits and stands:
            return True
    return False


def all_parts(picture: SceneGraph, most: int) -> list[SceneGraph]:
    count = len(picture.atoms())
    chosen = chain.from_iterable(combinations(range(count), size) for size in range(1, most + 1))
    return [subgraph(picture, sum(1 << k for k in one)) for one in chosen]


@given(pictures(), pictures())
def test_holds_is_what_pointing_gives(description: SceneGraph, picture: SceneGraph) -> None:
    assert is_true_of(description, picture) == true_of(description, picture)
    assert agreement(description, picture) <= len(description.atoms())


@given(pictures())
def test_every_part_of_a_picture_is_true_of_it(picture: SceneGraph) -> None:
    for part in all_parts(picture, 2):
        assert true_of(part, picture)
        assert is_true_of(part, picture)


@given(st.integers(2, 3).flatmap(lambda n: st.tuples(pictures(n), pictures(n), st.permutations(range(n)))))
def test_differences_are_symmetric_and_blind_to_order(case: tuple[SceneGraph, SceneGraph, list[int]]) -> None:
    one, other, order = case
    plain, also = (graph_of([dict(thing) for thing in p.objects]) for p in (one, other))
    moved = graph_of([dict(plain.objects[k]) for k in order])
    assert count_differences(plain, moved) == 0
    assert count_differences(plain, also) == count_differences(also, plain) == count_differences(moved, also)


@settings(max_examples=60, deadline=None)
@given(pictures(2), st.lists(pictures(2), min_size=1, max_size=3))
def test_descriptions_name_the_target_and_full_brevity_is_shortest(
    target: SceneGraph, others: list[SceneGraph]
) -> None:
    if any(true_of(target, one) for one in others):
        with pytest.raises(IndistinguishableError):
            full_brevity(target, others)
        with pytest.raises(IndistinguishableError):
            incremental(target, others)
        return
    short, step, less = (make(target, others) for make in (full_brevity, incremental, pruned_incremental))
    for said in (short, step, less):
        assert true_of(said, target)
        assert not any(true_of(said, one) for one in others)
    assert len(short.atoms()) <= len(less.atoms()) <= len(step.atoms())
    shorter = all_parts(target, len(short.atoms()) - 1)
    assert not [part for part in shorter if not any(true_of(part, one) for one in others)]


def test_single_values_by_hand() -> None:
    target = graph_of([{"color": "red"}, {"color": "blue"}])
    others = [graph_of([{"color": "green"}, {"color": "blue"}]), graph_of([{"color": "green"}, {"color": "gray"}])]
    assert single_names(target, others) == ["color=red", "no color=green"]
    left = graph_of([{"color": "red"}, {"color": "blue"}], [("left", 0, 1)])
    right = graph_of([{"color": "red"}, {"color": "blue"}], [("right", 0, 1)])
    assert single_names(left, [right]) == ["left 0 1"]


def test_counts_are_told_apart() -> None:
    two = graph_of([{"color": "red"}, {"color": "red"}])
    one = graph_of([{"color": "red"}, {"color": "blue"}])
    assert full_brevity(two, [one]).objects == ((("color", "red"),), (("color", "red"),))


def test_english() -> None:
    cube = {"size": "large", "color": "orange", "shape": "cube"}
    said = graph_of([{"color": "red"}, cube, {"shape": "star"}], [("right", 0, 1), ("behind", 1, 0)])
    text = text_of(said)
    assert text == "a star, a red thing in front of a large orange cube and the large orange cube left of the red thing"
    assert text_of(graph_of([{"color": "orange", "shape": "cube"}, {"part": "legs"}])) == "an orange cube and legs"
    lexicon = Lexicon([said])
    heard = lexicon.parse(text)
    assert is_true_of(heard, said)
    assert len(heard.atoms()) == len(said.atoms())
    assert lexicon.parse("whatever it may be").objects == ()
    assert lexicon.parse("red, then a star cube").objects == (
        (("color", "red"),), (("shape", "star"),), (("shape", "cube"),),
    )  # fmt: skip


def test_very_long_messages_are_heard_in_time() -> None:
    seen = graph_of([{"color": "red", "shape": "cube"}, {"color": "blue", "shape": "sphere"}])
    heard = Lexicon([seen]).parse("a red cube left of a blue sphere, " * 30)
    assert len(heard.objects) == 7
    assert agreement(heard, seen) == 4


def test_of_no_words_none_is_heard() -> None:
    assert Lexicon([graph_of([{}])]).parse("a  red cube!?").objects == ()


def test_alike_things_are_told_apart() -> None:
    cube, plain = {"shape": "cube"}, {"color": "red"}
    first, second = (
        text_of(graph_of([cube, {}, {}], [("front", 2, 1), ("left", 0, which)])) for which in (2, 1)
    )  # fmt: skip
    assert first == "a thing in front of another thing and a cube left of the first thing"
    assert second == "a thing in front of another thing and a cube left of the second thing"
    assert text_of(graph_of([plain] * 3)) == "a red thing, another red thing and a third red thing"


@settings(max_examples=200, deadline=None)
@given(pictures(), st.data())
def test_what_is_said_is_heard(picture: SceneGraph, data: st.DataObject) -> None:
    chosen = data.draw(st.integers(1, 2 ** len(picture.atoms()) - 1))
    for said in (picture, subgraph(picture, chosen)):
        heard = Lexicon([picture]).parse(text_of(said))
        assert len(heard.atoms()) == len(said.atoms())
        assert true_of(heard, said)
        assert true_of(said, heard)


@pytest.mark.parametrize(
    "data",
    [{}, {"things": 3}, {"things": [{"color": 1}]}, {"things": [{}], "relations": [["left", 0, 1]]},
     {"things": [{}, {}], "relations": [["above", 0, 1]]}, {"things": [{}] * 8}, [], None],
)  # fmt: skip
def test_data_that_is_no_picture(data: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        graph_from_json(data)
