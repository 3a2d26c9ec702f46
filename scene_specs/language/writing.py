"""Writing what a command was asked for: files, standard output, folders; errors of the system name the option."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from diorama.scene_specs.language.atomic import atomic_path
from diorama.scene_specs.language.errors import UsageError

# Full disk, exceeded quota, or exceeded file size limit.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_stream(out: Path | None) -> bool:
    """Whether an --out is stdout (None or `-`), a pipe, or a device, such as /dev/null: never a file to rename."""
    return out is None or str(out) == "-" or (out.exists() and not out.is_file() and not out.is_dir())


@contextmanager
def atomic_writer(out: Path | None, option: str = "--out") -> Iterator[IO[str]]:
    """Open `out` for UTF-8 text: a file gets its name only if the block ends without an error.

    Args:
        option: that names the file, for messages. None and `-` are stdout. Pipes and devices are written to directly: a
            rename would replace them. If `out` is a symbolic link, its target is written.

    Raises:
        UsageError: if the file can't be written; errors of the block pass.
    """
    if out is None or str(out) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    raised: BaseException | None = None
    try:
        if out.is_dir():
            raise UsageError(f"{option} {out}: is a folder; name a file")
        resolved = out.resolve()
        if resolved.is_symlink():
            resolved.stat()  # raises OSError for a link to itself, as `resolve` does before Python 3.13
        target = nullcontext(out) if is_stream(out) else atomic_path(resolved)
        with target as path, path.open("w", encoding="utf-8", newline="\n") as stream:
            try:
                yield stream
            except BaseException as error:
                raised = error
                raise
    except (OSError, RuntimeError) as error:
        if error is raised or isinstance(error, BrokenPipeError):
            raise
        raise unwritable(f"{option} {out}", error) from error


def create_empty_folder(option: str, out: Path) -> None:
    """Create the folder that an option names. Raises UsageError if that fails or the folder has contents."""
    with report_write_errors(f"{option} {out}"):
        if out.exists() and (not out.is_dir() or any(path for path in out.iterdir())):
            raise UsageError(f"{option} {out}: already exists and is not an empty folder; name another folder")
        out.mkdir(parents=True, exist_ok=True)


@contextmanager
def report_write_errors(where: str) -> Iterator[None]:
    """Raise UsageError for an error of the system in the block, except a reader that closed its pipe."""
    try:
        yield
    except BrokenPipeError:
        # The reader has all that it needs, as `head` does; click ends the command.
        raise
    except (OSError, RuntimeError) as error:
        raise unwritable(where, error) from error


def unwritable(where: str, error: OSError | RuntimeError) -> UsageError:
    """The error of a command that can't write to a file or folder."""
    # pathlib raises a RuntimeError for a link to itself.
    reason = error.strerror if isinstance(error, OSError) else None
    full = isinstance(error, OSError) and error.errno in NO_SPACE
    advice = "; free some space or choose another location, then run the command again" if full else ""
    return UsageError(f"{where}: can't be written: {reason or error}{advice}")
