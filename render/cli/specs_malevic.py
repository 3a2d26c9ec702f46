"""`render-specs malevic | malevic-report`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from render.cli import options as opt
from render.cli.output import json_text, write_specs, write_text
from render.cli.verification import read_benchmark
from scene_specs.benchmarks.malevic.sets import GENERALIZATION, SETS

_GROUPS = {
    "main": ("sup1", "pos1", "pos", "set-pos"),
    "hard": tuple(name for name, one in SETS.items() if one.hardness),
    "generalization": tuple(f"generalization-{letter}" for letter in GENERALIZATION),
    "all": tuple(SETS),
}
_SPLITS = ("train", "val", "test", "test-seen", "test-unseen", "all")


@click.command()
@click.option(
    "--set",
    "name",
    type=click.Choice([*SETS, *_GROUPS]),
    default="main",
    help="Data set, or a group: main, hard, generalization, all.",
)
@opt.choice("--split", _SPLITS, "Split to generate.", "all")
@click.option("--count", type=opt.Number(0), help="Items per set and split [default: as published].")
@opt.first
@opt.seed
@opt.choice("--variant", ["vague", "static"], "k: sampled per scene, or 0.29 in all scenes.")
@opt.choice("--areas", ["published", "true"], "Area of circles: 21.5 % below that of their class, or equal to it.")
@click.option("--uniform-count", is_flag=True, help="Make all object counts from 5 to 9 equally frequent.")
@click.option(
    "--gap",
    type=opt.Number(0, 50, float),
    default=5.0,
    help="Minimum distance of objects of one color, canvas units; 0 as published.",
)
@opt.choice("--world", ["flat", "3d"], "Flat shapes, or prisms on a table.")
@opt.out
def malevic(
    name: str, split: str, count: int | None, first: int, seed: int, world: Any, out: Path | None, **options: Any
) -> None:
    """Generate MALeViC items, one per line.

    An item is a scene, a sentence about it, and whether the sentence is true. It depends only on its seed, set, split,
    number and options: `--first 42 --count 1` writes the same item 42 as `--count 100`. A table on stderr reports
    classes, object counts, and the ceiling: the accuracy of a solver that assumes k = 0.29.
    """
    from scene_specs.benchmarks.malevic.draw import Options
    from scene_specs.benchmarks.malevic.generate import malevic_spec
    from scene_specs.benchmarks.malevic.report import Report, table

    settings = Options(options["variant"] == "static", options["areas"], options["uniform_count"], options["gap"])
    parts = _numbers(_GROUPS.get(name, (name,)), split, count, first)
    report = Report()

    def specs() -> Iterator[dict[str, Any]]:
        for one, part, numbers in parts:
            for number in numbers:
                spec = malevic_spec(seed, one, part, number, settings, world)
                report.add(spec["task"])
                yield spec

    write_specs(out, specs(), "items", sum(len(numbers) for *_, numbers in parts))
    click.echo(table(report.rows()), err=True, nl=False)


def _numbers(names: tuple[str, ...], split: str, count: int | None, first: int) -> list[tuple[str, str, range]]:
    """The item numbers to generate: (set, split, numbers). Raises UsageError if none of the sets has the split."""
    found = [
        (name, part, range(first, first + (items if count is None else count)))
        for name in names
        for part, items in SETS[name].splits.items()
        if split in ("all", part)
    ]
    if not found:
        allowed = ", ".join(SETS[names[0]].splits)
        raise click.UsageError(f"--split {split}: set {names[0]} has the splits {allowed}")
    return found


@click.command(name="malevic-report", epilog=opt.FILES_HELP)
@opt.files
@opt.as_json
@opt.out
def malevic_report(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Report the statistics of MALeViC items.

    Per set: classes, object counts, k, and the ceiling: the accuracy of a solver that assumes k = 0.29.
    """
    from scene_specs.benchmarks.malevic.report import Report, table

    rows = Report(data["task"] for data in read_benchmark(files, "malevic")).rows()
    write_text(out, json_text(rows) if as_json else table(rows))


COMMANDS = (malevic, malevic_report)
