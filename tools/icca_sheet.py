"""Draw ICCA contexts with their descriptions, or a played game.

    python -m tools icca-sheet STORE SHEET.jpg
    python -m tools icca-sheet TRANSCRIPTS SHEET.jpg --games GAMES [--game NAME]

Each block of a store's sheet is a context: its four images, and below each the shortest description and that of the
incremental algorithm. Each row of a game's sheet is a repetition: the message is below the image of the target; a red
frame marks a wrong choice, which the last line names.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image, ImageOps

from render.gallery.tile_grid import Tile, tile_grid
from render.model.errors import UsageError
from render.model.record import EpisodeRecord
from render.store import open_store
from scene_specs.benchmarks.icca.game import PER_REPETITION
from scene_specs.benchmarks.icca.game_folders import game_folders
from scene_specs.benchmarks.icca.transcripts import Transcript, read_transcripts
from tools.sheets import FONT_SIZE, text_tile

RED = (190, 30, 30)
FRAME = 3


def draw_context(record: EpisodeRecord, side: int) -> Image.Image:
    """Draw one context."""
    task = record.scene.task or {}
    tiles = []
    for image, descriptions in zip(record.images, task["descriptions"], strict=True):
        small = Image.fromarray(image.color())
        small.thumbnail((side, side), Image.Resampling.LANCZOS)
        texts = [descriptions[kind]["text"] for kind in ("full_brevity", "incremental")]
        tiles.append(text_tile(small, texts, side))
    counts = sorted({*task["similarity"]["differences"].values()})
    note = f"differ in {', '.join(map(str, counts))} of {task['similarity']['values']}"
    return tile_grid(tiles, 4, gap=6, title=record.episode_id, notes=[note], font_size=FONT_SIZE)


def draw_contexts(options: Namespace) -> Image.Image:
    """Draw contexts of a store. Raises UsageError if there are none."""
    store = open_store(options.source)
    ids = sorted(key for key, _ in store.ids() if key.startswith("icca/"))[options.first :][: options.count]
    if not ids:
        raise UsageError(f"{options.source}: found no ICCA contexts")
    return tile_grid([Tile(draw_context(store.get(key), options.side)) for key in ids], options.columns, gap=0)


def draw_trials(played: Transcript, folder: Path, side: int) -> Image.Image:
    """Draw all trials of a game whose images are in `folder`."""
    tiles = []
    for trial in played.trials:
        with Image.open(folder / trial.target) as opened:
            picture = opened.convert("RGB")
        picture.thumbnail((side, side), Image.Resampling.LANCZOS)
        choice = "" if trial.correct else f"{trial.choice or 'no label'}, right is {trial.listener_label}"
        framed = ImageOps.expand(picture, FRAME, "white" if trial.correct else RED)
        tiles.append(text_tile(framed, [trial.message, choice], side))
    about = ", ".join(f"{key} {played.about[key]}" for key in ("speaker", "listener", "listener_variant"))
    return tile_grid(tiles, PER_REPETITION, gap=6, title=played.game, notes=[about])


def draw_game(options: Namespace) -> Image.Image:
    """Draw a game. Raises UsageError for a game without transcript or folder."""
    found = {played.game: played for played in read_transcripts(Path(options.source))}
    folders = {folder.name: folder for folder in game_folders([options.games])}
    name = options.game or next(iter(found))
    if name not in found or name not in folders:
        raise UsageError(f"game {name!r} is not in both {options.source} and {options.games}")
    return draw_trials(found[name], folders[name], options.side)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("source", help="a store, or with --games a file of transcripts")
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--side", type=int, default=160, help="size of an image, pixels [160]")
    parser.add_argument("--columns", type=int, default=2, help="contexts side by side [2]")
    parser.add_argument("--first", type=int, default=0, help="number of contexts to skip [0]")
    parser.add_argument("--count", type=int, default=40, help="maximum number of contexts [40]")
    parser.add_argument("--games", type=Path, help="folder of the games; draws a game")
    parser.add_argument("--game", help="name of the game [the first]")


def main(options: Namespace) -> None:
    """Write the sheet."""
    draw = draw_game if options.games else draw_contexts
    draw(options).save(options.sheet, quality=85)
