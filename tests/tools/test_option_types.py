"""Values of options that are rejected."""

from __future__ import annotations

import argparse

import pytest

from tools.programs import positive, size, threads


@pytest.mark.parametrize("wrong", ["", "320", "320x", "10x240", "320x99999", "-3x5", "320 x 240"])
def test_wrong_sizes_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected WIDTHxHEIGHT"):
        size(wrong)


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "", "many"])
def test_wrong_numbers_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="integer of at least 1"):
        positive(wrong)


@pytest.mark.parametrize("wrong", ["-1", "1025", "all"])
def test_wrong_numbers_of_threads_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"expected 0 \(all\) to 1024"):
        threads(wrong)
    assert threads("0") == 0
