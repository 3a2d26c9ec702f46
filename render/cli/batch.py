"""`render-batch`: render specs into a store of annotated images."""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import print_json
from diorama.scene_specs.errors import DeviceError, RayFailedError, UsageError, counted
from diorama.scene_specs.files.foreign import printable

# A larger limit is a typing error, and from 2**63 on Python can't count to it.
_MAX_EPISODES = 10**12
_ARRAY = ("MIN", "MAX", "COUNT", "ID")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SHOWN = 60


def _parse_per_gpu(text: str) -> int | None:
    """Parse a number of workers; None for auto. Raises UsageError."""
    if text == "auto":
        return None
    if not re.fullmatch(r"0?[1-9]|[1-5][0-9]|6[0-4]", text):
        raise UsageError(f"found {text!r}; expected a number from 1 to 64, or auto")
    return int(text)


def _parse_recheck(text: str) -> int:
    """Parse 1/N as N. Raises UsageError."""
    if not (match := re.fullmatch(r"1/([1-9]\d{0,8})", text)):
        raise UsageError(f"found {text!r}; expected 1/N, such as 1/1000")
    return int(match[1])


def parse_memory(text: str) -> int:
    """Return an amount of memory in bytes, at least 1.

    Args:
        text: `800MB`, `4G`, `1.5GiB` or plain bytes; units are binary.

    Raises:
        UsageError: the text is of another form.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    amount = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    if not 1 <= amount < math.inf:
        raise UsageError(f"{text[:_SHOWN]!r} is not an amount of memory; write for example 800MB or 4GB")
    return int(amount)


def _parse_until(text: str) -> float:
    """Parse a time as Unix seconds. Raises UsageError, also for one that is over."""
    from diorama.render.run.stopping import parse_time

    try:
        until = parse_time(text)
    except ValueError:
        raise UsageError(f"found {text!r}; expected a time, such as 2026-11-22T18:00, or Unix seconds") from None
    if until <= time.time():
        raise UsageError(f"{text} is over; expected a time in the future")
    return until


def _parse_part(text: str) -> tuple[int, int]:
    """Parse I/N, or `array` for this task of a Slurm job array. Raises UsageError."""
    shown, hint = text, "I/N with I from 1 to N, such as 3/8, or array"
    if text == "array":
        first, last, count, task = (os.environ.get(f"SLURM_ARRAY_TASK_{name}", "") for name in _ARRAY)
        # Some tasks of an array run again would otherwise share out everything among themselves.
        text, hint = f"{task}/{count}" if first == "1" and last == count else "", "a job array with --array=1-N"
        of = f"a task of {count or 'none'} from {first} to {last}"
        shown = f"SLURM_ARRAY_TASK_ID={task}, {of}" if task else "no array"
    part = re.fullmatch(r"([1-9]\d{0,8})/([1-9]\d{0,8})", text)
    if part is None or int(part[1]) > int(part[2]):
        raise UsageError(f"found {shown}; expected {hint}")
    return int(part[1]), int(part[2])


def _print_status(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Print the progress of a run; exit with 0 if it is active, else with 1."""
    if value is None or ctx.resilient_parsing:
        return
    from diorama.render.run.last_status import is_active, read_status, status_text

    status = read_status(value)
    click.echo(printable(f"no active or recorded run for {value}" if status is None else status_text(status)))
    ctx.exit(0 if status is not None and is_active(status) else 1)


def _prediction_text(prediction: dict[str, float | bool]) -> str:
    from diorama.render.run.status import span

    if not prediction:
        return "time and disk space can't be estimated: the devices are not on this machine"
    how = "no earlier run on this machine to compare with, so it may take three times as long, or a third"
    if prediction["measured"]:
        how = "from the speed of earlier runs on this machine; expect up to a third more or less"
    return f"estimate: {span(prediction['seconds'])} and {prediction['bytes'] / 2**20:,.1f} MiB ({how})"


@click.command(cls=DioramaCommand)
@click.argument("specs", nargs=-1, required=True, metavar="SPECS...")
@click.option("--out", "store", metavar="STORE", help="Dataset store.  [default: $DIORAMA_STORE or ./diorama.lance]")
@click.option(
    "--status", metavar="STORE", is_eager=True, expose_value=False, callback=_print_status,
    help="Show the progress of the run that writes to this store, and exit. Needs no SPECS.",
)  # fmt: skip
@opt.flag(
    "--dry-run",
    "Only check the specs, compare them with the store, search for layouts, and estimate time and disk space. Nothing "
    "is rendered or written. The exit codes are the same, but codes 3 and 4 for devices and for writing to the store "
    "occur only in a run.",
)
@opt.limit("episodes to take from SPECS, including episodes that are already stored", _MAX_EPISODES)
@click.option(
    "--part", metavar="I/N|array", callback=opt.parsed(_parse_part),
    help="Render every N-th episode, beginning with the I-th. array: in a Slurm job array with --array=1-N, the "
    "number of the array task is I.  [default: all episodes]",
)  # fmt: skip
@opt.flag("--replace", "Render a stored episode again if its spec or settings changed.")
@opt.flag("--keep", "Keep a stored episode even if its spec or settings changed.")
@opt.mix_series
@opt.profile()
@opt.size()
@opt.value("--look", "NAME", "Look of all episodes, such as wood; see docs/looks.md.  [default: the specs']")
@opt.renderer()
@opt.device
@opt.asset_root
@opt.shapenet
@opt.flag("--skip-broken", "Count episodes with missing or broken models as failed, and render the others.")
@opt.group("Workers", opt.number(
    "--gpus", "Number of GPUs. It is an error if fewer GPUs are available.  [default: all available GPUs]", 1, 10000
))  # fmt: skip
@click.option(
    "--workers-per-gpu", default="auto", metavar="N|auto", callback=opt.parsed(_parse_per_gpu),
    help="Workers per GPU. auto: try 1, 2, 4 and 8 workers, and keep the fastest number.",
)  # fmt: skip
@opt.number(
    "--workers",
    "Number of CPU workers, each on its own cores. Selects the CPU, so it can't be combined with options for GPUs.  "
    "[default: one per core]",
    1,
    10000,
)
@opt.number(
    "--threads", "Threads per CPU worker.  [default: the number of cores divided by the number of workers]", 1, 1024
)
@click.option(
    "--worker-memory", metavar="SIZE", callback=opt.parsed(parse_memory),
    help="Restart a worker that uses more memory than SIZE, such as 4GB.  [default: 80% of the memory that "
    "render-doctor prints, divided by the number of workers]",
)  # fmt: skip
@opt.value("--address", "ADDRESS", "Ray cluster: auto, HOST:PORT or ray://HOST:PORT.  [default: this machine]")
@opt.group("Failures", opt.flag(
    "--fail-fast",
    "Stop after the first failed episode, as --max-failures 1. Episodes in progress are finished first.",
))  # fmt: skip
@opt.number(
    "--max-failures",
    "Stop after N failed episodes. Episodes that --skip-broken leaves out do not count.  [default: never]",
    1,
)
@opt.number("--retries", "Retries per episode if its worker died, or took longer than --timeout.", 0, 100, default=2)
@opt.flag(
    "--keep-implausible",
    "Store whatever a renderer returns: images with objects that are elsewhere, and unusual images of GPUs (black, of "
    "one color, noise), which are otherwise rendered on another device, too.",
)
@click.option(
    "--recheck", metavar="1/N", callback=opt.parsed(_parse_recheck),
    help="Render one in N episodes twice, on two workers, and compare. Episodes that differ fail.  [default: none]",
)  # fmt: skip
@opt.timeout(0.1)
@click.option(
    "--until", metavar="TIME", callback=opt.parsed(_parse_until),
    help="Stop early enough to end before TIME, such as 2026-11-22T18:00, or Unix seconds.  [default: the end of the "
    "Slurm job, if this is one]",
)  # fmt: skip
@click.option(
    "--store-wait", type=opt.Number(0, kind=float), default=300, metavar="SECONDS",
    help="If writing to the store fails, retry for this number of seconds.",
)  # fmt: skip
@opt.as_json
@click.option(
    "--json-log",
    type=opt.NEW_FILE,
    metavar="FILE",
    help="Append one JSON line per event (start, finished or failed episode, commit, end) to this file.",
)
def main(
    specs: tuple[str, ...], store: str | None, dry_run: bool, as_json: bool, replace: bool, keep: bool, fail_fast: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Render specs into a dataset store.

    SPECS are .json and .jsonl files, folders, globs, or - for standard input. A second run renders only what is
    missing.

    The command checks all specs before it renders any. If an episode is already in the store but was rendered from a
    different spec or with different settings, the command reports its id and stops. Pass --replace to render such
    episodes again, or --keep to keep the stored ones.

    Exit codes: 0: all episodes are stored; 1: some episodes failed, and the output ends with a list of them (the others
    are stored); 2: invalid specs or options, or stored episodes that differ (nothing was rendered); 3: the requested
    device is not available, or every GPU failed during the run (what was rendered is stored); 4: the store can't be
    read or written; 5: Ray did not start or was lost (what was committed is stored); 75: the time is over and some
    episodes are left: run the same command again; 130: interrupted with Ctrl-C.

    Examples:
      render-batch specs.jsonl --out scenes.lance
      render-batch specs/ --out scenes.lance --profile draft --dry-run
    """
    if replace and keep:
        raise UsageError("--replace and --keep exclude each other; omit one")
    from diorama.render.machine.blender_series import require_module
    from diorama.scene_specs.shapes.shapenet import library_setting

    require_module("ray")
    from diorama.render.run.batch import Batch
    from diorama.render.run.options import RunOptions
    from diorama.render.run.run_batch import run_batch
    from diorama.scene_specs.reading.source import SpecSource

    logical_gpus = os.environ.get("DIORAMA_LOGICAL_GPUS")
    options |= {"logical_gpus": int(logical_gpus) if logical_gpus else None, "library": library_setting()}
    options |= {"max_failures": 1} if fail_fast else {}
    run_options = RunOptions(resume="replace" if replace else "keep" if keep else "error", **options)
    batch, error = Batch(SpecSource(specs), store or opt.default_store(), run_options), None
    try:
        run_batch(batch, dry_run)
    except (DeviceError, RayFailedError) as caught:
        if batch.summary.stopped not in ("device", "ray"):
            raise
        error = caught
    summary = batch.summary
    if as_json:
        print_json({**summary.as_dict(), "dry_run": dry_run})
    else:
        if dry_run:
            click.echo(f"dry run: would render {counted(summary.todo, 'episode')} into {summary.store}")
            if summary.todo:
                click.echo(_prediction_text(summary.estimate))
        for line in summary.lines()[dry_run:]:
            click.echo(line)
        if not (summary.todo or summary.skipped or summary.kept):
            click.echo("nothing to render: --part or --limit leaves no episode")
        elif not dry_run:
            click.echo(f"store: {summary.store}")
            if summary.rendered or summary.skipped or summary.kept:
                click.echo(f"next: render-gallery {shlex.quote(summary.store)} --out gallery")
    if error is not None:
        raise error
    raise SystemExit(summary.exit_code)
