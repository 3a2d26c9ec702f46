"""`render-specs`: make, check, resolve and import scene specs. Nothing is rendered, nothing heavy is imported early."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import proofs, specs_icca, specs_iwisdm, specs_kilogram, specs_malevic, specs_mewl, specs_views
from render.cli.common import DioramaGroup, atomic_writer, log, parse_size, shapenet_option, verbose_option

if TYPE_CHECKING:
    from scene_specs.language.spec import EpisodeSpec
    from scene_specs.reading.source import SpecSource

_FILES = "FILES are .json and .jsonl files, folders, globs, and - for standard input."
_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")


@click.group(cls=DioramaGroup)
@verbose_option
def main() -> None:
    """Make, check, resolve and import scene specs. Exit code 2: something is wrong with the specs or the options."""


@main.command()
@_OUT
def schema(out: Path | None) -> None:
    """Print the JSON Schema of spec files."""
    from scene_specs.language.schema import schema_text

    with atomic_writer(out) as stream:
        stream.write(schema_text())


_COMMANDS = (
    specs_mewl.mewl,
    specs_mewl.audit,
    specs_mewl.captions,
    specs_icca.icca,
    specs_iwisdm.iwisdm,
    specs_iwisdm.balance,
    specs_kilogram.kilogram,
    specs_kilogram.tangrams,
    specs_kilogram.drawings,
    specs_kilogram.naming,
    specs_malevic.malevic,
    specs_malevic.malevic_report,
    specs_views.views,
)
for _command in _COMMANDS:
    main.add_command(_command)


@main.command(epilog=_FILES)
@click.argument("files", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a report as JSON, with all faults.")
@click.option(
    "--prove", is_flag=True, help="Prove also that each episode of a benchmark has one answer, the stored one."
)
@click.option("--store", metavar="STORE", help="With --prove: prove the rendered truth of a store instead of files.")
def check(files: tuple[str, ...], as_json: bool, prove: bool, store: str | None) -> None:
    """Report every diagnostic of every file; exit code 2 if there is one."""
    from scene_specs.language.errors import SpecError
    from scene_specs.reading.source import SpecSource

    if bool(files) == (store is not None) or (store is not None and not prove):
        raise click.UsageError("give FILES, or --prove with --store STORE")
    if store is not None:
        diagnostics, count = proofs.store_faults(store)
    else:
        with SpecSource(files) as source:
            diagnostics, count = source.check()
            if prove and not diagnostics:
                diagnostics = list(proofs.proof_faults(source))
                count -= len({(diagnostic.file, diagnostic.line, diagnostic.episode) for diagnostic in diagnostics})
    if as_json:
        fields = ("file", "line", "episode", "path", "problem", "hint")
        listed = [{key: getattr(diagnostic, key) for key in fields} for diagnostic in diagnostics]
        click.echo(json.dumps({"episodes": count, "faults": listed}, indent=1))
        if diagnostics:
            click.get_current_context().exit(SpecError.exit_code)
    elif diagnostics:
        log.info("%d fault%s; episodes without one: %d", len(diagnostics), "" if len(diagnostics) == 1 else "s", count)
        raise SpecError(diagnostics)
    else:
        click.echo(f"{count} episode{'' if count == 1 else 's'}, no faults")


@main.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@_OUT
@click.option("--profile", metavar="NAME", help="draft, standard, reference, clevr-512 [default: standard].")
@click.option("--size", metavar="WxH", callback=parse_size, help="Image size [default: the stage's own].")
@click.option(
    "--asset-root",
    "asset_roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that specs may take .blend files from; may be given again.",
)
@shapenet_option
def resolve(
    files: tuple[str, ...],
    out: Path | None,
    profile: str | None,
    size: tuple[int, int] | None,
    asset_roots: tuple[Path, ...],
) -> None:
    """Write the compiled Scene of each episode, one a line.

    An episode for which no layout is found is named, the others are written, and the exit code is 1.
    """
    from render.model.errors import CompileError
    from scene_specs.reading.source import SpecSource

    failed = 0
    with SpecSource(files) as source:
        _all_right(source)
        with atomic_writer(out) as stream:
            for item in source:
                try:
                    stream.write(_resolved(item.episode, profile, size, asset_roots) + "\n")
                except CompileError as error:
                    failed += 1
                    log.error("%s", error)
    if failed:
        click.get_current_context().exit(CompileError.exit_code)


def _all_right(source: SpecSource) -> None:
    from scene_specs.language.errors import SpecError

    diagnostics, _ = source.check()
    if diagnostics:
        raise SpecError(diagnostics)


def _resolved(episode: Any, profile: str | None, size: tuple[int, int] | None, asset_roots: tuple[Path, ...]) -> str:
    from render.compiler import compile_episode
    from render.model.profiles import episode_settings
    from render.model.scene import Scene

    settings = episode_settings(episode, profile, size)
    if isinstance(episode, Scene):
        # As render-batch does: a Scene is rendered at the size and profile asked for, and nothing else of it changes.
        episode = episode.model_copy(update={"settings": settings})
    return compile_episode(episode, settings, asset_roots).to_json()


def _span(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, int]:
    """`3-10` or `5`."""
    fewest, dash, most = value.partition("-")
    if not (fewest.isdecimal() and (most.isdecimal() or not dash) and len(value) < 10):
        raise click.BadParameter(f"{value!r}; write FEWEST-MOST, such as 3-10, or one number")
    return (int(fewest), int(most or fewest))


@main.command()
@click.option("--count", type=click.IntRange(0), required=True, help="How many episodes.")
@click.option("--objects", default="3-10", show_default=True, metavar="A-B", callback=_span, help="Objects a picture.")
@click.option("--split", default="train", show_default=True, help="Goes into ids and specs.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--cogent", type=click.Choice(["A", "B"]), help="Condition of CLEVR-CoGenT.")
@_OUT
def clevr(count: int, objects: tuple[int, int], split: str, seed: int, cogent: str | None, out: Path | None) -> None:
    """Generate CLEVR episodes, one a line."""
    from scene_specs.benchmarks.clevr.random_scenes import clevr_specs

    _write(clevr_specs(count, objects, split, seed, cogent), out)


@main.command(name="import")
@click.option("--from", "origin", type=click.Choice(["mewl", "clevr"]), required=True, help="Whose files they are.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--camera",
    type=click.Choice(["recover", "nominal"]),
    default="recover",
    show_default=True,
    help="From the objects' pixel_coords, or the stage's own without jitter.",
)
@click.option("--strict", is_flag=True, help="A camera that can't be recovered is an error, not a warning.")
@_OUT
def import_(origin: str, files: tuple[Path, ...], camera: Any, strict: bool, out: Path | None) -> None:
    """Turn published scene files into specs, one episode a line.

    CLEVR: CLEVR_<split>_scenes.json, or a single scene. MEWL: folders with info.json below, or a single scene file.
    """
    from scene_specs.importing.clevr import import_clevr
    from scene_specs.importing.mewl import import_mewl
    from scene_specs.language.errors import SpecError

    reader = import_mewl if origin == "mewl" else import_clevr
    diagnostics: list[Any] = []

    def episodes() -> Iterable[EpisodeSpec]:
        for file in files:
            try:
                yield from reader(file, camera, strict)
            except SpecError as error:
                diagnostics.extend(error.diagnostics)
        if diagnostics:
            raise SpecError(diagnostics)

    _write(episodes(), out)


def _write(episodes: Iterable[EpisodeSpec], out: Path | None) -> None:
    """As JSON lines, without what is left out."""
    with atomic_writer(out) as stream:
        for episode in episodes:
            stream.write(episode.model_dump_json(exclude_none=True, exclude_defaults=True) + "\n")
