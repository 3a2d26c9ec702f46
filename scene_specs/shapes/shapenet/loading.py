"""Load models by name: from this process's memory, from the cache on disk, or from their files.

The cache folder is `$DIORAMA_CACHE`, or `diorama` in the user's cache folder. An entry is one .npz (arrays, and all
other fields as JSON), named by the model's path and axes, and valid while all files that it was made from keep their
state and contents. Textures that Blender can't read are stored beside it as PNG. The cache may be deleted at any time;
where it can't be written, or others may write, each process reads the models again.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from pydantic import TypeAdapter

from diorama.scene_specs.files.atomic import atomic_path
from diorama.scene_specs.files.foreign import is_of_others
from diorama.scene_specs.shapes.shapenet.library import Library, source_of
from diorama.scene_specs.shapes.shapenet.model import VERSION, Model, make_model
from diorama.scene_specs.shapes.shapenet.sources import Sources

log = logging.getLogger(__name__)

# Models kept in memory, and their size in bytes; a model of 100,000 faces takes about 5 MB.
_HELD, _HELD_BYTES = 64, 256 << 20
_held: OrderedDict[tuple[str, Library], Model] = OrderedDict()
# Cache folders that a warning has named.
_warned: set[Path] = set()
_ARRAYS = ("vertices", "triangles", "uv", "slots")
_MODEL = TypeAdapter(Model)
# Texture formats that Blender reads from the model's own file.
_READABLE = (".png", ".jpg", ".jpeg")


def canonical(shape: str) -> str:
    """Name in a Scene, such as `shapenet:<folder>/<id>`, of a model in a spec.

    Raises:
        AssetError: a model, mesh, material or file of assets is missing or damaged.
        UsageError: an argument, option or name is wrong.
    """
    return source_of(shape).find(shape)[0]


def load_model(shape: str, source: Library | None = None) -> Model:
    """Return the model that a spec names.

    Read again only when its files have changed. Raises AssetError naming the file that is missing or broken.

    Args:
        source: default the library in use, or the asset root.
    """
    source = source or source_of(shape)
    key, model = (shape, source), _held.get((shape, source))
    if model is None or not model.is_current():
        # The same model may be known by its canonical name.
        name, path = source.find(shape)
        key, model = (name, source), _held.get((name, source))
    if model is None or not model.is_current():
        model = _held[key] = _read_model(name, path, source)
    _held.move_to_end(key)
    while len(_held) > _HELD or (len(_held) > 1 and sum(map(_bytes_of_model, _held.values())) > _HELD_BYTES):
        _held.popitem(last=False)
    return model


def _bytes_of_model(model: Model) -> int:
    return sum(getattr(model, key).nbytes for key in _ARRAYS)


def _read_model(name: str, path: Path, source: Library) -> Model:
    """Return the model from the cache or, where that is missing or out of date, from its files."""
    cache = ModelCache(path, source)
    model = cache.read(name)
    if model is None:
        sources = Sources(source.root, path)
        model = make_model(name, sources, source, lambda image, index: cache.store_texture(image, index, sources))
        cache.write(model)
    return model


def cache_folder() -> Path:
    """Return the folder of the cache."""
    folder = os.environ.get("DIORAMA_CACHE")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "diorama"


class ModelCache:
    """The cache entry of one model."""

    def __init__(self, path: Path, library: Library) -> None:
        self._path = path
        # "2": entries know every place where a missing file was looked for. "3": glTF's defaults and opacity.
        # "4": states and digests of files.
        text = "\0".join((VERSION, "4", str(path), str(library.root), library.up, library.front))
        text += "\0own" * library.own
        self._key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._folder = cache_folder() / "models" / self._key[:2]
        self._entry = self._folder / f"{self._key}.npz"

    def _is_ours(self, *files: Path) -> bool:
        """Whether nobody else can have written files of the cache, as far as they exist; warns once if one can."""
        top = cache_folder()
        others = [*filter(is_of_others, (top, top / "models", self._folder, *files))]
        if others and top not in _warned:
            _warned.add(top)
            log.warning("model cache %s isn't used: %s belongs to another user, or all may write it", top, others[0])
        return not others

    def read(self, name: str) -> Model | None:
        """Return the model; None if the entry is missing, damaged, out of date or another user's."""
        if not self._is_ours(self._entry):
            return None
        try:
            with np.load(io.BytesIO(self._entry.read_bytes()), allow_pickle=False) as stored:
                facts = json.loads(bytes(stored["facts"]).decode())
                if facts.pop("version") != VERSION:
                    return None
                arrays = {key: stored[key] for key in _ARRAYS}
                model = _MODEL.validate_python({**facts, **arrays, "name": name, "path": self._path})
            # Dates can be set, and a disk can keep a file's date and lose its contents.
            if not model.is_current() or not all(file.has_contents() for file in model.files):
                return None
        except FileNotFoundError:
            return None
        except Exception as error:  # zip, numpy and JSON raise many types for a damaged file
            log.info("%s: damaged; reading the model's files instead: %s", self._entry, error)
            return None
        textures = [Path(material.texture) for material in model.materials if material.texture]
        cached = [path for path in textures if path.is_relative_to(self._folder)]
        return model if all(path.is_file() for path in textures) and self._is_ours(*cached) else None

    def write(self, model: Model) -> None:
        """Write the entry of a model atomically; a folder that can't be written is logged."""
        facts = {**asdict(model), "version": VERSION, "path": str(model.path)}
        arrays = {key: facts.pop(key) for key in _ARRAYS}
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        self._write_cached(self._entry, lambda stream: np.savez(stream, facts=text, **arrays))

    def store_texture(self, image: Any, index: int, sources: Sources) -> str:
        """Path of a texture that Blender can read: the model's own file, or else a PNG in the cache."""
        named = image.info.get("file_path")
        if named:
            path = sources.locate(named, "texture")
            if path is not None and path.suffix.lower() in _READABLE:
                return str(path.resolve())
        # Opened again, so that at most one texture is held decoded.
        data = sources.decode_texture(image.fp)
        target = self._folder / f"{self._key}-{index}.png"
        if not self._write_cached(target, lambda stream: data.save(stream, format="PNG", compress_level=1)):
            sources.note("a texture had to be converted, and the cache can't be written; set DIORAMA_CACHE")
        return str(target)

    def _write_cached(self, target: Path, write: Callable[[IO[bytes]], object]) -> bool:
        """Write a file atomically; False, with a warning, where it can't be written or others may write."""
        if not self._is_ours():
            return False
        try:
            with atomic_path(target, fsync=False) as part, part.open("wb") as stream:
                write(stream)
        except OSError as error:
            log.warning("model cache %s can't be written (%s); set DIORAMA_CACHE to a writable folder", target, error)
            return False
        return True
