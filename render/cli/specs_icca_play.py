"""`render-specs icca play | prompt | variants | score`: games as folders, played and scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from render.cli import options as opt
from render.cli.output import create_empty_folder, json_text, print_json, progress, write_text
from render.model.errors import UsageError

if TYPE_CHECKING:
    from scene_specs.benchmarks.icca.play import Setup

_form_option = opt.choice("--form", ["separate", "collage"], "Four separate images, or one image with two by two.")
_variant_options = opt.group(
    click.option("--speaker-variant", default="S1", metavar="S1-S4", help="Instructions of speakers."),
    click.option("--variant", default="L3", metavar="L1-L7", help="What listeners see."),
    click.option(
        "--variant-file", type=opt.FILE, metavar="FILE", help="Your own listener variant [default: --variant]."
    ),
    opt.choice("--labels", ["letters", "positions"], "A to D, or top left, top right, ..."),
    _form_option,
    click.option("--max-images", type=opt.Number(1), help="Maximum number of images in a prompt [default: no limit]."),
    opt.seed,
)


@click.command(epilog="GAMES are folders of games, or folders that contain such folders.")
@click.argument("games", nargs=-1, required=True, type=opt.NEW_PATH)
@click.option("--speaker", required=True, help="scripted, steady, restless, recorded, replay:FILE, or a plugin.")
@click.option("--listener", required=True, help="oracle, random, literal, learner, replay:FILE, or a plugin.")
@_variant_options
@click.option("--prompts", is_flag=True, help="Include both prompts of each trial in the transcript.")
@click.option("--folders", type=opt.NEW_PATH, metavar="DIR", help="Also write each played game to a folder here.")
@click.option("--resume", is_flag=True, help="Play only the games that --out does not have yet.")
@opt.out
def play(
    games: tuple[Path, ...], out: Path | None, prompts: bool, folders: Path | None, resume: bool, **options: Any
) -> None:
    """Play games and write transcripts as JSON Lines.

    Nothing here calls a network service. --out grows by one game at a time: after an error, Ctrl-C or a crash it has
    the finished games, and --resume plays the others. An existing file is never overwritten. Exit code 1: a player
    failed.
    """
    if resume and out is None:
        raise click.UsageError("--resume is for --out FILE")
    from render.cli.icca_games import read_games
    from render.cli.icca_transcripts import open_transcripts, write_played
    from scene_specs.benchmarks.icca.play import play as play_game
    from scene_specs.benchmarks.icca.play import player
    from scene_specs.benchmarks.icca.transcripts import lines_of

    setup = _read_setup(options)
    factories = {role: _player_factory(role, options[role]) for role in ("speaker", "listener")}
    found = read_games(games)
    names = (options["speaker"], options["listener"])
    if folders is not None:
        create_empty_folder("--folders", folders)
    with open_transcripts(out, resume, found, setup, names) as transcripts:
        for game in progress([game for game in found if game.name not in transcripts.lines], "games"):
            speaker, listener = (player(role, factory, game, setup) for role, factory in factories.items())
            trials = play_game(game, speaker, listener, setup, prompts)
            transcripts.add(game.name, [*lines_of(game, setup, names, trials)])
    if folders is not None:
        write_played(found, transcripts.lines, folders)


def _player_factory(role: str, name: str) -> Callable[..., Any]:
    from scene_specs.benchmarks.icca.players import Replay, factory

    kind, colon, path = name.partition(":")
    if kind == "replay" and colon:
        return Replay(Path(path))
    return factory(role, name)


def _read_setup(options: dict[str, Any]) -> Setup:
    from scene_specs.benchmarks.icca.game import check_images, listener_variant, read_listener, speaker_variant
    from scene_specs.benchmarks.icca.play import Setup
    from scene_specs.benchmarks.icca.prompts import Presentation
    from scene_specs.language.foreign import read_text

    file: Path | None = options["variant_file"]
    source = click.get_current_context().get_parameter_source("variant")
    if file is None:
        listener = listener_variant(options["variant"])
    elif source is not ParameterSource.DEFAULT:
        raise click.UsageError("give --variant or --variant-file, not both")
    else:
        listener = read_listener(read_text(file), file.stem, str(file))
    check_images(listener, options["form"], options["max_images"])
    setting = Presentation(options["labels"], options["form"], options["seed"])
    return Setup(setting, speaker_variant(options["speaker_variant"]), listener, options["seed"])


@click.command()
@click.argument("game", type=opt.NEW_PATH)
@click.option("--trial", type=opt.Number(0, 23), default=0, help="Number of the trial, from 0 to 23.")
@opt.choice("--role", ["speaker", "listener"], "Player to prompt.", "listener")
@click.option("--speaker", default="scripted", metavar="NAME", help="Speaker of the trials before.")
@click.option("--listener", default="oracle", metavar="NAME", help="Listener of the trials before.")
@_variant_options
@opt.as_json
@click.option("--images", type=opt.NEW_PATH, metavar="DIR", help="Write the prompt's images here, numbered.")
def prompt(game: Path, trial: int, role: str, as_json: bool, images: Path | None, **options: Any) -> None:
    """Show the prompt of one trial of GAME.

    Prints what a player gets: texts and image references, in order.
    """
    from render.cli.icca_games import read_games, write_images
    from scene_specs.benchmarks.icca.play import play as play_game
    from scene_specs.benchmarks.icca.play import player
    from scene_specs.benchmarks.icca.prompts import as_text

    setup = _read_setup(options)
    games = read_games((game,))
    if len(games) != 1:
        raise UsageError(f"{game}: found {len(games)} games; name the folder of one, such as {games[0].folder}")
    found = games[0]
    speaker, listener = (
        player(one, _player_factory(one, options[one]), found, setup) for one in ("speaker", "listener")
    )
    trials = play_game(found, speaker, listener, setup, keep_prompts=True)
    prompts = trials[trial].prompts or ((), ())
    parts = prompts[0] if role == "speaker" else prompts[1]
    if images is not None:
        write_images(found, parts, images)
    text = json_text([part.data() for part in parts], ascii_only=False) if as_json else as_text(parts)
    click.echo(text, nl=False)


@click.command()
@opt.as_json
@_form_option
def variants(as_json: bool, form: str) -> None:
    """List speaker and listener variants.

    Prints their settings, and how many images a prompt has in each trial.
    """
    from scene_specs.benchmarks.icca.game import TRIALS, listener_variants, speaker_variants

    listeners = [
        {**asdict(one), "images": [one.images(trial, form) for trial in range(TRIALS)]} for one in listener_variants()
    ]
    if as_json:
        print_json({"speaker": [asdict(one) for one in speaker_variants()], "listener": listeners})
        return
    for speaker in speaker_variants():
        click.echo(f"{speaker.name}  {speaker.instruction}: {speaker.says}")
    for one in listeners:
        settings = ", ".join(f"{key} {one[key]}" for key in ("history", "images_once", "shuffle", "mask"))
        counts = one["images"]
        click.echo(f"{one['name']}  {settings}, misleading_trials {list(one['misleading_trials'])}")
        click.echo(f"    images per prompt: {counts[0]} in trial 0, {counts[19]} in 19, {counts[23]} in 23")


@click.command()
@click.argument("played", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@opt.choice("--computation", ["definition", "published"], "WND and WNR as defined, or as the published code does.")
@opt.choice("--words", ["content", "all"], "Words that WND and WNR count.")
@click.option("--plot", type=opt.NEW_PATH, metavar="FILE", help="Also draw the scores as SVG.")
@opt.as_json
@opt.seed
@opt.out
def score(
    played: tuple[Path, ...],
    computation: str,
    words: str,
    plot: Path | None,
    as_json: bool,
    seed: int,
    out: Path | None,
) -> None:
    """Score played games per repetition.

    PLAYED are transcripts, or folders of games with recorded messages. Reports accuracy, words per message, WND and
    WNR, each with its 95 % bootstrap interval over games.
    """
    from render.cli.icca_games import played_games, plot_of
    from scene_specs.benchmarks.icca.score import as_data, scores, table

    rows = scores(played_games(played), computation, words, seed)
    if plot is not None:
        write_text(plot, plot_of(rows))
    write_text(out, json_text(as_data(rows, computation, words)) if as_json else table(rows))


COMMANDS = (play, prompt, variants, score)
