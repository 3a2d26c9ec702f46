"""`render-gallery`: a store as pages for a browser."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import progress_bar
from diorama.scene_specs.errors import counted

if TYPE_CHECKING:
    from diorama.render.uses.gallery.build_gallery import GalleryReport


@click.command(cls=DioramaCommand)
@opt.store
@click.option("--out", type=opt.NEW_PATH, required=True, metavar="DIR", help="Folder of the gallery.")
@opt.flag("--overwrite", "Replace the gallery of another store, and pages that were changed.")
@opt.workers
@opt.flag("--serve", "Serve the gallery to browsers on this machine until Ctrl-C.")
@opt.number("--port", "Port of --serve on 127.0.0.1; 0 chooses a free port.", 0, 65535, default=0)
@opt.where
@opt.splits
@opt.limit("episodes")
@opt.at
@opt.as_json
def main(
    url: str, out: Path, overwrite: bool, workers: int | None, serve: bool, port: int, at: str | None, as_json: bool,
    **filters: Any,
) -> None:  # fmt: skip
    """Build an HTML gallery of a store.

    Open DIR/index.html in a browser to search and inspect every episode of STORE [default: $DIORAMA_STORE or
    ./diorama.lance], with boxes, masks and all annotations. The pages work without a server and without a network. A
    second run adds new episodes and removes deleted ones.

    Exit codes: 0: done; 2: invalid options, or DIR has files that are not of a gallery of STORE; 4: the store can't be
    read, DIR can't be written, or episodes in the store are damaged or need a stage or plug-in that is missing (they
    are listed at the end of the output and in the gallery).

    Examples:
      render-gallery scenes.lance --out gallery
      render-gallery scenes.lance --out gallery --limit 1000 --serve
    """
    if port and not serve:
        raise click.UsageError("--port is for --serve")
    from diorama.render.store.selection import condition
    from diorama.render.uses.gallery.build_gallery import GalleryOptions, build

    store = opt.open_reader(url, at)
    limit = filters.pop("limit")
    options = GalleryOptions(condition(**filters), limit, at, workers, overwrite)
    count = store.count(options.where)
    with progress_bar(count if limit is None else min(count, limit), "episodes") as progress:
        report = build(store, out, options, progress)
    store.close()
    _print_report(report, as_json)
    if serve:
        _serve(out, port, as_json)
    if error := report.error():
        raise error


def _print_report(report: GalleryReport, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_dict(), ensure_ascii=False))
        return
    failed = f", {report.failed} with failed checks" if report.failed else ""
    click.echo(
        f"{report.page}: {counted(report.episodes, 'episode')} ({report.built} new, {report.kept} kept, "
        f"{report.removed} removed{failed}) in {report.seconds:.1f} s"
    )


def _serve(out: Path, port: int, as_json: bool) -> None:
    from diorama.render.uses.gallery.serve import address_of, server_of

    # A container's first process, or one that a script starts in the background, ignores these signals by default.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with server_of(out, port) as server:
        click.echo(json.dumps({"url": address_of(server)}) if as_json else f"{address_of(server)} until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            # Ctrl-C is the normal end of a server.
            click.echo(err=True)
