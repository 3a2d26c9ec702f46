"""Types of command-line options, for argparse."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError


def size(text: str) -> tuple[int, int]:
    """Parse `320x240` to (width, height) in pixels. Raises ArgumentTypeError."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if match is None or min(int(side) for side in match.groups()) < 11 or max(map(int, match.groups())) > 16384:
        raise ArgumentTypeError(f"found {text!r}, expected WIDTHxHEIGHT of 11 to 16384 pixels, such as 320x240")
    return int(match[1]), int(match[2])


def positive(text: str) -> int:
    """Parse an integer from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found {text!r}, expected an integer of at least 1")
    return int(text)


def threads(text: str) -> int:
    """Parse a number of threads, 0 for all. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) > 1024:
        raise ArgumentTypeError(f"found {text!r}, expected 0 (all) to 1024")
    return int(text)
