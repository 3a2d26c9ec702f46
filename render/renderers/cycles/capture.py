"""Capture the output of Cycles: it prints to file descriptors 1 and 2, and reports some failures only there."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Messages of Cycles and OpenImageDenoise about failures that raise no exception.
_FAILURE = re.compile(
    r"^.*(?:\berror\b|out of memory|failed to|illegal address|cuda_error|optix_error|is not available).*$",
    re.IGNORECASE | re.MULTILINE,
)
# Names a file for the output of the current render, which outlives a crash of the process.
KEPT_IN = "DIORAMA_RENDER_LOG"


def _file() -> IO[bytes]:
    kept = os.environ.get(KEPT_IN)
    return Path(kept).open("w+b") if kept else tempfile.TemporaryFile()


class Captured:
    """text: the output, available after the block has ended."""

    text: str = ""

    @property
    def failures(self) -> list[str]:
        """Lines that report a failure, without repeats."""
        return list(dict.fromkeys(match.group(0).strip() for match in _FAILURE.finditer(self.text)))


@contextmanager
def captured() -> Iterator[Captured]:
    """Redirect descriptors 1 and 2 to a file during the block, and keep the text."""
    result = Captured()
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with _file() as file:
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield result
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            os.close(saved[0])
            os.close(saved[1])
            file.seek(0)
            result.text = file.read().decode("utf-8", "replace")
