"""Built-in players do what they say; a user's come by entry points; what is no message or no label is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.icca.game import Game, ListenerVariant, new_game
from diorama.scene_specs.benchmarks.icca.play import ListenerView, Setup, SpeakerView, Trial, label_of, play
from diorama.scene_specs.benchmarks.icca.players import factory
from diorama.scene_specs.benchmarks.icca.prompts import PastTrial
from diorama.scene_specs.benchmarks.icca.score import content_words, novelty, plain_words
from diorama.scene_specs.errors import PluginError, SpecError, UsageError
from diorama.scene_specs.language.registry import plugins
from tests.scene_specs.benchmarks.icca.pieces import game, played, setup, share

SOURCES = [("clevr", ""), ("clevr", "relations"), ("shapenet", ""), ("flat", ""), ("tangram", "")]


def accuracy(variant: str, listener: str, speaker: str = "scripted", first: int = 0, end: int = 24) -> float:
    """Over a dozen games."""
    games = [game(number) for number in range(12)]
    return sum(share(played(one, speaker, listener, setup(variant)), first, end) for one in games) / len(games)


@pytest.mark.parametrize(("source", "vary"), SOURCES)
def test_the_scripted_speaker_only_leaves_content_words_out(source: str, vary: str) -> None:
    for number in range(3):
        one = game(number, source, "hard", vary)
        said: dict[str, list[list[str]]] = {}
        for trial in played(one, "scripted", "oracle", setup()):
            said.setdefault(trial.target, []).append(content_words(trial.message))
        for messages in said.values():
            lengths = [len(message) for message in messages]
            assert lengths == sorted(lengths, reverse=True)
            assert lengths[-1] < lengths[0]
            if not vary:
                assert all(novelty(a, b) == 0 for a, b in pairwise(messages))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["clevr", "flat"])
def test_of_relations_no_word_comes_that_was_not_there(source: str) -> None:
    for number in range(8):
        said: dict[str, list[set[str]]] = {}
        for trial in played(game(number, source, "hard", "relations"), "scripted", "oracle", setup()):
            said.setdefault(trial.target, []).append({*content_words(trial.message)})
        assert all(later <= earlier for words in said.values() for earlier, later in pairwise(words))


@pytest.mark.parametrize(("source", "vary"), SOURCES)
def test_a_literal_listener_understands_descriptions(source: str, vary: str) -> None:
    trials = played(game(2, source, "hard", vary), "scripted", "literal", setup("L4"))
    # Repetitions 0 to 2 describe fully; later words are too few for whoever remembers nothing.
    assert share(trials, 0, 12) == 1.0
    assert share(played(game(2, source, "hard", vary), "steady", "literal", setup("L4")), 0, 24) == 1.0


@pytest.mark.slow
def test_oracle_and_random() -> None:
    for variant in ("L1", "L2", "L5", "L7"):
        assert accuracy(variant, "oracle") == 1.0
        # 288 guesses at 1 in 4: 72 expected, 7.3 the standard deviation.
        assert 0.13 < accuracy(variant, "random") < 0.38


def test_masked_images_start_at_chance_and_are_learned() -> None:
    assert accuracy("L5", "learner", end=4) < 0.5
    assert accuracy("L5", "learner", first=4, end=12) > 0.95
    # Nothing to see and nothing remembered.
    assert accuracy("L5", "literal") < 0.4


@pytest.mark.slow
def test_misleading_images_are_below_chance_for_who_trusts_them() -> None:
    assert accuracy("L6", "literal", end=12) == 0.0
    assert accuracy("L6", "learner", end=4) == 0.0
    assert accuracy("L6", "learner", first=4, end=12) > 0.95
    assert accuracy("L7", "literal", "steady", end=20) == 1.0
    assert accuracy("L7", "literal", "steady", first=20) == 0.0
    assert accuracy("L7", "learner", "steady", first=20) == 1.0


@pytest.mark.parametrize(("source", "vary"), SOURCES)
def test_who_remembers_understands_to_the_end(source: str, vary: str) -> None:
    one = game(1, source, "hard", vary)
    trials = played(one, "scripted", "learner", setup())
    assert share(trials, 0, 24) == 1.0
    words = [sum(len(trial.message.split()) for trial in trials[k : k + 4]) for k in range(0, 24, 4)]
    assert words == sorted(words, reverse=True) and words[5] < words[2]


def test_the_learner_of_black_images_in_new_orders_guesses() -> None:
    variant = ListenerVariant("mine", True, False, True, True, ())
    trials = [one for number in range(6) for one in played(game(number), "scripted", "learner", setup(variant))]
    assert share(trials, 0, len(trials)) < 0.4


@pytest.mark.slow
def test_history_helps_where_words_get_few() -> None:
    assert accuracy("L1", "learner", first=16) > accuracy("L1", "literal", first=16)
    assert accuracy("L2", "learner") == accuracy("L2", "literal")


def test_the_restless_speaker_makes_no_convention() -> None:
    said: dict[str, list[list[str]]] = {}
    for trial in played(game(1), "restless", "oracle", setup()):
        said.setdefault(trial.target, []).append(plain_words(trial.message))
    for messages in said.values():
        assert len({len(message) for message in messages}) == 1
        assert novelty(messages[0], messages[1]) > 0


class Fixed:
    """Says and picks the same always."""

    def __init__(self, said: Any, picked: Any) -> None:
        self._said, self._picked = said, picked

    def speak(self, view: SpeakerView) -> str:
        return self._said  # type: ignore[no-any-return]

    def choose(self, view: ListenerView) -> str:
        return self._picked  # type: ignore[no-any-return]


def fixed(said: Any, picked: Any) -> list[Trial]:
    player = Fixed(said, picked)
    return play(game(), player, player, setup())


def test_answers_that_are_no_label_are_wrong() -> None:
    for answer in ("E", "", "Image A or B", "a cube", "Dad"):
        trials = fixed("the red one", answer)
        assert not any(one.correct or one.choice for one in trials)
    assert sum(one.correct for one in fixed("the red one", " b. ")) == 6
    assert all(one.choice == "A" for one in fixed("the red one", "The answer is **A**."))
    assert label_of("Top  Left.", ("top left", "top right")) == "top left"


@pytest.mark.parametrize("message", ["B", " c.", "it is image C", "Picture D, I think"])
def test_messages_that_name_a_label(message: str) -> None:
    assert all(one.names_a_label("ABCD") for one in fixed(message, "A"))


@pytest.mark.parametrize("message", ["a cube", "a red cube, b-side up", "the picture a child drew"])
def test_messages_that_name_none(message: str) -> None:
    assert not any(one.names_a_label("ABCD") for one in fixed(message, "A"))


@pytest.mark.parametrize(("said", "problem"), [("  ", "'  '"), (None, "None"), ("x" * 5000, "a text of 5000 ch")])
def test_what_is_no_message(said: Any, problem: str) -> None:
    with pytest.raises(SpecError, match=f"trial 0: the speaker gave {problem}"):
        fixed(said, "A")


def test_players_see_of_earlier_trials_what_both_saw() -> None:
    views: list[ListenerView] = []

    class Watching:
        def choose(self, view: ListenerView) -> str:
            hash(view.past)
            views.append(view)
            return "A"

    play(new_game(1, 0, list("abcd"), ()), Fixed("a  red\ncube" + " " * 5000, ""), Watching(), setup())
    assert {*vars(views[-1].past[0])} == {field.name for field in fields(PastTrial)}
    assert views[-1].past[0].message == views[-1].message == "a red cube"


def test_what_is_no_answer() -> None:
    with pytest.raises(SpecError, match="trial 0: the listener gave 3; expected a text"):
        fixed("red", 3)


def test_players_that_need_the_truth() -> None:
    bare = new_game(1, 0, list("abcd"), ())
    for role, name in (("speaker", "scripted"), ("speaker", "steady"), ("listener", "literal")):
        with pytest.raises(SpecError, match="needs the truth of the images"):
            factory(role, name)(bare, setup())
    with pytest.raises(SpecError, match="no messages are recorded"):
        factory("speaker", "recorded")(bare, setup())
    assert share(play(bare, Fixed("x", "A"), factory("listener", "oracle")(bare, setup()), setup()), 0, 24) == 1.0


def test_entry_points(add_entry_points: Callable[..., None]) -> None:
    found = {"mine": "of_a_package", "broken": "nothing", "no-call": "SOURCES"}
    add_entry_points("diorama.icca.listeners", **{name: f"{__name__}:{value}" for name, value in found.items()})
    assert [*plugins("icca.listeners")] == ["learner", "literal", "oracle", "random", "broken", "mine", "no-call"]
    trials = play(game(), Fixed("red", "A"), factory("listener", "mine")(game(), setup()), setup())
    assert {one.choice for one in trials} == {"D"}
    for name, problem in (
        ("broken", "can't import"),
        ("no-call", "expected a factory"),
        ("other", "allowed: learner"),
    ):
        with pytest.raises((UsageError, PluginError), match=problem):
            factory("listener", name)


def of_a_package(one: Game, settings: Setup) -> Fixed:
    """As a package would give it."""
    return Fixed("", settings.presentation.names[-1])
