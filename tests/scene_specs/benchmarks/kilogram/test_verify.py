"""The checker takes what the generator makes, and finds each single thing that is changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pytest

from diorama.render.annotations.encode import encode_png
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, games
from diorama.scene_specs.benchmarks.kilogram.verify import verify_record, verify_spec
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.marks import slow
from tests.scene_specs.benchmarks.verdict import verdict

DATA = own_dataset(0)
Spec = dict[str, Any]


@cache
def text(condition: str, world: str = "2d") -> str:
    options = Options.model_validate({"world": world})
    game = next(games(DATA.of_split("dev"), options, {}, augmented=condition == "aug"))
    return json.dumps(game_spec(DATA, game, condition, options))


judged = partial(verdict, verify_spec)


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


def _parts(spec: Spec) -> list[Spec]:
    found: list[Spec] = _frame(spec)["truth"]["parts"]
    return found


def _exchange(spec: Spec, key: str, one: Spec, other: Spec) -> None:
    one[key], other[key] = other[key], one[key]


def _describe(spec: Spec, frame: Spec, whole: str) -> None:
    """A frame with another whole, in all that says so."""
    truth = frame["truth"]
    asked = spec["task"]["text"] == frame["utterance"]
    frame["utterance"] = frame["utterance"].replace(truth["whole"], whole)
    truth.update(hash_text=truth["hash_text"].replace(truth["whole"], whole), whole=whole)
    if asked:
        spec["task"]["text"] = frame["utterance"]


def _same_tangram(spec: Spec) -> None:
    """The target's frame again in place of another one, under the name of that one."""
    place = spec["frames"].index(_frame(spec, other=True))
    spec["frames"][place] = copy.deepcopy(_frame(spec)) | {"name": spec["frames"][place]["name"]}


def _another_figure(spec: Spec) -> None:
    """The pieces of another tangram in the colors of this one."""
    for mine, theirs in zip(_frame(spec)["objects"], _frame(spec, other=True)["objects"], strict=True):
        mine.update(shape=theirs["shape"], location=theirs["location"])


def _scale(item: Spec, factor: float) -> None:
    item["shape"]["polygon"] = [[factor * x, factor * y] for x, y in item["shape"]["polygon"]]


def _move(item: Spec, by: float) -> None:
    item["location"] = [item["location"][0] + by, item["location"][1]]


def _rename_part(spec: Spec) -> None:
    frame, part = _frame(spec), next(part for part in _parts(spec) if part["name"] == "body")
    for place, key in ((frame, "utterance"), (frame["truth"], "hash_text"), (spec["task"], "text")):
        place[key] = place[key].replace(part["name"], "zeppelin")
    part["name"] = "zeppelin"


def _move_piece(spec: Spec) -> None:
    """A piece of the other part, in its color."""
    giver, taker = sorted(_parts(spec)[:2], key=lambda part: -len(part["pieces"]))
    piece = giver["pieces"].pop()
    taker["pieces"].append(piece)
    _frame(spec)["objects"][piece - 1]["color"] = taker["color"]


def _whole_parts(spec: Spec) -> None:
    """One part in place of all, in one frame."""
    frame = _frame(spec, other=True)
    truth = frame["truth"]
    truth["parts"] = [{"name": "body", "pieces": [*range(1, 8)], "shown": True, "color": "coral"}]
    truth["hash_text"] = f"{truth['whole']}#body"
    frame["utterance"] = f"{truth['whole']} with a body"
    for item in frame["objects"]:
        item["color"] = "coral"


CHANGES: dict[str, tuple[Callable[[Spec], object], str]] = {
    "another answer": (lambda s: s["task"].update(answer=_frame(s, other=True)["name"]), "the text is that of"),
    "an answer that is none": (lambda s: s["task"].update(answer="image-99"), "the stored answer is 'image-99'"),
    "another text": (lambda s: s["task"].update(text="a thing"), "none"),
    "another target": (lambda s: s["task"].update(target="own-000"), "the stored answer"),
    "a frame less": (lambda s: s["frames"].pop(), "9 frames"),
    "an option more": (lambda s: s["task"]["options"].append("x"), "11 options"),
    "an option twice": (lambda s: s["task"]["options"].__setitem__(0, s["task"]["options"][1]), "10 options"),
    "another number of parts": (lambda s: s["task"].update(part_count=7), "said to have 7 parts"),
    "fewer parts shown": (lambda s: s["task"].update(shown_parts=1), "1 shown"),
    "another number": (lambda s: s["task"].update(number=8), "number 8"),
    "another id": (lambda s: s.update(id="kilogram/dev/part+color/own-999_0/0"), "it is about"),
    "another kind": (lambda s: s["task"].update(unconstrained=True), "says unconstrained: True"),
    "another split": (lambda s: s.update(split="train"), "its split is 'train'"),
    "a caption changed": (lambda s: _frame(s).update(utterance="a bird"), "its text is 'a bird'"),
    "two captions exchanged": (lambda s: _exchange(s, "utterance", _frame(s), _frame(s, True)), "its text is"),
    "a hash text changed": (lambda s: _frame(s)["truth"].update(hash_text="x"), "its hash_text is 'x'"),
    "another name of the image": (lambda s: _frame(s)["truth"].update(image="own-001_0"), "is called 'own-001_0'"),
    "another description": (lambda s: _frame(s)["truth"].update(annotation=1), "its image is called"),
    "two colors exchanged": (_swap_colors, "its part has"),
    "a piece of another color": (lambda s: _frame(s)["objects"][3].update(color="white"), "piece 4 is white"),
    "a part of another color": (lambda s: _parts(s)[0].update(color="lightgrey"), "colors"),
    "parts in another order": (lambda s: _exchange(s, "color", *_parts(s)[:2]), "its part has"),
    "a piece in two parts": (lambda s: _parts(s)[0]["pieces"].append(7), "each of 1 to 7 once"),
    "a piece of the other part": (_move_piece, "is another one"),
    "a part of another name": (_rename_part, "is another one"),
    "a part hidden": (lambda s: _parts(s)[0].update(shown=False), "parts are shown"),
    "fewer parts than the others": (_whole_parts, "is another one"),
    "another whole": (lambda s: _describe(s, _frame(s), "zeppelin"), "is another one"),
    "the same whole": (lambda s: _describe(s, _frame(s), _frame(s, True)["truth"]["whole"]), "is another one"),
    "a tangram twice": (_same_tangram, "have the tangram"),
    "no truth": (lambda s: _frame(s).pop("truth"), "truth.tangram: required key"),
    "another condition": (lambda s: s["task"].update(name="part"), 'task.name: found "part"'),
    "a piece less": (lambda s: _frame(s)["objects"].pop(), "expected piece-1 to piece-7"),
    "an object more": (
        lambda s: _frame(s)["objects"].append(_frame(s)["objects"][0] | {"name": "piece-8"}),
        "expected piece-1 to piece-7",
    ),
    "a corner less": (lambda s: _frame(s)["objects"][0]["shape"]["polygon"].pop(), "piece 1 has 3 corners"),
    "a piece beyond the canvas": (lambda s: _move(_frame(s)["objects"][2], 300), "beyond the canvas"),
    "a piece on another": (
        lambda s: _frame(s)["objects"][5].update(location=_frame(s)["objects"][6]["location"]),
        "overlap",
    ),
    "a piece moved by a pixel": (lambda s: _move(_frame(s)["objects"][2], 1), "not those of the drawing"),
    "a smaller piece": (lambda s: _scale(_frame(s)["objects"][4], 0.9), "not those of the drawing"),
    "another figure": (_another_figure, "not those of the drawing"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_found(name: str) -> None:
    change, said = CHANGES[name]
    spec = copy.deepcopy(json.loads(text("part+color")))
    change(spec)
    assert said in judged(spec)


def test_of_other_drawings_the_rules_alone_are_known() -> None:
    own = json.loads(text("whole+black"))
    own["task"]["drawings"] = "others"
    assert judged(own) == ""
    _another_figure(own)
    # That it says so does not turn the comparison off, nor does an unknown id.
    assert "not those of the drawing" in judged(own)
    own["task"]["drawings"] = ""
    _frame(own)["truth"]["tangram"] = _frame(own)["truth"]["image"] = "page9-999"
    assert "no usable drawing of page9-999" in judged(own)
    spec = json.loads(text("whole+black").replace("own-", "page1-"))
    spec["task"]["drawings"] = "others"
    _another_figure(spec)
    assert judged(spec) == ""
    _describe(spec, _frame(spec), _frame(spec, other=True)["truth"]["whole"])
    assert "have the whole" in judged(spec)
    spec["task"]["unconstrained"] = True
    spec["id"] = spec["id"].replace("/whole+black/", "/whole+black/random/")
    assert judged(spec) == ""


@pytest.mark.parametrize("name", [*slow(*CONDITIONS), "aug"])
def test_intact_games_of_any_look_pass(name: str) -> None:
    looks: tuple[Spec, ...] = (
        {},
        {"border": 0.0, "size": 96},
        {"border": 25.0},
        {"margin": 20.0, "sharp": True},
        {"context_size": 3},
    )
    for look in (
        *looks,
        {"published_border": True, "margin": 5.0},
        *([] if name == "aug" else [{"unconstrained": True}]),
    ):
        options = Options.model_validate({"contexts": 1, **look})
        for game in islice(games(DATA.of_split("dev"), options, {}, augmented=name == "aug"), 8):
            assert judged(game_spec(DATA, game, name, options)) == ""


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


def test_a_background_is_white() -> None:
    spec = json.loads(text("part+black"))
    for background, problem in (([255, 255, 255], ""), ([200, 200, 200], "its background is (200, 200, 200)")):
        _frame(spec)["background"] = background
        assert problem in judged(spec) and bool(judged(spec)) == bool(problem)
