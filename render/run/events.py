"""`--json-log`: one line of JSON an event, for whoever watches a run by a program."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from render.model.errors import UsageError


class EventLog:
    """Appends events to a file, each line whole and at once; to None it writes nothing.

    Each has `event`, `time` (UTC, ISO 8601) and `elapsed` (seconds since the log was opened). Events: start, worker-up,
    worker-down, episode-done, episode-failed, commit, store-trouble, workers-per-gpu, end.
    Raises UsageError where the file can't be written.
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
        """One line. A full disk must not end the run that the log is about."""
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"event": event, "time": now, "elapsed": round(time.monotonic() - self._start, 3), **facts}
        try:
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError:
            self._stream = None

    def __enter__(self) -> EventLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
