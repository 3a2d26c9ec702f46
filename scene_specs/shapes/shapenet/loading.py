"""Load models by name: from this process's memory, from the cache on disk, or from their files by Blender.

The cache folder is `$DIORAMA_CACHE`, or `diorama` in the user's cache folder. An entry is one .npz (arrays, and all
other fields as JSON) and one .blend (the same mesh with its materials and packed images), named by the model's path and
axes and by Blender's version, and valid while all files that it was made from keep their state and contents. The cache
may be deleted at any time; where it can't be written, or others may write, each process reads the models again.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import logging
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from diorama.scene_specs.errors import AssetError, UsageError
from diorama.scene_specs.files.foreign import is_of_others
from diorama.scene_specs.language.model_names import PREFIX
from diorama.scene_specs.shapes.shapenet.library import Library, packaged_library, source_of
from diorama.scene_specs.shapes.shapenet.model import VERSION, Model

log = logging.getLogger(__name__)

# Models kept in memory, and their size in bytes; a model of 100,000 faces takes about 5 MB.
_HELD, _HELD_BYTES = 64, 256 << 20
_held: OrderedDict[tuple[str, Library], Model] = OrderedDict()
# Cache folders that a warning has named.
_warned: set[Path] = set()
# Stored triangles of a library, and what their coordinates are multiplied by.
TRIANGLES, DECIMALS = "triangles.npz", 1e7
ARRAYS = ("vertices", "triangles", "uv", "slots")
_MODEL = TypeAdapter(Model)
# The program that reads models by Blender.
_READER = "diorama.render.ingest"
# Seconds until it is given up; it has a limit of its own for a model.
_WAIT = 120


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
        cache = ModelCache(path, source)
        model = _held[key] = cache.read(name) or cache.make(name)
    _held.move_to_end(key)
    while len(_held) > _HELD or (len(_held) > 1 and sum(map(_bytes_of_model, _held.values())) > _HELD_BYTES):
        _held.popitem(last=False)
    return model


def _bytes_of_model(model: Model) -> int:
    return sum(getattr(model, key).nbytes for key in ARRAYS)


@dataclass(frozen=True)
class Reading:
    """What a process with Blender shall read.

    Attributes:
        path: the model's file, resolved.
        root: resolved folder of all files that it may read.
        up: axis of the file, such as "+y".
        front: axis of the model's front.
        own: whether it is a user's own file, whose normals count.
        part: name of a collection or object; "" for all of the file.
        folder: for `model.npz` and `model.blend`.
    """

    path: Path
    root: Path
    up: str
    front: str
    own: bool
    part: str
    folder: Path


class ReadingProcess:
    """The process with Blender that reads models for this one, started by the first of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._stack = ExitStack()
        self._lock = threading.Lock()

    def read(self, reading: Reading) -> None:
        """Fill the folder of a reading.

        Raises:
            AssetError: the model is broken.
            UsageError: Blender, or the package that reads models with it, is missing.
        """
        if find_spec(_READER) is None:
            missing = f"the package {_READER}, which reads models, is not installed"
            raise UsageError(f"model {reading.path} was not read before, and {missing}")
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            with suppress(OSError):
                process.stdin.write(f"{json.dumps(vars(reading), default=str)}\n")
                process.stdin.flush()
            if select.select([process.stdout], [], [], _WAIT)[0]:
                answer = json.loads(process.stdout.readline() or '{"error": "the process that reads it was killed"}')
            else:
                answer = {"error": f"the process that reads it did not answer in {_WAIT} s"}
                self.close()
        if "missing" in answer:
            raise UsageError(f"model {reading.path} was not read before; {answer['missing']}")
        if "error" in answer:
            raise AssetError(f"model {reading.path}: {answer['error']}")

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command, pipe = [sys.executable, "-W", "ignore", "-m", _READER], subprocess.PIPE
            started = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
            self._process = self._stack.enter_context(started)
            self._stack.callback(started.kill)
        return self._process

    def close(self) -> None:
        """End the process, if there is one."""
        self._process = None
        with suppress(OSError):
            self._stack.close()


_reader = ReadingProcess()
atexit.register(_reader.close)


def blend_of(model: Model) -> Path:
    """Return the .blend of a loaded model, made if it is missing. Raises AssetError for a broken model."""
    if model.blend.is_file():
        return model.blend
    return ModelCache(model.path, source_of(model.name)).make(model.name).blend


@lru_cache(maxsize=1)
def _blender_version() -> str:
    """Version of the installed Blender, such as 4.5.15; "" without one."""
    return next((package.version for package in distributions(name="bpy")), "")


@lru_cache(maxsize=1)
def _spare_folder() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of models that the cache can't keep, until this process ends."""
    return tempfile.TemporaryDirectory(prefix="diorama-models-")


def cache_folder() -> Path:
    """Return the folder of the cache."""
    folder = os.environ.get("DIORAMA_CACHE")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "diorama"


class ModelCache:
    """The cache entry of one model.

    Attributes:
        blend: path of its .blend, which may be missing.
    """

    def __init__(self, path: Path, library: Library) -> None:
        self._path, self._library = path, library
        text = "\0".join((VERSION, str(path), str(library.root), library.up, library.front))
        text += "\0own" * library.own + library.part
        key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._folder = cache_folder() / "models" / key[:2]
        self._entry = self._folder / f"{key}-{_blender_version()}.npz"
        if not _blender_version():
            # What another Python has read can be used without Blender.
            self._entry = next(iter(sorted(self._folder.glob(f"{key}-*.npz"), reverse=True)), self._entry)
        self.blend = self._entry.with_suffix(".blend")

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
        ours = self._is_ours(self._entry, self.blend)
        if self._library == packaged_library():
            return _packaged_model(self._library.root, name=name, path=self._path, blend=self.blend if ours else Path())
        if not ours:
            return None
        try:
            model = _read_entry(self._entry, name=name, path=self._path, blend=self.blend)
            # Dates can be set, and a disk can keep a file's date and lose its contents.
            if not model.is_current() or not all(file.has_contents() for file in model.files):
                return None
        except FileNotFoundError:
            return None
        except Exception as error:  # zip, numpy and JSON raise many types for a damaged file
            log.info("%s: damaged; reading the model's files instead: %s", self._entry, error)
            return None
        return model

    def make(self, name: str) -> Model:
        """Read the model's files, and keep the results in the cache if it can be written. Raises AssetError."""
        folder, library = self._folder, self._library
        try:
            folder.mkdir(parents=True, exist_ok=True)
            place = folder if self._is_ours() else _spare_folder().name
            spool = tempfile.TemporaryDirectory(dir=place, prefix=".reading-")
        except OSError as error:
            log.warning("model cache %s can't be written (%s); set DIORAMA_CACHE", folder, error)
            spool = tempfile.TemporaryDirectory(dir=_spare_folder().name)
        with spool:
            made = Path(spool.name).resolve()
            _reader.read(Reading(self._path, library.root, *library.axes(self._path), library.own, library.part, made))
            if any(path.is_symlink() or not path.is_file() for path in (made / "model.blend", made / "model.npz")):
                raise AssetError(f"model {self._path}: the process that reads it wrote something else than files")
            blend = (made / "model.blend").replace(made.parent / self.blend.name)
            entry = (made / "model.npz").replace(made.parent / self._entry.name)
        return _read_entry(entry, name=name, path=self._path, blend=blend)


def _read_entry(entry: Path, **more: str | Path) -> Model:
    """Return a model: arrays, and all else as JSON. Raises many types for a damaged file."""
    with np.load(io.BytesIO(entry.read_bytes()), allow_pickle=False) as stored:
        return _model_of(stored, "", **more)


def _model_of(stored: Any, prefix: str, **more: str | Path) -> Model:
    facts = json.loads(bytes(stored[f"{prefix}facts"]).decode())
    return _MODEL.validate_python({**facts, **{key: stored[f"{prefix}{key}"] for key in ARRAYS}, **more})


@lru_cache(maxsize=1)
def _stored_triangles(root: Path) -> Any:
    return np.load(root / TRIANGLES, allow_pickle=False)


def _packaged_model(root: Path, **more: str | Path) -> Model:
    """Return a model of the packaged library from its stored triangles."""
    model = _model_of(_stored_triangles(root), f"{str(more['name']).removeprefix(PREFIX)}/", **more)
    return replace(model, vertices=model.vertices / DECIMALS)
