"""`render-specs kilogram | tangrams | drawings | naming`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.common import atomic_writer, log
from render.cli.ranges import FiniteRange

if TYPE_CHECKING:
    from scene_specs.benchmarks.kilogram.dataset import Dataset
    from scene_specs.benchmarks.kilogram.emit import Look
    from scene_specs.language.errors import Diagnostic

_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_SEED = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
_CONDITIONS = ["whole+black", "part+black", "whole+color", "part+color"]
_SPLITS = ["train", "val", "dev", "heldout", "dense", "all"]
_SHOWN = 20

_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--pictures", is_flag=True, help="Single pictures, an episode a description, instead of games."),
    click.option("--condition", type=click.Choice([*_CONDITIONS, "aug", "four"]), default="four", show_default=True,
                 help="What is said and colored; four are the same games in each; aug shows subsets of the parts."),
    click.option("--split", type=click.Choice(_SPLITS), default="dev", show_default=True),
    click.option("--targets", type=click.Choice(["one", "all"]), default="one", show_default=True,
                 help="Games for one description of each tangram, drawn, or for all."),
    click.option("--contexts", type=click.IntRange(1, 1000), default=10, show_default=True, help="Games a target."),
    click.option("--distinct", type=click.Choice(["raw", "normalized"]), default="raw", show_default=True,
                 help="Wholes differ as written, or also but for case, articles and slips of the pen."),
    click.option("--svg", type=_FOLDER, metavar="DIR", help="Drawings <tangram>.svg [default: our own tangrams]."),
    click.option("--annotations", type=_FILE, multiple=True, metavar="FILE",
                 help="Published form; may be given again."),
    click.option("--splits", type=_FILE, metavar="FILE", help="{split: [tangram, ...]} [default: drawn]."),
    click.option("--strict", is_flag=True, help="Anything wrong in these files is an error."),
    click.option("--world", type=click.Choice(["2d", "3d"]), default="2d", show_default=True,
                 help="Flat, or wooden pieces on CLEVR's table."),
    click.option("--size", type=click.IntRange(16, 4096), default=224, show_default=True, help="Pixels a side (2d)."),
    click.option("--border", type=FiniteRange(0, 50), default=1.0, show_default=True,
                 help="White line between pieces, pixels (2d)."),
    click.option("--margin", type=FiniteRange(0, 1000), default=0.0, show_default=True,
                 help="White around the figure, pixels (2d)."),
    click.option("--sharp", is_flag=True, help="No blended edges (2d): the given colors and white, no other."),
    _SEED,
    _OUT,
]  # fmt: skip


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_options
def kilogram(out: Path | None, seed: int, split: str, condition: str, **given: Any) -> None:
    """Generate KiloGram's reference games, or single pictures, one episode a line.

    A game shows ten tangrams and describes one. `render-export --format kilogram` writes the published layout.
    """
    from tqdm import tqdm

    look = _look(given)
    dataset = _dataset(given, seed)
    conditions = _CONDITIONS if condition == "four" else [condition]
    with atomic_writer(out) as stream:
        for spec in tqdm(
            _specs(dataset, split, conditions, look, seed, given), unit=" episodes", delay=2, disable=None
        ):
            stream.write(json.dumps(spec, separators=(",", ":")) + "\n")


def _look(given: dict[str, Any]) -> Look:
    from scene_specs.benchmarks.kilogram.emit import Look

    if 2 * given["margin"] > given["size"] - 8:
        raise click.UsageError("--margin leaves less than 8 pixels of the picture")
    return Look(given["size"], given["border"], given["margin"], not given["sharp"], given["world"])


def _dataset(given: dict[str, Any], seed: int) -> Dataset:
    """Ours, or the user's; what is wrong with theirs is logged."""
    from scene_specs.benchmarks.kilogram.dataset import own_dataset, read_dataset

    svg, annotations = given["svg"], given["annotations"]
    if svg is None:
        if annotations or given["splits"]:
            raise click.UsageError("--annotations and --splits are for drawings of your own: give --svg DIR, too")
        return own_dataset(seed)
    if not annotations:
        raise click.UsageError("--svg needs --annotations FILE: what do the drawings show?")
    dataset = read_dataset(svg, annotations, given["splits"], seed, given["strict"])
    for diagnostic in dataset.diagnostics[:_SHOWN]:
        log.warning("%s", diagnostic)
    if dataset.diagnostics:
        log.warning(
            "%d in all; `render-specs drawings` lists them, --strict makes them errors", len(dataset.diagnostics)
        )
    return dataset


def _specs(
    dataset: Dataset, split: str, conditions: list[str], look: Look, seed: int, given: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    from scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
    from scene_specs.benchmarks.kilogram.games import Rules, SkippedTargets, games

    annotations = dataset.of_split(split)
    if not annotations:
        log.warning("split %s has no description", split)
    if given["pictures"]:
        for condition in conditions:
            yield from picture_specs(dataset, annotations, split, condition, look, seed)
        return
    rules = Rules(seed, given["contexts"], given["targets"], given["distinct"])
    left = SkippedTargets()
    for game in games(annotations, split, rules, left, augmented=conditions == ["aug"]):
        for condition in conditions:
            yield game_spec(dataset, game, condition, look, seed)
    for reason, keys in left.out.items():
        shown = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
        log.warning("%d description%s without a game: %s (%s)", len(keys), "" if len(keys) == 1 else "s", reason, shown)


@click.command()
@click.option("--count", type=click.IntRange(1, 100_000), required=True, help="How many tangrams.")
@click.option(
    "--corners",
    type=FiniteRange(0, 1),
    default=0.1,
    show_default=True,
    help="Share of pieces that hang on by a corner instead of an edge.",
)
@click.option(
    "--symmetric",
    type=FiniteRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of tangrams with pairs of pieces to both sides of an axis.",
)
@click.option(
    "--alike",
    type=FiniteRange(0, 1),
    default=0.7,
    show_default=True,
    help="Most that two silhouettes may have in common, of 1.",
)
@_SEED
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="An SVG file a tangram.")
def tangrams(count: int, corners: float, symmetric: float, alike: float, seed: int, out: Path) -> None:
    """Draw random tangrams: seven pieces laid edge to edge, exactly, no two of them alike.

    They are drawings without a description; `render-specs kilogram --svg` needs one of each.
    """  # fmt: skip
    from tqdm import tqdm

    from render.model.errors import UsageError
    from scene_specs.benchmarks.kilogram.figure import figure_of, svg_text
    from scene_specs.benchmarks.kilogram.variety import drawn_varied

    made = drawn_varied(seed, count, corners, symmetric, alike)
    written = 0
    for tangram in tqdm(made, total=count, unit=" tangrams", delay=2, disable=None):
        with atomic_writer(out / f"{tangram.name}.svg") as stream:
            stream.write(svg_text(figure_of(tangram)))
        written += 1
    if written < count:
        raise UsageError(f"--alike {alike}: no more than {written} were found that differ so much; allow more likeness")
    click.echo(f"{written} tangrams in {out}")


@click.command()
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.option("--annotations", type=_FILE, multiple=True, metavar="FILE", help="Published form; may be given again.")
@click.option("--splits", type=_FILE, metavar="FILE", help="{split: [tangram, ...]}.")
@click.option("--strict", is_flag=True, help="Exit code 2 if there is a fault.")
@click.option("--json", "as_json", is_flag=True, help="All measurements and faults as JSON.")
@_OUT
def drawings(
    folder: Path, annotations: tuple[Path, ...], splits: Path | None, strict: bool, as_json: bool, out: Path | None
) -> None:
    """Say what is wrong with the tangrams of DIR, and with files of descriptions and splits.

    Of each <tangram>.svg: areas and angles of the seven pieces, overlaps, gaps, how tight the view box is.
    """
    from dataclasses import asdict

    from scene_specs.benchmarks.kilogram.dataset import read_dataset, read_drawings
    from scene_specs.language.errors import SpecError

    if splits is not None and not annotations:
        raise click.UsageError("--splits is checked against descriptions: give --annotations, too")
    if annotations:
        dataset = read_dataset(folder, annotations, splits)
        measured, diagnostics = list(dataset.measured), list(dataset.diagnostics)
    else:
        _, measured, diagnostics = read_drawings(folder)
    with atomic_writer(out) as stream:
        if as_json:
            rows = [{key: _finite(value) for key, value in asdict(one).items()} for one in measured]
            listed = [_fault_data(diagnostic) for diagnostic in diagnostics]
            stream.write(json.dumps({"drawings": rows, "faults": listed}, indent=1) + "\n")
        else:
            stream.writelines(f"{diagnostic}\n" for diagnostic in diagnostics)
            stream.write(
                f"{len(measured)} drawings read, {sum(not one.diagnostics for one in measured)} without fault\n"
            )
    if strict and diagnostics:
        raise SpecError(diagnostics[:1] if not as_json and out is None else diagnostics)


def _finite(value: Any) -> Any:
    """null for what could not be measured: JSON has no NaN."""
    return None if isinstance(value, float) and value != value else value


def _fault_data(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "file": diagnostic.file,
        "tangram": diagnostic.episode,
        "path": diagnostic.path,
        "problem": diagnostic.problem,
    }


@click.command()
@click.argument("files", nargs=-1, type=_FILE, metavar="[FILES]...")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of a table.")
@_OUT
def naming(files: tuple[Path, ...], as_json: bool, out: Path | None) -> None:
    """Say how people agree on each tangram of annotation FILES [default: our own]: SND, PND and PSA.

    Shape and part naming divergence, from 0 (all say the same) to 1; part segmentation agreement, from 1 to 7. Tangrams
    with a single description have nobody to agree with, and are left out.
    """
    from scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
    from scene_specs.benchmarks.kilogram.dataset import MOST_BYTES
    from scene_specs.benchmarks.kilogram.measures import measures
    from scene_specs.benchmarks.kilogram.own import own_annotations
    from scene_specs.importing.text import read_text
    from scene_specs.language.errors import SpecError

    found: Annotations = {} if files else own_annotations()
    for path in files:
        read, diagnostics = read_annotations(read_text(path, MOST_BYTES), str(path))
        for diagnostic in diagnostics[:_SHOWN]:
            log.warning("%s", diagnostic)
        if not any(read.values()):
            raise SpecError(diagnostics or [_empty(path)])
        for name in sorted(found.keys() & read.keys()):
            log.warning("%s: tangram %s is in a file before this one, too; that one is taken", path, name)
        found = {**read, **found}
    rows: list[dict[str, Any]] = [
        {"tangram": name, "count": len(items), **measures(items)} for name, items in found.items() if len(items) > 1
    ]
    means = {key: sum(row[key] for row in rows) / max(len(rows), 1) for key in ("snd", "pnd", "psa")}
    with atomic_writer(out) as stream:
        if as_json:
            stream.write(json.dumps({"tangrams": rows, "mean": means}, indent=1) + "\n")
            return
        stream.write("| tangram | descriptions | SND | PND | PSA |\n|---|---|---|---|---|\n")
        for row in [*rows, {"tangram": "mean", "count": sum(row["count"] for row in rows), **means}]:
            values = f"{row['snd']:.3f} | {row['pnd']:.3f} | {row['psa']:.3f}"
            stream.write(f"| {row['tangram']} | {row['count']} | {values} |\n")


def _empty(path: Path) -> Diagnostic:
    from scene_specs.language.errors import Diagnostic

    return Diagnostic(str(path), 0, "", "", "no descriptions in it")
