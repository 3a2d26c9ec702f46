"""Check exported iWISDM trials by the content of their files.

    python -m tools iwisdm-check FOLDER [--sheet SHEET.jpg]

FOLDER is the output of `render-export --format iwisdm`, or a folder inside; images need a black background. Each trial
needs one PNG per frame, RGB, of one size; objects in their quadrants and nothing elsewhere except the cross; the cross
on all frames before the answer and not with it; and an instruction that, read on the objects by the second evaluator,
gives the answers. --sheet draws the trials, one per row, with instruction and answers. Exit code 1 if a check fails.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from render.gallery.tile_grid import Tile, tile_grid
from render.model.errors import UsageError
from scene_specs.benchmarks.iwisdm.reader import UnreadableError, read
from tools.sheets import text_tile

SIDES = ("front", "left", "back", "right")
GAP = 4
# Extent of the cross from the center, with half of its width, as a fraction of the image's side.
REACH = 0.05 + 0.02


def trials_in(folder: Path) -> list[Path]:
    """Return the folders of trials, sorted by name and then by number."""
    found = [path.parents[1] for path in folder.rglob("frames/task_info.json")]
    return sorted(found, key=lambda path: (str(path.parent), int(path.name.removeprefix("trial"))))


def pictures_of(trial: Path) -> list[Path]:
    """Return the frames in their order."""
    return sorted((trial / "frames").glob("epoch*.png"), key=lambda path: int(path.stem.removeprefix("epoch")))


def _opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
        return picture


def problems_of(trial: Path, fixation: bool = True) -> list[str]:
    """Return the problems of one trial. fixation: whether a cross is expected until the answer."""
    info = json.loads((trial / "frames/task_info.json").read_text())
    paths = pictures_of(trial)
    if len(paths) != info["epochs"] or len(info["answers"]) != info["epochs"]:
        return [f"{info['epochs']} epochs, {len(paths)} pictures, {len(info['answers'])} answers"]
    pictures = [_opened(path) for path in paths]
    formats = {(picture.mode, picture.size) for picture in pictures}
    if len(formats) > 1 or pictures[0].mode != "RGB":
        return [f"pictures are {sorted(formats)}; expected RGB of one size"]
    found = []
    for epoch, picture in enumerate(pictures):
        objects = [item["obj"] for item in info["objects"]]
        spaces = [tuple(obj["space"]) for obj in objects if obj["epochs"] == epoch]
        due = info["answers"][epoch] != "null"
        found += [
            f"epoch {epoch}: {diagnostic}"
            for diagnostic in picture_problems(np.asarray(picture), spaces, fixation and not due)
        ]
    return found + text_problems(trial, info)


def picture_problems(pixels: NDArray[np.uint8], spaces: Sequence[tuple[int, ...]], cross: bool) -> list[str]:
    """Return the problems of one image. pixels: (H, W, 3). spaces: [column, row] of each quadrant with an object."""
    height, width, _ = pixels.shape
    lit = (pixels > 0).any(axis=2)
    middle = pixels[height // 2, width // 2]
    found = []
    if bool((middle == 255).all()) != cross:
        found.append("a cross is missing" if cross else "a cross is shown with the answer")
    reach = int(np.ceil(REACH * min(height, width)))
    if cross:
        lit[height // 2 - reach : height // 2 + reach, width // 2 - reach : width // 2 + reach] = False
    for column in (0, 1):
        for row in (0, 1):
            rows = slice(row * height // 2, (row + 1) * height // 2)
            columns = slice(column * width // 2, (column + 1) * width // 2)
            expected = (column, row) in spaces
            if bool(lit[rows, columns].any()) != expected:
                found.append(f"quadrant {[column, row]} {'is empty' if expected else 'shows something'}")
    return found


def text_problems(trial: Path, info: dict[str, Any]) -> list[str]:
    """Return a problem if the instruction gives other answers than those stored."""
    names = json.loads((trial / "annotations.json").read_text())
    frames: list[list[dict[str, str]]] = [[] for _ in range(info["epochs"])]
    for obj in (item["obj"] for item in info["objects"]):
        column, row = obj["space"]
        frames[obj["epochs"]].append(
            {
                "location": f"{('top', 'bottom')[row]} {('left', 'right')[column]}",
                "category": names["categories"][obj["category"]],
                "identity": names["models"][obj["object"]],
                "view_angle": SIDES[obj["view angle"]],
            }
        )
    try:
        answers = list(read(info["instruction"], frames).answers)
    except UnreadableError as error:
        return [f"the instruction can't be read: {error}"]
    return [] if answers == info["answers"] else [f"the instruction gives {answers}, stored are {info['answers']}"]


def trial_row(trial: Path, side: int) -> Tile:
    """Draw the frames of a trial side by side, and its instruction and answers below."""
    info = json.loads((trial / "frames/task_info.json").read_text())
    due = ", ".join(f"frame {k}: {answer}" for k, answer in enumerate(info["answers"]) if answer != "null")
    frames = [_opened(path).resize((side, side), Image.Resampling.LANCZOS) for path in pictures_of(trial)]
    row = tile_grid([Tile(frame) for frame in frames], len(frames), GAP)
    return text_tile(row, [f"{info['instruction']}  [{due}]"], max(row.width, 5 * side))


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-fixation", action="store_true", help="the trials were made without the cross")
    parser.add_argument("--sheet", type=Path, help="draw the trials into this file")
    parser.add_argument("--side", type=int, default=112, help="size of a frame on the sheet, pixels [112]")


def main(options: Namespace) -> int:
    """Check all trials; 1 if one fails. Raises UsageError if there are no trials."""
    trials = trials_in(options.folder)
    if not trials:
        raise UsageError(f"{options.folder}: found no task_info.json in this folder")
    wrong = 0
    for trial in trials:
        problems = problems_of(trial, not options.no_fixation)
        wrong += bool(problems)
        for problem in problems:
            print(f"{trial.relative_to(options.folder)}: {problem}")
    print(f"{len(trials)} trials, {wrong} with errors")
    if options.sheet is not None:
        rows = [trial_row(trial, options.side) for trial in trials]
        tile_grid(rows, 1, gap=0).save(options.sheet, quality=75)
    return int(wrong > 0)
