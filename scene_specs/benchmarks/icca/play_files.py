"""Games in folders: played, shown as prompts, and scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.icca import Play, Presented, Prompt, Score
from diorama.scene_specs.benchmarks.icca.difficulty import SIZE
from diorama.scene_specs.benchmarks.icca.game import (
    LISTENER_VARIANTS,
    SPEAKER_VARIANTS,
    Game,
    check_images,
    read_listener,
)
from diorama.scene_specs.benchmarks.icca.game_folders import read_games
from diorama.scene_specs.benchmarks.icca.play import METHODS, Setup, play, player
from diorama.scene_specs.benchmarks.icca.players import ModelPlayer, Replay, factory
from diorama.scene_specs.benchmarks.icca.prompts import as_text, image_of, png_bytes
from diorama.scene_specs.benchmarks.icca.published import PublishedPrompts
from diorama.scene_specs.benchmarks.icca.score import (
    MEASURES,
    Played,
    Row,
    as_data,
    played_recording,
    played_transcript,
    read_tokenizer,
    scores,
    table,
)
from diorama.scene_specs.benchmarks.icca.transcript_files import open_transcripts, write_played
from diorama.scene_specs.benchmarks.icca.transcripts import header_of, lines_of, read_transcripts
from diorama.scene_specs.language.benchmark import Chart, Result, Series
from diorama.scene_specs.language.chat import ModelOpener, in_parallel
from diorama.scene_specs.language.errors import UsageError
from diorama.scene_specs.language.foreign import read_text
from diorama.scene_specs.language.registry import load_object
from diorama.scene_specs.language.writing import create_empty_folder, report_write_errors, write_atomic


def play_games(options: Play, models: ModelOpener) -> Series:
    """Play the games of folders, and write their transcripts to `out` one by one."""
    names = [options.speaker, options.listener]
    setup = _read_setup(options)
    defaults = setup.published.parameters if setup.published else {}
    factories = {role: _player_factory(role, name, models, defaults) for role, name in zip(METHODS, names, strict=True)}
    made = {role: one for role, one in factories.items() if isinstance(one, partial) and one.func is ModelPlayer}
    setup = replace(setup, models={role: dict(one.args[0].settings) for role, one in made.items()})
    # File names need not be UTF-8; transcripts are.
    names = [name.encode(errors="replace").decode() for name in names]
    about = {**header_of(setup, names), "prompts": options.prompts}
    found = read_games(options.games)
    if options.folders is not None:
        create_empty_folder("--folders", options.folders)

    def games() -> Iterator[Game]:
        def lines(game: Game) -> tuple[Game, list[str]]:
            speaker, listener = (player(role, make, game, setup) for role, make in factories.items())
            trials = play(game, speaker, listener, setup)
            return game, [*lines_of(game, setup, names, trials, options.prompts)]

        with open_transcripts(options.out, options.resume, found, about) as transcripts:
            yield from (game for game in found if game.name in transcripts.lines)
            left = [game for game in found if game.name not in transcripts.lines]
            for game, text in in_parallel(lines, left, options.parallel, models.stop):
                transcripts.add(game.name, text)
                yield game
        if options.folders is not None:
            write_played(found, transcripts.lines, options.folders)

    return Series(games(), len(found), "games")


def _player_factory(
    role: str, name: str, models: ModelOpener | None = None, defaults: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    kind, colon, rest = name.partition(":")
    if kind == "replay" and colon:
        return Replay(Path(rest))
    if not colon or models is None:
        return factory(role, name)
    if kind not in ("openai", "hf"):
        made = load_object(f"icca.{role}s", name)
        if callable(getattr(made, METHODS[role], None)):
            return made  # type: ignore[no-any-return]
    return partial(ModelPlayer, models.open(name, defaults))


def _read_setup(options: Presented) -> Setup:
    file = options.variant_file
    listener = read_listener(read_text(file), file.stem, str(file)) if file else LISTENER_VARIANTS[options.variant]
    if options.prompts_as == "llava":
        # In every prompt one collage.
        options = options.model_copy(update={"form": "collage", "labels": "positions"})
    else:
        check_images(listener, options.form, options.max_images)
    setup = Setup(options, SPEAKER_VARIANTS[options.speaker_variant], listener)
    if options.prompts_as is None or options.published is None:
        return setup
    return replace(setup, published=PublishedPrompts(options.prompts_as, options.published, setup.speaker, listener))


def show_prompt(options: Prompt) -> Result:
    """The prompt of one trial, after the trials before are played."""
    setup = _read_setup(options)
    games = read_games((options.game,))
    if len(games) != 1:
        raise UsageError(f"{options.game}: found {len(games)} games; name the folder of one, such as {games[0].folder}")
    (game,) = games
    named = options.speaker or ("recorded" if game.recorded else "scripted")
    names = zip(METHODS, (named, options.listener), strict=True)
    speaker, listener = (player(role, _player_factory(role, name), game, setup) for role, name in names)
    prompts = play(game, speaker, listener, setup, options.trial + 1)[-1].prompts
    parts = prompts[0] if options.role == "speaker" else prompts[1]
    if options.images is not None:
        create_empty_folder("--images", options.images)
        # As a model gets them: 000.png, 001.png, ...
        images = [png_bytes(image_of(game, part)) for part in parts if part.kind != "text"]
        with report_write_errors(f"--images {options.images}"):
            for number, content in enumerate(images):
                write_atomic(options.images / f"{number:03d}.png", content, fsync=False)
    return Result([part.data() for part in parts], as_text(parts), ascii_only=False)


def score_played(options: Score) -> Result:
    """Scores of transcripts, and of recorded games in folders."""
    tokenize = read_tokenizer(options.tokenizer) if options.tokenizer else None
    rows = scores(_played_games(options.played), options.computation, options.words, options.seed, tokenize)
    chart = None if options.plot is None else _chart(options.plot, rows)
    return Result(as_data(rows, options.computation, options.words), table(rows), chart=chart)


def _played_games(paths: Sequence[Path]) -> Iterator[Played]:
    for path in paths:
        if path.is_dir():
            yield from map(played_recording, read_games((path,)))
        else:
            yield from (played_transcript(one, str(path)) for one in read_transcripts(path))


def _chart(path: Path, rows: Sequence[Row]) -> Chart:
    """The scores as lines over repetitions."""
    titles = {
        "words": "words per message",
        "tokens": "tokens per message",
        "wnd": "word novelty distance",
        "wnr": "word novelty rate",
    }
    panels = []
    for measure in (one for one in MEASURES if any(row.measure == one for row in rows)):
        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        for row in rows:
            if row.measure == measure:
                lines.setdefault(row.group, []).append((row.at, row.mean, row.low, row.high))
        top, level = (1.0, 1 / SIZE) if measure == "accuracy" else (None, None)
        panels.append((titles.get(measure, measure), lines, top, level))
    return Chart(path, "ICCA by repetition", "repetition", panels)
