"""`render-export`: episodes of a store in formats that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from render.cli import options as opt
from render.cli.command import DioramaCommand
from render.cli.output import total_bar
from scene_specs.language.tables import counted


@click.command(cls=DioramaCommand)
@click.argument("source", required=False, metavar="[STORE]")
@click.option("--format", "name", default="folder", metavar="NAME", help="One of --list-formats.")
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

    Examples:
      render-export scenes.lance --out data
      render-export scenes.lance --format webdataset --out shards --split train
    """
    from render.export import reads_files

    if list_formats:
        click.echo(_list_formats())
        return
    if out is None:
        raise click.UsageError("--out DIR is missing; name the output folder")
    if source is None and reads_files(name):
        raise click.UsageError(f"--format {name} reads a file: name it")
    from render.export.protocol import ExportOptions
    from render.export.run_export import run_export

    options = ExportOptions(overwrite, limit, where, shard_size)
    source = source or opt.default_store()
    with total_bar("episodes") as on_progress:
        report = run_export(source, name, out, options, at=at, splits=splits, on_progress=on_progress)
    skipped = f", skipped {report.skipped} already there" if report.skipped else ""
    click.echo(f"exported {counted(report.exported, 'episode')} to {out}{skipped}")
    if error := report.error():
        raise error


def _list_formats() -> str:
    """Return a line per format: its name and what it writes. Imports no format."""
    from scene_specs.language.registry import plugins

    lines = {name: registered.summary() for name, registered in plugins("exports").items()}
    return "\n".join(f"{name:13} {line.removeprefix(f'`--format {name}`: ')}".rstrip() for name, line in lines.items())
