"""`render-gallery`: a store as pages for a browser."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from render.cli.common import DioramaCommand, verbose_option
from render.cli.store_parts import AT, JSON, STORE, WHERE, bar, open_one

if TYPE_CHECKING:
    from render.gallery.build_gallery import GalleryReport


@click.command(cls=DioramaCommand)
@STORE
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The gallery's folder.")
@WHERE
@click.option("--split", "splits", multiple=True, help="Only this split; may be given again.")
@click.option("--limit", type=click.IntRange(0), help="At most so many episodes, first by id.")
@AT
@click.option("--workers", type=click.IntRange(1), help="Processes [default: as many as cores].")
@click.option("--serve", is_flag=True, help="Then serve it to this machine's browsers, until Ctrl-C.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Of --serve, on 127.0.0.1 [default: a free one]."
)
@JSON
@verbose_option
def main(
    url: str,
    out: Path,
    where: str | None,
    splits: tuple[str, ...],
    limit: int | None,
    at: str | None,
    workers: int | None,
    serve: bool,
    port: int,
    as_json: bool,
) -> None:
    """Make DIR/index.html: every episode of STORE to search, open and look at, with boxes, masks and all of its truth.

    Open it in a browser; no server and no network are needed. Run again, it adds what is new and takes away what is
    gone. STORE is $DIORAMA_STORE or ./diorama.lance where it is left out.

    \b
    Exit codes: 0 done; 2 wrong options, or DIR is something else; 4 the store can't be read, DIR can't be written, or
    episodes in the store are damaged (named at the end; the gallery lists them too).
    """
    if port and not serve:
        raise click.UsageError("--port is for --serve")
    from render.gallery.build_gallery import GalleryOptions, build
    from render.store.episode_store import condition

    store = open_one(url, at)
    options = GalleryOptions(condition(where, splits=splits), limit, at, workers)
    count = store.count(options.where)
    with bar(count if limit is None else min(count, limit), " episodes") as progress:
        report = build(store, out, options, progress)
    store.close()
    _tell(report, as_json)
    if serve:
        _serve(out, port, as_json)
    error = report.error()
    if error is not None:
        raise error


def _tell(report: GalleryReport, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_dict(), ensure_ascii=False))
        return
    failed = f", {report.failed} with failed checks" if report.failed else ""
    click.echo(
        f"{report.page}: {report.episodes} episodes ({report.built} new, {report.kept} kept, "
        f"{report.removed} removed{failed}) in {report.seconds:.1f} s"
    )


def _serve(out: Path, port: int, as_json: bool) -> None:
    from render.gallery.serve import address_of, server_of

    # Both, and expressly: as a container's first process, or started from a script in the background, it would have
    # neither.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with server_of(out, port) as server:
        click.echo(json.dumps({"url": address_of(server)}) if as_json else f"{address_of(server)} until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            # The way this is meant to end.
            click.echo(err=True)
