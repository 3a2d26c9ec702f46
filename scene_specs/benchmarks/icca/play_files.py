"""Games in folders: played into a file of transcripts that grows game by game, shown as prompts, and scored."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from diorama.scene_specs.benchmarks.icca import Play, Presented, Prompt, Score, game_folders, score
from diorama.scene_specs.benchmarks.icca.difficulty import SIZE
from diorama.scene_specs.benchmarks.icca.game import (
    LISTENER_VARIANTS,
    SPEAKER_VARIANTS,
    TRIALS,
    Game,
    check_images,
    read_listener,
)
from diorama.scene_specs.benchmarks.icca.play import METHODS, Setup, play, player
from diorama.scene_specs.benchmarks.icca.players import ModelPlayer, Replay, factory
from diorama.scene_specs.benchmarks.icca.prompts import as_text, compose_image, png_bytes
from diorama.scene_specs.benchmarks.icca.transcripts import header_of, lines_of, read_transcripts, transcripts_of
from diorama.scene_specs.errors import SpecError, UsageError, spec_error
from diorama.scene_specs.files import writing
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.foreign import read_foreign, read_text
from diorama.scene_specs.files.writing import output_file
from diorama.scene_specs.tasks.benchmark import Chart, Result, Series
from diorama.scene_specs.tasks.chat import ModelOpener, in_parallel, load_object

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
    if writing.is_stream(out):
        with writing.atomic_writer(out) as stream:
            yield TranscriptWriter(partial(_write_and_flush, out, stream))
        return
    assert out is not None
    with writing.open_growing(out) as file:
        transcripts = TranscriptWriter(file.append)
        contents = file.contents()
        try:
            if contents and not resume:
                hint = "pass --resume to play the games that it does not have yet, or name another file"
                raise UsageError(f"--out {out}: already exists; {hint}")
            if contents:
                transcripts.lines = _read_and_repair(file, contents, {game.name: game for game in games}, about)
            yield transcripts
        except BaseException:
            if finished := sum(game.name in transcripts.lines for game in games):
                _log.warning("%d of %d games are in %s; --resume plays the others", finished, len(games), out)
            raise


def _write_and_flush(out: Path | None, stream: IO[str], text: str) -> None:
    with writing.report_write_errors(f"--out {out}"):
        stream.write(text)
        stream.flush()


def _read_and_repair(
    file: writing.GrowingFile, contents: bytes, games: Mapping[str, Game], about: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Read the lines of the games in a file; remove a last game that is cut short. Raises SpecError."""
    out = file.path
    try:
        text = read_text(out)
        lines_by_game = _games_of(text, out, games, about)
    except SpecError:
        end = complete_length(contents)
        if end == len(contents) or _lacks_newline(contents):
            raise
        lines_by_game = _games_of(contents[:end].decode(errors="replace"), out, games, about) if end else {}
        aside = out.with_name(f"{out.name}.cut")
        # Added, as the file may have lines of an earlier cut, or be somebody's.
        with writing.report_write_errors(str(aside)), aside.open("ab") as stream:
            stream.write(contents[end:])
        _log.warning("%s: its last game was cut short, and is played again; its incomplete lines are in %s", out, aside)
        file.truncate(end)
        return lines_by_game
    if not text.endswith("\n"):
        file.append("\n")
    return lines_by_game


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
    lines_by_game: dict[str, list[str]] = {}
    for k, played in enumerate(transcripts_of(text, str(out))):
        own = lines[k * (1 + TRIALS) : (k + 1) * (1 + TRIALS)]
        then = {"labels": [*played.labels], **played.about, "prompts": "speaker_prompt" in json.loads(own[1])}
        problem = ""
        if other := sorted(key for key in about if then.get(key) != about[key]):
            problem = f"was played with another {', '.join(other)}"
        elif played.game in lines_by_game:
            problem = "occurs twice"
        elif (game := games.get(played.game)) and (
            played.images != game.images or [t.target for t in played.trials] != [game.images[j] for j in game.targets]
        ):
            problem = "has other images or targets there"
        if problem:
            raise spec_error(f"game {played.game!r} {problem}", "name another --out", file=str(out))
        lines_by_game[played.game] = own
    return lines_by_game


def write_played(games: Sequence[Game], lines: Mapping[str, Sequence[str]], out: Path) -> None:
    """Write each game as played to a folder of its own below `out`. Raises SpecError."""
    for game in games:
        assert game.folder is not None
        (transcript,) = transcripts_of("\n".join(lines[game.name]))
        files = {name: read_foreign(game.folder / name) for name in game.images}
        path = game.folder / game_folders.TRUTH
        truth: dict[str, Any] | None = json.loads(read_text(path)) if path.exists() else None
        keys = ("speaker", "speaker_variant", "listener", "listener_variant")
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(str(transcript.about[key])[:50] for key in keys))
        records = {f"records_{name}_output.csv": game_folders.records_text(game, transcript)}
        game_folders.write_game(
            out, game, files, game_folders.table_text(game, game_folders.transcript_rows(transcript)), truth, records
        )


def play_games(options: Play, models: ModelOpener) -> Series:
    """Play the games of folders, and write their transcripts to `out` one by one."""
    names = [options.speaker, options.listener]
    setup = _read_setup(options)
    factories = {role: _player_factory(role, name, models) for role, name in zip(METHODS, names, strict=True)}
    model_players = {
        role: maker for role, maker in factories.items() if isinstance(maker, partial) and maker.func is ModelPlayer
    }
    setup = replace(setup, models={role: dict(maker.args[0].settings) for role, maker in model_players.items()})
    # File names need not be UTF-8; transcripts are.
    names = [name.encode(errors="replace").decode() for name in names]
    about = {**header_of(setup, names), "prompts": options.prompts}
    all_games = game_folders.read_games(options.games)
    if options.folders is not None:
        writing.create_empty_folder("--folders", options.folders)

    def games() -> Iterator[Game]:
        def lines(game: Game) -> tuple[Game, list[str]]:
            speaker, listener = (player(role, make, game, setup) for role, make in factories.items())
            return game, [*lines_of(game, setup, names, play(game, speaker, listener, setup), options.prompts)]

        with open_transcripts(options.out, options.resume, all_games, about) as transcripts:
            yield from (game for game in all_games if game.name in transcripts.lines)
            left = [game for game in all_games if game.name not in transcripts.lines]
            for game, text in in_parallel(lines, left, options.parallel, models.stop):
                transcripts.add(game.name, text)
                yield game
        if options.folders is not None:
            write_played(all_games, transcripts.lines, options.folders)

    return Series(games(), len(all_games), "games")


def _player_factory(role: str, name: str, models: ModelOpener | None = None) -> Callable[..., Any]:
    kind, colon, rest = name.partition(":")
    if kind == "replay" and colon:
        return Replay(Path(rest))
    if not colon or models is None:
        return factory(role, name)
    if kind not in ("openai", "hf"):
        plugin = load_object(f"icca.{role}s", name)
        if callable(getattr(plugin, METHODS[role], None)):
            return plugin  # type: ignore[no-any-return]
    return partial(ModelPlayer, models.open(name))


def _read_setup(options: Presented) -> Setup:
    file = options.variant_file
    listener = read_listener(read_text(file), file.stem, str(file)) if file else LISTENER_VARIANTS[options.variant]
    check_images(listener, options.form, options.max_images)
    return Setup(options, SPEAKER_VARIANTS[options.speaker_variant], listener)


def show_prompt(options: Prompt) -> Result:
    """Return the prompt of one trial, after the trials before are played."""
    setup = _read_setup(options)
    games = game_folders.read_games((options.game,))
    if len(games) != 1:
        raise UsageError(f"{options.game}: found {len(games)} games; name the folder of one, such as {games[0].folder}")
    (game,) = games
    named = options.speaker or ("recorded" if game.recorded else "scripted")
    names = zip(METHODS, (named, options.listener), strict=True)
    speaker, listener = (player(role, _player_factory(role, name), game, setup) for role, name in names)
    prompts = play(game, speaker, listener, setup, options.trial + 1)[-1].prompts
    parts = prompts[0] if options.role == "speaker" else prompts[1]
    if options.images is not None:
        writing.create_empty_folder("--images", options.images)
        # As a model gets them: 000.png, 001.png, ...
        images = [png_bytes(compose_image(game, part)) for part in parts if part.kind != "text"]
        with writing.report_write_errors(f"--images {options.images}"):
            for number, content in enumerate(images):
                write_atomic(options.images / f"{number:03d}.png", content, fsync=False)
    return Result([part.data() for part in parts], as_text(parts), ascii_only=False)


def score_played(options: Score) -> Result:
    """Scores of transcripts, and of recorded games in folders."""
    if options.plot is not None:
        output_file(options.plot, "--plot")
    tokenize = score.read_tokenizer(options.tokenizer) if options.tokenizer else None
    rows = score.scores(_played_games(options.played), options.computation, options.words, options.seed, tokenize)
    chart = None if options.plot is None else _score_chart(options.plot, rows)
    return Result(score.as_data(rows, options.computation, options.words), score.table(rows), chart=chart)


def _played_games(paths: Sequence[Path]) -> Iterator[score.Played]:
    for path in paths:
        if path.is_dir():
            yield from map(score.played_recording, game_folders.read_games((path,)))
        else:
            yield from (score.played_transcript(transcript, str(path)) for transcript in read_transcripts(path))


def _score_chart(path: Path, rows: Sequence[score.Row]) -> Chart:
    """Return the scores as lines over repetitions."""
    titles = {
        "words": "words per message", "tokens": "tokens per message",
        "wnd": "word novelty distance", "wnr": "word novelty rate",
    }  # fmt: skip
    panels = []
    for measure in (each for each in score.MEASURES if any(row.measure == each for row in rows)):
        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        for row in (row for row in rows if row.measure == measure):
            lines.setdefault(row.group, []).append((row.at, row.mean, row.low, row.high))
        limits = (1.0, 1 / SIZE) if measure == "accuracy" else (None, None)
        panels.append((titles.get(measure, measure), lines, *limits))
    return Chart(path, "ICCA by repetition", "repetition", panels)
