"""`render-specs models`: read every model of a library, and report what becomes of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import print_result, progress
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError, UsageError, counted
from diorama.scene_specs.files.atomic import atomic_path
from diorama.scene_specs.files.tables import text_table
from diorama.scene_specs.files.writing import report_write_errors
from diorama.scene_specs.language.model_names import MESH_SUFFIXES, PREFIX, mesh_name, word_of

_VERDICTS = ("as it is", "noted", "repaired", "refused")
# What notes of repairs say.
_REPAIRS = ("were left out", "turned to look outwards", "made opaque", "was found as", "was taken instead")
_LICENSE = "license: "


def _models_in(folder: Path, own: bool, limit: int | None) -> Iterator[tuple[str, str]]:
    """Yield category and name of each model."""
    from diorama.scene_specs.shapes.shapenet import library

    if own:
        files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in MESH_SUFFIXES and path.is_file()]
        yield from ((path.suffix.lower(), mesh_name(path.relative_to(folder).as_posix())) for path in files)
        return
    for category in library().categories():
        listed = enumerate(library().models(category)[:limit], 1)
        yield from ((category, f"{PREFIX}{category}/#{rank}") for rank, _ in listed)


def _read(category: str, name: str) -> dict[str, Any]:
    from diorama.scene_specs.shapes.shapenet import load_model

    try:
        model = load_model(name)
    except AssetError as error:
        return {"category": category, "name": name, "verdict": "refused", "notes": [str(error)]}
    notes = [note for note in model.notes if not note.startswith(_LICENSE)]
    verdict = _VERDICTS[2 if any(text in note for note in notes for text in _REPAIRS) else bool(notes)]
    return {"category": category, "name": model.name, "verdict": verdict, "notes": list(model.notes)}


def _draw(sheet: Path, names: list[str], folder: Path) -> None:
    """Render each model with Cycles, 128 pixels a side, and draw all on one sheet."""
    from PIL import Image

    from diorama.render.api import compile_spec, render_scene
    from diorama.render.uses.draw.tile_grid import Tile, tile_grid

    tiles = []
    for name in progress(names, "images", len(names)):
        frame = {"objects": [{"shape": name, "material": "original", "rotation_deg": 30}]}
        spec = {"version": 1, "id": "model", "stage": "studio", "frames": [frame]}
        (image,) = render_scene(compile_spec(spec, "draft", (128, 128), folder), asset_roots=folder)
        tiles.append(Tile(Image.fromarray(image.passes.color), note=name))
    with report_write_errors("--sheet"), atomic_path(sheet) as path:
        tile_grid(tiles, 8, font_size=10).save(path, "PNG")


@click.command(cls=DioramaCommand)
@click.argument("folder", type=opt.FOLDER, callback=opt.set_environment("DIORAMA_SHAPENET"))
@opt.flag("--own", "Read every model file below FOLDER, as those that specs name with `mesh`, not a library.")
@opt.limit("models per category of a library", 1_000_000)
@opt.group(
    "Output", click.option("--sheet", type=opt.NEW_PATH, metavar="FILE", help="PNG of all models.  [default: none]")
)
@opt.as_json
def models(folder: Path, own: bool, limit: int | None, sheet: Path | None, as_json: bool) -> None:
    """Read all models of a library.

    FOLDER is in a layout of docs/shapenet.md. The command counts the models that are read as they are, with notes, with
    repairs, or not at all, and the licenses that own files state. The cache keeps what was read: the command continues
    after an interruption, and images need not wait.

    Exit codes: 0: all models can be read; 1: some can't; 2: FOLDER can't be read or is
    empty, or Blender is missing.

    Examples:
      render-specs models ShapeNetCore.v2 --limit 50 --sheet models.png
      render-specs models downloads --own --json
    """
    with searching([folder]):
        named = [*_models_in(folder, own, limit)]
        if not named:
            raise UsageError(f"{folder}: there are no models{'' if own else '; --own reads any model files below it'}")
        results = [_read(*pair) for pair in progress(named, "models", len(named))]
        read = [result for result in results if result["verdict"] != "refused"]
        if sheet is not None:
            _draw(sheet, [result["name"] for result in read], folder)
    counts = Counter((result["category"], result["verdict"]) for result in results)
    notes = [note for result in read for note in result["notes"] if note.startswith(_LICENSE)]
    licenses = dict(Counter(note.removeprefix(_LICENSE) for note in notes).most_common())
    categories = sorted(dict(named))
    totals = {verdict: sum(counts[name, verdict] for name in categories) for verdict in _VERDICTS}
    rows = [[f"{name} {word_of(name)}", *(str(counts[name, key]) for key in _VERDICTS)] for name in categories]
    lines = [*text_table(("category", *_VERDICTS), rows)]
    lines += [
        f"{result['verdict']}: {result['name']}: {'; '.join(result['notes'])}" for result in results if result["notes"]
    ]
    lines += [f"license {name!r}: {counted(count, 'model')}" for name, count in licenses.items()]
    lines.append(f"{len(read)} of {counted(len(results), 'model')} can be read\n")
    print_result(as_json, {**totals, "licenses": licenses, "models": results}, "\n".join(lines))
    if len(read) < len(results):
        raise SystemExit(1)
