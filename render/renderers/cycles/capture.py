"""Capture the output of Cycles: it prints to file descriptors 1 and 2, and reports some failures only there."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Messages of Cycles and OpenImageDenoise about failures that raise no exception.
_FAILURE = re.compile(
    r"^.*(?:\berror\b|out of memory|failed to|illegal address|cuda_error|optix_error|is not available).*$",
    re.IGNORECASE | re.MULTILINE,
)
# Names a file for the output of the current render, which outlives a crash of the process.
KEPT_IN = "DIORAMA_RENDER_LOG"


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
    saved = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
    kept = os.environ.get(KEPT_IN)
    with Path(kept).open("w+b") if kept else tempfile.TemporaryFile() as file:
        try:
            for descriptor in saved:
                os.dup2(file.fileno(), descriptor)
            yield result
        finally:
            for descriptor, copy in saved.items():
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            result.text = file.read().decode("utf-8", "replace")
