from __future__ import annotations

import dataclasses

import pytest

from diorama.scene_specs.tasks.questions.captions import captions, scene_graph
from diorama.scene_specs.tasks.questions.expressions import Expression, expressions
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import ATTRIBUTES
from diorama.scene_specs.tasks.questions.relations_executor import attempt
from tests.scene_specs.tasks.questions.images import images, stacked, touching
from tools.claims.check_questions import descriptions


def all_expressions() -> list[Expression]:
    return [one for view in images() for one in expressions(view, default_grammar(), 0, 20)]


def test_a_reader_of_the_words_finds_the_object_and_nothing_else() -> None:
    made = all_expressions()
    assert len(made) == sum(len(view.objects) for view in images())
    grammar = default_grammar()
    for one in made:
        lexicon = grammar.lexicon_of({name: [*values] for name, values in one.view.value_bits.items()})
        for text in one.texts:
            ((_, program),) = grammar.readings(text, lexicon, "named")
            assert PositionsExecutor(one.view).run(program) == one.target


def test_no_shorter_description_means_the_object() -> None:
    for one in all_expressions():
        run = PositionsExecutor(one.view).run
        for length in range(one.length):
            assert all(attempt(run, node) != one.target for node in descriptions(one.view, run, length))
        assert any(attempt(run, node) == one.target for node in descriptions(one.view, run, one.length))


def test_a_detailed_expression_has_all_attributes() -> None:
    one = next(one for one in all_expressions() if one.view == stacked() and one.target == 2)
    assert one.data()["detailed"]["text"].split()[1:3] in (["large", "green"], ["big", "green"])
    assert {"bbox", "mask", "length", "shortest"} <= one.data().keys()


def test_captions_name_what_is_there() -> None:
    made = captions(stacked(), default_grammar(), 20)
    assert made["short"] == "A car, a chair, two cubes, a cylinder, and two spheres."
    assert made["dense"].startswith("A large red rubber cube, a small blue metal sphere, a large green metal cylinder,")
    assert " is on top of " in made["dense"]
    assert captions(stacked(), default_grammar(), 10**6)["short"] == "Nothing."


def test_a_scene_graph_has_clevr_s_form_and_the_vertical_relations() -> None:
    graph = scene_graph(stacked(), 7)
    assert graph["image_filename"] == "CLEVR_new_000007.png"
    assert [item["category"] for item in graph["objects"]][4:6] == ["chair", "car"]
    assert graph["relationships"]["on"][0] == [1]
    assert graph["relationships"]["below"][1] == [0]
    assert len(graph["relationships"]["left"]) == len(graph["objects"])


@pytest.mark.parametrize("name", ["ball", "thing", "red cube"])
def test_words_with_two_meanings_are_not_used(name: str) -> None:
    items = [*stacked().objects]
    items[4] = dataclasses.replace(items[4], values={**items[4].values, "category": name, "color": None})
    named = dataclasses.replace(stacked(), objects=tuple(items))
    grammar = default_grammar()
    made = [one for seed in range(9) for one in expressions(named, grammar, seed)]
    assert {one.target for one in made} >= {*range(7)} - {4}
    for one in made:
        for text, node in zip(one.texts, (one.shortest, one.detailed), strict=False):
            assert {node} == {
                found for _, found in grammar.readings(text, grammar.lexicon_of(named.value_bits), "named")
            }
    assert captions(named, grammar, 20)["short"] == "A car, two cubes, a cylinder, two spheres, and a thing."


def test_contacts_are_in_captions_expressions_and_scene_graphs() -> None:
    dense = captions(touching(), default_grammar(), 1)["dense"]
    assert "is inside the " in dense and "is leaning against the " in dense
    graph = scene_graph(touching(), None)["relationships"]
    assert graph["in"][4] == [5] and graph["leaning"][0] == [3] and graph["touching"][0] == [1, 3]
    assert "in" not in scene_graph(stacked(), None)["relationships"]


def test_expressions_say_on_what_an_object_stands_or_leans() -> None:
    colors = ("blue", "red", "red", "red", "brown", "red")
    values = [{**dict.fromkeys(ATTRIBUTES), "color": color, "shape": "cube"} for color in colors]
    items = [dataclasses.replace(one, values=v) for one, v in zip(touching().objects, values, strict=True)]
    like = dataclasses.replace(touching(), objects=tuple(items))
    texts = " ".join(one.texts[0] for one in expressions(like, default_grammar(), 1, 1))
    assert "on top of the blue" in texts and "leaning against the blue" in texts
    unmeasured = dataclasses.replace(like, contacts=False)
    assert "on top of" not in " ".join(one.texts[0] for one in expressions(unmeasured, default_grammar(), 1, 1))
