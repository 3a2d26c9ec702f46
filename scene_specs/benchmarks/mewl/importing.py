"""Import MEWL's published files.

A folder gives an episode of seven frames, with the benchmark's truth, for each `info.json` below it
(`<split>/<task>/<episode number>/`). A single scene file gives an episode of one frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from diorama.scene_specs.benchmarks.mewl.copies import Info, contradictions, in_scene, utterance_of
from diorama.scene_specs.benchmarks.mewl.draft import QUESTION
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec
from diorama.scene_specs.errors import SpecError, read_each, spec_error
from diorama.scene_specs.files.foreign import read_foreign, read_text
from diorama.scene_specs.language.validation import form_diagnostics
from diorama.scene_specs.language.vocabulary import SIZES
from diorama.scene_specs.model.pictures import open_png
from diorama.scene_specs.model.spec import CameraSpec, EpisodeSpec, FrameSpec
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.tasks.importing import scenes

INFO = "info.json"


def sources(task: Mapping[str, Any]) -> list[str]:
    """See diorama.scene_specs.tasks.benchmark; only generated episodes are numbered."""
    return [] if "number" in task else [scenes.published_by("mewl")]


def import_published(path: Path, camera: scenes.CameraMode = "recover", strict: bool = False) -> Iterator[EpisodeSpec]:
    """Yield the episodes of a folder, or the single one of a scene file.

    Ids: `mewl/<split>/<task>/<episode number>` from the folder names, or `mewl/<file name>`; a file `question.json`,
    which every episode has, gives the two joined.

    Args:
        camera: as for `clevr`.
        strict: as for `clevr`.

    Raises:
        SpecError: after the last valid episode or 1,000 problems, with all diagnostics.
    """
    if not path.is_dir():
        yield _read_scene_file(path, camera, strict)
        return
    infos = sorted(path.rglob(INFO))
    if not infos:
        raise spec_error(f"no {INFO} in this folder or below; expected <split>/<task>/<episode>/{INFO}", file=str(path))
    yield from read_each(infos, lambda info: [_read_episode(info.parent, camera, strict)])


def _read_scene_file(path: Path, camera: scenes.CameraMode, strict: bool) -> EpisodeSpec:
    source = scenes.SourceFile(str(path), camera, strict)
    frame = scenes.frame_of(scenes.parse_json(read_text(path), str(path)), source)
    source.raise_diagnostics()
    assert frame is not None
    task = {"benchmark": "mewl", "name": "scene"}
    names = [*_folder_names(path.parent), QUESTION] if path.stem == QUESTION else [path.stem]
    return EpisodeSpec(
        version=1, id="/".join(["mewl", *map(scenes.segment, names)]), stage="mewl", frames=(frame,), task=task
    )


def _folder_names(folder: Path) -> list[str]:
    """Return the names of an episode's folder and of the two above it: split, task and number."""
    full = Path(os.path.abspath(folder))  # noqa: PTH100 - `..` has no name; a link keeps its own, so not resolve().
    return [full.parent.parent.name, full.parent.name, full.name]


def _read_episode(folder: Path, camera: scenes.CameraMode, strict: bool) -> EpisodeSpec:
    file = str(folder / INFO)
    data, source = scenes.parse_json(read_text(folder / INFO), file), scenes.SourceFile(file, camera, strict)
    try:
        info = Info.model_validate(data)
    except ValidationError as error:
        raise SpecError([diagnostic.in_file(file) for diagnostic in form_diagnostics(error, Info, data)]) from None
    frames: list[FrameSpec] = []
    for index, name in enumerate(panel.name for panel in info.context_panels):
        if not name or "/" in name or "\\" in name or name.startswith("."):
            problem = f"found {repr(name)[:60]}; allowed: the name of a file beside {INFO}"
            source.diagnostic(("context_panels", index, "name"), problem)
            continue
        frames += _read_frame(folder / f"{name}.json", source, info, f"context-{index}", utterance_of(name))
    frames += _read_frame(folder / f"{QUESTION}.json", source, info, QUESTION, None)
    source.raise_diagnostics()
    names = _folder_names(folder)
    truth: dict[str, Any] = {"benchmark": "mewl", "name": names[1]}
    truth |= {"options": info.question.choices, "answer": info.question.answer}
    truth |= {"lexicon": info.words, "info": data}
    split, task, number = map(scenes.segment, names)
    try:
        identity: Any = {"id": f"mewl/{split}/{task}/{number}", "stage": "mewl", "split": split}
        spec = EpisodeSpec(version=1, **identity, frames=tuple(frames), task=truth)
    except SpecError as error:
        source.invalid(error)
        raise SpecError(source.diagnostics) from None
    imported = spec.model_dump(mode="json")
    for path, problem in contradictions(info, imported):
        source.diagnostic(path, problem)
    if strict and not source.diagnostics and (problem := verify_spec(imported)):
        # The files' relations are those of a camera without jitter.
        nominal = CameraSpec(location=load_stage(scenes.STAGE).camera.location, jitter=0.0).model_dump(mode="json")
        if not verify_spec({**imported, "frames": [{**frame, "camera": nominal} for frame in imported["frames"]]}):
            hint = "pass --camera nominal to use the camera by which the file tells left from right"
            source.diagnostic(("context_panels",), f"seen by the recovered cameras: {problem}", hint)
    source.raise_diagnostics()
    return spec


def _read_frame(file: Path, source: scenes.SourceFile, info: Info, name: str, utterance: str | None) -> list[FrameSpec]:
    """Return an image of an episode, or an empty list after diagnostics in `source`."""
    own, lens = scenes.SourceFile(str(file), source.camera, source.strict), load_stage(scenes.STAGE).camera
    try:
        scene = scenes.parse_json(read_text(file), own.file)
        frame = scenes.frame_of(scene, own, name, utterance)
        if frame is not None:
            shown = None
            with suppress(OSError), open_png(read_foreign(file.with_suffix(".png"))) as picture:
                shown = picture.width, lens.lens / lens.sensor_width * max(picture.size)
            for path, problem in in_scene(scene, SIZES, info, shown):
                own.diagnostic(path, problem)
    except SpecError as error:
        own.diagnostics += error.diagnostics
        frame = None
    source.diagnostics += own.diagnostics
    return [frame] if frame is not None else []
