"""`render-export`: datasets out of a store, in formats that other tools read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from render.cli.common import DioramaCommand, verbose_option

if TYPE_CHECKING:
    from render.export.protocol import Exporter, ExportOptions, ExportReport


@click.command(cls=DioramaCommand)
@click.argument("source", required=False, metavar="[STORE]")
@click.option("--format", "name", default="folder", show_default=True, help="A name of --list-formats.")
@click.option("--out", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Where to; required.")
@click.option("--overwrite", is_flag=True, help="Replace exported episodes that differ from the stored ones.")
@click.option("--limit", type=click.IntRange(0), default=None, help="At most so many episodes, first by id.")
@click.option("--split", "splits", multiple=True, help="Only this split; may be given again.")
@click.option("--where", metavar="SQL", help="Only episodes that this holds for, such as \"task = 'shape'\".")
@click.option("--at", metavar="VERSION", help="A version's number or tag instead of the newest.")
@click.option("--shard-size", type=click.IntRange(1), help="Episodes a file (webdataset, huggingface).")
@click.option("--list-formats", is_flag=True, help="Name the formats and end.")
@verbose_option
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
    """Write the episodes of STORE [default: $DIORAMA_STORE or ./diorama.lance] to DIR, in a format of --list-formats.

    Run again, it writes only what is missing. `folder` is a folder an episode: PNG and JSON an image, and episode.json.
    `clevr-masks` reads a published CLEVR_<split>_scenes.json in STORE's place and writes boxes and masks for its
    pictures.

    \b
    Exit codes: 0 all exported; 2 wrong options, or exported episodes that differ from the stored ones; 4 the store
    can't be read, or episodes in it are damaged (named at the end; the others are exported).
    """
    from render.export import FROM_FILES, SHARDED, exporter, format_names, takes_shard_size

    if list_formats:
        click.echo("\n".join(format_names()))
        return
    export = exporter(name)
    if out is None:
        raise click.UsageError("--out DIR is missing: where shall the episodes go?")
    if shard_size is not None and not takes_shard_size(name):
        raise click.UsageError(
            f"--shard-size is for {' and '.join(sorted(SHARDED))}; leave it out with --format {name}"
        )
    from render.export.protocol import ExportOptions

    options = ExportOptions(overwrite, limit, shard_size=shard_size)
    if name in FROM_FILES:
        if source is None or splits or where or at:
            raise click.UsageError(f"--format {name} reads a file: name it, and leave --split, --where and --at out")
        report = _from_file(Path(source), out, options)
    else:
        from render.store.episode_store import condition

        options = replace(options, where=condition(where, splits=splits))
        report = _from_store(export, source or os.environ.get("DIORAMA_STORE") or "diorama.lance", at, out, options)
    skipped = f", {report.skipped} were there already" if report.skipped else ""
    click.echo(f"exported {report.exported} episodes to {out}{skipped}")
    error = report.error()
    if error is not None:
        raise error


def _from_store(export: Exporter, url: str, at: str | None, out: Path, options: ExportOptions) -> ExportReport:
    from render.store import open_at, open_store

    store = open_store(url) if at is None else open_at(url, at)
    count = store.count(options.where)
    with _bar(count if options.limit is None else min(options.limit, count), " episodes") as progress:
        report = export(store, out, options, progress)
    store.close()
    return report


def _from_file(file: Path, out: Path, options: ExportOptions) -> ExportReport:
    from render.export.clevr_masks import export

    with _bar(None, " scenes") as progress:
        return export(file, out, options, progress)


@contextmanager
def _bar(total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
    from tqdm import tqdm

    # Nothing for what is done in two seconds, and nothing at all where stderr is no terminal.
    with tqdm(total=total, unit=unit, delay=2, disable=None) as bar:

        def progress(done: int) -> None:
            bar.update(done)

        yield progress
