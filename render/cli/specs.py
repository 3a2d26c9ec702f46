"""`render-specs`: generate, check, compile and import scene specs. It renders nothing and starts quickly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import benchmarks
from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaGroup, log
from diorama.render.cli.output import print_json, write_lines, write_text
from diorama.render.cli.questions import questions
from diorama.render.model.errors import CompileError, ContrastError, SpecError, UsageError
from diorama.scene_specs.language.errors import read_each, spec_error
from diorama.scene_specs.language.tables import counted
from diorama.scene_specs.language.writing import atomic_writer

if TYPE_CHECKING:
    from diorama.scene_specs.language.errors import Diagnostic
    from diorama.scene_specs.language.spec import EpisodeSpec


class _SpecsGroup(DioramaGroup):
    """Commands of this file, and those of benchmarks, which are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self.commands, *benchmarks.names()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command with this name.

        Raises:
            PluginError: its benchmark can't be imported.
        """
        return super().get_command(ctx, name) or benchmarks.command(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands; imports no benchmark."""
        rows = [
            (name, self.commands[name].get_short_help_str(60) if name in self.commands else benchmarks.summary(name))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_SpecsGroup)
def main() -> None:
    """Generate, check, compile and import scene specs.

    Exit codes: 0: done; 1: no layout was found (`resolve`, `questions`), some episodes have no such pair or look
    (`contrast`, `looks`), a player, a program that plays a game, failed (`icca play`), or something of a file can't be
    used (`import`); 2: invalid specs or options; 4: a store can't be read (`check --store`, `questions`, `icca games`).

    Examples:
      render-specs mewl --task shape --count 100 --out specs.jsonl
      render-specs check --prove specs.jsonl
    """


main.add_command(questions)


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
    from diorama.scene_specs.language.benchmark import Report, benchmark

    found = benchmark(name)
    reports = [command for command in found.commands.values() if issubclass(command, Report)]
    if not reports:
        raise UsageError(f"benchmark {name!r} has no report")
    benchmarks.run(found, reports[0](files=files), out, as_json)


@main.command()
@opt.out
def schema(out: Path | None) -> None:
    """Print the JSON Schema of spec files.

    Examples:
      render-specs schema
      render-specs schema --out spec.schema.json
    """
    from diorama.scene_specs.language.schema import schema_text

    write_text(out, schema_text())


@main.command(epilog=opt.FILES_HELP)
@click.argument("files", nargs=-1)
@opt.flag("--prove", "Also verify that the stored answer of each episode follows from what the episode shows.")
@click.option(
    "--store", metavar="STORE", help="With --prove: verify the rendered episodes of this store, instead of FILES."
)
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
    files: tuple[str, ...], as_json: bool, prove: bool, store: str | None, svg: Path | None, annotations: Path | None,
    asset_roots: tuple[Path, ...],
) -> None:  # fmt: skip
    """Check specs and report every error in every file.

    Missing models and .blend files are errors, and so are constraints that clearly contradict each other. There is no
    layout search: `render-specs resolve` and `render-batch --dry-run` find all episodes without a layout.

    With --prove, the command also verifies each episode by the rules of its benchmark, for example that exactly one
    answer is right. Episodes that belong to no benchmark are counted as unverified; this is not an error.

    Exit codes: 0: no errors; 2: errors; 4: STORE can't be read.

    Examples:
      render-specs check specs.jsonl
      render-specs check --prove --store scenes.lance
    """
    from diorama.render.episode.verification import AssetCheck, Verification, verify_files, verify_store
    from diorama.scene_specs.reading.source import SpecSource

    if bool(files) == (store is not None) or (store is not None and not prove):
        raise click.UsageError("give FILES, or --prove with --store STORE")
    if (svg is not None and not prove) or (annotations is not None and svg is None):
        raise click.UsageError("--svg needs --prove, and --annotations needs --svg")
    published = {name: path for name, path in (("svg", svg), ("annotations", annotations)) if path is not None}
    if store is not None:
        result = verify_store(store, published)
    else:
        with SpecSource(files, more=AssetCheck(asset_roots)) as source:
            result = Verification(*source.check())
            if prove and not result.diagnostics:
                result = verify_files(source, published)
    diagnostics = result.diagnostics
    if as_json:
        unverified = {"unverified": result.unverified} if prove else {}
        print_json({"episodes": result.episodes, **unverified, "faults": [asdict(one) for one in diagnostics]})
        if diagnostics:
            click.get_current_context().exit(SpecError.exit_code)
        return
    unverified_note = f" ({result.unverified} unverified: no verifier for their benchmark)" if result.unverified else ""
    if diagnostics:
        fine = f"; {counted(result.episodes, 'episode')} without errors" if result.episodes else ""
        log.info("%s%s%s", counted(len(diagnostics), "error"), fine, unverified_note)
        raise SpecError(diagnostics)
    click.echo(f"{counted(result.episodes, 'episode')}, no errors{unverified_note}")


@main.command(epilog=opt.FILES_HELP)
@opt.files
@opt.out
@opt.profile()
@opt.size()
@opt.asset_root
@opt.shapenet
def resolve(
    files: tuple[str, ...], out: Path | None, profile: str | None, size: tuple[int, int] | None,
    asset_roots: tuple[Path, ...],
) -> None:  # fmt: skip
    """Compile specs and write the resolved scenes.

    A resolved scene is the spec with every number filled in. The command writes one resolved scene per line.

    Exit codes: 0: done; 1: no layout was found for some episodes (the command reports these episodes, and writes the
    scenes of all others); 2: invalid specs or options.

    Examples:
      render-specs resolve specs.jsonl --out scenes.jsonl
      render-specs resolve specs/ --profile draft --size 640x480
    """
    from diorama.render.compiler import compile_episode
    from diorama.render.model.profiles import episode_settings
    from diorama.scene_specs.reading.source import read_checked

    failed = 0
    with atomic_writer(out) as stream:
        for item in read_checked(files):
            try:
                settings = episode_settings(item.episode, profile, size)
                stream.write(compile_episode(item.episode, settings, asset_roots).to_json() + "\n")
            except CompileError as error:
                failed += 1
                log.error("%s", error)
    if failed:
        click.get_current_context().exit(CompileError.exit_code)


_CHANGES = ("color", "material", "shape", "size", "relation", "count", "pointer", "position")


@main.command(epilog=opt.FILES_HELP)
@click.argument("files", nargs=-1)
@click.option(
    "--change", "changes", type=click.Choice(_CHANGES), multiple=True, required=True,
    help="What differs within a pair; repeatable, for one pair per change.",
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
@click.option("--store", metavar="STORE", help="Use the specs of this store.  [default: FILES]")
@opt.profile()
@opt.size()
@opt.asset_root
@opt.shapenet
@opt.out
def contrast(
    files: tuple[str, ...], changes: tuple[Any, ...], chain: int, answers: Any, store: str | None, out: Path | None,
    profile: str | None, size: tuple[int, int] | None, asset_roots: tuple[Path, ...],
) -> None:  # fmt: skip
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
    from diorama.render.episode.contrast import ContrastOptions, contrast_scenes
    from diorama.render.episode.find import episodes_of
    from diorama.render.model.profiles import episode_settings

    if bool(files) == (store is not None):
        raise click.UsageError("give FILES, or --store STORE")
    refused = 0
    with atomic_writer(out) as stream:
        for episode in episodes_of(files, store):
            settings = episode_settings(episode, profile, size)
            for change in dict.fromkeys(changes):
                try:
                    options = ContrastOptions(change, chain, answers, asset_roots)
                    for scene in contrast_scenes(episode, settings, options):
                        stream.write(scene.to_json() + "\n")
                except (CompileError, ContrastError, UsageError) as error:
                    refused += 1
                    log.error("%s", error)
    if refused:
        click.get_current_context().exit(ContrastError.exit_code)


@main.command(epilog=opt.FILES_HELP)
@click.argument("files", nargs=-1)
@click.option(
    "--looks",
    metavar="NAME,...",
    required=True,
    help="Names of looks, separated by commas, such as plain,wood,daylight; see docs/looks.md.",
)
@click.option("--store", metavar="STORE", help="Use the specs of this store.  [default: FILES]")
@opt.profile()
@opt.size()
@opt.asset_root
@opt.shapenet
@opt.out
def looks(
    files: tuple[str, ...], looks: str, store: str | None, out: Path | None, profile: str | None,
    size: tuple[int, int] | None, asset_roots: tuple[Path, ...],
) -> None:  # fmt: skip
    """Write each episode in several looks.

    The command writes resolved scenes for `render-batch`: the same objects, places, cameras and truth on other grounds
    and in other light. The id of each is that of the episode, + and the look.

    Exit codes: 0: done; 1: some episodes can't have a look (the command names them, and writes the others); 2: invalid
    specs or options; 4: STORE can't be read.

    Examples:
      render-specs looks specs.jsonl --looks plain,wood,daylight --out looks.jsonl
      render-specs looks --store scenes.lance --looks plain,photo --out looks.jsonl
    """
    from diorama.render.episode.find import episodes_of
    from diorama.render.episode.looks import look_scenes
    from diorama.render.model.profiles import episode_settings
    from diorama.scene_specs.language.look import LookError, check_looks

    if bool(files) == (store is not None):
        raise click.UsageError("give FILES, or --store STORE")
    names, refused = check_looks(looks.split(",")), 0
    with atomic_writer(out) as stream:
        for episode in episodes_of(files, store):
            try:
                made = look_scenes(episode, episode_settings(episode, profile, size), names, asset_roots)
            except (CompileError, LookError, UsageError) as error:
                refused += 1
                log.error("%s", error)
            else:
                stream.writelines(scene.to_json() + "\n" for scene in made)
    if refused:
        click.get_current_context().exit(CompileError.exit_code)


@main.command(name="import")
@click.option(
    "--from",
    "origin",
    metavar="NAME",
    required=True,
    help="Benchmark of the files: clevr, mewl, malevic, kilogram, iwisdm, or a plugin's.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@opt.choice(
    "--camera",
    ["recover", "nominal"],
    "recover: compute cameras from the pixel coordinates in files of CLEVR and MEWL; if that fails, use the camera of "
    "the stage. nominal: always use the camera of the stage.",
)
@opt.flag(
    "--strict",
    "Treat as errors, not as warnings: cameras that can't be computed (clevr, mewl), and published values, such as "
    "labels, answers and texts, that differ from the recomputed values (malevic, kilogram, iwisdm).",
)
@opt.group("Published files", click.option(
    "--questions", type=opt.FILE,
    help="Question file of a split (malevic).  [default: import scenes without questions]",
))  # fmt: skip
@click.option(
    "--images",
    type=opt.FOLDER,
    help="malevic: folder of a split's images. kilogram: folder of the colored images. iwisdm: folder of the stimulus "
    "set, whose tables name the categories, or of the models that `render-specs iwisdm pictures` made of it, which the "
    "specs then show.  [default: malevic: folder of the annotation file]",
)
@click.option("--svg", type=opt.FOLDER, help="Folder of drawings (kilogram).  [default: the packaged drawings]")
@click.option(
    "--annotations",
    type=opt.FILE,
    help="File of descriptions, which name the parts' pieces (kilogram).  [default: the pieces are found by color]",
)
@opt.out
def import_(origin: str, files: tuple[Path, ...], camera: Any, strict: bool, out: Path | None, **others: Any) -> None:
    """Convert published scene files to specs.

    The command writes one episode per line. FILES of CLEVR are CLEVR_<split>_scenes.json or files of a single scene.
    FILES of MEWL are folders that contain info.json files (subfolders are searched, too), or files of a single scene.
    FILES of MALeViC are annotation files, which contain neither questions nor the orientation of triangles. With
    --questions, the command adds the questions. It reads the orientation of triangles from the images (--images).
    FILES of KiloGram are reference games, such as part+black.json, with part+color.json in the same folder. The
    command learns which pieces form a part from --annotations, or from the colors of the images (--images).
    FILES of iWISDM are task files, task_info.json files of trials, or folders that contain them. A task file gives one
    trial. In the specs, Diorama's 3D models replace the published images of objects, unless --images has models of
    these images.

    Without --strict, what can't be used of a file is left out, and named, if anything can be used.

    Exit codes: 0: done; 1: something of a file was left out; 2: no file, or one of the files, can be used.

    Examples:
      render-specs import --from clevr CLEVR_val_scenes.json --out specs.jsonl
      render-specs import --from mewl MEWL/val --camera nominal --out specs.jsonl
    """
    from diorama.scene_specs.language.benchmark import benchmark

    reader = benchmark(origin).function("importing:import_published")
    given = {name: value for name, value in others.items() if value is not None}
    for name in given.keys() - signature(reader).parameters.keys():
        raise UsageError(f"--{name}: files of {origin} have none")
    if "questions" in given and len(files) > 1:
        raise UsageError(f"--questions has those of one file; found {len(files)} FILES")

    seen: set[str] = set()
    left_out: list[Diagnostic] = []

    def usable(file: Path) -> Iterator[EpisodeSpec]:
        before = len(seen)
        try:
            yield from reader(file, camera, strict, **given)
        except SpecError as error:
            if strict or len(seen) == before:
                raise
            left_out.extend(error.diagnostics)

    def read(file: Path) -> Iterator[EpisodeSpec]:
        before = len(seen)
        for episode in usable(file):
            if episode.id in seen:
                problem = "an earlier scene gives an episode of this id"
                raise spec_error(problem, "rename or remove one of them", file=str(file), episode=episode.id)
            seen.add(episode.id)
            yield episode
        if len(seen) == before:
            raise spec_error("has no episode", f"check that it is a file of {origin}", file=str(file))

    episodes = read_each(files, read)
    lines = (one.model_dump_json(exclude_none=True, exclude_defaults=True) for one in episodes)
    write_lines(out, lines, "episodes")
    for diagnostic in left_out:
        log.error("left out: %s", diagnostic)
    log.info("%s%s", counted(len(seen), "episode"), f", {counted(len(left_out), 'error')}" if left_out else "")
    if left_out:
        click.get_current_context().exit(CompileError.exit_code)
