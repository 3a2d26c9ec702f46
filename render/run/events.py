"""`--json-log`: one JSON line per event, for programs that watch a run."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from diorama.render.model.errors import UsageError


class EventLog:
    """Appends events to a file, each line in one write. With None as the path it writes nothing.

    Each has `event`, `time` (UTC, ISO 8601) and `elapsed` (seconds since the log was opened). Events: start, worker-up,
    worker-down, episode-done, episode-failed, commit, store-trouble, workers-per-gpu, gpu-left, end.
    Raises UsageError if the file can't be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._stream: IO[str] | None = None
        self._start = time.monotonic()
        if path is not None:
            try:
                self._stream = path.open("a", encoding="utf-8", buffering=1)
            except OSError as error:
                raise UsageError(f"--json-log {path}: can't be written: {error.strerror}") from error

    def write(self, event: str, **facts: Any) -> None:
        """Write one line. If that fails, as on a full disk, the log ends and the run goes on."""
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"event": event, "time": now, "elapsed": round(time.monotonic() - self._start, 3), **facts}
        try:
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError:
            self._stream = None

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
