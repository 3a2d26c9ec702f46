"""How a run reports: a line on the terminal, a file for `render-batch --status`, and events for `--json-log`."""

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
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from pydantic import Field

from diorama.render.run.estimate import Estimator
from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.files.atomic import write_atomic

if TYPE_CHECKING:
    from diorama.render.run.summary import Summary

log = logging.getLogger(__name__)

_EVERY_SECONDS = 2.0
_LINE_SECONDS = 30.0
_MOST_LINES = 64
# A status beside a downloaded store is a stranger's: numbers that arithmetic on floats can take, no NaN.
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Amount = Annotated[float, Field(ge=0, le=2**53)]


@dataclass
class Status:
    """How far a run is.

    Attributes:
        store: its path or URL.
        total: number of episodes of this run.
        done: committed episodes.
        failed: failed episodes.
        images: committed images.
        rate: images per second over the run.
        left: estimated seconds that are left, None if unknown.
        workers: number of workers that are up.
        lost_gpus: number of GPUs that left the run.
        gpus: what each GPU did.
        late: what to say about each worker that takes long for its episode, or to start.
        state: running, paused (the store accepts nothing), stopping, ended.
        host: name of the machine of the run.
        pid: of the writing process.
        born: start of that process, which distinguishes it from a later process with the same pid.
        started: Unix seconds.
        written: Unix seconds.
    """

    store: str
    total: _Count = 0
    done: _Count = 0
    failed: _Count = 0
    images: _Count = 0
    rate: _Amount = 0.0
    left: _Amount | None = None
    workers: _Count = 0
    lost_gpus: _Count = 0
    gpus: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    state: str = "running"
    host: str = ""
    pid: _Count = 0
    born: str = ""
    started: _Amount = 0.0
    written: _Amount = 0.0

    @classmethod
    def here(cls, store: str, **facts: Any) -> Status:
        """Return the status of a run of this process that starts now."""
        pid = os.getpid()
        return cls(store, host=socket.gethostname(), pid=pid, born=start_time(pid), started=time.time(), **facts)

    def write(self) -> None:
        """Replace the status file of the store; if that fails, only the log tells."""
        self.written = time.time()
        try:
            path = prepare_safe_path(self.store)
            # A link or a pipe under this name is replaced, and nothing is written through it.
            if path.is_symlink() or not path.is_file():
                path.unlink(missing_ok=True)
            write_atomic(path, json.dumps(asdict(self)), fsync=False)
            if "://" in self.store:
                path.chmod(0o600)
        except OSError as error:
            log.debug("the status of %s: %s", self.store, error)


@dataclass
class Progress:
    """The display of how far a run is: a bar on a terminal, else a line every 30 seconds and at the end.

    It is on standard error, and absent if messages of level INFO are off, as with --quiet; tqdm is imported only if a
    bar is drawn. A dry run keeps no status file.

    Attributes:
        summary: of the run, with the number of episodes in `todo`.
        cost: of all episodes (diorama.render.run.estimate), None if all cost 1.
        on_progress: called with the numbers of finished episodes and of all, instead of showing them.
        dry_run: whether nothing is rendered.
    """

    summary: Summary
    cost: float | None = None
    on_progress: Callable[[int, int], None] | None = None
    dry_run: bool = False

    def __post_init__(self) -> None:
        self._what = "compiling" if self.dry_run else "rendering"
        self.status = Status.here(self.summary.store, total=self.summary.todo)
        # Episodes that --skip-broken leaves out have failed already, and cost nothing.
        self._done = self._left_out = len(self.summary.failed)
        self._estimator = Estimator(self.summary.todo - self._left_out if self.cost is None else self.cost)
        self._images = 0
        self._start = self._shown = time.monotonic()
        self._written = 0.0
        self._bar: Any = None
        if self.on_progress is None and sys.stderr.isatty() and log.isEnabledFor(logging.INFO):
            from tqdm import tqdm

            layout = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
            self._bar = tqdm(
                total=self.summary.todo, initial=self._done, desc=self._what, dynamic_ncols=True, bar_format=layout
            )

    def advance(self, images: int = 0, cost: float = 1.0, seconds: float | None = None) -> None:
        """Count an episode that is done.

        Args:
            images: number of its images.
            cost: of the episode, in the unit of the cost of all.
            seconds: that a worker took for it, None if it failed.
        """
        if seconds is not None and self._done == self._left_out:
            # The clock starts with the first episode: Ray and Blender start only once.
            self._start = time.monotonic() - seconds
        self._estimator.done(cost, seconds)
        self._done += 1
        self._images += images
        if self.on_progress is not None:
            self.on_progress(self._done, self.status.total)
        if self._bar is not None:
            self._bar.update()

    def tick(
        self,
        workers: int = 0,
        state: str = "running",
        in_flight: Sequence[tuple[float, float]] = (),
        late: Sequence[str] = (),
        starting: Sequence[str] = (),
    ) -> None:
        """Show how far the run is; call it once per second.

        Args:
            workers: number of workers that are up.
            state: see Status.
            in_flight: cost and seconds so far of each unfinished episode.
            late: what to say about each worker that takes long for its episode.
            starting: the same about each that takes long to start.
        """
        now, status = time.monotonic(), self.status
        due = now - self._written > _EVERY_SECONDS or state != status.state
        status.workers, status.state, status.late = workers, state, (*late, *starting)[:_MOST_LINES]
        # Nobody knows when a worker ends that hangs.
        stalled = bool(status.late) and len(late) == len(in_flight)
        status.left = None if stalled else self._estimator.left(now - self._start, in_flight)
        if self._bar is not None:
            self._bar.set_postfix_str(", ".join(self._status_facts()))
        elif self.on_progress is None and now - self._shown > _LINE_SECONDS:
            self._log_progress()
        if due:
            self._write_status()

    def _status_facts(self) -> list[str]:
        elapsed, status, failed = time.monotonic() - self._start, self.status, len(self.summary.failed)
        facts = [f"{self._images / elapsed:.2f} images/s"] if self._images and elapsed > 0 else []
        facts += [f"about {span(status.left)} left"] if status.left is not None and status.left >= 1 else []
        facts += [counted(status.workers, "worker")] if status.workers else []
        facts += [f"{failed} failed"] if failed else []
        facts += status.late[:1]
        facts += [f"and {counted(len(status.late) - 1, 'more late worker')}"] if len(status.late) > 1 else []
        return facts + ([status.state] if status.state not in ("running", "ended") else [])

    def _log_progress(self) -> None:
        self._shown = time.monotonic()
        done = f"{self._what}: {self._done} of {counted(self.status.total, 'episode')}"
        log.info("%s", ", ".join([done, *self._status_facts()]))

    def _write_status(self) -> None:
        """Write the status file, with what is committed so far. A failure to write it does not stop the run."""
        if self.dry_run:
            return
        status, summary = self.status, self.summary
        status.done, status.failed, status.images = summary.rendered, len(summary.failed), summary.images
        status.lost_gpus = len(summary.lost_gpus)
        elapsed = time.time() - status.started
        status.rate = summary.images / elapsed if elapsed > 0 else 0.0
        self._written = time.monotonic()
        for use in summary.gpus.values():
            use.update(self._written)
        status.gpus = tuple(f"{name}: {use.text()}" for name, use in summary.gpus.items())[:_MOST_LINES]
        status.write()

    def close(self) -> None:
        """Write the last status, and leave the bar as it is on the terminal, or write the last line."""
        status = self.status
        status.workers, status.state, status.left, status.late = 0, "ended", None, ()
        self._write_status()
        if self._bar is not None:
            self._bar.close()
        elif self.on_progress is None and self._done:
            self._log_progress()


class EventLog:
    """A file to which the events of a run are appended as JSON, each line in one write; none if the path is None.

    Each has `event`, `time` (UTC, ISO 8601) and `elapsed` (seconds since the log was opened). Events: start, worker-up,
    worker-down, episode-done, episode-failed, commit, store-trouble, workers-per-gpu, gpu-left, end.

    Raises:
        UsageError: the file can't be written.
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


def path_of(store: str) -> Path:
    """Return the path of the status file: beside a local store, or in the user's runtime folder for a URL."""
    if "://" not in store:
        # Path.resolve raises for a link to itself.
        path = Path(os.path.realpath(store))
        return path.with_name(f".{path.name}.status.json")
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or Path(tempfile.gettempdir()) / f"diorama-{os.getuid()}")
    return base / f"diorama-{hashlib.sha256(store.encode()).hexdigest()[:16]}.status.json"


def prepare_safe_path(store: str) -> Path:
    """Return `path_of(store)`. Raises OSError if others can write to its folder or replace it, for a URL."""
    path = path_of(store)
    if "://" in store:
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700)
        state = path.parent.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o022:
            raise OSError(errno.EACCES, "not a folder that only this user can write", str(path.parent))
    return path


def start_time(pid: int) -> str:
    """Return when a process started, in kernel ticks since boot; "" if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def span(seconds: float) -> str:
    """Return a duration as text: "1 min 20 s"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
