"""`render-doctor`: check whether this machine can render."""

from __future__ import annotations

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import print_json


@click.command(cls=DioramaCommand)
@click.option(
    "--store", metavar="STORE",
    help="Store to check. With this option, the command also tests the file system with commits of several "
    "processes.  [default: $DIORAMA_STORE or ./diorama.lance]",
)  # fmt: skip
@click.option(
    "--warm",
    "warming",
    is_flag=True,
    help="Compile the GPU kernels in advance, instead of checking. This takes minutes. Without --warm, the first "
    "render compiles the kernels.",
)
@opt.device
@opt.as_json
def main(device: str, store: str | None, warming: bool, as_json: bool) -> None:
    """Check whether this machine can render.

    The command checks Python, libraries, assets, disk, Blender, devices, Ray and the store. It prints one line for each
    check. The line of a failed check says what to do. A store that does not exist yet passes. Two lines say how much
    memory and how many cores a run may use here, and where each limit comes from: the machine, a control group, Slurm.

    Exit codes: 0: all checks passed; 1: a check failed.

    Examples:
      render-doctor
      render-doctor --device optix --store scenes.lance --json
    """
    from diorama.render.run.doctor import Check, examine, warm

    if warming and not as_json:
        click.echo("compiling kernels; on a GPU without prebuilt kernels this takes minutes", err=True)
    checks: list[Check] = []
    for check in warm(device) if warming else examine(device, store or opt.default_store(), store is not None):
        checks.append(check)
        if not as_json:
            click.echo(check.line())
    if as_json:
        print_json([check.__dict__ for check in checks])
    raise SystemExit(int(any(check.ok is False for check in checks)))
