"""Draw a played ICCA game: each trial with its target and message.

    python -m tools icca-played TRANSCRIPTS GAMES SHEET.jpg [--game NAME]

Each row is a repetition. The message is below the image of the target; a red frame marks a wrong choice, which the
last line names.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image, ImageOps

from render.gallery.tile_grid import Tile, tile_grid
from render.model.errors import UsageError
from scene_specs.benchmarks.icca.game import PER_REPETITION
from scene_specs.benchmarks.icca.game_folders import game_folders
from scene_specs.benchmarks.icca.play import Trial
from scene_specs.benchmarks.icca.transcripts import Transcript, read_transcripts
from tools.sheets import text_tile

RED = (190, 30, 30)
FRAME = 3


def trial_tile(trial: Trial, picture: Image.Image, side: int) -> Tile:
    """Draw one trial: target, message, and the listener's choice if it is wrong."""
    choice = "" if trial.correct else f"{trial.choice or 'no label'}, right is {trial.listener_label}"
    framed = ImageOps.expand(picture, FRAME, "white" if trial.correct else RED)
    return text_tile(framed, [trial.message, choice], side)


def make_sheet(played: Transcript, folder: Path, side: int) -> Image.Image:
    """Draw all trials of a game whose images are in `folder`."""
    pictures = {}
    for name in played.images:
        with Image.open(folder / name) as picture:
            pictures[name] = picture.convert("RGB")
        pictures[name].thumbnail((side, side), Image.Resampling.LANCZOS)
    about = ", ".join(f"{key} {played.about[key]}" for key in ("speaker", "listener", "listener_variant"))
    tiles = [trial_tile(trial, pictures[trial.target], side) for trial in played.trials]
    return tile_grid(tiles, PER_REPETITION, gap=6, title=played.game, notes=[about])


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("games", type=Path)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--game", help="name of the game [the first]")
    parser.add_argument("--side", type=int, default=190, help="size of an image, pixels [190]")


def main(options: Namespace) -> None:
    """Write the sheet. Raises UsageError for a game without transcript or folder."""
    found = {played.game: played for played in read_transcripts(options.transcripts)}
    folders = {folder.name: folder for folder in game_folders([options.games])}
    name = options.game or next(iter(found))
    if name not in found or name not in folders:
        raise UsageError(f"game {name!r} is not in both {options.transcripts} and {options.games}")
    make_sheet(found[name], folders[name], options.side).save(options.sheet, quality=85)
