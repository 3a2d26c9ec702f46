"""Keeping Cycles' own text: it prints to file descriptors 1 and 2, and some failures it reports only there."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# What Cycles and OpenImageDenoise say when a render is not what was asked for, though no exception is raised.
_FAILURE = re.compile(
    r"^.*(?:\berror\b|out of memory|failed to|illegal address|cuda_error|optix_error|is not available).*$",
    re.IGNORECASE | re.MULTILINE,
)


# Where this names a file, the text of the render under way is there, also when the process dies of it.
KEPT_IN = "DIORAMA_RENDER_LOG"


def _file() -> IO[bytes]:
    kept = os.environ.get(KEPT_IN)
    return Path(kept).open("w+b") if kept else tempfile.TemporaryFile()


class Captured:
    """text: what was printed, once the block has ended."""

    text: str = ""

    @property
    def failures(self) -> list[str]:
        """Lines that tell of a failure, without repeats."""
        return list(dict.fromkeys(match.group(0).strip() for match in _FAILURE.finditer(self.text)))


@contextmanager
def captured() -> Iterator[Captured]:
    """Send descriptors 1 and 2 into a file for the length of the block, and keep the text."""
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
