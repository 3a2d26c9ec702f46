"""Write and read 16-bit RGB PNG files, a mode that Pillow, which writes our other images, doesn't have.

Only what is needed here: three channels, no interlacing, each row stored as its difference from the row above (PNG's
filter "Up"). Any PNG viewer shows these files. The reader rejects all others.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diorama.render.model.errors import AssetError
from diorama.scene_specs.language.writing import write_atomic

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Bit depth, color type, compression, filtering, interlacing.
_FORMAT = [16, 2, 0, 0, 0]
_UP = 2


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png16(path: Path, picture: NDArray[np.uint16]) -> None:
    """Write an (H, W, 3) uint16 image atomically."""
    height, width, channels = picture.shape
    assert channels == 3 and picture.dtype == np.uint16
    rows = np.ascontiguousarray(picture.astype(">u2")).view(np.uint8).reshape(height, -1)
    # Unsigned bytes wrap around, as PNG differences do.
    differences = np.diff(rows, axis=0, prepend=np.zeros_like(rows[:1]))
    filtered = np.insert(differences, 0, _UP, axis=1)
    header = struct.pack(">II5B", width, height, *_FORMAT)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9)), _chunk(b"IEND", b""))
    write_atomic(path, _SIGNATURE + b"".join(parts))


def read_png16(path: Path) -> NDArray[np.uint16]:
    """Return the (H, W, 3) uint16 image of a file. Raises AssetError, which names what the file is instead."""
    try:
        data = path.read_bytes()
        if not data.startswith(_SIGNATURE):
            raise ValueError("no PNG")
        chunks = _chunks(data[len(_SIGNATURE) :])
        width, height, *kind = struct.unpack(">II5B", chunks[b"IHDR"])
        if kind != _FORMAT:
            raise ValueError(f"bit depth {kind[0]}, color type {kind[1]}, interlacing {kind[4]}")
        rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 6 * width)
        if (rows[:, 0] != _UP).any():
            raise ValueError("row filters other than Up")
    except (OSError, KeyError, ValueError, struct.error, zlib.error) as error:
        raise AssetError(f"{path}: expected a 16-bit RGB PNG, found: {error}; make the references again") from error
    decoded = np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8)
    return decoded.view(">u2").reshape(height, width, 3).astype(np.uint16)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks by name; of several with one name, all of their data."""
    found: dict[bytes, bytes] = {}
    while data:
        (length,) = struct.unpack_from(">I", data)
        name, body, data = data[4:8], data[8 : 8 + length], data[8 + length :]
        if struct.unpack_from(">I", data)[0] != zlib.crc32(name + body):
            raise ValueError(f"a wrong checksum of {name.decode('latin1')}")
        found[name], data = found.get(name, b"") + body, data[4:]
    return found
