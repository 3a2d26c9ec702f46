"""Folders for files that live for moments: in $TMPDIR if that is set, else on a RAM disk if one exists."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Names the folder of a run, which the run removes even if a worker is killed.
SCRATCH = "DIORAMA_SCRATCH"
_SHARED = "/dev/shm"


def scratch_folder() -> Path:
    """Make a folder, inside that of the run if there is one; the caller removes it.

    Clusters set TMPDIR to a folder that goes with the job. What a killed job leaves on a RAM disk takes the
    memory of others.
    """
    shared = _SHARED if os.access(_SHARED, os.W_OK) and not os.environ.get("TMPDIR") else None
    base = os.environ.get(SCRATCH) or shared
    return Path(tempfile.mkdtemp(prefix="diorama-", dir=base))
