"""The index of read models on disk: `$DIORAMA_CACHE`, or `diorama` in the user's cache folder.

An entry is one .npz (arrays, and everything else as JSON), named by the model's path and axes and good for as long as
all files it was made of have the size and date they had; textures that Blender can't read lie beside it as PNG. It may
be deleted at any time. Where it can't be written, models are read anew in each process.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from render.geometry.shapenet.library import Library
from render.geometry.shapenet.making import VERSION
from render.geometry.shapenet.model import FileState, Model, ModelMaterial
from render.geometry.shapenet.reading import Sources

log = logging.getLogger(__name__)

_ARRAYS = ("vertices", "triangles", "uv", "slots")
_READABLE = (".png", ".jpg", ".jpeg")


def cache_folder() -> Path:
    """Where read models are kept."""
    given = os.environ.get("DIORAMA_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "diorama"


class ModelCache:
    """The entry of one model."""

    def __init__(self, path: Path, library: Library) -> None:
        self._path = path
        text = "\0".join((VERSION, str(path), str(library.root), library.up, library.front))
        self._key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._folder = cache_folder() / "models" / self._key[:2]

    @property
    def _entry(self) -> Path:
        return self._folder / f"{self._key}.npz"

    def read(self, name: str) -> Model | None:
        """The model, None if it isn't there, is damaged, or its files have changed."""
        try:
            with np.load(io.BytesIO(self._entry.read_bytes()), allow_pickle=False) as stored:
                facts = json.loads(bytes(stored["facts"]).decode())
                if facts.pop("version") != VERSION:
                    return None
                model = _model(name, self._path, facts, {key: stored[key] for key in _ARRAYS})
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever a damaged file makes of zip, numpy or JSON
            log.info("%s: can't be used, the model is read anew: %s", self._entry, error)
            return None
        textures = [Path(material.texture) for material in model.materials if material.texture]
        good = all(state.still() for state in model.files) and all(path.is_file() for path in textures)
        return model if good else None

    def write(self, model: Model) -> None:
        """Keep a model; whole or not at all."""
        facts = {item.name: getattr(model, item.name) for item in fields(model) if item.name not in _ARRAYS}
        facts.update(version=VERSION, path=str(model.path), materials=[asdict(m) for m in model.materials])
        facts["files"] = [asdict(state) for state in model.files]
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        arrays = {key: getattr(model, key) for key in _ARRAYS}
        self._put(self._entry, lambda stream: np.savez(stream, facts=text, **arrays))

    def keep_texture(self, image: Any, index: int, sources: Sources) -> str:
        """A file that Blender can read: the model's own where it can, else a PNG in the cache."""
        named = image.info.get("file_path")
        if named:
            path = sources.locate(named, "texture")
            if path is not None and path.suffix.lower() in _READABLE:
                return str(path.resolve())
        data = image.convert("RGB")
        target = self._folder / f"{self._key}-{index}.png"
        if not self._put(target, lambda stream: data.save(stream, format="PNG", compress_level=1)):
            sources.note("a texture had to be converted, and the cache can't be written; set DIORAMA_CACHE")
        return str(target)

    def _put(self, target: Path, write: Any) -> bool:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".part")
            try:
                with os.fdopen(handle, "wb") as stream:
                    write(stream)
                Path(temporary).replace(target)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            log.warning("model cache %s can't be written (%s); set DIORAMA_CACHE to a folder that can", target, error)
            return False
        return True


def _model(name: str, path: Path, facts: dict[str, Any], arrays: dict[str, Any]) -> Model:
    facts["materials"] = tuple(ModelMaterial(**{**m, "color": tuple(m["color"])}) for m in facts["materials"])
    facts["files"] = tuple(FileState(**state) for state in facts["files"])
    facts["hull"] = tuple(tuple(corner) for corner in facts["hull"])
    for key in ("lower", "upper", "color"):
        facts[key] = tuple(facts[key])
    facts["notes"] = tuple(facts["notes"])
    return Model(**{**facts, **arrays, "name": name, "path": path})
