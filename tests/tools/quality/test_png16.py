"""16-bit PNGs come back as they were, and others can read them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from diorama.render.model.errors import AssetError
from tools.quality.references import read_png16, write_png16


@settings(max_examples=40)
@given(st.data())
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    shape = (data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9)), 3)
    picture = data.draw(arrays(np.uint16, shape))
    path = tmp_path_factory.mktemp("png") / "a.png"
    write_png16(path, picture)
    assert np.array_equal(read_png16(path), picture)


def test_pillow_sees_the_same_picture(tmp_path: Path) -> None:
    picture = np.random.Generator(np.random.Philox(1)).integers(0, 65536, (20, 30, 3), dtype=np.uint16)
    write_png16(tmp_path / "a.png", picture)
    with Image.open(tmp_path / "a.png") as opened:
        opened.load()
        shown = np.asarray(opened.convert("RGB")).astype(int)
    assert np.abs(shown - picture / 257).max() <= 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows: bytes, depth: int = 16) -> bytes:
    """Two rows of two pixels, filters included."""
    header = struct.pack(">IIBBBBB", 2, 2, depth, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"GIF89a", "no PNG"),
        (png(bytes(26))[:-20], "unpack_from requires"),
        (png(bytes(26)).replace(b"IDAT", b"IDAX"), "checksum"),
        (png(bytes(14), depth=8), "bit depth 8"),
        (png(bytes([4, *range(12), 0, *range(12)])), "row filters other than Up"),
        (png(bytes(20)), "cannot reshape"),
    ],
)
def test_other_files_are_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(AssetError, match=said) as caught:
        read_png16(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_png16(tmp_path / "none.png")
