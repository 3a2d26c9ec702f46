"""`render-specs icca`: contexts as specs, and games from rendered contexts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from render.cli import specs_icca_play
from render.cli.common import atomic_writer
from render.cli.proofs import data_of

if TYPE_CHECKING:
    from render.model.record import EpisodeRecord

_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_SEED = click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)


@click.group(invoke_without_command=True)
@click.option("--contexts", type=click.IntRange(0), metavar="N", help="How many contexts.")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first.")
@click.option("--difficulty", type=click.Choice(["easy", "medium", "hard"]), default="hard", show_default=True)
@click.option("--source", type=click.Choice(["clevr", "shapenet", "flat", "tangram"]), default="clevr",
              show_default=True, help="What pictures show.")  # fmt: skip
@click.option("--vary", type=click.Choice(["attributes", "relations", "parts"]),
              help="What pictures differ in [default: parts of tangrams, else attributes].")  # fmt: skip
@_SEED
@_OUT
@click.pass_context
def icca(
    ctx: click.Context, contexts: int | None, first: int, difficulty: str, source: str, vary: str | None, seed: int,
    out: Path | None,
) -> None:  # fmt: skip
    """ICCA's repeated reference games. Without a subcommand: contexts of four pictures as specs, one a line.

    Hard: any two pictures differ in one value, and no single value names one. Medium: in two values. Easy: in at least
    half of all, and a single value names each. See docs/icca.md.
    """
    if ctx.invoked_subcommand is not None:
        given = [one.opts[0] for one in ctx.command.params if _is_given(ctx, one)]
        if given:
            hint = f"write those of `{ctx.invoked_subcommand}` after it"
            raise click.UsageError(f"{', '.join(given)}: for `icca` without a subcommand; {hint}")
        return
    if contexts is None:
        raise click.UsageError("give --contexts N, or a subcommand")
    from tqdm import tqdm

    from scene_specs.benchmarks.icca.generate import context_specs

    specs = context_specs(contexts, difficulty, source, vary or "", seed, first)
    with atomic_writer(out) as stream:
        for spec in tqdm(specs, total=contexts, unit=" contexts", delay=2, disable=None):
            stream.write(json.dumps(spec, separators=(",", ":")) + "\n")


def _is_given(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE


@icca.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of a table.")
@_OUT
def similarity(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Say how alike the pictures of contexts are, and how much it takes to name one. FILES are specs."""
    from scene_specs.benchmarks.icca.difficulty import summary, summary_table

    rows = summary(data_of(files, "icca"))
    with atomic_writer(out) as stream:
        stream.write(json.dumps(rows, indent=1) + "\n" if as_json else summary_table(rows))


@icca.command()
@click.argument("store")
@click.option("--count", type=click.IntRange(1), help="How many games [default: one a context].")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder for the games.")
@_SEED
def games(store: str, count: int | None, out: Path, seed: int) -> None:
    """Make games of the rendered contexts in STORE: a folder each, in the published layout, with the truth beside.

    Contexts get games in turn. What each picture shows is taken from its annotations, not from the spec.
    """
    from tqdm import tqdm

    from render.cli.icca_games import make_games

    made = make_games(store, count, out, seed)
    total = 0
    for _ in tqdm(made, total=count, unit=" games", delay=2, disable=None):
        total += 1
    click.echo(f"{total} games in {out}")


for _command in (specs_icca_play.play, specs_icca_play.prompt, specs_icca_play.variants, specs_icca_play.score):
    icca.add_command(_command)


def verify_spec(data: dict[str, Any]) -> str:
    """Why a context's stored descriptions are wrong; "" if they are right."""
    from scene_specs.benchmarks.icca import verify

    return verify.verify_spec(data)


def verify_record(record: EpisodeRecord) -> str:
    """The same from what was rendered."""
    from scene_specs.benchmarks.icca import verify

    return verify.verify_record(record)
