"""Write and read 16-bit RGB PNG files, a mode that Pillow, which writes our other images, doesn't have.

Only what is needed here: three channels, no interlacing, each row stored as its difference from the row above (PNG's
filter "Up"). Any PNG viewer shows these files. The reader also accepts files with the filters None and Sub, and rejects
others by name.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from render.model.errors import AssetError
from scene_specs.language.atomic import write_atomic

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FILTERS = {0: "None", 1: "Sub", 2: "Up", 3: "Average", 4: "Paeth"}
# Bytes per pixel: three channels of two.
_PIXEL = 6


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png16(path: Path, picture: NDArray[np.uint16]) -> None:
    """Write an (H, W, 3) uint16 image atomically."""
    height, width, channels = picture.shape
    assert channels == 3 and picture.dtype == np.uint16
    rows = np.ascontiguousarray(picture.astype(">u2")).view(np.uint8).reshape(height, width * _PIXEL)
    # Unsigned bytes wrap around, as PNG differences do.
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), rows - above])
    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9)), _chunk(b"IEND", b""))
    write_atomic(path, _SIGNATURE + b"".join(parts))


def read_png16(path: Path) -> NDArray[np.uint16]:
    """Return the (H, W, 3) uint16 image of a file. Raises AssetError, which names what the file is instead."""

    def wrong(found: str) -> AssetError:
        return AssetError(f"{path}: found {found}, expected a 16-bit RGB PNG; make the references again")

    try:
        data = path.read_bytes()
    except OSError as error:
        raise wrong(f"no readable file ({error.strerror})") from error
    if not data.startswith(_SIGNATURE):
        raise wrong("no PNG")
    try:
        chunks = list(_chunks(data))
        width, height, *kind = struct.unpack(">IIBBBBB", dict(chunks)[b"IHDR"])
        if kind != [16, 2, 0, 0, 0]:
            raise wrong(f"bit depth {kind[0]}, color type {kind[1]}, interlacing {kind[4]}")
        raw = zlib.decompress(b"".join(part for name, part in chunks if name == b"IDAT"))
        rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * _PIXEL)
    except (KeyError, ValueError, struct.error, zlib.error) as error:
        raise wrong(f"a damaged one ({error})") from error
    others = sorted({_FILTERS.get(int(kind), str(kind)) for kind in rows[:, 0]} - {"None", "Sub", "Up"})
    if others:
        raise wrong(f"row filters {', '.join(others)}")
    return _unfiltered(rows).view(">u2").reshape(height, width, 3).astype(np.uint16)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], len(_SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] != zlib.crc32(name + body):
            raise ValueError(f"checksum of {name.decode('latin1')}")
        found.append((name, body))
        at += 12 + length
    return found


def _unfiltered(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = np.empty((len(rows), rows.shape[1] - 1), np.uint8)
    above = np.zeros(rows.shape[1] - 1, np.uint8)
    for k, row in enumerate(rows):
        body = row[1:]
        if row[0] == 1:
            body = np.cumsum(body.reshape(-1, _PIXEL), axis=0, dtype=np.uint8).ravel()
        elif row[0] == 2:
            body = body + above
        out[k] = above = body
    return out
