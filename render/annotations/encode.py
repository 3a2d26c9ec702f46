"""Encode images as PNG and optional passes as .npz, deterministically: equal arrays give equal bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from render.model.errors import RenderError
from render.model.passes import Passes

# After PNG's filters a shaded image repeats few strings except runs. Searching only for runs gives, at 320 x 240, the
# size of zlib's level 6 (68 KB) in the time of level 1 (4 ms instead of 22).
_PNG_STRATEGY = zlib.Z_RLE
# Higher levels take 1.5 times as long to save a tenth of the size.
_NPZ_LEVEL = 1
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def encode_png(color: NDArray[np.uint8]) -> bytes:
    """PNG of a (H, W, 3) uint8 image: 8-bit RGB, without metadata."""
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(color)).save(out, format="PNG", compress_level=1, compress_type=_PNG_STRATEGY)
    return out.getvalue()


def encode_extra(passes: Passes, requested: Sequence[str]) -> bytes | None:
    """The requested passes as `.npz` bytes; None if none is requested.

    depth: (H, W) float32, Blender units, inf where the ray meets nothing. normal: (H, W, 3) float16, world space.
    coverage: (N, H, W) float16. Raises RenderError for a pass that the renderer did not return.
    """
    if not requested:
        return None
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_NPZ_LEVEL) as archive:
        for name in ("depth", "normal", "coverage"):
            if name not in requested:
                continue
            # A fixed date and system: the defaults would change the bytes.
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_ZIP_DATE)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            array = io.BytesIO()
            np.save(array, _pass(passes, name), allow_pickle=False)
            archive.writestr(info, array.getvalue(), compresslevel=_NPZ_LEVEL)
    return out.getvalue()


def _pass(passes: Passes, name: str) -> NDArray[np.float32] | NDArray[np.float16]:
    if name == "depth":
        return np.ascontiguousarray(passes.depth, dtype=np.float32)
    if name == "normal":
        return np.ascontiguousarray(passes.normal, dtype=np.float16)
    if passes.coverage is None:
        raise RenderError("the frame requests the coverage pass, but the renderer returned none")
    return np.ascontiguousarray(passes.coverage, dtype=np.float16)


def decode_extra(data: bytes) -> dict[str, NDArray[np.float32] | NDArray[np.float16]]:
    """Pass name -> array, from `.npz` bytes of `encode_extra`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
