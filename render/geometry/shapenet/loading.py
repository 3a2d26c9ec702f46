"""Models by name: from this process's memory, from the cache on disk, or made from their files."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from render.geometry.shapenet.cache import ModelCache
from render.geometry.shapenet.library import Library, library
from render.geometry.shapenet.making import make_model
from render.geometry.shapenet.model import Model
from render.geometry.shapenet.reading import Sources

# Models held in memory, and the bytes that they may take together; one of 100,000 faces takes some 5 MB.
_HELD, _HELD_BYTES = 64, 256 << 20
_held: OrderedDict[tuple[str, Library], Model] = OrderedDict()


def canonical(shape: str) -> str:
    """`shapenet:<folder>/<id>` of a model that a spec names in any way. Raises AssetError, UsageError."""
    return library().find(shape)[0]


def load_model(shape: str, source: Library | None = None) -> Model:
    """The model that a spec names, ready. source: default the library in force.

    Made once for as long as its files stay as they are. Raises AssetError naming the file that is missing or broken.
    """
    source = source or library()
    model = _held.get((shape, source))
    if model is not None and all(state.still() for state in model.files):
        _held.move_to_end((shape, source))
        return model
    name, path = source.find(shape)
    key = (name, source)
    model = _held.get(key)
    if model is None or not all(state.still() for state in model.files):
        model = _from_files(name, path, source)
        _held[key] = model
    _held.move_to_end(key)
    while len(_held) > _HELD or (len(_held) > 1 and sum(map(_bytes, _held.values())) > _HELD_BYTES):
        _held.popitem(last=False)
    return model


def _bytes(model: Model) -> int:
    return sum(array.nbytes for array in (model.vertices, model.triangles, model.uv, model.slots))


def _from_files(name: str, path: Path, source: Library) -> Model:
    cache = ModelCache(path, source)
    found = cache.read(name)
    if found is not None:
        return found
    sources = Sources(source.root, path)
    made = make_model(name, sources, source, lambda image, index: cache.keep_texture(image, index, sources))
    cache.write(made)
    return made
