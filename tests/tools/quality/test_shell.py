"""What the measuring commands share: options that are refused, and exit codes."""

from __future__ import annotations

import argparse
import errno

import pytest

from render.model.errors import RenderError, UsageError
from tools.quality.shell import guarded, positive, size, threads


@pytest.mark.parametrize("wrong", ["", "320", "320x", "10x240", "320x99999", "-3x5", "320 x 240"])
def test_wrong_sizes_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected WIDTHxHEIGHT"):
        size(wrong)


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "", "many"])
def test_wrong_numbers_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="from 1"):
        positive(wrong)


@pytest.mark.parametrize("wrong", ["-1", "1025", "all"])
def test_wrong_numbers_of_threads_are_refused(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"expected 0 \(all\) to 1024"):
        threads(wrong)
    assert threads("0") == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("said"), 2),
        (RenderError("said"), 1),
        (OSError(errno.ENOSPC, "No space left on device: said"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_is_a_line_and_an_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert guarded(fail) == code
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and ("said" in said or code == 130)
