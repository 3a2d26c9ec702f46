"""`render-export`: episodes of a store in formats that other tools read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from render.cli import options as opt
from render.cli.command import DioramaCommand
from render.cli.output import counted, progress_bar

if TYPE_CHECKING:
    from render.export.protocol import Exporter, ExportOptions, ExportReport


@click.command(cls=DioramaCommand)
@click.argument("source", required=False, metavar="[STORE]")
@click.option("--format", "name", default="folder", metavar="NAME", help="Format, one of --list-formats.")
@click.option("--out", type=opt.NEW_PATH, metavar="DIR", help="Output folder; required.")
@click.option("--overwrite", is_flag=True, help="Replace exported episodes that differ from the stored ones.")
@opt.limit("episodes")
@opt.splits
@opt.where
@opt.at
@click.option("--shard-size", type=opt.Number(1), help="Episodes per file, if sharded [default: by format].")
@click.option("--list-formats", is_flag=True, help="List the formats and exit.")
@opt.verbose
def main(
    source: str | None,
    name: str,
    out: Path | None,
    overwrite: bool,
    limit: int | None,
    splits: tuple[str, ...],
    where: str | None,
    at: str | None,
    shard_size: int | None,
    list_formats: bool,
) -> None:
    """Export episodes to a dataset format.

    Writes the episodes of STORE [default: $DIORAMA_STORE or ./diorama.lance] to DIR. A second run writes only what is
    missing. `folder` has a folder per episode, with a PNG and a JSON file per image and episode.json. `clevr-masks`
    reads a published CLEVR_<split>_scenes.json instead of STORE, and writes boxes and masks for its images.

    Exit codes: 0 all exported; 2 wrong options, or exported episodes that differ from the stored ones; 4 the store
    can't be read, or episodes in it are damaged (listed at the end; the others are exported).
    """
    from render.export import exporter, reads_files, takes_shard_size

    if list_formats:
        click.echo(_list_formats())
        return
    export = exporter(name)
    if out is None:
        raise click.UsageError("--out DIR is missing; name the output folder")
    if shard_size is not None and not takes_shard_size(name):
        raise click.UsageError(f"--format {name} writes no shards; omit --shard-size")
    from render.export.protocol import ExportOptions

    options = ExportOptions(overwrite, limit, shard_size=shard_size)
    if reads_files(name):
        if source is None or splits or where or at:
            raise click.UsageError(f"--format {name} reads a file: name it, and omit --split, --where and --at")
        report = _export_file(export, Path(source), out, options)
    else:
        from render.store.episode_store import condition

        options = replace(options, where=condition(where, splits=splits))
        report = _export_store(export, source or opt.default_store(), at, out, options)
    skipped = f", skipped {report.skipped} already there" if report.skipped else ""
    click.echo(f"exported {counted(report.exported, 'episode')} to {out}{skipped}")
    if error := report.error():
        raise error


def _list_formats() -> str:
    """Return a line per format: its name and what it writes. Imports no format."""
    from scene_specs.language.registry import plugins

    lines = {name: registered.summary() for name, registered in plugins("exports").items()}
    return "\n".join(f"{name:13} {line.removeprefix(f'`--format {name}`: ')}".rstrip() for name, line in lines.items())


def _export_store(export: Exporter, url: str, at: str | None, out: Path, options: ExportOptions) -> ExportReport:
    store = opt.open_reader(url, at)
    count = store.count(options.where)
    with progress_bar(count if options.limit is None else min(options.limit, count), "episodes") as progress:
        report = export(store, out, options, progress)
    store.close()
    return report


def _export_file(export: Callable[..., ExportReport], file: Path, out: Path, options: ExportOptions) -> ExportReport:
    with progress_bar(None, "scenes") as progress:
        return export(file, out, options, progress)
