"""Draw rendered ICCA contexts with their descriptions.

    python -m tools icca-sheet STORE SHEET.jpg

Each block is a context: its four images, and below each the shortest description and that of the incremental algorithm.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from PIL import Image

from render.gallery.tile_grid import Tile, tile_grid
from render.model.errors import UsageError
from render.model.record import EpisodeRecord
from render.store import open_store
from tools.sheets import FONT_SIZE, text_tile


def block(record: EpisodeRecord, side: int) -> Image.Image:
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


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--side", type=int, default=160, help="size of an image, pixels [160]")
    parser.add_argument("--columns", type=int, default=2, help="contexts side by side [2]")
    parser.add_argument("--first", type=int, default=0, help="number of contexts to skip [0]")
    parser.add_argument("--count", type=int, default=40, help="maximum number of contexts [40]")


def main(options: Namespace) -> None:
    """Write the sheet. Raises UsageError if there are no contexts."""
    store = open_store(options.store)
    ids = sorted(key for key, _ in store.ids() if key.startswith("icca/"))[options.first :][: options.count]
    if not ids:
        raise UsageError(f"{options.store}: found no ICCA contexts")
    blocks = [Tile(block(store.get(key), options.side)) for key in ids]
    tile_grid(blocks, options.columns, gap=0).save(options.sheet, quality=82)
