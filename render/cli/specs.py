"""`render-specs`: generate, check, compile and import scene specs. It renders nothing and starts quickly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import benchmarks
from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaGroup, log
from diorama.render.cli.importing import import_
from diorama.render.cli.models import models
from diorama.render.cli.output import print_json, write_text
from diorama.render.cli.plugin_help import summary
from diorama.render.cli.questions import questions
from diorama.scene_specs.errors import CompileError, ContrastError, SpecError, UsageError, counted
from diorama.scene_specs.files.writing import atomic_writer
from diorama.scene_specs.language.registry import plugins

if TYPE_CHECKING:
    from diorama.scene_specs.model.scene import Scene, Settings
    from diorama.scene_specs.model.spec import EpisodeSpec


class _SpecsGroup(DioramaGroup):
    """Commands of this file, and those of benchmarks, which are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names but short ones, sorted."""
        return sorted({*self.commands, *plugins("benchmarks")})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command with this name.

        Raises:
            PluginError: its benchmark can't be imported.
        """
        return super().get_command(ctx, name) or benchmarks.command(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands; imports no benchmark."""
        # If one can't be read, the command itself reports what is wrong with it.
        rows = {name: summary(benchmark, "options") for name, benchmark in plugins("benchmarks").items()}
        rows |= {name: command.get_short_help_str(60) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows.items()))


@click.group(cls=_SpecsGroup)
def main() -> None:
    """Generate, check, compile and import scene specs.

    Exit codes: 0: done; 1: no layout was found (`resolve`, `questions`), some episodes have no such pair or look
    (`contrast`, `looks`) or do not come to rest (`settle`), a player, a program that plays a game, failed (`icca
    play`), something of a file can't be used (`import`), a model can't be read (`models`), or nothing could be proved
    (`check`); 2: invalid specs or options; 4: a store can't be read (`check --store`, `questions`, `icca games`).

    Examples:
      render-specs mewl --task shape --count 100 --out specs.jsonl
      render-specs check --prove specs.jsonl
    """


main.add_command(questions)
main.add_command(import_)
main.add_command(models)


@main.command(epilog=opt.FILES_HELP)
@click.argument("name")
@opt.files
@opt.as_json
@opt.out
def report(name: str, files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Report the statistics of a benchmark's episodes.

    NAME is a benchmark, such as mewl. The command runs the report of that benchmark, for example `mewl audit`, `iwisdm
    balance`, `malevic statistics` or `icca similarity`. `render-specs NAME --help` lists all commands of a benchmark.

    Examples:
      render-specs report mewl specs.jsonl
      render-specs report malevic specs.jsonl --json --out report.json
    """
    from diorama.scene_specs.tasks.benchmark import Report, benchmark

    definition = benchmark(name)
    reports = [command for command in definition.commands.values() if issubclass(command, Report)]
    if not reports:
        raise UsageError(f"benchmark {name!r} has no report")
    benchmarks.run(definition, reports[0](files=files), out, as_json)


@main.command()
@opt.out
def schema(out: Path | None) -> None:
    """Print the JSON Schema of spec files.

    Examples:
      render-specs schema
      render-specs schema --out spec.schema.json
    """
    from diorama.scene_specs.model.schema import schema_text

    write_text(out, schema_text())


@main.command(epilog=opt.FILES_HELP)
@click.argument("files", nargs=-1)
@opt.flag("--prove", "Also verify that the stored answer of each episode follows from what the episode shows.")
@opt.flag("--measure", "Also render whether materials of .blend files show the colors that they take (1 s each).")
@opt.value("--store", "STORE", "With --prove: verify the rendered episodes of this store, instead of FILES.")
@click.option(
    "--svg",
    type=opt.FOLDER,
    help="With --prove: folder of drawings, which figures other than the packaged ones must follow "
    "(kilogram).  [default: they are not compared]",
)
@click.option(
    "--annotations",
    type=opt.FILE,
    help="With --svg: file of descriptions, which their parts must follow (kilogram).  [default: not compared]",
)
@opt.asset_root
@opt.shapenet
@opt.as_json
def check(
    files: tuple[str, ...], as_json: bool, prove: bool, measure: bool, store: str | None, svg: Path | None,
    annotations: Path | None, asset_roots: tuple[Path, ...],
) -> None:  # fmt: skip
    """Check specs and report every error in every file.

    Missing models, .blend files and node groups are errors, and so are constraints that clearly contradict each other,
    and relations of contact that the objects can't have. There is no layout search: `render-specs resolve` and
    `render-batch --dry-run` find all episodes without a layout.

    With --prove, the command also verifies each episode by the rules of its benchmark, for example that exactly one
    answer is right. Episodes that belong to no benchmark, or to one that is not installed, are counted as unverified.

    Exit codes: 0: no errors; 1: with --prove, nothing could be proved; 2: errors; 4: STORE can't be read.

    Examples:
      render-specs check specs.jsonl
      render-specs check --prove --store scenes.lance
    """
    from diorama.render.uses.rerender.verification import AssetCheck, Verification, verify_files, verify_store
    from diorama.scene_specs.reading.source import SpecSource

    if bool(files) == (store is not None) or (store is not None and not prove):
        raise click.UsageError("give FILES, or --prove with --store STORE")
    if measure and store is not None:
        raise click.UsageError("--measure is for FILES; the renderer measured the materials of a store")
    if (svg is not None and not prove) or (annotations is not None and svg is None):
        raise click.UsageError("--svg needs --prove, and --annotations needs --svg")
    published = {name: path for name, path in (("svg", svg), ("annotations", annotations)) if path is not None}
    if store is not None:
        result = verify_store(store, published)
    else:
        with SpecSource(files, more=(assets := AssetCheck(asset_roots, measure))) as source:
            result = Verification(*source.check())
            if assets.stages_left_out:
                hint = 'whose lights changed in 0.2; write "stage": "mewl" for those of 0.1'
                log.info("no stage in %s: it is clevr, %s", counted(assets.stages_left_out, "episode"), hint)
            if prove and not result.diagnostics:
                result = verify_files(source, published)
    diagnostics = result.diagnostics
    unproved = prove and result.unverified == result.episodes > 0
    if as_json:
        unverified = {"unverified": result.unverified} if prove else {}
        print_json(
            {"episodes": result.episodes, **unverified, "faults": [asdict(diagnostic) for diagnostic in diagnostics]}
        )
        if diagnostics or unproved:
            click.get_current_context().exit(SpecError.exit_code if diagnostics else 1)
        return
    named = ", ".join(sorted(result.missing))
    why = f"not installed: {named}" if named else "no verifier for their benchmark"
    unverified_note = f" ({result.unverified} unverified: {why})" if result.unverified else ""
    if diagnostics:
        fine = f"; {counted(result.episodes, 'episode')} without errors" if result.episodes else ""
        log.info("%s%s%s", counted(len(diagnostics), "error"), fine, unverified_note)
        raise SpecError(diagnostics)
    proved = ", all proved" if prove and not result.unverified else ""
    click.echo(f"{counted(result.episodes, 'episode')}, no errors{proved}{unverified_note}")
    if unproved:
        click.get_current_context().exit(1)


_resolving = opt.together(opt.profile(), opt.size(), opt.asset_root, opt.shapenet)
_files_or_store = opt.together(
    click.argument("files", nargs=-1),
    opt.value("--store", "STORE", "Use the specs of this store.  [default: FILES]"),
    _resolving,
    opt.out,
)


def _with_settings(
    files: tuple[str, ...], store: str | None, profile: str | None, size: tuple[int, int] | None
) -> Iterator[tuple[EpisodeSpec | Scene, Settings]]:
    """Episodes of files or of a store, with the settings of their images. Raises as episodes_of."""
    from diorama.render.uses.rerender.find import episodes_of
    from diorama.scene_specs.model.profiles import episode_settings

    if bool(files) == (store is not None):
        raise click.UsageError("give FILES, or --store STORE")
    return ((episode, episode_settings(episode, profile, size)) for episode in episodes_of(files, store))


def _write_scenes(out: Path | None, tries: Iterable[Callable[[], Iterable[Scene | EpisodeSpec]]]) -> None:
    """Write the scenes or specs of all tries that succeed, a line each; exit code 1 if any does not."""
    from diorama.scene_specs.model.look import LookError

    context, failed, written = click.get_current_context(), 0, 0
    with atomic_writer(out) as stream:
        for make in tries:
            try:
                stream.writelines([scene.to_json() + "\n" for scene in make()])
                written += 1
            except (CompileError, ContrastError, LookError, UsageError) as error:
                failed += 1
                log.error("%s", error)
        if failed and not written:
            # Within the block: a file that is there stays, instead of becoming an empty one.
            context.exit(CompileError.exit_code)
    if failed:
        context.exit(CompileError.exit_code)


@main.command(epilog=opt.FILES_HELP)
@opt.files
@opt.out
@_resolving
def resolve(files: tuple[str, ...], out: Path | None, asset_roots: tuple[Path, ...], **given: Any) -> None:
    """Compile specs and write the resolved scenes.

    A resolved scene is the spec with every number filled in. The command writes one resolved scene per line.

    Exit codes: 0: done; 1: no layout was found for some episodes (the command reports these episodes, and writes the
    scenes of all others); 2: invalid specs or options.

    Examples:
      render-specs resolve specs.jsonl --out scenes.jsonl
      render-specs resolve specs/ --profile draft --size 640x480
    """
    from diorama.render.compiler import compile_episode

    def compiled(episode: EpisodeSpec | Scene, settings: Settings) -> list[Scene]:
        return [compile_episode(episode, settings, asset_roots)]

    _write_scenes(out, (partial(compiled, *pair) for pair in _with_settings(files, None, **given)))


_CHANGES = ("color", "material", "shape", "size", "relation", "count", "pointer", "observer", "position", "support")


@main.command(epilog=opt.FILES_HELP)
@click.option(
    "--change", "changes", type=click.Choice(_CHANGES), multiple=True, required=True, metavar="NAME",
    help=f"What differs within a pair; repeatable, for one pair per change: {', '.join(_CHANGES)}.",
)  # fmt: skip
@opt.number(
    "--chain",
    "Number of scenes. More than 2: chains, in which each scene differs from the next in one thing.",
    2,
    100,
    default=2,
)
@opt.choice(
    "--answers",
    ["flip", "stay", "any"],
    "Whether the correct answer must differ within a pair (flip), be the same (stay), or either (any).",
)
@opt.choice("--direction", ["any", "add", "remove"], "Whether --change count must add or remove an object.")
@_files_or_store
def contrast(
    changes: tuple[Any, ...],
    chain: int,
    answers: Any,
    direction: Any,
    out: Path | None,
    asset_roots: tuple[Path, ...],
    **given: Any,
) -> None:
    """Write pairs of scenes in which one thing differs.

    The command writes the resolved scenes of each pair, for `render-batch`. Everything sampled is the same in both, and
    so is the noise of rendering. If the episodes belong to a benchmark, their answers are recomputed. If no pair with
    the requested change can be made from an episode, the command says why. See docs/contrast.md.

    Exit codes: 0: done; 1: some episodes have no such pair (the command names them, and writes the others); 2: invalid
    specs or options; 4: STORE can't be read.

    Examples:
      render-specs contrast specs.jsonl --change color --out pairs.jsonl
      render-specs contrast --store scenes.lance --change count --chain 4
    """
    from diorama.render.uses.contrast.contrast import ContrastOptions, contrast_scenes

    wanted = [ContrastOptions(change, chain, answers, asset_roots, direction) for change in dict.fromkeys(changes)]
    _write_scenes(
        out, (partial(contrast_scenes, *pair, options) for pair in _with_settings(**given) for options in wanted)
    )


@main.command(epilog=opt.FILES_HELP)
@click.option(
    "--looks",
    metavar="NAME,...",
    required=True,
    help="Names of looks, separated by commas, such as plain,wood,daylight; see docs/looks.md.",
)
@_files_or_store
def looks(looks: str, out: Path | None, asset_roots: tuple[Path, ...], **given: Any) -> None:
    """Write each episode in several looks.

    The command writes resolved scenes for `render-batch`: the same objects, places, cameras and truth on other grounds
    and in other light. The id of each is that of the episode, + and the look.

    Exit codes: 0: done; 1: some episodes can't have a look (the command names them, and writes the others); 2: invalid
    specs or options; 4: STORE can't be read.

    Examples:
      render-specs looks specs.jsonl --looks plain,wood,daylight --out looks.jsonl
      render-specs looks --store scenes.lance --looks plain,photo --out looks.jsonl
    """
    from diorama.render.uses.rerender.looks import check_looks, look_scenes

    names = check_looks([name.strip() for name in looks.split(",")])
    _write_scenes(out, (partial(look_scenes, *pair, names, asset_roots) for pair in _with_settings(**given)))


@main.command(epilog=opt.FILES_HELP)
@opt.files
@opt.out
@_resolving
def settle(files: tuple[str, ...], out: Path | None, asset_roots: tuple[Path, ...], **given: Any) -> None:
    """Let objects fall, and write where they rest.

    The command simulates the objects with `"drop": true` and writes the specs with all locations and rotations as
    numbers. It needs MuJoCo: `pip install 'diorama-render[physics]'`. Other objects stay where they are. The `truth` of
    a frame names the simulation. See docs/spec.md.

    Exit codes: 0: done; 1: in some episodes nothing drops, no layout was found, something does not come to rest, or a
    constraint does not hold at rest (the command names these, and writes the others); 2: invalid specs or options, or
    MuJoCo is not installed.

    Examples:
      render-specs settle dropped.jsonl --out specs.jsonl
      render-specs settle specs/ --profile draft --out settled.jsonl
    """
    from diorama.render.uses.rerender import settle as physics

    physics.load_mujoco()

    def settled(episode: EpisodeSpec | Scene, settings: Settings) -> list[EpisodeSpec]:
        return [physics.settle(episode, settings, asset_roots)]

    _write_scenes(out, (partial(settled, *pair) for pair in _with_settings(files, None, **given)))
