"""`render-specs import`: published files of a benchmark as specs."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, log
from diorama.render.cli.output import write_lines
from diorama.scene_specs.errors import CompileError, SpecError, UsageError, counted, read_each, spec_error

if TYPE_CHECKING:
    from diorama.scene_specs.errors import Diagnostic
    from diorama.scene_specs.model.spec import EpisodeSpec


@click.command("import", cls=DioramaCommand)
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
    "labels, answers and texts, that differ from the recomputed values (malevic, kilogram, iwisdm), and files that "
    "differ from SHA256SUMS, which exports have.",
)
@opt.group("Published files", click.option(
    "--relations", type=click.Choice(["image", "file"]),
    help="image: left, right, front and behind as in the image (clevr). file: as in the file, whose relations CLEVR "
    "computed before it moved the camera.  [default: image]",
))  # fmt: skip
@click.option(
    "--questions", type=opt.FILE, help="Question file of a split (malevic).  [default: import scenes without questions]"
)
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
    from diorama.scene_specs.tasks.benchmark import benchmark
    from diorama.scene_specs.tasks.copies import changed_files

    reader = benchmark(origin).function("importing:import_published")
    given = {name: value for name, value in others.items() if value is not None}
    for name in given.keys() - signature(reader).parameters.keys():
        raise UsageError(f"--{name}: files of {origin} have none")
    if "questions" in given and len(files) > 1:
        raise UsageError(f"--questions has those of one file; found {len(files)} FILES")

    seen: set[str] = set()
    left_out: list[Diagnostic] = []

    def usable(file: Path) -> Iterator[EpisodeSpec]:
        before, changed = len(seen), [*changed_files(file)]
        if changed and strict:
            raise SpecError(changed)
        for diagnostic in changed:
            log.warning("%s", diagnostic)
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

    lines = (imported.model_dump_json(exclude_none=True, exclude_defaults=True) for imported in read_each(files, read))
    write_lines(out, lines, "episodes")
    for diagnostic in left_out:
        log.error("left out: %s", diagnostic)
    log.info("%s%s", counted(len(seen), "episode"), f", {counted(len(left_out), 'error')}" if left_out else "")
    if left_out:
        click.get_current_context().exit(CompileError.exit_code)
