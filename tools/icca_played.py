"""Draws a game as it was played: `python -m tools.icca_played TRANSCRIPTS GAMES SHEET.jpg [--game NAME]`.

A row a repetition: in each trial the target, the message below it, and what the listener picked, red where it is wrong.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from scene_specs.benchmarks.icca.game import PER_REPETITION, REPETITIONS
from scene_specs.benchmarks.icca.game_folders import game_folders
from scene_specs.benchmarks.icca.play import Trial
from scene_specs.benchmarks.icca.transcripts import Transcript, read_transcripts

WHITE, INK, RED = (255, 255, 255), (32, 36, 40), (190, 30, 30)
MARGIN, LINE = 6, 13


def lines_of(trial: Trial, side: int) -> list[tuple[str, tuple[int, int, int]]]:
    """What stands below a picture, with its color."""
    said = [(line, INK) for line in textwrap.wrap(trial.message, side * 10 // 54)]
    picked = f"{trial.choice or 'no label'}, right is {trial.listener_label}"
    return said if trial.correct else [*said, (picked, RED)]


def make_sheet(played: Transcript, folder: Path, side: int) -> Image.Image:
    """The 24 trials of a game whose images lie in the folder."""
    rows = [played.trials[k * PER_REPETITION : (k + 1) * PER_REPETITION] for k in range(REPETITIONS)]
    pictures = {}
    for name in played.images:
        with Image.open(folder / name) as picture:
            pictures[name] = picture.convert("RGB")
        pictures[name].thumbnail((side, side), Image.Resampling.LANCZOS)
    high = max(picture.height for picture in pictures.values())
    heights = [high + LINE * max(len(lines_of(one, side)) for one in row) + 2 * MARGIN for row in rows]
    sheet = Image.new("RGB", (PER_REPETITION * (side + MARGIN) + MARGIN, sum(heights) + LINE + MARGIN), WHITE)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=10)
    about = ", ".join(f"{key} {played.about[key]}" for key in ("speaker", "listener", "listener_variant"))
    draw.text((MARGIN, 1), f"{played.game}: {about}", fill=INK, font=font)
    y = LINE + MARGIN
    for row, height in zip(rows, heights, strict=True):
        for k, trial in enumerate(row):
            x = MARGIN + k * (side + MARGIN)
            sheet.paste(pictures[trial.target], (x, y))
            for number, (line, color) in enumerate(lines_of(trial, side)):
                draw.text((x, y + high + 2 + number * LINE), line, fill=color, font=font)
        y += height
    return sheet


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 2 where the game is not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("games", type=Path)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--game", help="its name [the first]")
    parser.add_argument("--side", type=int, default=190, help="pixels of a picture [190]")
    given = parser.parse_args(arguments)
    found = {one.game: one for one in read_transcripts(given.transcripts)}
    folders = {folder.name: folder for folder in game_folders([given.games])}
    name = given.game or next(iter(found))
    if name not in found or name not in folders:
        parser.error(f"game {name!r} is not in both")
    make_sheet(found[name], folders[name], given.side).save(given.sheet, quality=85)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
