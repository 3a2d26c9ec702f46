"""What the measuring commands share: sizes, a line for an error, and the exit code."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Callable

from render.model.errors import DioramaError

DISK, INTERRUPTED = 2, 130


def size(text: str) -> tuple[int, int]:
    """`320x240` as (width, height), for argparse."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if match is None or min(int(side) for side in match.groups()) < 11 or max(map(int, match.groups())) > 16384:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected WIDTHxHEIGHT of 11 to 16384 pixels, such as 320x240"
        )
    return int(match[1]), int(match[2])


def positive(text: str) -> int:
    """A whole number from 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number from 1")
    return int(text)


def threads(text: str) -> int:
    """A number of threads, 0 for all, for argparse."""
    if not text.isdecimal() or int(text) > 1024:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected 0 (all) to 1024")
    return int(text)


def guarded(main: Callable[[], int]) -> int:
    """The exit code of `main`: of an error of ours its own, of the disk's 2, of Ctrl-C 130; each is a line said on
    standard error.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        return main()
    except DioramaError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except OSError as error:
        # Not 1, which says that something was measured and is wrong.
        sys.stderr.write(f"error: {error}; what was measured before is kept, the same command goes on from there\n")
        return DISK
    except KeyboardInterrupt:
        sys.stderr.write("stopped; the same command goes on from here\n")
        return INTERRUPTED
