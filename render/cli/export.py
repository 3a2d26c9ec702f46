"""`render-export`: episodes of a store in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, log
from diorama.render.cli.output import total_bar
from diorama.scene_specs.errors import counted


def _print_formats(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Print a line per format, with what it writes, and exit. Imports no format."""
    if not value or ctx.resilient_parsing:
        return
    from diorama.render.cli.plugin_help import summary
    from diorama.scene_specs.language.registry import plugins

    width = max(map(len, plugins("exports")))
    for name, registered in plugins("exports").items():
        click.echo(f"{name:{width}} {summary(registered).removeprefix(f'`--format {name}`: ')}".rstrip())
    ctx.exit()


def _init_about(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Write about.toml and exit. Raises click.UsageError if it exists."""
    if not value or ctx.resilient_parsing:
        return
    from diorama.render.uses.export.about import TEMPLATE

    try:
        with Path("about.toml").open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError as error:
        raise click.UsageError("--init-about: about.toml exists; edit it, or move it away") from error
    except OSError as error:
        raise click.UsageError(f"--init-about: about.toml can't be written here: {error.strerror or error}") from error
    click.echo("wrote about.toml; fill it in, then pass --about about.toml")
    ctx.exit()


@click.command(cls=DioramaCommand)
@click.argument("source", required=False, metavar="[STORE]")
@click.option(
    "--format", "name", default="folder", metavar="NAME", help="Format to write; --list-formats lists all formats."
)
@click.option("--out", type=opt.NEW_PATH, metavar="DIR", help="Output folder; required.")
@opt.flag(
    "--overwrite",
    "Replace exported episodes, shards and other files that differ, or that no export of STORE wrote; remove shards of "
    "an earlier export with other episodes.",
)
@opt.number(
    "--shard-size",
    "Episodes per file, for formats that write many episodes into one file.  [default: depends on the format]",
    1,
)
@click.option(
    "--list-formats", is_flag=True, is_eager=True, expose_value=False, callback=_print_formats,
    help="List the formats and what they write, and exit.",
)  # fmt: skip
@opt.group("Publishing", click.option(
    "--about", type=opt.FILE, metavar="about.toml",
    help="Also write what publishing needs: README.md, croissant.json, CITATION.cff, LICENSE and provenance.json; for "
    "the formats huggingface, webdataset and folder.  [default: only the data]",
))  # fmt: skip
@opt.flag(
    "--strict",
    "Refuse an about.toml that leaves a question of a datasheet open, or answers one with TODO, none or the like.",
)
@click.option(
    "--init-about", is_flag=True, is_eager=True, expose_value=False, callback=_init_about,
    help="Write a template of about.toml with comments into the current folder, and exit.",
)  # fmt: skip
@opt.selection
def main(
    source: str | None, name: str, out: Path | None, splits: tuple[str, ...], at: str | None, about: Path | None,
    strict: bool, **options: Any,
) -> None:  # fmt: skip
    """Export episodes to a dataset format.

    The command writes the episodes of STORE [default: $DIORAMA_STORE or ./diorama.lance] to DIR. A second run writes
    only what is missing in DIR. If the store has new episodes, files that list all of them, such as COCO's, are
    updated. Shards (files of many episodes: webdataset, huggingface) are not: if one would change, the command stops
    with an error, unless you pass --overwrite.

    The default format `folder` makes a folder for each episode. The folder has a PNG and a JSON file for each image,
    and one episode.json.

    The format `clevr-masks` computes boxes and masks for CLEVR's own published images. For this format, name a
    published CLEVR_<split>_scenes.json in place of STORE.

    Exit codes: 0: all exported; 1: the ids of some episodes are names of files of others; 2: invalid options, or DIR
    has files that no export of STORE wrote, that were changed
    since, or that differ from the stored episodes; 4: the store can't be read, or some episodes in it are damaged or
    need a stage or plug-in that is missing (the output ends with a list of them; the others are exported).

    Examples:
      render-export scenes.lance --out data
      render-export scenes.lance --format webdataset --out shards --split train
    """
    from diorama.render.uses.export import format_of

    if out is None:
        raise click.UsageError("--out DIR is missing; name the output folder")
    if source is None and format_of(name).from_files:
        raise click.UsageError(f"--format {name} reads a file: name it")
    if strict and about is None:
        raise click.UsageError("--strict is about about.toml: pass --about, too")
    from diorama.render.uses.export.protocol import ExportOptions
    from diorama.render.uses.export.run_export import run_export

    source = source or opt.default_store()
    with total_bar("episodes") as on_progress:
        report = run_export(
            source, name, out, ExportOptions(**options), at=at, splits=splits, about=about, strict=strict,
            on_progress=on_progress,
        )  # fmt: skip
    skipped = f", skipped {report.skipped} already there" if report.skipped else ""
    click.echo(f"exported {counted(report.exported, 'episode')} to {out}{skipped}")
    if about is not None and report.error() is None:
        click.echo("wrote README.md, croissant.json, CITATION.cff, LICENSE, provenance.json and samples.png")
    for line in report.missing:
        log.warning("%s", line)
    if error := report.error():
        raise error
