"""Damaged images are refused, whatever Pillow raises for them."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.tasks.importing.pictures import read_picture


def png_with(chunk: bytes, before: bytes = b"IDAT") -> bytes:
    """A PNG with an empty chunk of this kind before another one."""
    stream = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(stream, "png")
    head, rest = stream.getvalue().split(before)
    return head[:-4] + b"\0\0\0\0" + chunk + zlib.crc32(chunk).to_bytes(4, "big") + head[-4:] + before + rest


@pytest.mark.parametrize("before", [b"IDAT", b"IEND"])
@pytest.mark.parametrize("chunk", [b"iCCP", b"zTXt", b"iTXt", b"tEXt", b"gAMA", b"pHYs", b"cHRM", b"sRGB", b"eXIf"])
def test_an_empty_chunk_is_an_error_or_ignored(chunk: bytes, before: bytes, tmp_path: Path) -> None:
    data = png_with(chunk, before)
    file = tmp_path / "a.png"
    file.write_bytes(data)
    try:
        decode_png(data)
    except (OSError, ValueError):
        with pytest.raises(SpecError, match=r"a\.png"):
            read_picture(file)
    else:
        assert read_picture(file).shape == (4, 4, 3)


def test_some_empty_chunks_are_errors(tmp_path: Path) -> None:
    for chunk in (b"iCCP", b"gAMA"):
        (tmp_path / "a.png").write_bytes(png_with(chunk))
        with pytest.raises(SpecError):
            read_picture(tmp_path / "a.png")
