"""Expressions and captions say whose sides they mean where these could be an object's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.tasks.questions.captions import captions
from diorama.scene_specs.tasks.questions.expressions import expressions
from diorama.scene_specs.tasks.questions.grammar import default_grammar, read_grammar
from diorama.scene_specs.tasks.questions.lexicon import SIDES
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import Node
from diorama.scene_specs.tasks.questions.view import ImageView
from tests.factories import make_job
from tools.claims.third_judge.english import Reader
from tools.claims.third_judge.world import World

AT_END = f", {default_grammar().camera}"
BALL = {"shape": "sphere", "size": "small", "color": "red", "material": "rubber"}
OBJECTS = [
    {"shape": "shapenet:chairs/#3", "size": 0.7, "color": "cyan", "material": "rubber"}, *[BALL] * 6,
    {**BALL, "shape": "cube", "color": "blue"},
]  # fmt: skip
OBSERVERS = [{"name": "Anna", "looks_at": [0, 0, 0.3], "color": "purple"}]
SEEDS = 1, 3, 5
WORDS = [" ".join(words[0]) for words in default_grammar().lexicon_of({}).words["relate"].values()]


@cache
def alike(seed: int) -> tuple[ImageView, dict[str, Any]]:
    """A chair and a person, which have fronts, a cube, and six balls that only their places tell apart; annotation."""
    spec = {"version": 1, "id": "alike", "seed": seed, "frames": [{"objects": OBJECTS, "observers": OBSERVERS}]}
    scene = diorama.compile_spec(spec, profile="draft", size=(160, 120))
    record = make_record(diorama.FakeRenderer(), scene, make_job(), scene.settings)
    return next(store_views([record])), record.images[0].annotation.model_dump(mode="json")


def texts_of(view: ImageView) -> Iterator[tuple[int, str, Node]]:
    for one in expressions(view, default_grammar(), 0):
        for text, node in zip(one.texts, (one.shortest, one.detailed), strict=False):
            assert node
            yield one.target, text, node


def has_own(view: ImageView, node: Node) -> bool:
    """Whether a side is said of what has a front."""
    run = PositionsExecutor(view).run
    return any(step.value in SIDES and run(step.inputs[0]) in view.fronts for step in node.steps())


def test_expressions_name_the_frame_just_where_a_side_could_be_an_object_s_own() -> None:
    framed = set()
    for view, annotation in map(alike, SEEDS):
        lexicon, reader = default_grammar().lexicon_of(view.value_bits), Reader(World(annotation, view.threshold))
        for target, text, node in texts_of(view):
            assert text.endswith(AT_END) == has_own(view, node)
            ((_, program),) = default_grammar().readings(text, lexicon, "named")
            assert program == node and PositionsExecutor(view).run(program) == target
            assert {*reader.object(text)} == {target}
            framed |= {text.endswith(AT_END)} if " that is " in text else set()
    assert framed == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_all_other_words_are_those_of_an_image_without_fronts(seed: int) -> None:
    view, _ = alike(seed)
    plain = replace(view, fronts={})
    assert [text.removesuffix(AT_END) for _, text, _ in texts_of(view)] == [text for _, text, _ in texts_of(plain)]
    dense, other = (captions(one, default_grammar(), 20)["dense"] for one in (view, plain))
    assert dense != other and "camera" not in other
    assert re.sub("From the camera's point of view, (.)", lambda found: found[1].upper(), dense) == other


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sentence_of_a_caption_names_the_frame_once_at_its_beginning(seed: int) -> None:
    view, annotation = alike(seed)
    reader, found = Reader(World(annotation, view.threshold)), set()
    named = {text.removesuffix(AT_END): text for _, text, _ in texts_of(view)}
    for sentence in captions(view, default_grammar(), 20)["dense"].removesuffix(".").split(". ")[1:]:
        body = sentence.removeprefix("From the camera's point of view, ")
        framed, body = body != sentence, body[0].lower() + body[1:]
        ((subject, words, of),) = (way for way in product(named, WORDS, named) if "{} is {} {}".format(*way) == body)
        assert {*reader.object(subject)} <= reader.property(f"{words} {of}")[0]
        own = reader.object(of)[0] in view.fronts
        assert framed == (own or any(named[one].endswith(AT_END) for one in (subject, of)))
        found.add(framed)
    assert found == {True, False}


def test_a_grammar_can_have_other_words_for_the_camera(tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    file.write_text(json.dumps({"camera": "as the camera sees it"}))
    texts = [text for one in expressions(alike(1)[0], read_grammar(file), 0) for text in one.texts]
    assert any(text.endswith(", as the camera sees it") for text in texts)
    file.write_text(json.dumps({"camera": ""}))
    with pytest.raises(UsageError, match="camera"):
        read_grammar(file)
