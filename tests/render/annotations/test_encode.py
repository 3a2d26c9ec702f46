"""Pictures and passes as bytes: lossless, and the same for the same arrays."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from render.annotations import decode_extra, decode_png, encode_extra, encode_png
from render.errors import RenderError
from render.passes import Passes


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
