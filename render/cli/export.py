"""`render-export`: episodes of a store in formats that other tools read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from render.cli import options as opt
from render.cli.command import DioramaCommand
from render.cli.output import counted, progress_bar

if TYPE_CHECKING:
    from render.export.protocol import Exporter, ExportOptions, ExportReport
    from render.store.lance.reader import LanceReader


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
    from render.export import FROM_FILES, SHARDED, exporter, format_names, takes_shard_size

    if list_formats:
        click.echo("\n".join(format_names()))
        return
    export = exporter(name)
    if out is None:
        raise click.UsageError("--out DIR is missing; name the output folder")
    if shard_size is not None and not takes_shard_size(name):
        raise click.UsageError(f"--shard-size is for {' and '.join(sorted(SHARDED))}; omit it with --format {name}")
    from render.export.protocol import ExportOptions

    options = ExportOptions(overwrite, limit, shard_size=shard_size)
    if name in FROM_FILES:
        if source is None or splits or where or at:
            raise click.UsageError(f"--format {name} reads a file: name it, and omit --split, --where and --at")
        report = _export_file(Path(source), out, options)
    else:
        from render.store.episode_store import condition

        options = replace(options, where=condition(where, splits=splits))
        store = opt.open_reader(source or opt.default_store(), at, splits)
        report = _export_store(export, store, out, options)
    skipped = f", skipped {report.skipped} already there" if report.skipped else ""
    click.echo(f"exported {counted(report.exported, 'episode')} to {out}{skipped}")
    if error := report.error():
        raise error


def _export_store(export: Exporter, store: LanceReader, out: Path, options: ExportOptions) -> ExportReport:
    count = store.count(options.where)
    with progress_bar(count if options.limit is None else min(options.limit, count), "episodes") as progress:
        report = export(store, out, options, progress)
    store.close()
    return report


def _export_file(file: Path, out: Path, options: ExportOptions) -> ExportReport:
    from render.export.clevr_masks import export

    with progress_bar(None, "scenes") as progress:
        return export(file, out, options, progress)
