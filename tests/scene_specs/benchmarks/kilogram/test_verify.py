"""The checker takes what the generator makes, and finds each single thing that is changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from render.annotations.encode import encode_png
from render.episode.make_record import make_record
from render.model.profiles import settings_for
from render.renderers.fake import FakeRenderer
from scene_specs.benchmarks.kilogram import Options
from scene_specs.benchmarks.kilogram.dataset import own_dataset
from scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
from scene_specs.benchmarks.kilogram.examples import CONDITIONS
from scene_specs.benchmarks.kilogram.games import games
from scene_specs.benchmarks.kilogram.verify import find_contradiction, frames_of, verify_record
from scene_specs.language.spec import EpisodeSpec
from tests import factories

DATA = own_dataset(0)
Spec = dict[str, Any]


@cache
def text(condition: str, world: str = "2d") -> str:
    options = Options.model_validate({"world": world})
    game = next(games(DATA.of_split("dev"), options, {}, augmented=condition == "aug"))
    return json.dumps(game_spec(DATA, game, condition, options))


def judged(spec: Spec) -> str:
    return find_contradiction(spec["task"], frames_of(spec))


@pytest.mark.parametrize("world", ["2d", "3d"])
@pytest.mark.parametrize("condition", [*CONDITIONS, "aug"])
def test_games_are_what_they_say(condition: str, world: str) -> None:
    assert judged(json.loads(text(condition, world))) == ""


def test_a_caption_may_have_other_articles_but_no_other_words() -> None:
    """Earlier versions had articles of their own; stored episodes have them."""
    spec = json.loads(text("part+color"))
    frame = _frame(spec)
    names = [part["name"] for part in frame["truth"]["parts"]]
    order = sorted(names, key=frame["truth"]["hash_text"].split("#").index)
    for article, last in (("", order[-1]), ("an ", order[-1]), ("the ", order[-1]), ("", f"{order[-1]}s")):
        said = f"{frame['truth']['whole']} with {', '.join([*order[:-1], f'and {article}{last}'])}"
        frame["utterance"] = spec["task"]["text"] = said
        assert (judged(spec) == "") == (article != "the " and last == order[-1])


def test_pictures_are_what_they_say() -> None:
    annotations = dict(list(DATA.annotations.items())[:12])
    for condition in (*CONDITIONS, "aug"):
        for spec in picture_specs(DATA, annotations, condition, Options()):
            assert judged(spec) == ""


def _frame(spec: Spec, other: bool = False) -> Spec:
    names = [frame["name"] for frame in spec["frames"]]
    at = names.index(spec["task"]["answer"])
    found: Spec = spec["frames"][(at + other) % 10]
    return found


def _swap_colors(spec: Spec) -> None:
    objects = _frame(spec)["objects"]
    one = next(item for item in objects if item["color"] != objects[0]["color"])
    objects[0]["color"], one["color"] = one["color"], objects[0]["color"]


def _same_whole(spec: Spec) -> None:
    frame, other = _frame(spec), _frame(spec, other=True)
    whole = other["truth"]["whole"]
    for key in ("utterance", "hash_text"):
        source = frame["utterance"] if key == "utterance" else frame["truth"]["hash_text"]
        changed = source.replace(frame["truth"]["whole"], whole)
        if key == "utterance":
            frame["utterance"] = spec["task"]["text"] = changed
        else:
            frame["truth"]["hash_text"] = changed
    frame["truth"]["whole"] = whole


def _same_tangram(spec: Spec) -> None:
    _frame(spec, other=True)["truth"]["tangram"] = spec["task"]["target"]


CHANGES: dict[str, tuple[Callable[[Spec], object], str]] = {
    "another answer": (lambda s: s["task"].update(answer=_frame(s, other=True)["name"]), "the text is that of"),
    "an answer that is none": (lambda s: s["task"].update(answer="image-99"), "the stored answer is 'image-99'"),
    "another text": (lambda s: s["task"].update(text="a thing"), "none"),
    "a frame less": (lambda s: s["frames"].pop(), "9 frames"),
    "an option more": (lambda s: s["task"]["options"].append("x"), "11 options"),
    "a caption changed": (lambda s: _frame(s).update(utterance="a bird"), "its text is 'a bird'"),
    "a hash text changed": (lambda s: _frame(s)["truth"].update(hash_text="x"), "its hash_text is 'x'"),
    "two colours exchanged": (_swap_colors, "its part has"),
    "a piece of another colour": (lambda s: _frame(s)["objects"][3].update(color="white"), "piece 4 is white"),
    "a piece in two parts": (lambda s: _frame(s)["truth"]["parts"][0]["pieces"].append(7), "each of 1 to 7 once"),
    "a tangram twice": (_same_tangram, "have the tangram"),
    "no truth": (lambda s: _frame(s).pop("truth"), "does not have"),
    "another condition": (lambda s: s["task"].update(name="part"), "found condition 'part'"),
    "a part hidden": (lambda s: _frame(s)["truth"]["parts"][0].update(shown=False), "colors"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_found(name: str) -> None:
    change, said = CHANGES[name]
    spec = copy.deepcopy(json.loads(text("part+color")))
    change(spec)
    assert said in judged(spec)


def test_a_whole_twice_is_found() -> None:
    spec = json.loads(text("whole+black"))
    _same_whole(spec)
    assert "have the whole" in judged(spec)


@pytest.mark.parametrize("world", ["2d", "3d"])
def test_a_rendered_game_is_judged_by_what_is_visible(world: str) -> None:
    spec = json.loads(text("part+color", world))
    episode = EpisodeSpec.model_validate(spec)
    record = make_record(FakeRenderer(), episode, factories.make_job(spec), settings_for("draft", 96, 96))
    assert verify_record(record) == ""
    hidden = record.model_copy(deep=True)
    hidden.images[0].annotation.objects[2].__dict__["visible_pixels"] = 0
    assert "not visible" in verify_record(hidden)
    other = record.model_copy(deep=True)
    if world == "2d":
        # A yellow image: no piece has its color.
        yellow = np.full_like(record.images[0].color(), (9, 8, 7))
        other.images[0].__dict__["png"] = encode_png(yellow)
        assert "(9, 8, 7)" in verify_record(other)
    else:
        other.images[0].annotation.objects[0].__dict__["color_linear"] = (0.5, 0.25, 0.125)
        assert "(0.5, 0.25, 0.125)" in verify_record(other)
