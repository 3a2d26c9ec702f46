"""Check that a library of models works, and draw its models.

    python -m tools check-shapenet ROOT [--category chairs] [--limit 200] [--sheet sheet.jpg] [--json report.json]

ROOT: a ShapeNetCore, version 1 or 2, or a library of .glb files; see docs/shapenet.md. Reads every model and lists
diagnostics. Models are cached while they are read, so that later runs find them ready. The sheet shows each model's
front from 30 degrees aside and 20 above: if the models face away from you, pass `--front`. Exit code 1 if a model can't
be read or rendered.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from render.gallery.tile_grid import Tile, tile_grid
from render.geometry.shapenet import choose_library, library, load_model
from render.model.errors import DioramaError, UsageError
from scene_specs.language.model_names import word_of

COLUMNS = 8
# The limit for a side of the sheet; a JPEG can't be higher.
MOST_PIXELS = 65_000
# Notes name files and counts; the report counts these kinds.
KINDS = (
    "is not there", "was found as", "was taken instead", "can't be read as a picture", "not defined", "not UTF-8",
    "no numbers", "without area", "doubled", "turned to look outwards", "made opaque", "had to be converted",
)  # fmt: skip


def names(category: str | None, limit: int | None) -> Iterator[str]:
    """Yield the models of the current library, at most `limit` per category."""
    source = library()
    for name in [category] if category else source.categories():
        for number in range(1, len(source.models(name)[:limit]) + 1):
            yield source.find(f"shapenet:{name}/#{number}")[0]


def sheet(models: list[str], side: int, broken: dict[str, str]) -> Image.Image:
    """Draw the models in rows of COLUMNS, each category from a new row; models that can't be rendered are gray.

    broken: gets an error message for each of these.
    """
    # Imports Blender, which only the sheet needs.
    from render.renderers.cycles.cycles_renderer import CyclesRenderer
    from tools.shapenet_sheet import pictures, spec

    gray = Tile(Image.new("RGB", (side, side), (128, 128, 128)))
    tiles = dict.fromkeys(models, gray)
    with closing(CyclesRenderer("cpu")) as renderer:
        for name in tqdm(models, desc="rendering", unit="model", disable=None, delay=2):
            try:
                tiles[name] = Tile(pictures(spec(name, [30], 20), "draft", side, renderer)[0])
            except DioramaError as error:
                broken[name] = str(error)
    return tile_grid([tiles[name] if name else gray for row in rows_of(models) for name in row], COLUMNS, gap=0)


def rows_of(models: list[str]) -> list[list[str]]:
    """Return the rows of the sheet, each of COLUMNS models or empty strings; a category starts a row."""
    rows = []
    for category in dict.fromkeys(name.split("/")[0] for name in models):
        own = [name for name in models if name.startswith(f"{category}/")]
        own += [""] * (-len(own) % COLUMNS)
        rows += [own[k : k + COLUMNS] for k in range(0, len(own), COLUMNS)]
    return rows


def check_sheet(path: Path, models: list[str], side: int) -> None:
    """Raise UsageError if the sheet can't be written, before hours of rendering."""
    if path.suffix.lower() not in (".jpg", ".jpeg", ".png"):
        raise UsageError(f"--sheet {path}: expected a name that ends in .jpg or .png")
    if not path.parent.is_dir():
        raise UsageError(f"--sheet {path}: there is no folder {path.parent}")
    height = len(rows_of(models)) * side
    if max(height, COLUMNS * side) > MOST_PIXELS:
        hint = "pass --category, a smaller --limit or a smaller --size"
        raise UsageError(
            f"--sheet {path}: {len(models)} models need {height} pixels in height; at most {MOST_PIXELS} fit; {hint}"
        )


def report(read: list[str], broken: dict[str, str], noted: dict[str, list[str]]) -> str:
    """Return a summary: models per category, kinds of notes with their counts, and errors."""
    lines = []
    for category in dict.fromkeys(name.removeprefix("shapenet:").split("/")[0] for name in [*read, *broken]):
        good, bad = (sum(f":{category}/" in name for name in group) for group in (read, broken))
        lines.append(f"{category} {word_of(category)}: {good} read, {bad} broken")
    counts = Counter(kind for notes in noted.values() for note in notes for kind in KINDS if kind in note)
    lines += [f"  {count} x {kind}" for kind, count in counts.most_common()]
    lines += [f"broken: {name}: {text}" for name, text in broken.items()]
    lines.append(f"{len(read)} models read, {len(noted)} of them repaired, {len(broken)} broken")
    return "\n".join(lines) + "\n"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("root", type=Path)
    parser.add_argument("--up", default="+y")
    parser.add_argument("--front", default="-z")
    parser.add_argument("--category")
    parser.add_argument("--limit", type=int, help="maximum number of models per category")
    parser.add_argument("--sheet", type=Path, help="render the models into this image (.jpg or .png)")
    parser.add_argument("--size", type=int, default=112, help="size of a model on the sheet, pixels")
    parser.add_argument("--json", type=Path, help="write every model's notes and errors to this file")


def main(options: Namespace) -> int:
    """Run the check; 1 if a model is broken. Raises UsageError."""
    if options.size < 1 or (options.limit is not None and options.limit < 1):
        raise UsageError("--size and --limit must be 1 or more")
    choose_library((str(options.root.absolute()), options.up, options.front))
    read: list[str] = []
    broken: dict[str, str] = {}
    noted: dict[str, list[str]] = {}
    models = list(names(options.category, options.limit))
    if options.sheet is not None:
        check_sheet(options.sheet, models, options.size)
    for name in tqdm(models, desc="reading", unit="model", disable=None, delay=2):
        try:
            notes = list(load_model(name).notes)
            read.append(name)
            if notes:
                noted[name] = notes
        except DioramaError as error:
            broken[name] = str(error)
    if options.sheet is not None and read:
        sheet(read, options.size, broken).save(options.sheet, quality=88)
        read = [name for name in read if name not in broken]
    sys.stdout.write(report(read, broken, noted))
    if options.json is not None:
        options.json.write_text(json.dumps({"read": read, "broken": broken, "notes": noted}, indent=1) + "\n")
    return int(bool(broken))
