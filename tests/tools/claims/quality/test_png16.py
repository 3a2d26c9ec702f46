"""16-bit PNGs come back as they were, and others can read them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from diorama.scene_specs.errors import AssetError
from tools.claims.quality.references import read_png16, write_png16


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


def pillows(mode: str) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (4, 3)).save(out, "PNG")
    return out.getvalue()


def test_other_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    write_png16(path, np.random.Generator(np.random.Philox(1)).integers(0, 65536, (20, 30, 3), dtype=np.uint16))
    cut = path.read_bytes()[:-400]
    for content, said in (
        (b"GIF89a", "Not a PNG file"),
        (pillows("RGB"), "3 channels of uint8"),
        (pillows("I;16"), "1 channels of uint16"),
        (cut, "end of file"),
    ):
        path.write_bytes(content)
        with pytest.raises(AssetError, match=said) as caught:
            read_png16(path)
        assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="Could not open file"):
        read_png16(tmp_path / "none.png")
