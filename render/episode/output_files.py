"""One episode again, from its stored Scene or from a spec, into files for looking and debugging."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from render.annotations.compare import Comparison, ImageComparison, compare_records
from render.gallery.comparison_strip import comparison_strip, difference_picture
from render.gallery.overlay import overlay
from render.model.errors import UsageError
from render.model.passes import Passes
from render.model.png import decode_png
from render.model.profiles import episode_settings
from render.model.record import EpisodeRecord, ImageRecord
from render.model.scene import Scene, SceneFrame, SceneView
from scene_specs.language.spec import EpisodeSpec


def changed_settings(scene: Scene, profile: str | None, size: tuple[int, int] | None) -> Scene:
    """The same Scene, sampled otherwise: nothing in it moves. Raises UsageError for an unknown profile."""
    settings = episode_settings(scene, profile, size)
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


def only_images(record: EpisodeRecord, names: Sequence[str]) -> EpisodeRecord:
    """The record with the images and frames of these names only, of those that it has; all if none is named."""
    if not names:
        return record
    frames = tuple(frame for frame in record.scene.frames if frame.name in names)
    images = [image for image in record.images if image.frame in names]
    return record.model_copy(update={"images": images, "scene": record.scene.model_copy(update={"frames": frames})})


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
        # In a folder of its own: whole or not there, and Blender leaves no .blend1 of one that was there before.
        part = self._folder / f".{os.getpid()}.part"
        try:
            part.mkdir(parents=True, exist_ok=True)
            self._renderer.save_blend(part / path.name, frame)
            (part / path.name).replace(path)
        except OSError as error:
            raise UsageError(f"{path}: can't be written: {error.strerror or error}") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self.paths.append(path)
        return passes

    def close(self) -> None:
        """As the renderer's."""
        self._renderer.close()


class Files:
    """What a call writes, each file under a temporary name first. folder: made at the first file; None for none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.paths: list[Path] = []

    def save(self, path: Path, write: Callable[[Path], object]) -> None:
        """One file anywhere. Raises UsageError where it can't be written.

        A pipe or a device, such as /dev/stdout, gets what was written: renamed over, it would be gone.
        """
        part: Path | None = None
        try:
            special = path.exists() and not path.is_file()
            folder = Path(tempfile.gettempdir()) if special else path.parent
            part = folder / f".{path.name}.{os.getpid()}.part"
            folder.mkdir(parents=True, exist_ok=True)
            write(part)
            if special:
                with path.open("wb") as stream:
                    stream.write(part.read_bytes())
            else:
                part.replace(path)
        except OSError as error:
            raise UsageError(f"{path}: can't be written: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                if part is not None:
                    part.unlink(missing_ok=True)
        self.paths.append(path)

    def _keep(self, name: str, write: Callable[[Path], object]) -> None:
        assert self._folder is not None
        self.save(self._folder / name, write)

    def _keep_picture(self, name: str, picture: Image.Image) -> None:
        self._keep(name, lambda part: picture.save(part, format="PNG"))

    def write_spec(self, spec: EpisodeSpec) -> None:
        """`spec.json`: the spec that was rendered."""
        text = spec.model_dump_json(indent=1, exclude_none=True) + "\n"
        self._keep("spec.json", lambda part: part.write_text(text, encoding="utf-8"))

    def write_record(self, record: EpisodeRecord, stored: EpisodeRecord | None, all_beside: bool) -> Comparison | None:
        """Pictures, overlays, scene and truth; with `stored` the figures, and what differs beside each other.

        all_beside: also pictures that don't differ.
        """
        comparison = compare_records(stored, record) if stored is not None else None
        before = {image.name: image for image in stored.images} if stored is not None else {}
        figures = {image.name: image for image in comparison.images} if comparison is not None else {}
        for image in record.images:
            color = decode_png(image.png)
            self._keep(f"{image.name}.png", partial(Path.write_bytes, data=image.png))
            self._keep_picture(f"{image.name}_overlay.png", overlay(color, image.annotation))
            truth = json.dumps(image.annotation.model_dump(mode="json"), indent=1)
            self._keep(f"{image.name}.json", partial(Path.write_text, data=truth, encoding="utf-8"))
            found = figures.get(image.name)
            if found is not None and (all_beside or not found.identical):
                self._beside(before[image.name], color, found)
        scene = record.scene.to_json() + "\n"
        self._keep("scene.json", lambda part: part.write_text(scene, encoding="utf-8"))
        if comparison is not None:
            text = json.dumps(comparison.as_dict(), indent=1) + "\n"
            self._keep("comparison.json", lambda part: part.write_text(text, encoding="utf-8"))
        return comparison

    def _beside(self, old: ImageRecord, color: NDArray[np.uint8], figures: ImageComparison) -> None:
        """`<image>_stored.png`, `<image>_difference.png`, and `<image>_compare.png` with all three."""
        was = decode_png(old.png)
        self._keep(f"{old.name}_stored.png", partial(Path.write_bytes, data=old.png))
        self._keep_picture(f"{old.name}_difference.png", difference_picture(was, color))
        self._keep_picture(f"{old.name}_compare.png", comparison_strip(was, color, figures.pixels()))


def check_writable(path: Path, folder: bool = False) -> None:
    """Whether a file, or a folder of files, can be at a path: rendering may take long, so it is asked before.

    Raises UsageError. Makes nothing; what only shows when writing (a full disk) is told then. A pipe or a device is
    written as it is, whoever may write beside it.
    """
    try:
        if not folder and (path.is_fifo() or path.is_char_device()):
            return
        if path.exists() and path.is_dir() != folder:
            raise UsageError(f"{path}: is {'a file; name a folder' if folder else 'a folder; name a file'}")
        there = next(one for one in (path, *path.parents) if one.exists() and (one != path or folder))
        problem = "" if there.is_dir() else "is a file, nothing can be in it"
        problem = problem or ("" if os.access(there, os.W_OK | os.X_OK) else "may not be written")
    except OSError as error:
        raise UsageError(f"{path}: can't be written: {error.strerror or error}") from error
    if problem:
        raise UsageError(f"{path}: can't be written: {there} {problem}")


def default_folder(episode_id: str) -> Path:
    """`./<id>`, with its slashes made flat."""
    return Path(episode_id.replace("/", "_"))
