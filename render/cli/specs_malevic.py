"""`render-specs malevic | malevic-report`, and MALeViC's part of `render-specs check --prove`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from render.cli.common import atomic_writer
from render.cli.ranges import FiniteRange
from scene_specs.benchmarks.malevic.sets import GENERALIZATION, SETS

_FILES = "FILES are .json and .jsonl files, folders, globs, and - for standard input."
_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_MAIN = ("sup1", "pos1", "pos", "set-pos")
_GROUPS = {
    "main": _MAIN,
    "hard": tuple(name for name, one in SETS.items() if one.hardness),
    "generalization": tuple(f"generalization-{letter}" for letter in GENERALIZATION),
    "all": tuple(SETS),
}
_SPLITS = ("train", "val", "test", "test-seen", "test-unseen")


@click.command()
@click.option(
    "--set",
    "name",
    type=click.Choice([*SETS, *_GROUPS]),
    default="main",
    show_default=True,
    help="A data set, or several: the four main ones, the hard ones, the generalisation sets.",
)
@click.option("--split", type=click.Choice([*_SPLITS, "all"]), default="all", show_default=True)
@click.option("--count", type=click.IntRange(0), help="Items a set and split [default: as published].")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first item.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option(
    "--variant",
    type=click.Choice(["vague", "static"]),
    default="vague",
    show_default=True,
    help="k is drawn for each scene, or 0.29 in all.",
)
@click.option(
    "--areas",
    type=click.Choice(["published", "true"]),
    default="published",
    show_default=True,
    help="Circles of a class are 21.5 % smaller than its other shapes, or as large.",
)
@click.option("--uniform-count", is_flag=True, help="As many scenes of 9 objects as of 5.")
@click.option(
    "--gap",
    type=FiniteRange(0, 50),
    default=5.0,
    show_default=True,
    help="Least distance of two objects of one color, canvas units; 0 as published.",
)
@click.option(
    "--world",
    type=click.Choice(["flat", "3d"]),
    default="flat",
    show_default=True,
    help="Flat shapes, or prisms on a table.",
)
@_OUT
def malevic(name: str, split: str, count: int | None, first: int, out: Path | None, **given: Any) -> None:
    """Generate MALeViC items, one a line: a scene, a sentence about it, and whether it is true.

    An item depends on its seed, set, split, number and options only: `--first 42 --count 1` writes number 42 as
    `--count 100` does. What was made is told at the end, on stderr: classes, numbers of objects, and the ceiling, the
    share of answers that a solver gets who takes k to be 0.29.
    """
    from tqdm import tqdm

    from scene_specs.benchmarks.malevic.draw import Options
    from scene_specs.benchmarks.malevic.generate import malevic_spec
    from scene_specs.benchmarks.malevic.report import Report, table

    options = Options(given["variant"] == "static", given["areas"], given["uniform_count"], given["gap"])
    todo = _todo(_GROUPS.get(name, (name,)), split, count, first)
    report = Report()
    with (
        atomic_writer(out) as stream,
        tqdm(total=sum(len(n) for *_, n in todo), unit=" items", delay=2, disable=None) as bar,
    ):
        for one, part, numbers in todo:
            for number in numbers:
                spec = malevic_spec(given["seed"], one, part, number, options, given["world"])
                stream.write(json.dumps(spec, separators=(",", ":")) + "\n")
                report.add(spec["task"])
                bar.update()
    click.echo(table(report.rows()), err=True, nl=False)


def _todo(names: tuple[str, ...], split: str, count: int | None, first: int) -> list[tuple[str, str, range]]:
    """(set, split, numbers) of what is to be made. Raises UsageError where no set has the split."""
    todo = [
        (name, part, range(first, first + (items if count is None else count)))
        for name in names
        for part, items in SETS[name].splits.items()
        if split in ("all", part)
    ]
    if not todo:
        has = ", ".join(SETS[names[0]].splits)
        raise click.UsageError(f"--split {split}: set {names[0]} has: {has}")
    return todo


@click.command(name="malevic-report", epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of a table.")
@_OUT
def malevic_report(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Say what sets of MALeViC items are like: classes, numbers of objects, k, and the ceiling with k = 0.29."""
    from scene_specs.benchmarks.malevic.report import report, table

    rows = report(_tasks(files))
    with atomic_writer(out) as stream:
        stream.write(json.dumps(rows, indent=1) + "\n" if as_json else table(rows))


def _tasks(files: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """`task` of each item. Raises SpecError for specs that are wrong or no MALeViC items."""
    from scene_specs.benchmarks.malevic.verify import is_malevic
    from scene_specs.language.errors import Diagnostic, SpecError
    from scene_specs.reading.source import SpecSource

    with SpecSource(files) as source:
        diagnostics, _ = source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        for item in source:
            task = item.episode.task
            if task is None or not is_malevic(task):
                raise SpecError([Diagnostic(item.file, item.line, item.episode.id, "task", "not a MALeViC item")])
            yield task
