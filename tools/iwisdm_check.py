"""Checks exported iWISDM trials by what is in their files: `python tools/iwisdm_check.py FOLDER [--sheet SHEET.jpg]`.

FOLDER is where `render-export --format iwisdm` wrote to, or a folder below; pictures must have a black
background. Of each trial: one PNG a frame, RGB, of one size; objects in their quadrants, and nothing elsewhere but the
cross; the cross on all frames before the answer and not with it; the instruction, read on the objects by the second
evaluator, gives the answers. --sheet draws the trials, a row each, with instruction and answers.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from scene_specs.benchmarks.iwisdm.reader import UnreadableError, read

SIDES = ("front", "left", "back", "right")
WHITE, INK, MARGIN, LINE = (255, 255, 255), (40, 40, 40), 4, 14
# Shares of the picture's side: how far the cross reaches from the middle, with half of its width.
REACH = 0.05 + 0.02


def trials_below(folder: Path) -> list[Path]:
    """Folders of trials, by name and then by number."""
    found = [path.parent for path in folder.rglob("task_info.json")]
    return sorted(found, key=lambda path: (str(path.parent), int(path.name.removeprefix("trial"))))


def pictures_of(trial: Path) -> list[Path]:
    """The frames, in their order."""
    return sorted((trial / "frames").glob("epoch*.png"), key=lambda path: int(path.stem.removeprefix("epoch")))


def _opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
        return picture


def faults_of(trial: Path, fixation: bool = True) -> list[str]:
    """What is wrong with one trial; fixation: whether a cross is expected until the answer."""
    info = json.loads((trial / "task_info.json").read_text())
    paths = pictures_of(trial)
    if len(paths) != info["epochs"] or len(info["answers"]) != info["epochs"]:
        return [f"{info['epochs']} epochs, {len(paths)} pictures, {len(info['answers'])} answers"]
    pictures = [_opened(path) for path in paths]
    forms = {(picture.mode, picture.size) for picture in pictures}
    if len(forms) > 1 or pictures[0].mode != "RGB":
        return [f"pictures are {sorted(forms)}; expected RGB of one size"]
    found = []
    for epoch, picture in enumerate(pictures):
        spaces = [tuple(one["obj"]["space"]) for one in info["objects"] if one["obj"]["epochs"] == epoch]
        due = info["answers"][epoch] != "null"
        found += [
            f"epoch {epoch}: {diagnostic}"
            for diagnostic in picture_faults(np.asarray(picture), spaces, fixation and not due)
        ]
    return found + text_faults(trial, info)


def picture_faults(pixels: NDArray[np.uint8], spaces: Sequence[tuple[int, ...]], cross: bool) -> list[str]:
    """pixels: (H, W, 3). spaces: [column, row] of each quadrant that holds an object."""
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


def text_faults(trial: Path, info: dict[str, Any]) -> list[str]:
    """Where the instruction gives other answers."""
    names = json.loads((trial / "annotations.json").read_text())
    frames: list[list[dict[str, str]]] = [[] for _ in range(info["epochs"])]
    for one in info["objects"]:
        obj = one["obj"]
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


def make_sheet(trials: Sequence[Path], side: int) -> Image.Image:
    """A row a trial: its frames, each `side` pixels wide, and below them instruction and answers."""
    rows = []
    for trial in trials:
        info = json.loads((trial / "task_info.json").read_text())
        due = ", ".join(f"frame {k}: {answer}" for k, answer in enumerate(info["answers"]) if answer != "null")
        rows.append(([_opened(path) for path in pictures_of(trial)], f"{info['instruction']}  [{due}]"))
    columns = max(len(pictures) for pictures, _ in rows)
    width = max(columns, 5) * (side + MARGIN) + MARGIN
    texts = [textwrap.wrap(text, (width - 2 * MARGIN) // 6) for _, text in rows]
    height = MARGIN + sum(side + 2 * MARGIN + LINE * len(lines) for lines in texts)
    sheet = Image.new("RGB", (width, height), WHITE)
    draw, font, y = ImageDraw.Draw(sheet), ImageFont.load_default(size=11), MARGIN
    for (pictures, _), lines in zip(rows, texts, strict=True):
        for k, picture in enumerate(pictures):
            small = picture.resize((side, side), Image.Resampling.LANCZOS)
            sheet.paste(small, (MARGIN + k * (side + MARGIN), y))
        y += side + MARGIN
        for line in lines:
            draw.text((MARGIN, y), line, fill=INK, font=font)
            y += LINE
        y += MARGIN
    return sheet


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where something is wrong, 2 where there are no trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-fixation", action="store_true", help="trials were made without the cross")
    parser.add_argument("--sheet", type=Path, help="draw the trials")
    parser.add_argument("--side", type=int, default=112, help="pixels of a frame on the sheet [112]")
    given = parser.parse_args(arguments)
    trials = trials_below(given.folder)
    if not trials:
        sys.stderr.write(f"{given.folder}: no task_info.json below\n")
        return 2
    wrong = 0
    for trial in trials:
        diagnostics = faults_of(trial, not given.no_fixation)
        wrong += bool(diagnostics)
        sys.stdout.writelines(f"{trial.relative_to(given.folder)}: {diagnostic}\n" for diagnostic in diagnostics)
    sys.stdout.write(f"{len(trials)} trials, {wrong} with faults\n")
    if given.sheet is not None:
        make_sheet(trials, given.side).save(given.sheet, quality=75)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
