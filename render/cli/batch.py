"""`render-batch`: specs in, annotated pictures in a store out."""

from __future__ import annotations

import os
from typing import Any

import click

from render.cli.common import DioramaCommand, parse_size, shapenet_option, verbose_option
from render.cli.ranges import FiniteRange

# Of an input. More would be a slip of the finger, and from 2**63 on Python can't count them off.
_MOST_EPISODES = 10**12
_SIZE_HELP = "Image size; default: the stage's own (320x240)."


def _per_gpu(_ctx: click.Context, _param: click.Parameter, value: str) -> int | None:
    """A number, or None for auto."""
    if value == "auto":
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 2 and 1 <= int(value) <= 64):
        raise click.BadParameter(f"{value!r}: give a number from 1 to 64, or auto")
    return int(value)


def _size_in_bytes(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    from render.model.errors import UsageError
    from render.run.options import parse_bytes

    try:
        return None if value is None else parse_bytes(value)
    except UsageError as error:
        raise click.BadParameter(str(error)) from error


def _status(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Print how far a run is; exit code 0 if one is alive, 1 if none is."""
    if value is None or ctx.resilient_parsing:
        return
    from render.run.status import read_status

    status = read_status(value)
    if status is None:
        click.echo(f"no run is alive, and none has left word of itself, for {value}")
    else:
        click.echo(status.line())
    ctx.exit(0 if status is not None and status.alive else 1)


@click.command(cls=DioramaCommand)
@click.argument("specs", nargs=-1, required=True, metavar="SPECS...")
@click.option(
    "--out", "store", metavar="STORE", default=None, help="Dataset store [default: $DIORAMA_STORE or ./diorama.lance]."
)
@click.option(
    "--profile", default=None, metavar="NAME", help="draft, standard, reference, clevr-512 [default: standard]."
)
@click.option("--size", default=None, metavar="WxH", callback=parse_size, help=_SIZE_HELP)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "optix"]),
    default="auto",
    show_default=True,
    help="What renders; anything but auto must be there.",
)
@click.option(
    "--gpus", type=click.IntRange(1, 10000), default=None, help="Cards to render on; an error if fewer are there."
)
@click.option(
    "--workers-per-gpu",
    default="auto",
    show_default=True,
    metavar="K|auto",
    callback=_per_gpu,
    help="Workers that share a card; auto measures 1, 2, 4, 8 for some seconds each and keeps the fastest.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10000),
    default=None,
    help="CPU workers, each pinned to its cores [default: one a core].",
)
@click.option(
    "--threads", type=click.IntRange(1, 1024), default=None, help="Threads a CPU worker [default: cores shared out]."
)
@click.option(
    "--worker-memory",
    default=None,
    metavar="SIZE",
    callback=_size_in_bytes,
    help="Replace a worker that has grown to so much, such as 4GB [default: its share of 80 % of the machine].",
)
@click.option(
    "--address", default=None, help="Render on the Ray cluster there (auto, HOST:PORT, ray://HOST:PORT), not here."
)
@click.option(
    "--limit", type=click.IntRange(0, _MOST_EPISODES), default=None, help="At most so many episodes of the input."
)
@click.option("--replace", is_flag=True, help="Render ids again that are stored but were made from something else.")
@click.option("--keep", is_flag=True, help="Leave such ids as they are.")
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=2,
    show_default=True,
    help="Further tries of an episode whose worker died or hung.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first failed episode; what is in flight is finished.")
@click.option(
    "--max-failures", type=click.IntRange(1), default=None, metavar="N", help="Stop so when N episodes have failed."
)
@click.option(
    "--store-wait",
    type=FiniteRange(0),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to go on trying when the store takes nothing (disk full, not reachable).",
)
@click.option(
    "--timeout",
    type=FiniteRange(0.1),
    default=None,
    metavar="SECONDS",
    help="Longest an image may take [default: from samples and size].",
)
@click.option(
    "--asset-root",
    "asset_roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder that specs may take .blend files from; may be given again.",
)
@shapenet_option
@click.option(
    "--renderer",
    default="cycles",
    show_default=True,
    help="cycles, fake (flat colors, no Blender), or package.module:Class.",
)
@click.option(
    "--skip-broken", is_flag=True, help="Leave out episodes whose models are missing or broken; they count as failed."
)
@click.option("--dry-run", is_flag=True, help="Check, compare with the store and compile; render and write nothing.")
@click.option(
    "--json-log", type=click.Path(dir_okay=False), default=None, help="Append a line of JSON an event to this file."
)
@click.option(
    "--status",
    metavar="STORE",
    default=None,
    is_eager=True,
    expose_value=False,
    callback=_status,
    help="Say how far the run into STORE is, and end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@verbose_option
def main(
    specs: tuple[str, ...], store: str | None, replace: bool, keep: bool, dry_run: bool, as_json: bool, **rest: Any
) -> None:
    """Render SPECS (.json, .jsonl, folders, globs, or - for standard input) into a dataset store.

    Run again, it renders only what is missing. Before anything is rendered all specs are checked, and ids that
    are stored
    already but were made from something else are refused.

    \b
    Exit codes: 0 all done; 1 some episodes failed (named at the end), the others are stored; 2 wrong specs or options,
    nothing rendered; 3 the device asked for is not there; 4 the store cannot be read or written; 130 stopped by Ctrl-C.
    """
    from render.model.errors import UsageError

    if replace and keep:
        raise UsageError("--replace and --keep exclude each other; leave one out")
    from pathlib import Path

    from render.geometry.shapenet import library_setting
    from render.run.batch import Batch, Request
    from render.run.options import RunOptions

    batch = Batch(
        Request(
            specs,
            store or os.environ.get("DIORAMA_STORE") or "diorama.lance",
            rest["profile"],
            rest["size"],
            rest["limit"],
        ),
        RunOptions(
            device=rest["device"],
            workers=rest["workers"],
            gpus=rest["gpus"],
            threads=rest["threads"],
            retries=rest["retries"],
            timeout=rest["timeout"],
            workers_per_gpu=rest["workers_per_gpu"],
            worker_memory=rest["worker_memory"],
            address=rest["address"],
            logical_gpus=int(os.environ["DIORAMA_LOGICAL_GPUS"]) if os.environ.get("DIORAMA_LOGICAL_GPUS") else None,
            max_failures=1 if rest["fail_fast"] else rest["max_failures"],
            store_wait=rest["store_wait"],
            json_log=Path(rest["json_log"]) if rest["json_log"] else None,
            policy="replace" if replace else "keep" if keep else "error",
            renderer=rest["renderer"],
            asset_roots=tuple(Path(root) for root in rest["asset_roots"]),
            library=library_setting(),
            skip_broken=rest["skip_broken"],
        ),
    )
    if not dry_run:
        batch.check_devices()
    batch.plan()
    summary = batch.dry_run() if dry_run else batch.render()
    if as_json:
        import json

        click.echo(json.dumps({**summary.as_dict(), "todo": batch.todo, "dry_run": dry_run}, indent=1))
    else:
        if dry_run:
            click.echo(f"dry run: {batch.todo} episodes would be rendered into {summary.store}")
        for line in summary.lines():
            click.echo(line)
        if not dry_run:
            click.echo(f"store: {summary.store}")
    raise SystemExit(summary.exit_code)
