"""CLEVR's `CLEVR_<split>_scenes.json`, or a single scene of it, as specs: one episode a scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from scene_specs.importing.scenes import CameraMode, Foreign, frame_of, parse
from scene_specs.importing.text import read_text
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.strict_json import NotStrictJson, decode, skip_space
from scene_specs.language.strict_json import Path as JsonPath


def import_clevr(path: Path, camera: CameraMode = "recover", strict: bool = False) -> Iterator[EpisodeSpec]:
    """The scenes of a file, in its order.

    camera: "recover" from pixel_coords, or the stage's "nominal" one. strict: a camera that can't be recovered is a
    diagnostic instead of a warning. Ids: `clevr/<split>/<name of the image>`, else `clevr/<name of the file>`.
    Raises SpecError, after the last good scene, with all diagnostics of the file.
    """
    diagnostics: list[Diagnostic] = []
    for scene, at in _scenes(read_text(path), str(path)):
        source = Foreign(str(path), 0, camera, strict, at)
        frame = frame_of(scene, source)
        if frame is None:
            diagnostics += source.diagnostics
            continue
        yield _episode(scene, path, not at).model_copy(update={"frames": (frame,)})
    if diagnostics:
        raise SpecError(diagnostics)


def published_scenes(path: Path) -> Iterator[tuple[Any, JsonPath]]:
    """Each scene of a file as it stands there, and its path in it, one by one. Raises SpecError."""
    yield from _scenes(read_text(path), str(path))


def _scenes(text: str, file: str) -> Iterator[tuple[Any, JsonPath]]:
    """Each scene and its path, parsed one by one: CLEVR's training scenes are 700 MB once they are objects."""
    try:
        start = _start_of_scenes(text)
        if start is None:
            yield _alone(text, file), ()
            return
        at = skip_space(text, start + 1)
        for index in count():
            if text.startswith("]", at):
                return
            value, end = decode(text, at)
            yield value, ("scenes", index)
            at = skip_space(text, end)
            if text.startswith(",", at):
                at = skip_space(text, at + 1)
            elif not text.startswith("]", at):
                raise NotStrictJson("no comma")
    except NotStrictJson:
        # The slow way knows where the diagnostic is.
        parse(text, file)
        raise SpecError(
            [Diagnostic(file, 0, "", "", "not strict JSON: duplicate keys, huge numbers or deep nesting")]
        ) from None


def _start_of_scenes(text: str) -> int | None:
    """Index of the list under the top-level key `scenes`, None if there is no such list. Raises NotStrictJson."""
    at = skip_space(text, 0)
    if not text.startswith("{", at):
        return None
    at = skip_space(text, at + 1)
    while text.startswith('"', at):
        key, at = decode(text, at)
        at = skip_space(text, at)
        if not text.startswith(":", at):
            raise NotStrictJson("no colon")
        at = skip_space(text, at + 1)
        if key == "scenes" and text.startswith("[", at):
            return at
        at = skip_space(text, decode(text, at)[1])
        if text.startswith(",", at):
            at = skip_space(text, at + 1)
    return None


def _alone(text: str, file: str) -> Any:
    value = parse(text, file)
    if isinstance(value, dict) and "objects" in value:
        return value
    keys = "`scenes`, or `objects` of a single scene"
    raise SpecError([Diagnostic(file, 0, "", "", f"not a CLEVR scene file; expected an object with {keys}")])


def _episode(scene: dict[str, Any], path: Path, alone: bool) -> EpisodeSpec:
    """The episode around a scene; its frame comes later."""
    index = scene.get("image_index")
    image = scene.get("image_filename")
    stem = image.rsplit(".", 1)[0] if isinstance(image, str) and image else path.stem
    if not isinstance(image, str) and not alone:
        stem += f"-{index:06d}" if isinstance(index, int) else ""
    split = scene.get("split") if isinstance(scene.get("split"), str) else None
    split = segment(split) if split else None
    parts = ["clevr", *([split] if split else []), segment(stem)]
    task: dict[str, Any] = {"benchmark": "clevr", "name": "clevr"}
    task |= {key: scene[key] for key in ("image_index", "image_filename") if key in scene}
    return EpisodeSpec.model_validate(
        {"version": 1, "id": "/".join(parts), "split": split, "frames": [{}], "task": task}
    )


def segment(text: str) -> str:
    """A text as one segment of an episode id."""
    plain = re.sub(r"[^A-Za-z0-9_.+-]+", "-", text)[:50].lstrip(".+-")
    return plain or "scene"
