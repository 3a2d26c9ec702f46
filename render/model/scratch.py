"""Folders for files that live for moments: on a RAM disk if one exists."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Names the folder of a run, which the run removes even if a worker is killed.
SCRATCH = "DIORAMA_SCRATCH"
_SHARED = "/dev/shm"


def scratch_folder() -> Path:
    """Make a folder, inside that of the run if there is one; the caller removes it."""
    base = os.environ.get(SCRATCH) or (_SHARED if os.access(_SHARED, os.W_OK) else None)
    return Path(tempfile.mkdtemp(prefix="diorama-", dir=base))
