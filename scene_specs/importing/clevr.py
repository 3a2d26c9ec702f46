"""CLEVR's `CLEVR_<split>_scenes.json`, or a single scene of it, as specs: one episode a scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scene_specs.errors import Fault, SpecError
from scene_specs.importing.scenes import CameraMode, Foreign, frame_of, parse
from scene_specs.importing.text import read_text
from scene_specs.spec import EpisodeSpec


def import_clevr(path: Path, camera: CameraMode = "recover", strict: bool = False) -> Iterator[EpisodeSpec]:
    """The scenes of a file, in its order.

    camera: "recover" from pixel_coords, or the stage's "nominal" one. strict: a camera that can't be recovered is a
    fault instead of a warning. Ids: `clevr/<split>/<name of the image>`, else `clevr/<name of the file>`.
    Raises SpecError, after the last good scene, with all faults of the file.
    """
    value = parse(read_text(path), str(path))
    if isinstance(value, dict) and isinstance(value.get("scenes"), list):
        scenes: list[tuple[Any, tuple[str | int, ...]]] = [(s, ("scenes", k)) for k, s in enumerate(value["scenes"])]
    elif isinstance(value, dict) and "objects" in value:
        scenes = [(value, ())]
    else:
        keys = "`scenes`, or `objects` of a single scene"
        raise SpecError([Fault(str(path), 0, "", "", f"not a CLEVR scene file; expected an object with {keys}")])
    faults: list[Fault] = []
    for scene, at in scenes:
        source = Foreign(str(path), 0, camera, strict, at)
        frame = frame_of(scene, source)
        if frame is None:
            faults += source.faults
            continue
        yield _episode(scene, path, len(scenes) == 1).model_copy(update={"frames": (frame,)})
    if faults:
        raise SpecError(faults)


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
