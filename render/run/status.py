"""The progress of a run: a line on the terminal, and a file for `render-batch --status STORE` in another terminal."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import socket
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter

from scene_specs.language.atomic import write_atomic
from scene_specs.language.foreign import printable, read_foreign
from scene_specs.language.tables import counted

if TYPE_CHECKING:
    from render.run.summary import Summary

log = logging.getLogger(__name__)

_EVERY_SECONDS = 2.0
# On another host only the age of the file shows whether its writer is alive.
_STALE_SECONDS = 30.0
_MOST_BYTES = 1 << 16
# A status beside a downloaded store is a stranger's: numbers that arithmetic on floats can take, no NaN.
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Amount = Annotated[float, Field(ge=0, le=2**53)]


@dataclass
class Status:
    """done, failed, total: episodes of this run; done counts committed ones. rate: images per second over the run.

    workers: alive now. state: running, paused (the store accepts nothing), stopping, ended. pid, born: the writing
    process and its start, which distinguishes it from a later process with the same pid. written, started: Unix
    seconds.
    """

    store: str
    total: _Count = 0
    done: _Count = 0
    failed: _Count = 0
    images: _Count = 0
    rate: _Amount = 0.0
    workers: _Count = 0
    state: str = "running"
    host: str = ""
    pid: _Count = 0
    born: str = ""
    started: _Amount = 0.0
    written: _Amount = 0.0

    @property
    def alive(self) -> bool:
        """Whether the run is still going on."""
        if self.state == "ended":
            return False
        if self.host != socket.gethostname():
            return time.time() - self.written < _STALE_SECONDS
        return bool(self.born) and _born(self.pid) == self.born

    def line(self) -> str:
        """Return the status in one line of text."""
        return printable(self._line())

    def _line(self) -> str:
        left = self.total - self.done - self.failed
        text = f"{self.store}: {self.done} of {counted(self.total, 'episode')} done"
        text += f", {self.failed} failed" if self.failed else ""
        if not self.alive:
            ago = _span(max(0.0, time.time() - self.written))
            how = "ended" if self.state == "ended" else "was killed or died; run the same command again to continue"
            return f"no active run; the last one {how} ({ago} ago). {text}"
        text += f", {self.rate:.2f} images/s, {counted(self.workers, 'worker')}"
        elapsed = self.written - self.started
        if self.done and left > 0:
            text += f", about {_span(elapsed / self.done * left)} to go"
        return text + (f" ({self.state})" if self.state != "running" else "")


class StatusFile:
    """Writes a Status from time to time. A failure to write it does not stop the run."""

    def __init__(self, status: Status) -> None:
        self.status = status
        self._path = path_of(status.store)
        self._last = 0.0
        status.host, status.pid, status.born = socket.gethostname(), os.getpid(), _born(os.getpid())
        status.started = time.time()

    def due(self) -> bool:
        """Whether the file is due to be rewritten."""
        return time.monotonic() - self._last > _EVERY_SECONDS

    def update(self, summary: Summary, workers: int, state: str) -> None:
        """Write what a run has done so far."""
        status = self.status
        status.done, status.failed, status.images = summary.rendered, len(summary.failed), summary.images
        status.workers, status.state = workers, state
        elapsed = time.time() - status.started
        status.rate = summary.images / elapsed if elapsed > 0 else 0.0
        self.write()

    def write(self) -> None:
        """Replace the file."""
        self._last = time.monotonic()
        self.status.written = time.time()
        try:
            path = _safe_path(self.status.store)
            # A link or a pipe under this name is replaced, and nothing is written through it.
            if path.is_symlink() or not path.is_file():
                path.unlink(missing_ok=True)
            write_atomic(path, json.dumps(asdict(self.status)), fsync=False)
            if "://" in self.status.store:
                path.chmod(0o600)
        except OSError as error:
            log.debug("%s: %s", self._path, error)


class Progress:
    """Shows episodes with rate and ETA on standard error, and images per second, failures and workers after them.

    Nothing is shown if standard error is not a terminal; tqdm is imported only if a line is drawn.
    status: file to keep up to date for `--status`, on any kind of terminal.
    """

    def __init__(self, total: int, what: str = "rendering", status: StatusFile | None = None) -> None:
        self._status = status
        self._workers = 0
        self._state = "running"
        self._bar: Any = None
        self._images = 0
        self._failed = 0
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=what, unit="ep", dynamic_ncols=True, smoothing=0.1)

    def advance(self, episodes: int, images: int = 0, failed: int = 0) -> None:
        """Count episodes, images and failures that are done since the last call."""
        self._images += images
        self._failed += failed
        if self._bar is None:
            return
        elapsed = self._bar.format_dict["elapsed"]
        if elapsed > 0:
            parts = [f"{self._images / elapsed:.2f} images/s"]
            parts += [counted(self._workers, "worker")] if self._workers else []
            parts += [f"{self._failed} failed"] if self._failed else []
            parts += [self._state] if self._state != "running" else []
            self._bar.set_postfix_str(", ".join(parts), refresh=False)
        self._bar.update(episodes)

    def tick(self, summary: Summary, workers: int, state: str) -> None:
        """Show what is committed, how many workers are up, and the state (see render.run.status); once per second."""
        self._workers, self._state = workers, state
        if self._bar is not None:
            self.advance(0)
            self._bar.refresh()
        if self._status is not None and (self._status.due() or state != self._status.status.state):
            self._status.update(summary, workers, state)

    def end(self, summary: Summary) -> None:
        """Write the last status of a run."""
        if self._status is not None:
            self._status.update(summary, 0, "ended")

    def close(self) -> None:
        """Leave the line as it is on the terminal."""
        if self._bar is not None:
            self._bar.close()


def path_of(store: str) -> Path:
    """Return the path of the status file: beside a local store, or in the user's runtime folder for a URL."""
    if "://" not in store:
        path = Path(store).resolve()
        return path.with_name(f".{path.name}.status.json")
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or Path(tempfile.gettempdir()) / f"diorama-{os.getuid()}")
    return base / f"diorama-{hashlib.sha256(store.encode()).hexdigest()[:16]}.status.json"


def _safe_path(store: str) -> Path:
    """Return `path_of(store)`. Raises OSError if others can write to its folder or replace it, for a URL."""
    path = path_of(store)
    if "://" in store:
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)
        state = path.parent.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o022:
            raise OSError(errno.EACCES, "not a folder that only this user can write", str(path.parent))
    return path


def read_status(store: str) -> Status | None:
    """Return the last status of a run into a store; None if no valid status file exists."""
    try:
        return TypeAdapter(Status).validate_json(read_foreign(_safe_path(store), _MOST_BYTES))
    except (OSError, ValueError):
        return None


def _born(pid: int) -> str:
    """Return when a process started, in kernel ticks since boot; "" if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
