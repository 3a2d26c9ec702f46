"""`render-doctor`: is this machine ready to render?"""

from __future__ import annotations

import os

import click

from render.cli.common import DioramaCommand, verbose_option


@click.command(cls=DioramaCommand)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "optix"]),
    default="auto",
    show_default=True,
    help="What the test render runs on.",
)
@click.option(
    "--store", metavar="STORE", default=None, help="Store to look at [default: $DIORAMA_STORE or ./diorama.lance]."
)
@click.option(
    "--warm", "warming", is_flag=True, help="Compile a GPU's kernels ahead (first use takes minutes) and nothing else."
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@verbose_option
def main(device: str, store: str | None, warming: bool, as_json: bool) -> None:
    """Check Python, libraries, assets, disk, Blender, devices, Ray and the store, one line each.

    Exit codes: 0 all is well; 1 something fails, and its line says what to do.
    """
    from render.run.doctor import Check, examine, warm

    if warming and not as_json:
        click.echo("compiling kernels; on a card that the wheel has none for this takes minutes", err=True)
    place = store or os.environ.get("DIORAMA_STORE") or "diorama.lance"
    checks: list[Check] = []
    for check in warm(device) if warming else examine(device, place):
        checks.append(check)
        if not as_json:
            click.echo(check.line())
    if as_json:
        import json

        click.echo(json.dumps([check.__dict__ for check in checks], indent=1))
    raise SystemExit(int(any(check.ok is False for check in checks)))
