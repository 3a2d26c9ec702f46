"""One episode again, from its stored Scene or from a spec, into files for looking and debugging."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from render.annotations.encode import decode_png
from render.compare import Comparison, compare_records
from render.errors import UsageError
from render.gallery.overlay import overlay
from render.passes import Passes
from render.profiles import changed
from render.record import EpisodeRecord, ImageRecord
from render.scene import Scene, SceneFrame, SceneView

# The difference picture shows one level of 255 as this many.
_AMPLIFY = 16


def changed_settings(scene: Scene, profile: str | None, size: tuple[int, int] | None) -> Scene:
    """The same Scene, sampled otherwise: nothing in it moves. Raises UsageError for an unknown profile."""
    settings = changed(scene.settings, profile, size)
    return scene if settings == scene.settings else scene.model_copy(update={"settings": settings})


def only_frames(scene: Scene, names: Sequence[str]) -> Scene:
    """The Scene with these frames only; all if none is named. Raises UsageError for a frame that is not there."""
    if not names:
        return scene
    there = [frame.name for frame in scene.frames]
    wrong = [name for name in names if name not in there]
    if wrong:
        raise UsageError(f"episode {scene.id}: no frame {wrong[0]!r}; there are: {', '.join(there)}")
    return scene.model_copy(update={"frames": tuple(frame for frame in scene.frames if frame.name in names)})


class BlendSaver:
    """A renderer that also saves each view as `<folder>/<image>.blend`, in Blender's own terms."""

    def __init__(self, renderer: Any, folder: Path) -> None:
        self._renderer = renderer
        self._folder = folder
        self.paths: list[Path] = []

    @property
    def info(self) -> dict[str, str]:
        """As the renderer's."""
        info: dict[str, str] = self._renderer.info
        return info

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """As the renderer's, and saves."""
        passes: Passes = self._renderer.render(scene, frame, view)
        path = self._folder / f"{frame.image_name(view)}.blend"
        self._renderer.save_blend(path, frame)
        self.paths.append(path)
        return passes

    def close(self) -> None:
        """As the renderer's."""
        self._renderer.close()


def write_files(
    folder: Path, record: EpisodeRecord, stored: EpisodeRecord | None
) -> tuple[list[Path], Comparison | None]:
    """Pictures, overlays, scene and truth of a record; beside them what is stored, the difference and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []

    def keep(name: str, write: Callable[[Path], object]) -> None:
        path = folder / name
        write(path)
        paths.append(path)

    comparison = compare_records(stored, record) if stored is not None else None
    before = {image.name: image for image in stored.images} if stored is not None else {}
    differing = {image.name for image in comparison.images if not image.identical} if comparison is not None else set()
    for image in record.images:
        color = decode_png(image.png)
        keep(f"{image.name}.png", lambda path, data=image.png: path.write_bytes(data))  # type: ignore[misc]
        drawn = overlay(color, image.annotation)
        keep(f"{image.name}_overlay.png", drawn.save)
        truth = json.dumps(image.annotation.model_dump(mode="json"), indent=1)
        keep(f"{image.name}.json", lambda path, text=truth: path.write_text(text))  # type: ignore[misc]
        old = before.get(image.name)
        if old is not None and image.name in differing:
            keep(f"{image.name}_stored.png", lambda path, data=old.png: path.write_bytes(data))  # type: ignore[misc]
            keep(f"{image.name}_difference.png", _difference(old, image).save)
    keep("scene.json", lambda path: path.write_text(record.scene.to_json() + "\n"))
    if comparison is not None:
        keep("comparison.json", lambda path: path.write_text(json.dumps(comparison.as_dict(), indent=1) + "\n"))
    return paths, comparison


def _difference(old: ImageRecord, new: ImageRecord) -> Image.Image:
    error = np.abs(decode_png(old.png).astype(np.int16) - decode_png(new.png)) * _AMPLIFY
    return Image.fromarray(np.clip(error, 0, 255).astype(np.uint8))


def default_folder(episode_id: str) -> Path:
    """`./<id>`, with its slashes made flat."""
    return Path(episode_id.replace("/", "_"))
