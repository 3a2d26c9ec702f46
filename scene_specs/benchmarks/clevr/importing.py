"""Import CLEVR's `CLEVR_<split>_scenes.json`, or a single scene of it: one episode per scene."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from diorama.scene_specs.errors import Diagnostic, SpecError, spec_error
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.files.strict_json import NotStrictJson, decode, skip_space
from diorama.scene_specs.files.strict_json import Path as JsonPath
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.importing import scenes

# The label of CLEVR-Hans is `class_id`.
_KEPT_KEYS = ("image_index", "image_filename", "class_id")
# The rest follows from what is read.
_SCENE_KEYS = {*_KEPT_KEYS, "objects", "split", "camera", "directions", "relationships", "episode_id", "image_name"}
_OBJECT_KEYS = {
    "name", "shape", "color", "material", "size", "3d_coords", "rotation", "pixel_coords",
    "bbox", "amodal_bbox", "mask", "visible_pixels",
}  # fmt: skip

log = logging.getLogger(__name__)


def sources(task: Mapping[str, Any]) -> list[str]:
    """See diorama.scene_specs.tasks.benchmark; only generated episodes are numbered."""
    return [] if "index" in task else [scenes.published_by("clevr")]


def import_published(
    path: Path, camera: scenes.CameraMode = "recover", strict: bool = False, relations: scenes.RelationsMode = "image"
) -> Iterator[EpisodeSpec]:
    """Yield the scenes of a file as episodes, in order.

    Args:
        camera: "recover" it from pixel_coords, or use the stage's "nominal" one.
        strict: a camera that cannot be recovered is a diagnostic instead of a warning. Ids: `clevr/<split>/<image
            name>`, else `clevr/<file name>`.
        relations: "image": what is left in the image is left of an object; "file": by the file's `directions`, which
            CLEVR computed before it moved the camera.

    Raises:
        SpecError: after the last valid scene, with all diagnostics of the file.
    """
    diagnostics: list[Diagnostic] = []
    unread: set[str] = set()
    for scene, at in read_published_scenes(path):
        source = scenes.SourceFile(str(path), camera, strict, relations, at)
        frame = scenes.frame_of(scene, source)
        if frame is None:
            diagnostics += source.diagnostics
            continue
        unread.update(scene.keys() - _SCENE_KEYS, *(entry.keys() - _OBJECT_KEYS for entry in scene["objects"]))
        episode = _empty_episode(scene, path, not at)
        size = {} if source.size is None else {"image_size": list(source.size)}
        yield episode.model_copy(update={"frames": (frame,), "task": {**(episode.task or {}), **size}})
    if unread:
        log.warning("%s: keys that are not read: %s", path, ", ".join(sorted(unread)))
    if diagnostics:
        raise SpecError(diagnostics)


def read_published_scenes(path: Path) -> Iterator[tuple[Any, JsonPath]]:
    """Yield each scene of a file, unchanged, with its path in the file. Raises SpecError.

    Scenes are parsed one by one: CLEVR's training scenes take 700 MB as Python objects.
    """
    text, file = read_text(path), str(path)
    try:
        start = _start_of_scenes(text)
        if start is None:
            yield _single_scene(text, file), ()
            return
        at = skip_space(text, start + 1)
        for index in count():
            if text.startswith("]", at):
                break
            value, end = decode(text, at)
            yield value, ("scenes", index)
            at = skip_space(text, end)
            if text.startswith(",", at):
                at = skip_space(text, at + 1)
            elif not text.startswith("]", at):
                raise NotStrictJson("no comma")
        at = skip_space(text, at + 1)
        while text.startswith(",", at):
            _, at = _parse_key(text, skip_space(text, at + 1))
            at = skip_space(text, decode(text, at)[1])
        if not text.startswith("}", at) or skip_space(text, at + 1) != len(text):
            raise NotStrictJson("no end")
    except NotStrictJson:
        # Only the slow reader knows the line of a syntax error.
        scenes.parse_json(text, file)
        raise spec_error("not strict JSON: duplicate keys, huge numbers or deep nesting", file=file) from None


def _start_of_scenes(text: str) -> int | None:
    """Return the index of the list under the top-level key `scenes`, None if there is none. Raises NotStrictJson."""
    at = skip_space(text, 0)
    if not text.startswith("{", at):
        return None
    at = skip_space(text, at + 1)
    while text.startswith('"', at):
        key, at = _parse_key(text, at)
        if key == "scenes" and text.startswith("[", at):
            return at
        at = skip_space(text, decode(text, at)[1])
        if text.startswith(",", at):
            at = skip_space(text, at + 1)
    return None


def _parse_key(text: str, at: int) -> tuple[Any, int]:
    """Return the key that begins at an index, and the index of its value. Raises NotStrictJson."""
    if not text.startswith('"', at):
        raise NotStrictJson("no key")
    key, at = decode(text, at)
    at = skip_space(text, at)
    if not text.startswith(":", at):
        raise NotStrictJson("no colon")
    return key, skip_space(text, at + 1)


def _single_scene(text: str, file: str) -> Any:
    match scenes.parse_json(text, file):
        case {"objects": _} as scene:
            return scene
    keys = "`scenes`, or `objects` of a single scene"
    raise spec_error(f"not a CLEVR scene file; expected an object with {keys}", file=file)


def _empty_episode(scene: dict[str, Any], path: Path, alone: bool) -> EpisodeSpec:
    """Return the episode of a scene, with an empty frame in place of the scene's."""
    stem, split = path.stem, scene.get("split")
    match scene:
        case {"image_filename": str(image)}:
            stem = image.rsplit(".", 1)[0] if image else stem
        case {"image_index": int(index)} if not alone:
            stem += f"-{index:06d}"
    split = scenes.segment(split) if isinstance(split, str) and split else None
    parts = ["clevr", *([split] if split else []), scenes.segment(stem)]
    task: dict[str, Any] = {"benchmark": "clevr", "name": "clevr"}
    task |= {key: scene[key] for key in _KEPT_KEYS if key in scene}
    spec = {"version": 1, "id": "/".join(parts), "split": split, "frames": [{}], "task": task}
    return EpisodeSpec.model_validate(spec)
