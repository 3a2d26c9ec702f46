"""How far a run is, for `render-batch --status STORE` in another terminal: a small file, replaced every few seconds."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

log = logging.getLogger(__name__)

_EVERY_SECONDS = 2.0
# On another host only the file's age tells whether its writer lives.
_STALE_SECONDS = 30.0


@dataclass
class Status:
    """done, failed, total: episodes of this run; done counts what is committed. rate: images a second over the run.

    workers: alive now. state: running, paused (the store takes nothing), stopping, ended. pid, born: the writer;
    born tells it from another process with its number. written, started: Unix seconds.
    """

    store: str
    total: int = 0
    done: int = 0
    failed: int = 0
    images: int = 0
    rate: float = 0.0
    workers: int = 0
    state: str = "running"
    host: str = ""
    pid: int = 0
    born: str = ""
    started: float = 0.0
    written: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether the run still goes on."""
        if self.state == "ended":
            return False
        if self.host != socket.gethostname():
            return time.time() - self.written < _STALE_SECONDS
        return bool(self.born) and _born(self.pid) == self.born

    def line(self) -> str:
        """For people."""
        left = self.total - self.done - self.failed
        text = f"{self.store}: {self.done} of {self.total} episodes done"
        text += f", {self.failed} failed" if self.failed else ""
        if not self.alive:
            ago = _span(max(0.0, time.time() - self.written))
            how = "ended" if self.state == "ended" else "was killed or died; run the same command again to go on"
            return f"no run is alive; the last one {how} ({ago} ago). {text}"
        text += f", {self.rate:.2f} images/s, {self.workers} workers"
        elapsed = self.written - self.started
        if self.done and left > 0:
            text += f", about {_span(elapsed / self.done * left)} to go"
        return text + (f" ({self.state})" if self.state != "running" else "")


class StatusFile:
    """Writes a Status from time to time. A status that can't be written is no reason to stop rendering."""

    def __init__(self, status: Status) -> None:
        self.status = status
        self._path = path_of(status.store)
        self._last = 0.0
        status.host, status.pid, status.born = socket.gethostname(), os.getpid(), _born(os.getpid())
        status.started = time.time()

    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() - self._last > _EVERY_SECONDS

    def write(self) -> None:
        """Replace the file."""
        self._last = time.monotonic()
        self.status.written = time.time()
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(asdict(self.status)))
            part.replace(self._path)
        except OSError as error:
            log.debug("%s: %s", self._path, error)


def path_of(store: str) -> Path:
    """Where the status of runs into a store is: beside a local one, in the user's runtime folder for a URL."""
    if "://" not in store:
        path = Path(store).resolve()
        return path.with_name(f".{path.name}.status.json")
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or Path(tempfile.gettempdir()) / f"diorama-{os.getuid()}")
    return base / f"diorama-{hashlib.sha256(store.encode()).hexdigest()[:16]}.status.json"


def read_status(store: str) -> Status | None:
    """The last status of a run into a store; None if there is none that can be read."""
    try:
        return Status(**json.loads(path_of(store).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _born(pid: int) -> str:
    """When a process started, in the kernel's ticks since the machine did; "" if there is none such."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
