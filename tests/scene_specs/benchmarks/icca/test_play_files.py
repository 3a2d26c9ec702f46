"""`render-specs icca play` loses nothing that was played, whatever becomes of the next game, the disk or the user."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.icca.game import Game, new_game
from diorama.scene_specs.benchmarks.icca.play import ListenerView, Setup
from diorama.scene_specs.benchmarks.icca.play_files import complete_length
from tests.scene_specs.benchmarks.icca.pieces import game, write


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["icca", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Four games."""
    for number in range(4):
        write(tmp_path / "games", game(number))
    return tmp_path / "games"


def play(games: Path, *arguments: object, listener: str = "oracle") -> Result:
    return run("play", games, "--speaker", "steady", "--listener", listener, *arguments)


class Answering:
    """A listener whose answers a test sets."""

    made: Callable[[Game], None] = staticmethod(lambda one: None)
    answer: Callable[[], Any] = staticmethod(lambda: "A")

    def __init__(self, one: Game, settings: Setup) -> None:
        Answering.made(one)

    def choose(self, view: ListenerView) -> Any:
        return Answering.answer()


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, add_entry_points: Callable[..., None]) -> pytest.MonkeyPatch:
    add_entry_points("diorama.icca.listeners", mine=f"{__name__}:Answering", mute=f"{__name__}:game")
    return monkeypatch


def test_what_is_there_is_not_written_over(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    out.write_text("precious")
    found = play(games, "--out", out)
    assert (found.exit_code, "already exists; pass --resume to play" in found.output) == (2, True)
    # Nor is what is no transcript cut.
    assert play(games, "--out", out, "--resume").exit_code == 2
    assert out.read_text() == "precious"


@pytest.mark.parametrize("place", ["folder", "file/t.jsonl"])
def test_where_nothing_can_be_written_nothing_is_played(
    games: Path, tmp_path: Path, answering: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    answering.setattr(Answering, "made", staticmethod(lambda one: pytest.fail("was played")))
    for option in ("--out", "--folders"):
        where = tmp_path / ("file" if option == "--folders" else place)
        found = play(games, option, where, listener="mine")
        assert found.exit_code == 2
        assert f"{option} {where}: " in found.output
    (tmp_path / "folder" / "x").write_text("")
    found = play(games, "--folders", tmp_path / "folder", "--out", tmp_path / "new.jsonl", listener="mine")
    assert (found.exit_code, "is not an empty folder" in found.output) == (2, True)
    assert not (tmp_path / "new.jsonl").exists()


def test_a_game_is_on_the_disk_before_the_next_begins(
    games: Path, tmp_path: Path, answering: pytest.MonkeyPatch
) -> None:
    out, sizes = tmp_path / "t.jsonl", []
    answering.setattr(Answering, "made", staticmethod(lambda one: sizes.append(len(out.read_bytes().splitlines()))))
    assert play(games, "--out", out, listener="mine").exit_code == 0
    assert sizes == [0, 25, 50, 75]


def test_a_full_disk_leaves_what_was_there(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = play(games, "--out", "/dev/full")
    assert (full.exit_code, "can't be written: No space left" in full.output) == (2, True)
    out, synced, calls = tmp_path / "t.jsonl", os.fsync, []

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        synced(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    found = play(games, "--out", out)
    assert (found.exit_code, "2 of 4 games are in" in found.output) == (2, True)
    assert out.read_text().count("icca_transcript") == 2
    assert play(games, "--out", out, "--resume").exit_code == 0
    assert out.read_text() == play(games).output


SLOW = """
import sys, time
from pathlib import Path
from diorama.scene_specs.benchmarks.icca import players
plain, calls = players.OracleListener.choose, []
def slow(self, view):
    calls.append(view)
    time.sleep(0.02 if len(calls) < 30 else 3600)  # a game has 24 trials
    return plain(self, view)
players.OracleListener.choose = slow
from diorama.render.cli.specs import main
main()
"""


@pytest.mark.slow
def test_killed_while_it_plays(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    arguments = ["play", str(games), "--speaker", "steady", "--listener", "oracle", "--out", str(out)]
    playing = subprocess.Popen([sys.executable, "-c", SLOW, "icca", *arguments], cwd=Path(__file__).parents[4])
    end = time.monotonic() + 200
    while not (out.exists() and out.stat().st_size) and time.monotonic() < end:
        time.sleep(0.01)
    # Meanwhile it is alone.
    second = run(*arguments, "--resume")
    assert (second.exit_code, "another command is writing it" in second.output) == (2, True)
    os.kill(playing.pid, signal.SIGKILL)
    playing.wait(240)
    kept = out.read_text().splitlines()
    assert len(kept) == 25
    assert run(*arguments, "--resume").exit_code == 0
    assert out.read_text() == run(*arguments[:-2]).output


def test_a_game_that_was_cut_short_is_played_again(games: Path, tmp_path: Path) -> None:
    out, aside = tmp_path / "t.jsonl", tmp_path / "t.jsonl.cut"
    play(games, "--out", out)
    whole, kept = out.read_bytes(), b"mine"
    aside.write_bytes(kept)
    third = whole.index(b"\n", whole.index(b"icca_transcript", whole.index(b"icca_transcript", 1000) + 1))
    for end in (third + 300, third - 5, third + 1, 300):
        out.write_bytes(whole[:end])
        found = play(games, "--out", out, "--resume")
        assert (found.exit_code, "was cut short, and is played again" in found.output) == (0, True)
        assert out.read_bytes() == whole
        kept += whole[:end][complete_length(whole[:end]) :]
        # Nothing that is there already is written over.
        assert aside.read_bytes() == kept
    # An editor that leaves out the last end of line has cut nothing.
    first = whole.index(b'{"icca_transcript"', 10)
    out.write_bytes(whole[: first - 1])
    assert "cut short" not in play(games, "--out", out, "--resume").output
    assert out.read_bytes() == whole
    # Nor is a game that was played in another way cut short.
    out.write_bytes(whole[:-1])
    assert play(games, "--out", out, "--form", "collage", "--resume").exit_code == 2
    assert out.read_bytes() == whole[:-1]
    # What is wrong elsewhere is no cut.
    out.write_bytes(whole.replace(b'"trial": 3', b'"trial": 4', 1))
    assert "trial: found 4; the other values give 3" in play(games, "--out", out, "--resume").output


def test_resume_refuses_other_games_of_the_same_id(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    play(games, "--out", out)
    text = out.read_text()
    out.write_text(text.replace("clevr-0-0.png", "clevr-0-00.png"))
    assert "found lines with the SHA-256" in play(games, "--out", out, "--resume").output
    out.write_text(re.sub('"sha256": "[0-9a-f]+", |, "sha256": "[0-9a-f]+"', "", out.read_text()))
    assert "has other images or targets there" in play(games, "--out", out, "--resume").output
    out.write_text(text + text)
    assert "occurs twice" in play(games, "--out", out, "--resume").output
    assert "is there twice" in play(games, listener=f"replay:{out}").output


@pytest.mark.parametrize("answer", ["A\u2028B\x85\x0bC", "\ud83d", "x" * 20_000])
def test_any_answer_can_be_read_again(games: Path, tmp_path: Path, answering: pytest.MonkeyPatch, answer: str) -> None:
    out = tmp_path / "t.jsonl"
    answering.setattr(Answering, "answer", staticmethod(lambda: answer))
    assert play(games, "--out", out, "--folders", tmp_path / "f", listener="mine").exit_code == 0
    assert "| accuracy | 4 | 0.0 (0-0) %" in run("score", out).output
    assert json.loads(out.read_text().split("\n")[1])["answer"] == answer.replace("\ud83d", "\ufffd")


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> Any:
        raise error

    return fail


def test_players_that_fail(games: Path, tmp_path: Path, answering: pytest.MonkeyPatch) -> None:
    out = tmp_path / "t.jsonl"
    mute = play(games, "--out", out, listener="mute")
    assert mute.exit_code in (1, 2)
    assert "listener" in mute.output
    answering.setattr(Answering, "answer", staticmethod(raising(SystemExit(0))))
    ended = play(games, "--out", out, listener="mine")
    assert (ended.exit_code, "trial 0: the listener failed: SystemExit(0)" in ended.output) == (1, True)
    answering.setattr(Answering, "answer", staticmethod(lambda: "x" * 20_001))
    long = play(games, "--out", out, listener="mine")
    assert (long.exit_code, "a text of 20001 characters" in long.output) == (2, True)
    answering.setattr(Answering, "made", staticmethod(raising(ConnectionError("no key"))))
    unmade = play(games, "--out", out, listener="mine")
    assert (unmade.exit_code, "the listener can't be made: ConnectionError('no key')" in unmade.output) == (1, True)
    assert not out.exists()


def test_usage_is_json_data_of_its_own_trial(games: Path, tmp_path: Path, answering: pytest.MonkeyPatch) -> None:
    out, usage = tmp_path / "t.jsonl", {"answers": 0, "of": Path("an object")}

    def answer() -> str:
        usage["answers"] += 1  # type: ignore[operator]
        return "A"

    answering.setattr(Answering, "usage", usage, raising=False)
    answering.setattr(Answering, "answer", staticmethod(answer))
    assert play(games / game(0).name, "--out", out, listener="mine").exit_code == 0
    rows = [json.loads(line)["usage"]["listener"] for line in out.read_text().splitlines()[1:]]
    assert rows == [{"answers": k, "of": "an object"} for k in range(1, 25)]
    usage["of"] = usage
    found = play(games / game(1).name, listener="mine")
    assert (found.exit_code, "trial 0: the listener failed: ValueError('Circular" in found.output) == (1, True)


def test_a_prompt_needs_the_earlier_trials_only(games: Path, answering: pytest.MonkeyPatch) -> None:
    asked = []
    answering.setattr(Answering, "answer", staticmethod(lambda: asked.append(1) or "A"))  # type: ignore[func-returns-value]
    assert "Round 3." in run("prompt", games / game(0).name, "--trial", 2, "--listener", "mine").output
    assert len(asked) == 3


def test_folders_keep_any_names_of_images(tmp_path: Path) -> None:
    names = ["a cube.png", "d\u00e9.png", "(1).png", "plain.png"]
    written = write(tmp_path / "games", new_game(1, 0, names, game(0).pictures))
    found = play(tmp_path / "games", "--out", tmp_path / "t.jsonl", "--folders", tmp_path / "played")
    assert found.exit_code == 0
    assert {path.name for path in (tmp_path / "played" / written.name).glob("*.png")} == {*names}


def test_names_of_players_that_are_not_utf8(games: Path, tmp_path: Path) -> None:
    out, replayed = tmp_path / "t.jsonl", tmp_path / os.fsdecode(b"\xff.jsonl")
    play(games, "--out", replayed)
    for resumed in ((), ("--resume",)):
        assert play(games, "--out", out, *resumed, listener=f"replay:{replayed}").exit_code == 0
    assert json.loads(out.read_text().splitlines()[0])["listener"] == f"replay:{tmp_path}/?.jsonl"


def test_resume_needs_the_same_prompts(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    play(games, "--out", out)
    found = play(games, "--out", out, "--resume", "--prompts")
    assert (found.exit_code, "was played with another prompts (name another --out)" in found.output) == (2, True)


def test_conditions_that_are_not_averaged(games: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.jsonl" for name in ("plain", "collage", "places", "masked")}
    row = {"history": True, "images_once": True, "shuffle": False, "mask": True, "misleading_trials": []}
    (tmp_path / "L3.json").write_text(json.dumps(row))
    play(games, "--out", files["plain"])
    play(games, "--out", files["collage"], "--form", "collage")
    play(games, "--out", files["places"], "--labels", "positions")
    play(games / game(0).name, "--out", files["masked"], "--variant-file", tmp_path / "L3.json")
    text = run("score", files["plain"], files["collage"], files["places"]).output
    for group in ("", ", collage", ", positions"):
        assert f"| steady S1 - oracle L3{group} | accuracy | 4 |" in text
    twice = run("score", files["plain"], files["plain"])
    assert (
        twice.exit_code,
        f"{files['plain']}: game {game(0).name!r} of 'steady S1 - oracle L3' is there twice" in twice.output,
    ) == (2, True)
    other = run("score", files["masked"], files["plain"])
    problem = f"has another variant than those of {files['masked']} (score them in separate commands)"
    assert (other.exit_code, problem in other.output) == (2, True)
