"""What `render-batch --status STORE` says about the last run into a store, from the status file that the run writes."""

from __future__ import annotations

import socket
import time

from pydantic import TypeAdapter

from diorama.render.run.status import Status, prepare_safe_path, span, start_time
from diorama.scene_specs.errors import counted
from diorama.scene_specs.files.foreign import printable, read_foreign

# On another host only the age of the file shows whether its writer is alive.
_STALE_SECONDS = 30.0
_MOST_BYTES = 1 << 16


def read_status(store: str) -> Status | None:
    """Return the last status of a run into a store; None if no valid status file exists."""
    try:
        return TypeAdapter(Status).validate_json(read_foreign(prepare_safe_path(store), _MOST_BYTES))
    except (OSError, ValueError):
        return None


def is_active(status: Status) -> bool:
    """Return whether a run is still going on."""
    if status.state == "ended":
        return False
    if status.host != socket.gethostname():
        return time.time() - status.written < _STALE_SECONDS
    return bool(status.born) and start_time(status.pid) == status.born


def status_text(status: Status) -> str:
    """Return a status in one line of text, and one more for each GPU and for each late worker."""
    left = status.total - status.done - status.failed
    text = f"{status.store}: {status.done} of {counted(status.total, 'episode')} done"
    text += f", {status.failed} failed" if status.failed else ""
    text += f", {counted(status.lost_gpus, 'GPU')} left the run" if status.lost_gpus else ""
    if not is_active(status):
        ago = span(max(0.0, time.time() - status.written))
        how = "ended" if status.state == "ended" else "was killed or died; run the same command again to continue"
        return printable(f"no active run; the last one {how} ({ago} ago). {text}")
    text += f", {status.rate:.2f} images/s, {counted(status.workers, 'worker')}"
    if status.left is not None and left > 0:
        text += f", about {span(status.left)} to go"
    text += f" ({status.state})" if status.state != "running" else ""
    return "\n".join(map(printable, (text, *status.gpus, *status.late)))
