"""What every player of ICCA's games promises: a line or a text per trial, the same for the same game and seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.icca.play import Trial, play
from diorama.scene_specs.benchmarks.icca.players import factory
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.language.registry import plugins
from tests.scene_specs.benchmarks.icca.pieces import game, setup

# `recorded` speaks from a transcript; tests/scene_specs/benchmarks/icca has its tests.
SPEAKERS = [name for name in plugins("icca.speakers") if name != "recorded"]
LISTENERS = [*plugins("icca.listeners")]


def played(speaker: Any, listener: Any, source: str = "clevr") -> list[Trial]:
    """A game between two factories of players, checked."""
    one, settings = game(0, source), setup("L3")
    trials = [*play(one, speaker(one, settings), listener(one, settings), settings)]
    again = [*play(one, speaker(one, settings), listener(one, settings), settings)]
    assert trials == again, "one seed, two games"
    assert len(trials) == 24 and {trial.target for trial in trials} == set(one.images)
    for trial in trials:
        assert trial.message.strip() and "\n" not in trial.message
        assert trial.choice in ("", *settings.presentation.names)
    return trials


@pytest.mark.parametrize("speaker", SPEAKERS)
@pytest.mark.parametrize("listener", LISTENERS)
def test_players_keep_their_contract(speaker: str, listener: str) -> None:
    played(factory("speaker", speaker), factory("listener", listener))


class Fixed:
    """A player with the same words each time, or with other ones."""

    def __init__(self, words: Iterator[Any]) -> None:
        self._words = words

    def speak(self, view: object) -> Any:
        return next(self._words)

    choose = speak


@pytest.mark.parametrize("words", ["", None])
def test_a_broken_speaker_is_caught(words: Any) -> None:
    with pytest.raises((AssertionError, SpecError)):
        played(lambda game, setup: Fixed(iter([words] * 24)), factory("listener", "random"))


def test_a_player_with_a_memory_of_other_games_is_caught() -> None:
    numbers = count()
    with pytest.raises(AssertionError, match="two games"):
        played(lambda game, setup: Fixed(map(str, numbers)), factory("listener", "oracle"))
