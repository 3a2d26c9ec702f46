"""Pictures and passes as bytes: lossless, and the same for the same arrays."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError

from diorama.render.annotations import decode_extra, encode_extra, encode_png
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.pictures import decode_png, open_png
from diorama.scene_specs.model.scene import MOST_SIDE, Settings
from tests import factories


def passes_of(seed: int, width: int = 7, height: int = 5, coverage: bool = True) -> Passes:
    rng = np.random.default_rng(seed)
    depth = rng.uniform(0.1, 50, (height, width)).astype(np.float32)
    depth[0, 0] = np.inf
    return Passes(
        color=rng.integers(0, 256, (height, width, 3)).astype(np.uint8),
        ids=np.zeros((height, width), np.uint16),
        depth=depth,
        normal=rng.uniform(-1, 1, (height, width, 3)).astype(np.float32),
        coverage=rng.uniform(0, 1, (2, height, width)).astype(np.float32) if coverage else None,
    )


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40))
def test_png_is_lossless_and_repeats(seed: int, width: int, height: int) -> None:
    color = passes_of(seed, width, height).color
    data = encode_png(color)
    assert np.array_equal(decode_png(data), color)
    assert encode_png(np.asfortranarray(color)) == data
    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.mode, picture.size, picture.info) == ("RGB", (width, height), {})


def header(width: int, height: int) -> bytes:
    """What a PNG of that size begins with, before any pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    sizes = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", sizes) + chunk(b"IDAT", b"")


def test_every_size_that_can_be_rendered_is_opened_and_no_larger_one() -> None:
    facts = factories.SETTINGS.model_dump()
    assert Settings(**{**facts, "width": MOST_SIDE, "height": MOST_SIDE}).width == MOST_SIDE
    with open_png(header(MOST_SIDE, MOST_SIDE)) as picture:
        assert picture.size == (MOST_SIDE, MOST_SIDE)
    for size in ((MOST_SIDE + 1, 1), (1, MOST_SIDE + 1)):
        with pytest.raises(ValidationError):
            Settings(**{**facts, "width": size[0], "height": size[1]})
        with pytest.raises(OSError, match=f"found {size[0]}x{size[1]} pixels; allowed: at most {MOST_SIDE} per side"):
            decode_png(header(*size))


def test_pillows_own_bound_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    color = passes_of(1, 32, 24).color
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    assert np.array_equal(decode_png(encode_png(color)), color)
    with pytest.raises(Image.DecompressionBombError):
        Image.open(io.BytesIO(encode_png(color)))


@pytest.mark.parametrize("data", [b"", b"no picture", encode_png(passes_of(1).color)[:60], b"GIF89a" * 9])
def test_what_is_no_whole_png_is_a_known_error(data: bytes) -> None:
    with pytest.raises((OSError, ValueError)):
        decode_png(data)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sets(st.sampled_from(["depth", "normal", "coverage"]), min_size=1))
def test_extra_holds_what_was_asked_for(seed: int, asked: set[str]) -> None:
    passes = passes_of(seed)
    data = encode_extra(passes, sorted(asked))
    assert data is not None
    # The order of asking is of no account.
    assert encode_extra(passes, sorted(asked, reverse=True)) == data
    arrays = decode_extra(data)
    assert set(arrays) == asked
    if "depth" in asked:
        assert arrays["depth"].dtype == np.float32
        assert np.array_equal(arrays["depth"], passes.depth)
    if "normal" in asked:
        assert np.allclose(arrays["normal"], passes.normal, atol=1e-3)
    if "coverage" in asked:
        assert passes.coverage is not None
        assert np.allclose(arrays["coverage"], passes.coverage, atol=1e-3)


def test_extra_carries_no_date() -> None:
    data = encode_extra(passes_of(1), ["depth"])
    assert data is not None
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert [info.date_time for info in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)]


def test_nothing_asked_is_nothing() -> None:
    assert encode_extra(passes_of(1), []) is None


def test_a_pass_that_was_not_rendered_is_an_error() -> None:
    with pytest.raises(RenderError, match="coverage"):
        encode_extra(passes_of(1, coverage=False), ["coverage"])


def test_passes_stand_in_their_stored_order_at_the_fastest_level() -> None:
    passes = passes_of(2, 64, 48)
    data = encode_extra(passes, ["normal", "coverage", "depth"])
    assert data is not None
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["depth.npy", "normal.npy", "coverage.npy"]
        for info in archive.infolist():
            packer = zlib.compressobj(1, zlib.DEFLATED, -15)
            assert info.compress_size == len(packer.compress(archive.read(info)) + packer.flush())
            assert info.create_system == 3
