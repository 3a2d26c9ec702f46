"""`render-specs`: generate, check, compile and import scene specs. It renders nothing and starts quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import options as opt
from render.cli import specs_icca, specs_iwisdm, specs_kilogram, specs_malevic, specs_mewl, specs_views, verification
from render.cli.command import DioramaGroup, log
from render.cli.output import atomic_writer, counted, print_json, write_lines, write_text
from render.model.errors import CompileError, SpecError

if TYPE_CHECKING:
    from scene_specs.language.spec import EpisodeSpec


@click.group(cls=DioramaGroup)
def main() -> None:
    """Generate, check, compile and import scene specs.

    Exit codes: 0 done; 1 some episodes have no layout (resolve), or a player failed (icca play); 2 wrong specs or
    options.
    """


for _command in (
    *specs_mewl.COMMANDS,
    *specs_icca.COMMANDS,
    *specs_iwisdm.COMMANDS,
    *specs_kilogram.COMMANDS,
    *specs_malevic.COMMANDS,
    specs_views.views,
):
    main.add_command(_command)


@main.command()
@opt.out
def schema(out: Path | None) -> None:
    """Print the JSON Schema of spec files."""
    from scene_specs.language.schema import schema_text

    write_text(out, schema_text())


@main.command(epilog=opt.FILES_HELP)
@click.argument("files", nargs=-1)
@opt.as_json
@click.option("--prove", is_flag=True, help="Also verify that the stored truth of each episode follows from it.")
@click.option("--store", metavar="STORE", help="With --prove: verify the rendered episodes of a store, not files.")
def check(files: tuple[str, ...], as_json: bool, prove: bool, store: str | None) -> None:
    """Check specs and report every error in every file.

    --prove verifies the episodes of each benchmark by its rules, such as that exactly one answer is right. It counts
    episodes without a benchmark as unverified. Exit code 2: there are errors.
    """
    from scene_specs.reading.source import SpecSource

    if bool(files) == (store is not None) or (store is not None and not prove):
        raise click.UsageError("give FILES, or --prove with --store STORE")
    if store is not None:
        result = verification.verify_store(store)
    else:
        with SpecSource(files) as source:
            result = verification.Verification(*source.check())
            if prove and not result.diagnostics:
                result = verification.verify_files(source)
    diagnostics = result.diagnostics
    if as_json:
        fields = ("file", "line", "episode", "path", "problem", "hint")
        listed = [{key: getattr(diagnostic, key) for key in fields} for diagnostic in diagnostics]
        unverified = {"unverified": result.unverified} if prove else {}
        print_json({"episodes": result.episodes, **unverified, "faults": listed})
        if diagnostics:
            click.get_current_context().exit(SpecError.exit_code)
        return
    unverified_note = f" ({result.unverified} unverified: no verifier for their benchmark)" if result.unverified else ""
    if diagnostics:
        log.info("%s; episodes without one: %d%s", counted(len(diagnostics), "error"), result.episodes, unverified_note)
        raise SpecError(diagnostics)
    click.echo(f"{counted(result.episodes, 'episode')}, no errors{unverified_note}")


@main.command(epilog=opt.FILES_HELP)
@opt.files
@opt.out
@opt.profile
@opt.size
@opt.asset_root
@opt.shapenet
def resolve(
    files: tuple[str, ...],
    out: Path | None,
    profile: str | None,
    size: tuple[int, int] | None,
    asset_roots: tuple[Path, ...],
) -> None:
    """Compile specs and write the resolved scenes.

    Writes one Scene per line. Exit code 1: some episodes have no layout; these are reported, the others written.
    """
    failed = 0
    with verification.open_checked(files) as source, atomic_writer(out) as stream:
        for item in source:
            try:
                stream.write(_resolve(item.episode, profile, size, asset_roots) + "\n")
            except CompileError as error:
                failed += 1
                log.error("%s", error)
    if failed:
        click.get_current_context().exit(CompileError.exit_code)


def _resolve(episode: Any, profile: str | None, size: tuple[int, int] | None, asset_roots: tuple[Path, ...]) -> str:
    from render.compiler import compile_episode
    from render.model.profiles import episode_settings
    from scene_specs.language.scene import Scene

    settings = episode_settings(episode, profile, size)
    if isinstance(episode, Scene):
        return episode.model_copy(update={"settings": settings}).to_json()
    return compile_episode(episode, settings, asset_roots).to_json()


def _parse_span(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, int]:
    """Parse `3-10` or `5`. Raises BadParameter."""
    fewest, dash, most = value.partition("-")
    if not (fewest.isdecimal() and (most.isdecimal() or not dash) and len(value) < 10):
        raise click.BadParameter(f"found {value!r}; expected MIN-MAX, such as 3-10, or one number")
    return (int(fewest), int(most or fewest))


@main.command()
@click.option("--count", type=opt.Number(0), required=True, help="Number of episodes.")
@click.option("--objects", default="3-10", metavar="MIN-MAX", callback=_parse_span, help="Objects per image.")
@click.option("--split", default="train", help="Split that the episodes belong to.")
@opt.seed
@click.option("--cogent", type=click.Choice(["A", "B"]), help="Condition of CLEVR-CoGenT [default: none].")
@opt.out
def clevr(count: int, objects: tuple[int, int], split: str, seed: int, cogent: str | None, out: Path | None) -> None:
    """Generate CLEVR episodes, one per line."""
    from scene_specs.benchmarks.clevr.random_scenes import clevr_specs

    _write(clevr_specs(count, objects, split, seed, cogent), out)


@main.command(name="import")
@click.option("--from", "origin", type=click.Choice(["mewl", "clevr"]), required=True, help="Format of the files.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@opt.choice("--camera", ["recover", "nominal"], "Recover cameras from pixel_coords, or use the stage's camera.")
@click.option("--strict", is_flag=True, help="Treat a camera that can't be recovered as an error, not a warning.")
@opt.out
def import_(origin: str, files: tuple[Path, ...], camera: Any, strict: bool, out: Path | None) -> None:
    """Convert published scene files to specs.

    Writes one episode per line. CLEVR: CLEVR_<split>_scenes.json, or a single scene. MEWL: folders with info.json
    files below, or a single scene file.
    """
    from scene_specs.importing.clevr import import_clevr
    from scene_specs.importing.mewl import import_mewl

    reader = import_mewl if origin == "mewl" else import_clevr
    diagnostics: list[Any] = []

    def episodes() -> Iterator[EpisodeSpec]:
        for file in files:
            try:
                yield from reader(file, camera, strict)
            except SpecError as error:
                diagnostics.extend(error.diagnostics)
        if diagnostics:
            raise SpecError(diagnostics)

    _write(episodes(), out)


def _write(episodes: Iterable[EpisodeSpec], out: Path | None) -> None:
    """Write episodes as JSON Lines without default values."""
    write_lines(out, (one.model_dump_json(exclude_none=True, exclude_defaults=True) for one in episodes), "episodes")
