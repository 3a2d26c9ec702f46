"""Transcripts: written, read, replayed; scored; what is wrong with one is said."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.benchmarks.icca.game import TRIALS
from diorama.scene_specs.benchmarks.icca.game_folders import read_game, table_text, transcript_rows
from diorama.scene_specs.benchmarks.icca.play import play
from diorama.scene_specs.benchmarks.icca.players import Replay, factory
from diorama.scene_specs.benchmarks.icca.score import MEASURES, Played, _interval_of, played_transcript, scores, table
from diorama.scene_specs.benchmarks.icca.transcripts import lines_of, read_transcripts
from diorama.scene_specs.errors import SpecError
from tests.scene_specs.benchmarks.icca.pieces import game, played, setup, write


def lines(number: int = 0, variant: str = "L1", speaker: str = "scripted", listener: str = "random") -> list[str]:
    one, settings = game(number), setup(variant)
    return [*lines_of(one, settings, (speaker, listener), played(one, speaker, listener, settings), True)]


def written(folder: Path, *blocks: list[str]) -> Path:
    file = folder / "t.jsonl"
    file.write_text("".join(line + "\n" for block in blocks for line in block))
    return file


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = read_transcripts(written(tmp_path, lines(0), lines(1)))
    assert [one.game for one in found] == [game(0).name, game(1).name]
    again = played(game(1), "scripted", "random", setup("L1"))
    assert [(t.message, t.choice, t.correct, t.order) for t in found[1].trials] == [
        (t.message, t.choice, t.correct, t.order) for t in again
    ]
    assert found[0].about["listener_variant"] == "L1"
    assert json.loads(lines(0)[1])["listener_prompt"][2:4] == [
        {"text": "Round 1."}, {"image": game(0).images[found[0].trials[0].shown[0]], "label": "A"},
    ]  # fmt: skip


def test_a_replay_is_the_same_game(tmp_path: Path) -> None:
    replayed = Replay(written(tmp_path, lines(0)))
    one, settings = game(0), setup("L1")
    again = play(one, replayed(one, settings), replayed(one, settings), settings)
    assert [*lines_of(one, settings, ("scripted", "random"), again, True)] == lines(0)
    # Shown otherwise, the same images are picked.
    other = setup("L3", seed=9)
    moved = play(one, replayed(one, other), replayed(one, other), other)
    assert [t.correct for t in moved] == [t.correct for t in again]
    with pytest.raises(SpecError, match="is not in it"):
        replayed(game(1), settings)


def test_an_invalid_answer_stays_invalid_under_other_labels(tmp_path: Path) -> None:
    one, places, letters = game(0), setup(labels="positions"), setup()
    said = factory("speaker", "steady")(one, places)
    invalid = play(one, said, SimpleNamespace(choose=lambda view: "A"), places)
    replayed = Replay(written(tmp_path, [*lines_of(one, places, ("steady", "mine"), invalid)]))
    assert not any(trial.choice for trial in play(one, said, replayed(one, letters), letters))
    assert play(one, said, replayed(one, places), places)[0].answer == "A"


def test_a_game_played_is_a_published_table(tmp_path: Path) -> None:
    (found,) = read_transcripts(written(tmp_path, lines(0)))
    folder = write(tmp_path, game(0))
    (folder / f"trials_for_{folder.name}.csv").write_text(table_text(game(0), transcript_rows(found)))
    back = read_game(folder)
    assert [one.message for one in back.recorded] == [one.message for one in found.trials]
    assert [one.correct for one in back.recorded] == [one.correct for one in found.trials]
    said = factory("speaker", "recorded")(back, setup())
    assert [t.message for t in play(back, said, factory("listener", "oracle")(back, setup()), setup())] == [
        one.message for one in found.trials
    ]


def change(number: int, **values: Any) -> Callable[[list[str]], list[str]]:
    def changed(block: list[str]) -> list[str]:
        row = {**json.loads(block[number]), **values}
        return [*block[:number], json.dumps(row), *block[number + 1 :]]

    return changed


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda block: block[:-1], "found 23 trials; expected 24"),
        (lambda block: block[1:], "t.jsonl:1: expected the header"),
        (lambda block: [*block[:5], *block[6:], *block], "t.jsonl:25: game .*: found 23 trials; expected 24"),
        (lambda block: [*block, block[-1]], "t.jsonl:26: game .*: found 24 trials; expected the header"),
        (lambda block: [], "no game in it"),
        (lambda block: [*block[:5], "{", *block[6:]], "t.jsonl:6: invalid JSON"),
        (change(0, icca_transcript=2), "expected version 1"),
        (change(0, images=["a"]), "4 texts each"),
        (change(3, trial=9), "t.jsonl:4: game .*, trial 2: trial: found 9; the other values give 2"),
        (change(3, target="x.png"), "target 'x.png' is not one of the game's images"),
        (change(3, message=" "), "the message is empty"),
        (change(3, message=None), "message: found None; expected a text"),
        (change(3, order=[0, 1, 2, 2]), "expected the numbers 0 to 3"),
        (change(3, shown=None), "shown: found None"),
        (change(3, listener_label="E"), "listener_label: found 'E'; the other values give"),
        (change(3, correct="yes"), "correct: found 'yes'"),
        (change(3, choice="Q"), "choice: found 'Q'; the other values give"),
        (change(3, speaker_label="Q"), "speaker_label 'Q' is not a label"),
        (change(0, labels=["A"] * 4), "4 texts each, all different"),
        (change(0, listener=None), "found no text for listener"),
        (lambda block: [*block[:5], "[" * 100_000, *block[6:]], "t.jsonl:6: invalid JSON: nested too deeply"),
        (change(3, listener_images=None), "expected a number"),
        (change(3, repetition=4), "t.jsonl:4: .* repetition: found 4; the other values give 0"),
        (
            lambda block: change(3, shown=json.loads(block[3])["shown"][::-1])(block),
            "t.jsonl:4: .*, trial 2: shown: found",
        ),
        (change(0, game="001_ffffffffffff"), "the game's id, seed and variant give"),
        (change(0, seed=77), "the game's id, seed and variant give"),
        (change(0, variant={"history": True}), "its orders can't be checked"),
        (change(3, names_a_label=True), "t.jsonl:4: .*, trial 2: names_a_label: found True; the message gives False"),
        (change(3, speaker_images=8), "t.jsonl:4: .*, trial 2: speaker_images: found 8; .* give 4"),
        (change(3, listener_images=0), "t.jsonl:4: .*, trial 2: listener_images: found 0; .* give"),
        (change(0, form="collage"), "speaker_images: found 4; .* give 1"),
    ],
)
def test_wrong_transcripts(tmp_path: Path, spoil: Callable[[list[str]], list[str]], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        read_transcripts(written(tmp_path, spoil(lines(0))))


def test_what_a_file_says_of_prompts_and_usage_is_not_read(tmp_path: Path) -> None:
    (found,) = read_transcripts(written(tmp_path, change(3, usage="abc", prompts="abc")(lines(0))))
    assert found.trials[2].usage == {} and found.trials[2].prompts == ()


def test_only_the_first_thousand_faults_of_a_file_are_kept(tmp_path: Path) -> None:
    header, empty = lines(0)[0], ["{}"] * TRIALS
    with pytest.raises(SpecError) as raised:
        read_transcripts(written(tmp_path, [header, *empty] * 60))
    assert 1000 <= len(raised.value.diagnostics) < 1000 + TRIALS


def test_a_target_twice_in_a_repetition(tmp_path: Path) -> None:
    block = lines(0)
    head, first, second = map(json.loads, block[:3])
    label = head["labels"][first["order"].index(head["images"].index(second["target"]))]
    right = first["answer"] == label
    block = change(1, target=second["target"], listener_label=label, correct=right)(block)
    with pytest.raises(SpecError, match=r"t\.jsonl:1: game .*, repetition 0: each image has to be the target once"):
        read_transcripts(written(tmp_path, block))


def test_encodings(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    plain = read_transcripts(written(tmp_path, lines(0)))
    for mark, end in ((b"\xef\xbb\xbf", b"\n"), (b"", b"\r\n")):
        file.write_bytes(mark + end.join(line.encode() for line in lines(0)))
        assert read_transcripts(file) == plain
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(SpecError, match="byte 0: not UTF-8"):
        read_transcripts(file)


def hand_made(group: str, name: str, messages: list[str], right: int) -> Played:
    """Four targets, each said messages[k] in repetition k."""
    targets = tuple("abcd"[k % 4] for k in range(24))
    return Played(group, name, targets, tuple(messages[k // 4] for k in range(24)), tuple(k < right for k in range(24)))


def test_scores_by_hand() -> None:
    said = ["the old dirty truck.", "dirty truck", "truck", "truck", "red truck", "truck truck truck"]
    rows = scores([hand_made("g", "1", said, 10)])
    found = {measure: [row.mean for row in rows if row.measure == measure] for measure in MEASURES}
    assert found["accuracy"] == [1.0, 1.0, 0.5, 0.0, 0.0, 0.0]
    assert found["words"] == [4.0, 2.0, 1.0, 1.0, 2.0, 3.0]
    assert found["wnd"] == [0.0, 0.0, 0.0, 1.0, 2.0]
    assert found["wnr"] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert [row.at for row in rows if row.measure == "wnr"] == [2, 3, 4, 5, 6]
    published = scores([hand_made("g", "1", said, 10)], "published")
    # `old` goes first, then `dirty`: 1 of 3, and 1 of 2.
    assert [row.mean for row in published if row.measure == "wnr"][:3] == [pytest.approx(1 / 3), 0.5, 0.0]


def test_intervals_hold_the_mean_and_are_the_same_again() -> None:
    games = [hand_made("g", str(k), ["red cube"] * 6, 2 * k) for k in range(12)]
    rows = scores(games, seed=4)
    assert rows == scores(games[::-1], seed=4)
    assert [row.low for row in rows] != [row.low for row in scores(games, seed=5)]
    assert all(row.low <= row.mean <= row.high for row in rows)
    third = next(row for row in rows if row.measure == "accuracy" and row.at == 3)
    # Standard error by hand: 12 games, of which some have all of trials 8 to 11 right and some none.
    shares = [sum(k < 2 * g for k in range(8, 12)) / 4 for g in range(12)]
    mean = sum(shares) / 12
    error = (sum((share - mean) ** 2 for share in shares) / 12 / 12) ** 0.5
    assert third.mean == pytest.approx(mean)
    assert third.high - third.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_tables_and_faults() -> None:
    text = table(scores([hand_made("me - you", "1", ["red cube"] * 6, 24)]))
    assert "| me - you | accuracy | 1 | 100.0 (100-100) % |" in text
    assert "| me - you | wnr | 1 |  | 0.00 (0.00-0.00) |" in text
    with pytest.raises(SpecError, match=r"game '1' of 'g' is there twice .score them in separate commands"):
        scores([hand_made("g", "1", ["red"] * 6, 0)] * 2)


def test_many_games_fit_into_the_memory() -> None:
    values = np.random.default_rng(1).random((2000, 6))
    tracemalloc.start()
    low, high = _interval_of(values, np.random.default_rng(2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (low < values.mean(axis=0)).all() and (values.mean(axis=0) < high).all()
    # 2,000 draws of 2,000 indices.
    assert peak < 2 * 2000 * 2000 * 8


def test_nobody_answered() -> None:
    silent = hand_made("g", "1", ["red"] * 6, 0)
    rows = scores([Played("g", "1", silent.targets, silent.messages, (None,) * 24)])
    assert {row.measure for row in rows} == {"words", "wnd", "wnr"}
    # Beside a game that somebody answered it counts for nothing.
    both = [Played("g", "1", silent.targets, silent.messages, (None,) * 24), hand_made("g", "2", ["red"] * 6, 12)]
    accuracy = [row for row in scores(both) if row.measure == "accuracy"]
    assert [(row.games, row.mean) for row in accuracy] == [(1, 1.0)] * 3 + [(1, 0.0)] * 3


def test_groups_are_players_and_variants(tmp_path: Path) -> None:
    found = read_transcripts(written(tmp_path, lines(0, "L6", "steady", "literal")))
    assert played_transcript(found[0]).group == "steady S1 - literal L6"
