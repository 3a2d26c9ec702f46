"""The files that `render-episode` writes: images, overlays, truth, comparisons and .blend files."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.annotations.compare import Comparison, ImageComparison, compare_records
from diorama.render.uses.draw.comparison_strip import comparison_strip, difference_picture
from diorama.render.uses.draw.overlay import overlay
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.atomic import atomic_path
from diorama.scene_specs.files.writing import report_write_errors
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.spec import EpisodeSpec


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return a comparison as text; the single line `identical` where nothing differs."""
    if comparison.identical and not comparison.changed:
        return ["identical"]
    head = ["identical"] if comparison.identical else [image.line() for image in comparison.images]
    head += [f"{name}: nothing to compare with" for name in comparison.missing]
    head += [f"{name}: is no longer made" for name in comparison.gone]
    return head + [f"changed since: {line}" for line in comparison.changed]


def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON data; an infinite PSNR is None."""
    images = [asdict(image) for image in comparison.images]
    for image in images:
        image["psnr"] = None if math.isinf(image["psnr"]) else round(image["psnr"], 3)
    facts = {"identical": comparison.identical, "images": images, "changed": list(comparison.changed)}
    return {**facts, "missing": list(comparison.missing), "gone": list(comparison.gone)}


class BlendSaver:
    """A Cycles renderer that also saves each view as `<folder>/<image>.blend`.

    Attributes:
        paths: the saved files.
    """

    def __init__(self, renderer: Any, folder: Path) -> None:
        self._renderer = renderer
        self.info: dict[str, str] = renderer.info
        self._folder = folder
        self.paths: list[Path] = []

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render a view and save its .blend file.

        Raises:
            RenderError: the renderer failed.
            UsageError: the file can't be written.
        """
        passes: Passes = self._renderer.render(scene, frame, view)
        path = self._folder / f"{frame.image_name(view)}.blend"
        # Saved in a temporary folder and renamed: the file is complete, and Blender keeps no .blend1 of an older one.
        part = self._folder / f".{os.getpid()}.part"
        try:
            with report_write_errors(str(path)):
                part.mkdir(parents=True, exist_ok=True)
                self._renderer.save_blend(part / path.name, scene, frame, view)
                (part / path.name).replace(path)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self.paths.append(path)
        return passes

    def close(self) -> None:
        """Close the wrapped renderer."""
        self._renderer.close()


class Files:
    """The files of one call, each written atomically.

    Args:
        folder: created with the first file, None if unused.

    Attributes:
        paths: paths of the written files.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.paths: list[Path] = []

    def save(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write one file anywhere.

        Args:
            path: path of the file.
            write: gets a temporary path.

        Raises:
            UsageError: the file can't be written.
        """
        with report_write_errors(str(path)), atomic_path(path, fsync=False) as part:
            write(part)
        self.paths.append(path)

    def _write(self, name: str, content: bytes) -> None:
        """Write a file of the folder."""
        assert self._folder is not None
        self.save(self._folder / name, lambda part: part.write_bytes(content))

    def _write_picture(self, name: str, picture: Image.Image) -> None:
        """Write a PNG of the folder."""
        assert self._folder is not None
        self.save(self._folder / name, lambda part: picture.save(part, format="PNG"))

    def _remove_comparison(self, record: EpisodeRecord) -> None:
        """Remove the comparison that an earlier call for this episode left, and its strips. Raises UsageError."""
        assert self._folder is not None
        try:
            # In another folder, files of these names may be the user's.
            if json.loads((self._folder / "scene.json").read_bytes())["id"] != record.scene.id:
                return
        except (OSError, ValueError, KeyError, TypeError):
            return
        strips = (f"{image.name}_{kind}.png" for image in record.images for kind in ("stored", "difference", "compare"))
        for name in ("comparison.json", *strips):
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"{self._folder / name}: can't be removed: {error.strerror or error}") from error

    def write_spec(self, spec: EpisodeSpec) -> None:
        """Write `spec.json`, the spec of the rendered episode."""
        self._write("spec.json", f"{spec.model_dump_json(indent=1, exclude_none=True)}\n".encode())

    def write_record(self, record: EpisodeRecord, stored: EpisodeRecord | None, compare_all: bool) -> Comparison | None:
        """Write images, overlays, truth and scene, and the comparison with a stored record.

        Comparisons of an earlier call for this episode are removed.

        Args:
            record: the new record.
            stored: record to compare with, None for no comparison.
            compare_all: write strips of identical images, too.
        """
        comparison = compare_records(stored, record) if stored is not None else None
        before = {image.name: image for image in stored.images} if stored is not None else {}
        figures = {image.name: image for image in comparison.images} if comparison is not None else {}
        self._remove_comparison(record)
        for image in record.images:
            color = image.color()
            self._write(f"{image.name}.png", image.png)
            self._write_picture(f"{image.name}_overlay.png", overlay(color, image.annotation))
            self._write(f"{image.name}.json", json.dumps(image.annotation.model_dump(mode="json"), indent=1).encode())
            figure = figures.get(image.name)
            if figure is not None and (compare_all or not figure.identical):
                self._write_strip(before[image.name], color, figure)
        self._write("scene.json", f"{record.scene.to_json()}\n".encode())
        if comparison is not None:
            self._write("comparison.json", f"{json.dumps(comparison_facts(comparison), indent=1)}\n".encode())
        return comparison

    def _write_strip(self, old: ImageRecord, color: NDArray[np.uint8], figures: ImageComparison) -> None:
        """Write `<image>_stored.png`, `<image>_difference.png`, and `<image>_compare.png` with all three images."""
        was = old.color()
        self._write(f"{old.name}_stored.png", old.png)
        self._write_picture(f"{old.name}_difference.png", difference_picture(was, color))
        self._write_picture(f"{old.name}_compare.png", comparison_strip(was, color, figures.pixel_errors()))


def check_writable(path: Path, folder: bool = False) -> None:
    """Check, before a long render, that a file can be written.

    Creates nothing; errors that only a write shows, such as a full disk, are reported then. A pipe or a device needs no
    writable folder.

    Args:
        path: path of the file, or of a folder of files.
        folder: whether it is a folder.

    Raises:
        UsageError: it can't be written.
    """
    with report_write_errors(str(path)):
        if not folder and (path.is_fifo() or path.is_char_device()):
            return
        if path.exists() and path.is_dir() != folder:
            raise UsageError(f"{path}: is {'a file; name a folder' if folder else 'a folder; name a file'}")
        existing = next(level for level in (path, *path.parents) if level.exists() and (level != path or folder))
        problem = "" if existing.is_dir() else "is a file, nothing can be in it"
        problem = problem or ("" if os.access(existing, os.W_OK | os.X_OK) else "is not writable")
    if problem:
        raise UsageError(f"{path}: can't be written: {existing} {problem}")
