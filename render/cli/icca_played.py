"""Transcripts while they are made: a file that grows game by game, and games as folders when they were played."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from render.cli.common import atomic_writer, log
from render.model.errors import Diagnostic, SpecError, UsageError
from scene_specs.benchmarks.icca.game import TRIALS, Game
from scene_specs.benchmarks.icca.game_folders import TRUTH, table_text, transcript_rows, write_game
from scene_specs.benchmarks.icca.transcripts import header_of, transcripts_of
from scene_specs.benchmarks.user_files import read_text

if TYPE_CHECKING:
    from scene_specs.benchmarks.icca.play import Setup

_HEAD = b'{"icca_transcript":'


def empty_folder(option: str, out: Path) -> None:
    """Makes the folder that an option names, before anything is made that goes into it.

    Raises UsageError where it can't be made, or something is in it.
    """
    try:
        if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
            raise UsageError(f"{option} {out}: is there already, and is no empty folder")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {out}: can't be written: {error.strerror or error}") from error


class TranscriptWriter:
    """lines: game -> its lines, of all games that are in the file. `add` puts one more into it."""

    def __init__(self, write: Callable[[str], None], lines: dict[str, list[str]]) -> None:
        self._write = write
        self.lines = lines

    def add(self, name: str, lines: Sequence[str]) -> None:
        """A game that was played; when this returns it is in the file, whatever happens to the next.

        Raises UsageError where it can't be written: what was there before is there still.
        """
        self._write("".join(line + "\n" for line in lines))
        self.lines[name] = [*lines]


@contextmanager
def growing(
    out: Path | None, resume: bool, games: Sequence[Game], setup: Setup, players: tuple[str, str]
) -> Iterator[TranscriptWriter]:
    """The transcripts' file, this command's alone while it is open; or stdout, for None or `-`, a pipe or a device.

    resume: what is in it was played so, and stays. Raises UsageError for a file that is there (without `resume`), is
    being written by another, or can't be written; SpecError where its games were played otherwise.
    """
    if out is None or str(out) == "-" or (out.exists() and not out.is_file() and not out.is_dir()):
        try:
            with atomic_writer(out) as stream:
                yield TranscriptWriter(partial(_pass_on, stream), {})
        except BrokenPipeError:
            # Whoever reads has enough, as `head` has; click ends the command.
            raise
        except OSError as error:
            raise UsageError(f"--out {out}: can't be written: {error.strerror or error}") from error
        return
    new = not out.exists()
    with _alone(out) as held:
        size = os.fstat(held.fileno()).st_size
        made = TranscriptWriter(partial(_append, out, held), {})
        try:
            if size and not resume:
                hint = "--resume plays the games that are not in it yet; or name another file"
                raise UsageError(f"--out {out}: is there already; {hint}")
            if size:
                made.lines = _kept(out, held, {game.name: game for game in games}, setup, players)
            yield made
        except BaseException:
            if there := sum(game.name in made.lines for game in games):
                log.warning("%d of %d games are in %s; --resume plays the others", there, len(games), out)
            raise
        finally:
            if new and not os.fstat(held.fileno()).st_size:
                out.unlink(missing_ok=True)


def _pass_on(stream: IO[str], text: str) -> None:
    stream.write(text)
    stream.flush()


def _append(out: Path, held: IO[bytes], text: str) -> None:
    """To the end, and onto the disk: all of it or nothing."""
    end = held.seek(0, os.SEEK_END)
    try:
        held.write(text.encode())
        held.flush()
        os.fsync(held.fileno())
    except OSError as error:
        os.ftruncate(held.fileno(), end)
        raise UsageError(f"--out {out}: can't be written: {error.strerror or error}") from error


@contextmanager
def _alone(out: Path) -> Iterator[IO[bytes]]:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        held = out.open("a+b")
    except OSError as error:
        raise UsageError(f"--out {out}: can't be written: {error.strerror or error}") from error
    with held:
        try:
            # The lock goes with the process, however it ends.
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"--out {out}: another `play` is writing it; wait for it or name another file") from error
        yield held


def _kept(
    out: Path, held: IO[bytes], games: Mapping[str, Game], setup: Setup, players: tuple[str, str]
) -> dict[str, list[str]]:
    """Lines of the games in a file; a last one that was cut short goes out of it. Raises SpecError."""
    try:
        text = read_text(out)
        found = _games_of(text, out, games, setup, players)
    except SpecError:
        held.seek(0)
        data = held.read()
        end = cut_at(data)
        if end == len(data):
            raise
        found = _games_of(data[:end].decode(errors="replace"), out, games, setup, players) if end else {}
        _put_aside(out, data[end:])
        os.ftruncate(held.fileno(), end)
        return found
    if not text.endswith("\n"):
        held.write(b"\n")
    return found


def _put_aside(out: Path, data: bytes) -> None:
    aside = out.with_name(f"{out.name}.cut")
    try:
        aside.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{aside}: can't be written: {error.strerror or error}") from error
    log.warning("%s: its last game was cut short, and is played again; what there was of it is in %s", out, aside)


def cut_at(data: bytes) -> int:
    """Where the last game of a transcript begins, if its end is missing; else, and for what is none, its length."""
    if not data.startswith(_HEAD):
        return len(data)
    whole = data.rfind(b"\n") + 1
    last = data.rfind(b"\n" + _HEAD, 0, whole) + 1
    if data.count(b"\n", last, whole) < 1 + TRIALS:
        return last
    return whole


def _games_of(
    text: str, out: Path, games: Mapping[str, Game], setup: Setup, players: tuple[str, str]
) -> dict[str, list[str]]:
    """Lines of each game. Raises SpecError where one is there twice, or was played otherwise than now."""
    now = header_of(setup, players)
    lines = [line for line in text.split("\n") if line.strip()]
    found: dict[str, list[str]] = {}
    for k, one in enumerate(transcripts_of(text, str(out))):
        then = {"labels": [*one.labels], **one.about}
        problem = ""
        if other := sorted(key for key in now if then.get(key) != now[key]):
            problem = f"was played with another {', '.join(other)}"
        elif one.game in found:
            problem = "is there twice"
        elif (game := games.get(one.game)) and (
            one.images != game.images or [t.target for t in one.trials] != [game.images[j] for j in game.targets]
        ):
            problem = "has other images or targets there"
        if problem:
            raise SpecError([Diagnostic(str(out), 0, "", "", f"game {one.game!r} {problem}", "name another --out")])
        found[one.game] = lines[k * (1 + TRIALS) : (k + 1) * (1 + TRIALS)]
    return found


def write_played(games: Sequence[Game], lines: Mapping[str, Sequence[str]], out: Path) -> None:
    """Each game as it was played, a folder each below `out`. Raises SpecError."""
    for game in games:
        assert game.folder is not None
        (transcript,) = transcripts_of("\n".join(lines[game.name]))
        files = {name: (game.folder / name).read_bytes() for name in game.images}
        path = game.folder / TRUTH
        truth: dict[str, Any] | None = json.loads(read_text(path)) if path.exists() else None
        write_game(out, game, files, table_text(game, transcript_rows(game, transcript)), truth)
