"""`render-specs icca play | prompt | variants | score`: games as folders, played and scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from render.cli.common import atomic_writer
from render.model.errors import UsageError

_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_SEED = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_GAMES = click.argument("games", nargs=-1, required=True, type=click.Path(path_type=Path))
_FOLDERS = "GAMES are folders of games, or folders that hold them."
_VARIANTS: list[Callable[[Any], Any]] = [
    click.option("--speaker-variant", default="S1", show_default=True, metavar="S1-S4", help="What speakers are told."),
    click.option("--variant", default="L3", show_default=True, metavar="L1-L7", help="What listeners see."),
    click.option("--variant-file", type=_FILE, metavar="FILE", help="Your own listener variant, as JSON."),
    click.option("--labels", type=click.Choice(["letters", "positions"]), default="letters", show_default=True,
                 help="A to D, or top left, top right, ..."),
    click.option("--form", type=click.Choice(["separate", "collage"]), default="separate", show_default=True,
                 help="Four images, or one of two by two."),
    click.option("--max-images", type=click.IntRange(1), metavar="N", help="Images that a prompt may hold."),
    _SEED,
]  # fmt: skip


def _variant_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_VARIANTS):
        command = option(command)
    return command


@click.command(epilog=_FOLDERS)
@_GAMES
@click.option(
    "--speaker", required=True, metavar="NAME", help="scripted, steady, restless, recorded, replay:FILE, or yours."
)
@click.option(
    "--listener", required=True, metavar="NAME", help="oracle, random, literal, learner, replay:FILE, or yours."
)
@_variant_options
@click.option("--prompts", is_flag=True, help="Keep both prompts of each trial in the transcript.")
@click.option("--folders", type=click.Path(path_type=Path), metavar="DIR",
              help="Write each game as played to a folder of its own, too, in the published layout.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Play only the games that are not in --out yet.")
@_OUT
def play(
    games: tuple[Path, ...], out: Path | None, prompts: bool, folders: Path | None, resume: bool, **given: Any
) -> None:
    """Play games; write their transcripts as JSON lines. Nothing here calls a service.

    --out grows game by game: where a player fails, Ctrl-C is pressed or the machine goes down, it has the games that
    were finished, and --resume plays the others. A file that is there is not written over. Exit code 1: a player
    failed.
    """
    if resume and out is None:
        raise click.UsageError("--resume is for --out FILE")
    from tqdm import tqdm

    from render.cli.icca_games import read_games
    from render.cli.icca_played import empty_folder, growing, write_played
    from scene_specs.benchmarks.icca.play import play as played
    from scene_specs.benchmarks.icca.play import player
    from scene_specs.benchmarks.icca.transcripts import lines_of

    setup = _setup(given)
    factories = {role: _player(role, given[role]) for role in ("speaker", "listener")}
    found = read_games(games)
    names = (given["speaker"], given["listener"])
    if folders is not None:
        empty_folder("--folders", folders)
    with growing(out, resume, found, setup, names) as made:
        for game in tqdm([one for one in found if one.name not in made.lines], unit=" games", delay=2, disable=None):
            speaker, listener = (player(role, one, game, setup) for role, one in factories.items())
            trials = played(game, speaker, listener, setup, prompts)
            made.add(game.name, [*lines_of(game, setup, names, trials)])
    if folders is not None:
        write_played(found, made.lines, folders)


def _player(role: str, name: str) -> Callable[..., Any]:
    from scene_specs.benchmarks.icca.players import Replay, factory

    kind, colon, path = name.partition(":")
    if kind == "replay" and colon:
        return Replay(Path(path))
    return factory(role, name)


def _setup(given: dict[str, Any]) -> Any:
    from scene_specs.benchmarks.icca.game import check_images, listener_variant, read_listener, speaker_variant
    from scene_specs.benchmarks.icca.play import Setup
    from scene_specs.benchmarks.icca.prompts import Presentation
    from scene_specs.benchmarks.user_files import read_text

    file: Path | None = given["variant_file"]
    source = click.get_current_context().get_parameter_source("variant")
    if file is not None and source is not ParameterSource.DEFAULT:
        raise click.UsageError("give --variant or --variant-file, not both")
    listener = (
        read_listener(read_text(file), file.stem, str(file)) if file is not None else listener_variant(given["variant"])
    )
    check_images(listener, given["form"], given["max_images"])
    setting = Presentation(given["labels"], given["form"], given["seed"])
    return Setup(setting, speaker_variant(given["speaker_variant"]), listener, given["seed"])


@click.command()
@click.argument("game", type=click.Path(path_type=Path))
@click.option("--trial", type=click.IntRange(0, 23), default=0, show_default=True)
@click.option("--role", type=click.Choice(["speaker", "listener"]), default="listener", show_default=True)
@click.option("--speaker", default="scripted", show_default=True, metavar="NAME", help="Who speaks up to there.")
@click.option("--listener", default="oracle", show_default=True, metavar="NAME", help="Who listens up to there.")
@_variant_options
@click.option("--json", "as_json", is_flag=True, help="As a list of texts and image references.")
@click.option(
    "--images", type=click.Path(path_type=Path), metavar="DIR", help="Write the prompt's images there, numbered."
)
def prompt(game: Path, trial: int, role: str, as_json: bool, images: Path | None, **given: Any) -> None:
    """Show what a player is given in a trial of GAME: texts and images, in order."""
    from render.cli.icca_games import read_games, write_images
    from scene_specs.benchmarks.icca.play import play as played
    from scene_specs.benchmarks.icca.play import player
    from scene_specs.benchmarks.icca.prompts import as_text

    setup = _setup(given)
    games = read_games((game,))
    if len(games) != 1:
        raise UsageError(f"{game}: found {len(games)} games; name the folder of one, such as {games[0].folder}")
    found = games[0]
    speaker, listener = (player(one, _player(one, given[one]), found, setup) for one in ("speaker", "listener"))
    trials = played(found, speaker, listener, setup, keep_prompts=True)
    both = trials[trial].prompts or ((), ())
    parts = both[0] if role == "speaker" else both[1]
    if images is not None:
        write_images(found, parts, images)
    data = json.dumps([part.data() for part in parts], indent=1, ensure_ascii=False) + "\n"
    click.echo(data if as_json else as_text(parts), nl=False)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of a table.")
@click.option("--form", type=click.Choice(["separate", "collage"]), default="separate", show_default=True)
def variants(as_json: bool, form: str) -> None:
    """List the variants: settings of speakers and listeners, and how many images a prompt holds in each trial."""
    from dataclasses import asdict

    from scene_specs.benchmarks.icca.game import TRIALS, listener_variants, speaker_variants

    listeners = [
        {**asdict(one), "images": [one.images(trial, form) for trial in range(TRIALS)]} for one in listener_variants()
    ]
    if as_json:
        data = {"speaker": [asdict(one) for one in speaker_variants()], "listener": listeners}
        click.echo(json.dumps(data, indent=1))
        return
    for speaker in speaker_variants():
        click.echo(f"{speaker.name}  {speaker.instruction}: {speaker.says}")
    for one in listeners:
        settings = ", ".join(f"{key} {one[key]}" for key in ("history", "images_once", "shuffle", "mask"))
        counts = one["images"]
        click.echo(f"{one['name']}  {settings}, misleading_trials {list(one['misleading_trials'])}")
        click.echo(f"    images a prompt: {counts[0]} in trial 0, {counts[19]} in 19, {counts[23]} in 23")


@click.command()
@click.argument("played", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--computation", type=click.Choice(["definition", "published"]), default="definition", show_default=True,
              help="Of WND and WNR.")  # fmt: skip
@click.option("--words", type=click.Choice(["content", "all"]), default="content", show_default=True,
              help="What WND and WNR count.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it, as SVG.")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of a table.")
@_SEED
@_OUT
def score(
    played: tuple[Path, ...],
    computation: str,
    words: str,
    plot: Path | None,
    as_json: bool,
    seed: int,
    out: Path | None,
) -> None:
    """Score PLAYED games: transcripts, or folders of games with recorded messages.

    Accuracy, words a message, WND and WNR per repetition, with 95 % bootstrap intervals over games.
    """
    from render.cli.icca_games import played_games, plot_of
    from scene_specs.benchmarks.icca.score import as_data, scores, table

    rows = scores(played_games(played), computation, words, seed)
    if plot is not None:
        with atomic_writer(plot) as stream:
            stream.write(plot_of(rows))
    with atomic_writer(out) as stream:
        data = json.dumps(as_data(rows, computation, words), indent=1) + "\n"
        stream.write(data if as_json else table(rows))
