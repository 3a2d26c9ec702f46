"""What is in the prompts of every variant. I3, I4, I5, I6, I7, I10, I11, I12 of the facts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diorama.scene_specs.benchmarks.icca.game import (
    LISTENER_VARIANTS,
    SPEAKER_VARIANTS,
    ListenerVariant,
    check_images,
    read_listener,
)
from diorama.scene_specs.benchmarks.icca.game_folders import read_game
from diorama.scene_specs.benchmarks.icca.play import Trial
from diorama.scene_specs.benchmarks.icca.prompts import GAP, Part, as_text, collage, compose_image, messages_of
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.tasks.chat import Picture
from tests.scene_specs.benchmarks.icca.pieces import game, played, setup, write

LISTENERS = tuple(one.name for one in LISTENER_VARIANTS.values())
# From the paper and its code: images in the prompt of trial t.
IMAGES = {
    "L1": [4 * (t + 1) for t in range(24)],
    "L2": [4] * 24,
    "L3": [4] * 24,
    "L4": [4 * (t + 1) for t in range(24)],
    "L5": [4] * 24,
    "L6": [4] * 24,
    "L7": [4] * 20 + [8, 12, 16, 20],
}


def listener_parts(trial: Trial) -> tuple[Part, ...]:
    return trial.prompts[1]


def pictures(parts: tuple[Part, ...]) -> list[Part]:
    return [part for part in parts if part.kind != "text"]


def text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if part.kind == "text")


@pytest.mark.parametrize("name", LISTENERS)
def test_image_counts(name: str) -> None:
    variant = LISTENER_VARIANTS[name]
    for form, each in (("separate", 4), ("collage", 1)):
        trials = played(game(), "scripted", "learner", setup(name, form=form))
        counts = [count * each // 4 for count in IMAGES[name]]
        assert [len(pictures(listener_parts(one))) for one in trials] == counts
        assert [one.listener_images for one in trials] == counts
        assert [variant.images(t, form) for t in range(24)] == counts
        assert variant.most_images(form) == max(counts)
        assert [one.speaker_images for one in trials] == [each] * 24


@pytest.mark.parametrize("name", LISTENERS)
def test_gold_labels_follow_from_the_order_and_labels_move_only_in_l1(name: str) -> None:
    one = game()
    trials = played(one, "scripted", "oracle", setup(name))
    for trial in trials:
        assert trial.listener_label == "ABCD"[[one.images[k] for k in trial.order].index(trial.target)]
        assert trial.choice == trial.listener_label
        assert trial.correct
        shown = pictures(listener_parts(trial))[-4:]
        assert [part.label for part in shown] == list("ABCD")
    moved = len({trial.order for trial in trials}) > 1
    assert moved == (name == "L1")


@pytest.mark.parametrize("name", ["L1", "L3", "L4", "L6", "L7"])
def test_the_images_of_a_prompt_are_those_recorded(name: str) -> None:
    one, variant = game(), LISTENER_VARIANTS[name]
    trials = played(one, "scripted", "learner", setup(name))
    for trial in trials:
        expected = [one.images[k] for t in trials[: trial.trial + 1] if variant.shows(t.trial) for k in t.shown]
        assert [part.files[0] for part in pictures(listener_parts(trial))] == expected


def test_l2_has_no_earlier_trial() -> None:
    for trial in played(game(), "scripted", "literal", setup("L2")):
        said = text(listener_parts(trial))
        assert "Round" not in said
        assert said.count("Which picture") == 1


def test_l5_shows_nothing_but_black(tmp_path: Path) -> None:
    one = read_game(write(tmp_path, game()))
    trials = played(one, "scripted", "learner", setup("L5"))
    for trial in trials:
        shown = pictures(listener_parts(trial))
        assert {part.files for part in shown} == {("mask",)}
        assert "hidden" in text(listener_parts(trial))
    arrays = [np.asarray(compose_image(one, part)) for part in pictures(listener_parts(trials[0]))]
    assert len(arrays) == 4
    assert all(array.shape == (12, 16, 3) and not array.any() for array in arrays)


@pytest.mark.parametrize("name", ["L1", "L3", "L6"])
def test_feedback_comes_after_answers_and_tells_the_label_only_where_it_was_wrong(name: str) -> None:
    trials = played(game(), "scripted", "random", setup(name))
    assert 0 < sum(trial.correct for trial in trials) < 24
    said = text(listener_parts(trials[-1])).splitlines()
    wrong = [line for line in said if line.startswith("Wrong. The target was")]
    assert wrong == [f"Wrong. The target was {one.listener_label}." for one in trials[:-1] if not one.correct]
    assert said.count("Right.") == sum(one.correct for one in trials[:-1])
    assert said[-1].startswith("Which picture")


def test_the_speaker_sees_its_own_order_and_what_became_of_its_messages() -> None:
    one = game()
    trials = played(one, "scripted", "random", setup("L1"))
    for trial in trials:
        shown = pictures(trial.prompts[0])
        assert [part.files[0] for part in shown] == [one.images[k] for k in one.speaker_order]
        assert trial.speaker_label == "ABCD"[[part.files[0] for part in shown].index(trial.target)]
    said = text(trials[-1].prompts[0])
    assert said.count("rightly") == sum(trial.correct for trial in trials[:-1])
    picked = [trial for trial in trials[:-1] if not trial.correct]
    names = [one.images[trial.order["ABCD".index(trial.choice)]] for trial in picked]
    own = ["ABCD"[[one.images[k] for k in one.speaker_order].index(name)] for name in names]
    assert [line[-2] for line in said.splitlines() if "wrongly" in line] == own


def test_instructions_differ_and_say_more_from_s1_to_s4() -> None:
    says = [one.says for one in SPEAKER_VARIANTS.values()]
    assert [one.name for one in SPEAKER_VARIANTS.values()] == ["S1", "S2", "S3", "S4"]
    assert all(says[0][:-1] in said for said in says)
    assert len({*says}) == 4
    assert says[2][:-1] in says[3]
    first = played(game(), "scripted", "oracle", setup("L3", "S4"))[0]
    assert says[3] in text(first.prompts[0])


def test_same_seed_same_prompts_and_another_seed_another_order() -> None:
    def prompts(seed: int) -> list[str]:
        trials = played(game(), "scripted", "learner", setup("L1", seed=seed))
        return [as_text(listener_parts(one)) for one in trials]

    assert prompts(1) == prompts(1) != prompts(2)


def test_messages_of_built_in_speakers_name_no_label() -> None:
    for speaker in ("scripted", "steady", "restless"):
        for labels in ("letters", "positions"):
            trials = played(game(), speaker, "oracle", setup(labels=labels))
            assert not any(one.names_a_label(setup(labels=labels).presentation.names) for one in trials)


def test_positions_and_collages() -> None:
    trials = played(game(), "scripted", "oracle", setup("L7", labels="positions", form="collage"))
    assert {one.listener_label for one in trials} == {"top left", "top right", "bottom left", "bottom right"}
    (shown,) = pictures(listener_parts(trials[0]))
    assert shown.files == tuple(game().images[k] for k in trials[0].shown)
    assert shown.data() == {"collage": list(shown.files)}


def test_players_are_told_which_picture_of_a_collage_a_label_means() -> None:
    for labels, told in (("letters", "A is top left, B is top right, C is bottom left, D is bottom right"),
                         ("positions", "a label says where in it a picture is")):  # fmt: skip
        for form, count in (("collage", 1), ("separate", 0)):
            prompts = played(game(), "steady", "oracle", setup("L5", labels=labels, form=form))[1].prompts
            assert prompts is not None
            assert [text(parts).count(told) for parts in prompts] == [count, count]


def size_of(picture: Picture) -> tuple[int, int]:
    with Image.open(io.BytesIO(picture.png)) as image:
        return image.size


def test_what_a_model_is_given_has_its_labels(tmp_path: Path) -> None:
    one = read_game(write(tmp_path, game()))
    parts = listener_parts(played(one, "steady", "oracle", setup())[0])
    given = messages_of(one, parts, {})[1].parts
    assert [what if isinstance(what, str) else size_of(what) for what in given[1:10]] == [
        "Round 1.", *(what for label in "ABCD" for what in (f"Picture {label}:", (16, 12))),
    ]  # fmt: skip
    assert given[10] == parts[-1].text
    parts = listener_parts(played(one, "steady", "oracle", setup(form="collage"))[0])
    assert [size_of(what) for what in messages_of(one, parts, {})[1].parts if not isinstance(what, str)] == [
        (32 + GAP, 24 + GAP)
    ]


def test_a_collage_loses_no_pixel(tmp_path: Path) -> None:
    one = read_game(write(tmp_path, game()))
    trial = played(one, "scripted", "oracle", setup(form="collage"))[0]
    whole = np.asarray(compose_image(one, pictures(listener_parts(trial))[0]))
    assert whole.shape == (24 + GAP, 32 + GAP, 3)
    corners = [(0, 0), (0, 16 + GAP), (12 + GAP, 0), (12 + GAP, 16 + GAP)]
    for (y, x), k in zip(corners, trial.shown, strict=True):
        with Image.open(tmp_path / one.name / one.images[k]) as tile:
            assert (whole[y : y + 12, x : x + 16] == np.asarray(tile)).all()
    assert not whole[12 : 12 + GAP].any()
    assert not whole[:, 16 : 16 + GAP].any()
    with pytest.raises(SpecError, match="expected four of one size"):
        collage([Image.new("RGB", (4, 4))] * 3 + [Image.new("RGB", (5, 4))])


def test_caps() -> None:
    check_images(LISTENER_VARIANTS["L7"], "separate", 20)
    check_images(LISTENER_VARIANTS["L1"], "collage", 24)
    with pytest.raises(UsageError, match=r"L7: .*\b20 images.*\b16\b"):
        check_images(LISTENER_VARIANTS["L7"], "separate", 16)
    with pytest.raises(UsageError, match=r"L4: .*\b96 images.*\b20\b"):
        check_images(LISTENER_VARIANTS["L4"], "separate", 20)


ROW = {"history": True, "images_once": True, "shuffle": False, "mask": False, "misleading_trials": [4, 5]}


def test_a_variant_of_ones_own() -> None:
    mine = read_listener(json.dumps(ROW), "mine")
    assert mine == ListenerVariant("mine", True, True, False, False, (4, 5))
    trials = played(game(), "scripted", "literal", setup(mine))
    assert [one.listener_images for one in trials] == [4] * 4 + [8] + [12] * 19


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{", "invalid JSON"),
        ("[]", "expected an object"),
        (json.dumps({**ROW, "more": 1}), "expected an object"),
        (json.dumps({**ROW, "history": 1}), "expected an object"),
        (json.dumps({**ROW, "misleading_trials": ["4"]}), "expected numbers of trials"),
        (json.dumps({**ROW, "misleading_trials": [24]}), "from 0 to 23, ascending"),
        (json.dumps({**ROW, "misleading_trials": [5, 4]}), "ascending"),
        (json.dumps({**ROW, "shuffle": True}), "can't know the new order"),
        (json.dumps({**ROW, "history": False}), "no prompt after trial 0"),
    ],
)
def test_wrong_variants(row: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        read_listener(row, "mine")
