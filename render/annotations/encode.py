"""Encode images as PNG and optional passes as .npz, deterministically: equal arrays give equal bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.passes import array_passes, row_of
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.model.passes import Passes

# After PNG's filters a shaded image repeats few strings except runs. Searching only for runs gives, at 320 x 240, the
# size of zlib's level 6 (68 KB) in the time of level 1 (4 ms instead of 22).
_PNG_STRATEGY = zlib.Z_RLE
# Higher levels take 1.5 times as long to save a tenth of the size.
_NPZ_LEVEL = 1
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
# The order of the first three passes in stored files; later ones follow by name.
_FIRST = ("depth", "normal", "coverage")


def encode_png(color: NDArray[np.uint8]) -> bytes:
    """PNG of a (H, W, 3) uint8 image: 8-bit RGB, without metadata."""
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(color)).save(out, format="PNG", compress_level=1, compress_type=_PNG_STRATEGY)
    return out.getvalue()


def encode_extra(passes: Passes, requested: Sequence[str]) -> bytes | None:
    """Return the requested arrays of passes as `.npz` bytes, None without any. render/passes has shapes and types.

    Raises:
        RenderError: for a pass that the renderer did not return.
        PluginError: a plug-in is unknown or can't be loaded.
    """
    names = array_passes(requested)
    if not names:
        return None
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_NPZ_LEVEL) as archive:
        for name in [*(name for name in _FIRST if name in names), *sorted({*names} - {*_FIRST})]:
            array = passes.get(name)
            if array is None:
                raise RenderError(f"the frame requests the {name} pass, but the renderer returned none")
            # A fixed date and system: the defaults would change the bytes.
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_ZIP_DATE)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            file = io.BytesIO()
            np.save(file, np.ascontiguousarray(array, dtype=row_of(name).dtype), allow_pickle=False)
            archive.writestr(info, file.getvalue(), compresslevel=_NPZ_LEVEL)
    return out.getvalue()


def decode_extra(data: bytes) -> dict[str, NDArray[np.float32] | NDArray[np.float16]]:
    """Pass name -> array, from `.npz` bytes of `encode_extra`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
