"""`render-specs icca`: contexts as specs, and games from rendered contexts."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from render.cli import options as opt
from render.cli import specs_icca_play
from render.cli.output import json_text, progress, write_specs, write_text
from render.cli.verification import read_benchmark
from scene_specs.language.tables import counted


@click.group(invoke_without_command=True)
@click.option("--contexts", type=opt.Number(0), help="Number of contexts; required without a subcommand.")
@opt.first
@opt.choice("--difficulty", ["easy", "medium", "hard"], "How similar the images of a context are.", "hard")
@opt.choice("--source", ["clevr", "shapenet", "flat", "tangram"], "Kind of objects.")
@click.option(
    "--vary",
    type=click.Choice(["attributes", "relations", "parts"]),
    help="What images differ in [default: parts for tangram, attributes otherwise].",
)
@opt.seed
@opt.out
@click.pass_context
def icca(
    ctx: click.Context,
    contexts: int | None,
    first: int,
    difficulty: str,
    source: str,
    vary: str | None,
    seed: int,
    out: Path | None,
) -> None:
    """Generate ICCA contexts, and play and score its games.

    Without a subcommand, it writes contexts of four images as specs, one per line. Hard: any two images differ in one
    value, and no single value identifies an image. Medium: they differ in two values. Easy: they differ in at least
    half of all values, and a single value identifies each. See docs/icca.md.
    """
    if ctx.invoked_subcommand is not None:
        sources = {option: ctx.get_parameter_source(option.name or "") for option in ctx.command.params}
        given = [option.opts[0] for option, where in sources.items() if where is ParameterSource.COMMANDLINE]
        if given:
            hint = f"write options of `{ctx.invoked_subcommand}` after its name"
            raise click.UsageError(f"{', '.join(given)}: for `icca` without a subcommand; {hint}")
        return
    if contexts is None:
        raise click.UsageError("give --contexts N, or a subcommand")
    from scene_specs.benchmarks.icca.generate import context_specs

    write_specs(out, context_specs(contexts, difficulty, source, vary or "", seed, first), "contexts", contexts)


@icca.command()
@opt.files
@opt.as_json
@opt.out
def similarity(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Report how similar the images of contexts are.

    Also reports how long a description has to be to identify an image. FILES are specs.
    """
    from scene_specs.benchmarks.icca.difficulty import summary, summary_table

    rows = summary(read_benchmark(files, "icca"))
    write_text(out, json_text(rows) if as_json else summary_table(rows))


@icca.command()
@click.argument("store")
@click.option("--count", type=opt.Number(1), help="Number of games [default: one per context].")
@click.option("--out", required=True, type=opt.NEW_PATH, metavar="DIR", help="Folder for the games.")
@opt.seed
def games(store: str, count: int | None, out: Path, seed: int) -> None:
    """Create games from the rendered contexts of STORE.

    Each game is a folder in the published layout, with its truth. Contexts take turns. The truth comes from the
    annotations of the images, not from the spec.
    """
    from render.cli.icca_games import make_games

    total = sum(1 for _ in progress(make_games(store, count, out, seed), "games", count))
    click.echo(f"{counted(total, 'game')} in {out}")


for _command in specs_icca_play.COMMANDS:
    icca.add_command(_command)

COMMANDS = (icca,)
