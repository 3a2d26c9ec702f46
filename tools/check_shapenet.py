"""Does a library of models work? Every model read, diagnostics listed, a contact sheet rendered.

    python -m tools.check_shapenet ROOT [--category chairs] [--limit 200] [--sheet sheet.jpg] [--json report.json]

ROOT: a ShapeNetCore, version 1 or 2, or one of .glb files; see docs/shapenet.md. Reading goes into the cache, so that
what comes after finds every model ready. The sheet shows each model's front, seen from 30 degrees aside and 20 above:
if the models look away from you, give `--front`. Exit code 1 if a model can't be read or rendered.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tqdm import tqdm

from render.geometry.shapenet import choose_library, library, load_model
from render.model.errors import DioramaError
from scene_specs.language.model_names import word_of

COLUMNS = 8
# Of the sheet; a JPEG can't be higher.
MOST_PIXELS = 65_000
# Notes name files and counts; reports count kinds.
KINDS = (
    "is not there",
    "was found as",
    "was taken instead",
    "can't be read as a picture",
    "not defined",
    "not UTF-8",
    "no numbers",
    "without area",
    "doubled",
    "turned to look outwards",
    "made opaque",
    "had to be converted",
)


def names(category: str | None, limit: int | None) -> Iterator[str]:
    """Models of the library in force; at most `limit` a category."""
    source = library()
    for one in [category] if category else source.categories():
        for number in range(1, len(source.models(one)[:limit]) + 1):
            yield source.find(f"shapenet:{one}/#{number}")[0]


def picture(renderer: Any, name: str, side: int) -> NDArray[np.uint8]:
    """(side, side, 3) of one model. Raises DioramaError."""
    from render.api import compile_spec, render_scene

    item = {"shape": name, "rotation_deg": 0}
    frame = {"objects": [item], "camera": {"yaw_deg": 30, "elevation_deg": 20}}
    spec = {"version": 1, "id": "check", "stage": "studio", "frames": [frame]}
    return render_scene(compile_spec(spec, "draft", (side, side)), renderer=renderer)[0].passes.color


def sheet(names_: list[str], side: int, broken: dict[str, str]) -> Image.Image:
    """The models in rows of COLUMNS, one category after the other; what can't be rendered stays gray."""
    from render.renderers.cycles.cycles_renderer import CyclesRenderer

    places = layout(names_)
    whole = np.full((side * rows_of(names_), side * COLUMNS, 3), 128, dtype=np.uint8)
    renderer = CyclesRenderer("cpu")
    try:
        for name, (row, column) in tqdm(places.items(), desc="rendering", unit="model", disable=None, delay=2):
            try:
                here = slice(row * side, (row + 1) * side), slice(column * side, (column + 1) * side)
                whole[here] = picture(renderer, name, side)
            except DioramaError as error:
                broken[name] = str(error)
    finally:
        renderer.close()
    return Image.fromarray(whole)


def layout(names_: list[str]) -> dict[str, tuple[int, int]]:
    """Row and column of each model; a category begins a row."""
    places: dict[str, tuple[int, int]] = {}
    row = 0
    for category in dict.fromkeys(name.split("/")[0] for name in names_):
        own = [name for name in names_ if name.startswith(f"{category}/")]
        places |= {name: (row + k // COLUMNS, k % COLUMNS) for k, name in enumerate(own)}
        row += -(-len(own) // COLUMNS)
    return places


def rows_of(names_: list[str]) -> int:
    """Rows of the sheet."""
    return 1 + max((row for row, _ in layout(names_).values()), default=-1)


def sheet_problem(path: Path, names_: list[str], side: int) -> str:
    """Why the sheet couldn't be written, known before hours of rendering; "" if it can."""
    if path.suffix.lower() not in (".jpg", ".jpeg", ".png"):
        return f"--sheet {path}: expected a name that ends in .jpg or .png"
    if not path.parent.is_dir():
        return f"--sheet {path}: there is no folder {path.parent}"
    height = rows_of(names_) * side
    if max(height, COLUMNS * side) > MOST_PIXELS:
        hint = "give --category, a smaller --limit or a smaller --size"
        return f"--sheet {path}: {len(names_)} models need {height} pixels in height; at most {MOST_PIXELS} fit; {hint}"
    return ""


def report(read: list[str], broken: dict[str, str], noted: dict[str, list[str]]) -> str:
    """For people: how many of each category, what was wrong, how often."""
    lines = []
    for category in dict.fromkeys(name.removeprefix("shapenet:").split("/")[0] for name in [*read, *broken]):
        good, bad = (sum(f":{category}/" in name for name in group) for group in (read, broken))
        lines.append(f"{category} {word_of(category)}: {good} read, {bad} broken")
    counts = Counter(kind for notes in noted.values() for note in notes for kind in KINDS if kind in note)
    lines += [f"  {count} x {kind}" for kind, count in counts.most_common()]
    lines += [f"broken: {name}: {text}" for name, text in broken.items()]
    lines.append(f"{len(read)} models read, {len(noted)} of them repaired, {len(broken)} broken")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the check; exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--up", default="+y")
    parser.add_argument("--front", default="-z")
    parser.add_argument("--category")
    parser.add_argument("--limit", type=int, help="At most so many models a category.")
    parser.add_argument("--sheet", type=Path, help="Render them into this picture (.jpg or .png).")
    parser.add_argument("--size", type=int, default=112, help="Pixels a model on the sheet.")
    parser.add_argument("--json", type=Path, help="Every model's notes and errors, as JSON.")
    options = parser.parse_args()
    if options.size < 1 or (options.limit is not None and options.limit < 1):
        parser.error("--size and --limit are 1 or more")
    choose_library((str(options.root.absolute()), options.up, options.front))
    read: list[str] = []
    broken: dict[str, str] = {}
    noted: dict[str, list[str]] = {}
    try:
        wanted = list(names(options.category, options.limit))
    except DioramaError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    problem = sheet_problem(options.sheet, wanted, options.size) if options.sheet is not None else ""
    if problem:
        parser.error(problem)
    for name in tqdm(wanted, desc="reading", unit="model", disable=None, delay=2):
        try:
            notes = list(load_model(name).notes)
            read.append(name)
            if notes:
                noted[name] = notes
        except DioramaError as error:
            broken[name] = str(error)
    if options.sheet is not None and read:
        made = sheet(read, options.size, broken)
        made.save(options.sheet, quality=88)
        read = [name for name in read if name not in broken]
    sys.stdout.write(report(read, broken, noted))
    if options.json is not None:
        options.json.write_text(json.dumps({"read": read, "broken": broken, "notes": noted}, indent=1) + "\n")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
