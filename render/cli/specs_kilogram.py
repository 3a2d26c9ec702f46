"""`render-specs kilogram | tangrams | drawings | naming`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import options as opt
from render.cli.command import log
from render.cli.output import json_text, progress, write_specs, write_text
from render.model.errors import Diagnostic, SpecError, UsageError
from scene_specs.language.tables import counted, markdown_table

if TYPE_CHECKING:
    from scene_specs.benchmarks.kilogram.dataset import Dataset
    from scene_specs.benchmarks.kilogram.emit import Look

_CONDITIONS = ["whole+black", "part+black", "whole+color", "part+color"]
_MAX_WARNINGS = 20
_SHARE = opt.Number(0, 1, float)

_annotations_option = click.option(
    "--annotations", type=opt.FILE, multiple=True, metavar="FILE", help="Annotations as published; repeatable."
)
_splits_option = click.option(
    "--splits", type=opt.FILE, metavar="FILE", help="JSON {split: [tangram, ...]} [default: sampled from the seed]."
)


@click.command()
@click.option("--pictures", is_flag=True, help="Generate single images, one episode per description, not games.")
@opt.choice("--condition", [*_CONDITIONS, "aug", "four"], "What is described and colored; four: all of these.", "four")
@opt.choice("--split", ["train", "val", "dev", "heldout", "dense", "all"], "Split to generate.", "dev")
@opt.choice("--targets", ["one", "all"], "Games for one sampled description per tangram, or for all.")
@click.option("--contexts", type=opt.Number(1, 1000), default=10, help="Games per target.")
@opt.choice("--distinct", ["raw", "normalized"], "Descriptions in a game differ as written, or also when normalized.")
@click.option("--svg", type=opt.FOLDER, metavar="DIR", help="Drawings <tangram>.svg [default: packaged tangrams].")
@_annotations_option
@_splits_option
@click.option("--strict", is_flag=True, help="Treat every problem in these files as an error.")
@opt.choice("--world", ["2d", "3d"], "Flat pieces, or wooden pieces on CLEVR's table.")
@click.option("--size", type=opt.Number(16, 4096), default=224, help="Width and height of images in pixels (2d).")
@click.option("--border", type=opt.Number(0, 50, float), default=1.0, help="White line between pieces in pixels (2d).")
@click.option(
    "--margin", type=opt.Number(0, 1000, float), default=0.0, help="White margin of the figure in pixels (2d)."
)
@click.option("--sharp", is_flag=True, help="Turn antialiasing off: only piece colors and white (2d).")
@opt.seed
@opt.out
def kilogram(out: Path | None, seed: int, split: str, condition: str, **options: Any) -> None:
    """Generate KiloGram reference games, one per line.

    A game shows ten tangrams and describes one of them. The four conditions have the same games; `aug` shows subsets of
    the parts. Normalized descriptions differ in more than case, articles and typos. `render-export --format kilogram`
    writes the published layout.
    """
    look = _read_look(options)
    dataset = _read_dataset(options, seed)
    conditions = _CONDITIONS if condition == "four" else [condition]
    write_specs(out, _specs(dataset, split, conditions, look, seed, options), "episodes")


def _read_look(options: dict[str, Any]) -> Look:
    from scene_specs.benchmarks.kilogram.emit import Look

    if 2 * options["margin"] > options["size"] - 8:
        raise click.UsageError("--margin leaves less than 8 pixels of the image")
    return Look(options["size"], options["border"], options["margin"], not options["sharp"], options["world"])


def _read_dataset(options: dict[str, Any], seed: int) -> Dataset:
    """The packaged dataset, or the user's; problems in the user's files are logged."""
    from scene_specs.benchmarks.kilogram.dataset import own_dataset, read_dataset

    svg, annotations = options["svg"], options["annotations"]
    if svg is None:
        if annotations or options["splits"]:
            raise click.UsageError("--annotations and --splits are for your own drawings; give --svg DIR too")
        return own_dataset(seed)
    if not annotations:
        raise click.UsageError("--svg needs --annotations FILE, with descriptions of the drawings")
    dataset = read_dataset(svg, annotations, options["splits"], seed, options["strict"])
    for diagnostic in dataset.diagnostics[:_MAX_WARNINGS]:
        log.warning("%s", diagnostic)
    if dataset.diagnostics:
        total = counted(len(dataset.diagnostics), "warning")
        log.warning("%s in all; `render-specs drawings` lists them, --strict makes them errors", total)
    return dataset


def _specs(
    dataset: Dataset, split: str, conditions: list[str], look: Look, seed: int, options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    from scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
    from scene_specs.benchmarks.kilogram.games import Rules, games

    annotations = dataset.of_split(split)
    if not annotations:
        log.warning("split %s has no descriptions", split)
    if options["pictures"]:
        for condition in conditions:
            yield from picture_specs(dataset, annotations, split, condition, look, seed)
        return
    rules = Rules(seed, options["contexts"], options["targets"], options["distinct"])
    skipped: dict[str, list[str]] = {}
    for game in games(annotations, split, rules, skipped, augmented=conditions == ["aug"]):
        for condition in conditions:
            yield game_spec(dataset, game, condition, look, seed)
    for reason, keys in skipped.items():
        listed = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
        log.warning("%s without a game: %s (%s)", counted(len(keys), "description"), reason, listed)


@click.command()
@click.option("--count", type=opt.Number(1, 100_000), required=True, help="Number of tangrams.")
@click.option("--corners", type=_SHARE, default=0.1, help="Share of pieces that touch others only at a corner.")
@click.option("--symmetric", type=_SHARE, default=0.5, help="Share of tangrams with symmetric pairs of pieces.")
@click.option("--alike", type=_SHARE, default=0.7, help="Maximum overlap of two silhouettes, as a share of 1.")
@opt.seed
@click.option("--out", type=opt.NEW_PATH, required=True, metavar="DIR", help="Folder for one SVG file per tangram.")
def tangrams(count: int, corners: float, symmetric: float, alike: float, seed: int, out: Path) -> None:
    """Draw random tangrams as SVG files.

    Seven pieces are laid exactly edge to edge, and no two tangrams are alike. The drawings have no descriptions, and
    `render-specs kilogram --svg` needs one for each.
    """
    from scene_specs.benchmarks.kilogram.figure import figure_of, svg_text
    from scene_specs.benchmarks.kilogram.variety import drawn_varied

    written = 0
    for tangram in progress(drawn_varied(seed, count, corners, symmetric, alike), "tangrams", count):
        write_text(out / f"{tangram.name}.svg", svg_text(figure_of(tangram)))
        written += 1
    if written < count:
        raise UsageError(f"--alike {alike}: found only {written} of {count} tangrams this different; raise --alike")
    click.echo(f"{counted(written, 'tangram')} in {out}")


@click.command()
@click.argument("folder", type=opt.FOLDER, metavar="DIR")
@_annotations_option
@_splits_option
@click.option("--strict", is_flag=True, help="Exit with code 2 if there are errors.")
@opt.as_json
@opt.out
def drawings(
    folder: Path, annotations: tuple[Path, ...], splits: Path | None, strict: bool, as_json: bool, out: Path | None
) -> None:
    """Check the tangram drawings of DIR, and their annotations.

    Measures each <tangram>.svg: areas and angles of the seven pieces, overlaps, gaps, margins of the view box.
    """
    from scene_specs.benchmarks.kilogram.dataset import read_dataset, read_drawings

    if splits is not None and not annotations:
        raise click.UsageError("--splits is checked against descriptions; give --annotations too")
    if annotations:
        dataset = read_dataset(folder, annotations, splits)
        measured, diagnostics = list(dataset.measured), list(dataset.diagnostics)
    else:
        _, measured, diagnostics = read_drawings(folder)
    if as_json:
        # null for values that can't be measured: JSON has no NaN.
        rows = [{k: None if v != v else v for k, v in asdict(one).items()} for one in measured]
        listed = [{"file": d.file, "tangram": d.episode, "path": d.path, "problem": d.problem} for d in diagnostics]
        text = json_text({"drawings": rows, "faults": listed})
    else:
        right = sum(not one.diagnostics for one in measured)
        lines = [*map(str, diagnostics), f"{counted(len(measured), 'drawing')} read, {right} without errors"]
        text = "\n".join(lines) + "\n"
    write_text(out, text)
    if strict and diagnostics:
        raise SpecError(diagnostics[:1] if not as_json and out is None else diagnostics)


@click.command()
@click.argument("files", nargs=-1, type=opt.FILE, metavar="[FILES]...")
@opt.as_json
@opt.out
def naming(files: tuple[Path, ...], as_json: bool, out: Path | None) -> None:
    """Measure naming agreement on each tangram.

    FILES are annotation files [default: the packaged annotations]. Reports shape and part naming divergence (SND and
    PND, from 0 for full agreement to 1) and part segmentation agreement (PSA, from 1 to 7). Tangrams with a single
    description are left out.
    """
    from scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
    from scene_specs.benchmarks.kilogram.dataset import MOST_BYTES
    from scene_specs.benchmarks.kilogram.measures import measures
    from scene_specs.benchmarks.kilogram.own import own_annotations
    from scene_specs.language.foreign import read_text

    found: Annotations = {} if files else own_annotations()
    for path in files:
        read, diagnostics = read_annotations(read_text(path, MOST_BYTES), str(path))
        for diagnostic in diagnostics[:_MAX_WARNINGS]:
            log.warning("%s", diagnostic)
        if not any(read.values()):
            raise SpecError(diagnostics or [Diagnostic(str(path), 0, "", "", "found no descriptions")])
        for name in sorted(found.keys() & read.keys()):
            log.warning("%s: tangram %s is also in an earlier file, which is used", path, name)
        found = {**read, **found}
    rows: list[dict[str, Any]] = [
        {"tangram": name, "count": len(items), **measures(items)} for name, items in found.items() if len(items) > 1
    ]
    means = {key: sum(row[key] for row in rows) / max(len(rows), 1) for key in ("snd", "pnd", "psa")}
    total = {"tangram": "mean", "count": sum(row["count"] for row in rows), **means}
    cells = [
        [row["tangram"], row["count"], *(f"{row[key]:.3f}" for key in ("snd", "pnd", "psa"))] for row in [*rows, total]
    ]
    table = markdown_table(("tangram", "descriptions", "SND", "PND", "PSA"), cells)
    write_text(out, json_text({"tangrams": rows, "mean": means}) if as_json else table)


COMMANDS = (kilogram, tangrams, drawings, naming)
