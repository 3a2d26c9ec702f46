"""Chat models play: prompts as messages, answers, failures of a server, costs, published introductions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diorama.render.uses.chat import ChatSettings, open_models
from diorama.scene_specs.benchmarks.icca import Play
from diorama.scene_specs.benchmarks.icca.game import read_listener
from diorama.scene_specs.benchmarks.icca.game_folders import read_game
from diorama.scene_specs.benchmarks.icca.play import PlayerError, label_of
from diorama.scene_specs.benchmarks.icca.play import play as play_game
from diorama.scene_specs.benchmarks.icca.play_files import play_games
from diorama.scene_specs.benchmarks.icca.players import SteadySpeaker
from diorama.scene_specs.benchmarks.icca.prompts import messages_of
from diorama.scene_specs.benchmarks.icca.transcripts import read_transcripts
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.tasks.chat import Picture
from tests.chat_server import Body, chat_server
from tests.scene_specs.benchmarks.icca.pieces import game, played, setup, write

LETTERS, POSITIONS = ("A", "B", "C", "D"), ("top left", "top right", "bottom left", "bottom right")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("B", "B"), ("b.", "B"), ("(b)", "B"), ("**B**", "B"), ("Image B", "B"), ("image b", "B"),
        ("B) the star", "B"),
        ("The answer is B.", "B"), ("answer: a", "A"), ("A is right", "A"), ("\\boxed{C}", "C"),
        ("B\n\nIt is red.", "B"),
        ("'B'", "B"), ("I choose 'C'.", "C"), ("Picture A has it", "A"), ("Image A contains the cube", "A"),
        ("A red cube is in image C", "C"), ("I'd say D", "D"), ("A or B", ""), ("A, B, C or D", ""), ("", ""),
        ("image a person drew", ""), ("A red cube", ""), ("BB", ""), ("don't know", ""), ("E", ""),
    ],
)  # fmt: skip
def test_answers_are_read_as_people_would(answer: str, label: str) -> None:
    assert label_of(answer, LETTERS) == label


def test_answers_that_name_a_place() -> None:
    assert [label_of(text, POSITIONS) for text in ("Top-left.", "The **upper right** image", "left", "top")] == [
        "top left", "top right", "", "",
    ]  # fmt: skip


def test_prompts_are_messages(tmp_path: Path) -> None:
    one = read_game(write(tmp_path, game()))
    trial = played(one, "steady", "random", setup("L1"))[2]
    speaker, listener = (messages_of(one, prompt, {}) for prompt in trial.prompts)
    for messages in (speaker, listener):
        roles = "system user assistant user assistant user"
        assert [message.role for message in messages] == roles.split()
    assert sum(isinstance(part, Picture) for message in listener for part in message.parts) == 12
    first = played(one, "steady", "random", setup("L1"))[0]
    assert (speaker[2].parts, listener[2].parts) == ((first.message,), (first.answer,))


def test_the_history_keeps_invalid_answers(tmp_path: Path) -> None:
    one = read_game(write(tmp_path, game()))

    class Mumbling:
        def __init__(self, *_: object) -> None: ...

        def choose(self, view: Any) -> str:
            return "Hm, **A** or B" if view.trial == 0 else ""

    trial = play_game(one, SteadySpeaker(one, setup()), Mumbling(), setup())[2]
    messages = messages_of(one, trial.prompts[1], {})
    assert [message.parts[0] for message in messages if message.role == "assistant"] == [
        "Hm, **A** or B",
        "(no answer)",
    ]
    assert "No valid answer; valid are A, B, C, D." in messages[3].parts


def options(games: Path, out: Path, **more: Any) -> Play:
    given = {"games": (games,), "speaker": "openai:speaker", "listener": "openai:listener", "out": out, "parallel": 6}
    return Play(**{**given, **more})


def behavior(number: int, body: Body) -> str | int | float:
    """One request in five fails, in turn by an error, a malformed answer, no reply; the 35th is never answered."""
    if number == 34:
        return 60.0
    if number % 5 == 4:
        return (503, "malformed", "empty")[number // 5 % 3]
    if body["model"] == "speaker":
        return "the red cube"
    return f"Image {'ABCD'[len(body['messages']) % 4]}."


def play(server_url: str, chosen: Play, **more: Any) -> float:
    """Play and return the cost of the requests of this run."""
    settings = ChatSettings(
        base_url=server_url, timeout=2, first_wait=0.001, longest_wait=0.002, price=(1e6, 2e6), attempts=20, **more
    )
    with open_models(settings, Path(f"{chosen.out}.replies"), chosen.resume) as models:
        list(play_games(chosen, models).items)
    return float(models.meter.tokens[0] + 2 * models.meter.tokens[1])


def cost(out: Path) -> float:
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return float(sum(one["cost"] for row in rows if "trial" in row for one in row["usage"].values()))


@pytest.mark.slow
def test_games_with_a_server_that_fails(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / "games", game(number))
    out = tmp_path / "o.jsonl"
    with chat_server(behavior) as server:
        with pytest.raises(PlayerError, match=r"the (speaker|listener) failed: stopped: --max-requests 70 reached"):
            play(server.url, options(tmp_path / "games", out), max_requests=70)
        # On a busy machine, a request may time out before the server has it.
        assert 0 < len(server.bodies) <= 70
        play(server.url, options(tmp_path / "games", out, resume=True))
        # Another server may have another model of this name.
        with chat_server(behavior) as other, pytest.raises(SpecError, match="was played with another models"):
            play(other.url, options(tmp_path / "games", out, resume=True))
        assert not other.bodies
    found = read_transcripts(out)
    assert sorted(one.game for one in found) == sorted(game(number).name for number in range(3))
    assert all(trial.choice and trial.message == "the red cube" for one in found for trial in one.trials)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    usages = [one for row in rows if "trial" in row for one in row["usage"].values()]
    assert len(usages) == 3 * 24 * 2
    # Nothing was paid twice, and everything that was paid for is in the transcript, except the tokens of replies that
    # the interrupted run could not use and did not repeat.
    spent = server.tokens[0] + 2.0 * server.tokens[1]
    assert 0.8 * spent <= cost(out) <= spent
    assert rows[0]["models"] == {role: {"base_url": server.url} for role in ("speaker", "listener")}


@pytest.mark.slow
def test_the_cost_of_an_uninterrupted_run(tmp_path: Path) -> None:
    write(tmp_path / "games", game(0))
    out = tmp_path / "o.jsonl"
    with chat_server(behavior) as server:
        spent = play(server.url, options(tmp_path / "games", out))
    # On a busy machine, an answer that the server sent may come too late.
    assert cost(out) == spent <= server.tokens[0] + 2.0 * server.tokens[1]
    assert spent > 0.9 * (server.tokens[0] + 2.0 * server.tokens[1])


def test_a_class_in_the_current_folder_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "games", game(0))
    text = "from diorama.scene_specs.tasks.chat import Reply\n"
    text += "class Chat:\n    def reply(self, messages, *, max_tokens):\n"
    text += "        return Reply('', 1, 0)\nclass Picks:\n    def __init__(self, game, setup): ...\n"
    text += "    def choose(self, view):\n        return 'a'\n"
    (tmp_path / "players_of_mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    named = {"speaker": "players_of_mine:Chat", "listener": "players_of_mine:Picks"}
    play("", options(tmp_path / "games", tmp_path / "o", **named))
    trials = read_transcripts(tmp_path / "o")[0].trials
    assert {(trial.message, trial.choice) for trial in trials} == {("(no message)", "A")}


def test_published_arguments() -> None:
    published = {"has_intro": True, "img_once": True, "do_shuffle": False, "no_history": False, "img_mask": False}
    found = read_listener(json.dumps({**published, "misleading_trials": []}), "mine")
    assert found.data() == setup("L3").listener.data()
    found = read_listener(json.dumps({"no_history": True, "has_intro": False, "max_hist_len": 3}), "mine")
    assert (found.history, found.shuffle, found.intro, found.misleading_trials) == (False, False, False, ())
    with pytest.raises(SpecError, match="unknown keys extra"):
        read_listener(json.dumps({**published, "extra": 1}), "mine")
    with pytest.raises(SpecError, match="expected an object"):
        read_listener(json.dumps({**published, "no_history": "no"}), "mine")
