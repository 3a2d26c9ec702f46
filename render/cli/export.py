"""`render-export`: datasets out of a store, in formats that other tools read."""

from __future__ import annotations

import os
from pathlib import Path

import click

from render.cli.common import DioramaCommand, verbose_option


@click.command(cls=DioramaCommand)
@click.argument("store", required=False, metavar="[STORE]")
@click.option("--format", "name", default="folder", show_default=True, help="A name of --list-formats.")
@click.option("--out", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Where to; required.")
@click.option("--overwrite", is_flag=True, help="Replace exported episodes that differ from the stored ones.")
@click.option("--limit", type=click.IntRange(0), default=None, help="At most so many episodes, first by id.")
@click.option("--list-formats", is_flag=True, help="Name the formats and end.")
@verbose_option
def main(
    store: str | None, name: str, out: Path | None, overwrite: bool, limit: int | None, list_formats: bool
) -> None:
    """Write the episodes of STORE [default: $DIORAMA_STORE or ./diorama.lance] to DIR, in a format of --list-formats.

    Run again, it writes only what is missing. `folder` is a folder an episode: PNG and JSON an image, and episode.json.

    \b
    Exit codes: 0 all exported; 2 wrong options, or exported episodes that differ from the stored ones; 4 the store
    can't be read, or episodes in it are damaged (named at the end; the others are exported).
    """
    from render.export import exporter, format_names

    if list_formats:
        click.echo("\n".join(format_names()))
        return
    export = exporter(name)
    if out is None:
        raise click.UsageError("--out DIR is missing: where shall the episodes go?")
    from tqdm import tqdm

    from render.export.base import ExportOptions
    from render.store import open_store

    opened = open_store(store or os.environ.get("DIORAMA_STORE") or "diorama.lance")
    count = opened.count() if limit is None else min(limit, opened.count())
    # Nothing for what is done in two seconds, and nothing at all where stderr is no terminal.
    with tqdm(total=count, unit=" episodes", delay=2, disable=None) as bar:

        def progress(done: int) -> None:
            bar.update(done)

        report = export(opened, out, ExportOptions(overwrite, limit), progress)
    opened.close()
    skipped = f", {report.skipped} were there already" if report.skipped else ""
    click.echo(f"exported {report.exported} episodes to {out}{skipped}")
    error = report.error()
    if error is not None:
        raise error
