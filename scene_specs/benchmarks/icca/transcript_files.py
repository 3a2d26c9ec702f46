"""Output of `render-specs icca play`: a transcript file that grows game by game, and folders of played games."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from diorama.scene_specs.benchmarks.icca.game import TRIALS, Game
from diorama.scene_specs.benchmarks.icca.game_folders import (
    TRUTH,
    records_text,
    table_text,
    transcript_rows,
    write_game,
)
from diorama.scene_specs.benchmarks.icca.transcripts import transcripts_of
from diorama.scene_specs.language.errors import SpecError, UsageError, spec_error
from diorama.scene_specs.language.foreign import read_foreign, read_text
from diorama.scene_specs.language.writing import (
    GrowingFile,
    atomic_writer,
    is_stream,
    open_growing,
    report_write_errors,
)

_log = logging.getLogger(__name__)
_HEAD = b'{"icca_transcript":'


@dataclass
class TranscriptWriter:
    """Adds games to a transcript file.

    Attributes:
        lines: the lines of each game in the file, by the game's name.
    """

    write: Callable[[str], None]
    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, lines: Sequence[str]) -> None:
        """Add a played game; it is on the disk when this returns.

        Raises UsageError if it can't be written; the file then keeps its earlier contents.
        """
        self.write("".join(line + "\n" for line in lines))
        self.lines[name] = [*lines]


@contextmanager
def open_transcripts(
    out: Path | None, resume: bool, games: Sequence[Game], about: Mapping[str, Any]
) -> Iterator[TranscriptWriter]:
    """Open a transcript file under a lock; or stdout (None or `-`), a pipe, or a device.

    Args:
        resume: keep the games in the file.
        about: the values that their headers must have, and whether trials have `prompts`.

    Raises:
        UsageError: if the file exists (without `resume`), is locked by another process, or can't be written.
        SpecError: if its games were played in another way.
    """
    if is_stream(out):
        with atomic_writer(out) as stream:
            yield TranscriptWriter(partial(_write_and_flush, out, stream))
        return
    assert out is not None
    with open_growing(out) as file:
        transcripts = TranscriptWriter(file.append)
        contents = file.contents()
        try:
            if contents and not resume:
                hint = "pass --resume to play the games that it does not have yet, or name another file"
                raise UsageError(f"--out {out}: already exists; {hint}")
            if contents:
                transcripts.lines = _read_finished(file, contents, {game.name: game for game in games}, about)
            yield transcripts
        except BaseException:
            if finished := sum(game.name in transcripts.lines for game in games):
                _log.warning("%d of %d games are in %s; --resume plays the others", finished, len(games), out)
            raise


def _write_and_flush(out: Path | None, stream: IO[str], text: str) -> None:
    with report_write_errors(f"--out {out}"):
        stream.write(text)
        stream.flush()


def _read_finished(
    file: GrowingFile, contents: bytes, games: Mapping[str, Game], about: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Read the lines of the games in a file; remove a last game that is cut short. Raises SpecError."""
    out = file.path
    try:
        text = read_text(out)
        found = _games_of(text, out, games, about)
    except SpecError:
        end = complete_length(contents)
        if end == len(contents) or _lacks_newline(contents):
            raise
        found = _games_of(contents[:end].decode(errors="replace"), out, games, about) if end else {}
        aside = out.with_name(f"{out.name}.cut")
        # Added, as the file may have lines of an earlier cut, or be somebody's.
        with report_write_errors(str(aside)), aside.open("ab") as stream:
            stream.write(contents[end:])
        _log.warning("%s: its last game was cut short, and is played again; its incomplete lines are in %s", out, aside)
        file.truncate(end)
        return found
    if not text.endswith("\n"):
        file.append("\n")
    return found


def complete_length(data: bytes) -> int:
    """Length in bytes of the complete games of a transcript; the length of `data` if it is not a transcript."""
    if not data.startswith(_HEAD):
        return len(data)
    lines_end = data.rfind(b"\n") + 1
    last_game = data.rfind(b"\n" + _HEAD, 0, lines_end) + 1
    return last_game if data.count(b"\n", last_game, lines_end) < 1 + TRIALS else lines_end


def _lacks_newline(contents: bytes) -> bool:
    """Whether a file has complete games, and only the end of its last line is missing."""
    try:
        json.loads(contents[contents.rfind(b"\n") + 1 :])
    except (ValueError, RecursionError):
        return False
    return complete_length(contents + b"\n") == len(contents) + 1


def _games_of(text: str, out: Path, games: Mapping[str, Game], about: Mapping[str, Any]) -> dict[str, list[str]]:
    """Lines of each game. Raises SpecError if a game occurs twice, or was played in another way."""
    lines = [line for line in text.split("\n") if line.strip()]
    found: dict[str, list[str]] = {}
    for k, one in enumerate(transcripts_of(text, str(out))):
        own = lines[k * (1 + TRIALS) : (k + 1) * (1 + TRIALS)]
        then = {"labels": [*one.labels], **one.about, "prompts": "speaker_prompt" in json.loads(own[1])}
        problem = ""
        if other := sorted(key for key in about if then.get(key) != about[key]):
            problem = f"was played with another {', '.join(other)}"
        elif one.game in found:
            problem = "occurs twice"
        elif (game := games.get(one.game)) and (
            one.images != game.images or [t.target for t in one.trials] != [game.images[j] for j in game.targets]
        ):
            problem = "has other images or targets there"
        if problem:
            raise spec_error(f"game {one.game!r} {problem}", "name another --out", file=str(out))
        found[one.game] = own
    return found


def write_played(games: Sequence[Game], lines: Mapping[str, Sequence[str]], out: Path) -> None:
    """Write each game as played to a folder of its own below `out`. Raises SpecError."""
    for game in games:
        assert game.folder is not None
        (transcript,) = transcripts_of("\n".join(lines[game.name]))
        files = {name: read_foreign(game.folder / name) for name in game.images}
        path = game.folder / TRUTH
        truth: dict[str, Any] | None = json.loads(read_text(path)) if path.exists() else None
        keys = ("speaker", "speaker_variant", "listener", "listener_variant")
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(str(transcript.about[key])[:50] for key in keys))
        records = {f"records_{name}_output.csv": records_text(game, transcript)}
        write_game(out, game, files, table_text(game, transcript_rows(transcript)), truth, records)
