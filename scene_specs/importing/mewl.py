"""MEWL's published files as specs.

A folder below which there are `info.json` files (`<split>/<task>/<episode number>/`) gives one episode for each, with
seven frames and the benchmark's truth; a single scene file gives an episode of one frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scene_specs.importing.clevr import segment
from scene_specs.importing.scenes import CameraMode, Foreign, frame_of, parse
from scene_specs.importing.text import read_text
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.spec import EpisodeSpec, FrameSpec

INFO = "info.json"
QUESTION = "question"


def import_mewl(path: Path, camera: CameraMode = "recover", strict: bool = False) -> Iterator[EpisodeSpec]:
    """The episodes of a folder, or the one of a scene file. See `import_clevr` for camera and strict.

    Ids: `mewl/<split>/<task>/<episode number>` after the folders, or `mewl/<name of the file>`.
    Raises SpecError, after the last good episode, with all faults.
    """
    if not path.is_dir():
        yield _single(path, camera, strict)
        return
    infos = sorted(path.rglob(INFO))
    if not infos:
        problem = f"no {INFO} in this folder or below; expected <split>/<task>/<episode>/{INFO}"
        raise SpecError([Diagnostic(str(path), 0, "", "", problem)])
    diagnostics: list[Diagnostic] = []
    for info in infos:
        try:
            episode = _episode(info.parent, camera, strict)
        except SpecError as error:
            diagnostics += error.diagnostics
            continue
        yield episode
    if diagnostics:
        raise SpecError(diagnostics)


def _single(path: Path, camera: CameraMode, strict: bool) -> EpisodeSpec:
    source = Foreign(str(path), 0, camera, strict)
    frame = frame_of(parse(read_text(path), str(path)), source)
    source.done()
    assert frame is not None
    task = {"benchmark": "mewl", "name": "scene"}
    return EpisodeSpec(version=1, id=f"mewl/{segment(path.stem)}", frames=(frame,), task=task)


def _episode(folder: Path, camera: CameraMode, strict: bool) -> EpisodeSpec:
    file = str(folder / INFO)
    info = parse(read_text(folder / INFO), file)
    source = Foreign(file)
    panels = info.get("context_panels") if isinstance(info, dict) else None
    question = info.get("question") if isinstance(info, dict) else None
    if not isinstance(panels, list) or not isinstance(question, dict):
        source.diagnostic((), "not MEWL's info.json; expected an object with `context_panels` and `question`")
        source.done()
    assert isinstance(panels, list)
    assert isinstance(question, dict)
    frames: list[FrameSpec] = []
    for index, panel in enumerate(panels):
        name = panel.get("name") if isinstance(panel, dict) else None
        if not isinstance(name, str) or not name or "/" in name or "\\" in name or name.startswith("."):
            problem = f"found {shown_name(name)}; allowed: the name of a file beside {INFO}"
            source.diagnostic(("context_panels", index, "name"), problem)
            continue
        frames += _frame(folder / f"{name}.json", source, camera, strict, f"context-{index}", said(name))
    frames += _frame(folder / f"{QUESTION}.json", source, camera, strict, QUESTION, None)
    source.done()
    split, task = folder.parent.parent.name, folder.parent.name
    truth: dict[str, Any] = {"benchmark": "mewl", "name": task}
    truth |= {"options": question.get("choices"), "answer": question.get("answer")}
    truth |= {"lexicon": info.get("word-concept"), "info": info}
    return EpisodeSpec(
        version=1,
        id="/".join(["mewl", segment(split), segment(task), segment(folder.name)]),
        split=segment(split),
        frames=tuple(frames),
        task=truth,
    )


def _frame(
    file: Path, source: Foreign, camera: CameraMode, strict: bool, name: str, utterance: str | None
) -> list[FrameSpec]:
    """One image of an episode; an empty list, and diagnostics in `source`, if its file is wrong."""
    own = Foreign(str(file), 0, camera, strict)
    try:
        frame = frame_of(parse(read_text(file), str(file)), own, name, utterance)
    except SpecError as error:
        own.diagnostics += error.diagnostics
        frame = None
    source.diagnostics += own.diagnostics
    return [frame] if frame is not None else []


def said(name: str) -> str:
    """The utterance in a file's name: without the ` #<k>` that keeps equal ones apart."""
    return re.sub(r" #\d+$", "", name)


def shown_name(name: object) -> str:
    """A name for a message."""
    return repr(name)[:60]
