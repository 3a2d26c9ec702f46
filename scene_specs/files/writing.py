"""Output that a user names: files, folders and standard output. Errors of the system name the option."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.atomic import atomic_path
from diorama.scene_specs.files.foreign import MOST_BYTES


def compact_json(value: Any) -> str:
    """JSON on one line, without spaces and without escaped letters."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def indented_json(value: Any) -> bytes:
    """JSON for people, with a line break at the end."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


# Full disk, exceeded quota, or exceeded file size limit.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_stream(out: Path | None) -> bool:
    """Whether an --out is stdout (None or `-`), a pipe, or a device, such as /dev/null: never a file to rename."""
    return out is None or str(out) == "-" or (out.exists() and not out.is_file() and not out.is_dir())


def output_file(out: Path, option: str = "--out") -> Path:
    """Return the path of a file that an option names, behind links. Raises UsageError if no file can be there."""
    with report_write_errors(f"{option} {out}"):
        if out.is_dir():
            raise UsageError(f"{option} {out}: is a folder; name a file")
        resolved = out.resolve()
        if resolved.is_symlink():
            resolved.stat()  # raises OSError for a link to itself, as `resolve` does before Python 3.13
        return resolved


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
    resolved = output_file(out, option)
    try:
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
    """Return the error of a command that can't write to a file or folder."""
    # pathlib raises a RuntimeError for a link to itself.
    full = getattr(error, "errno", None) in NO_SPACE
    advice = "; free some space or choose another location, then run the command again" if full else ""
    return UsageError(f"{where}: can't be written: {getattr(error, 'strerror', None) or error}{advice}")


class GrowingFile:
    """A file under an exclusive lock.

    Args:
        where: the option and path, for messages.
    """

    def __init__(self, path: Path, file: IO[bytes], where: str) -> None:
        self.path, self._file, self._where = path, file, where

    def contents(self) -> bytes:
        """All bytes. Raises UsageError for a file that is too large to have been written this way."""
        if (size := os.fstat(self._file.fileno()).st_size) > MOST_BYTES:
            raise UsageError(
                f"{self._where}: {size / 2**20:,.0f} MiB, expected at most {MOST_BYTES >> 20}: name another file"
            )
        self._file.seek(0)
        return self._file.read()

    def read_and_repair(self, start: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield number and contents of each line, for the caller to check; then remove a last record that was cut.

        Args:
            start: what each record begins with.

        Raises:
            UsageError: for an incomplete last line that begins otherwise.
        """
        data = self.contents()
        *lines, rest = data.split(b"\n")
        yield from enumerate(lines, start=1)
        if not rest:
            return
        try:
            json.loads(rest)
        except (ValueError, RecursionError):
            if not start.startswith(rest[: len(start)]):
                raise UsageError(f"{self._where}: not written by this command; name another file") from None
            self.truncate(len(data) - len(rest))
        else:
            yield len(lines) + 1, rest
            self.append("\n")

    def append(self, text: str) -> None:
        """Append text and wait for the disk; after an error the file is as it was. Raises UsageError."""
        end = self._file.seek(0, os.SEEK_END)
        with report_write_errors(self._where):
            try:
                self._file.write(text.encode())
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError:
                os.ftruncate(self._file.fileno(), end)
                raise

    def truncate(self, size: int) -> None:
        """Keep the first `size` bytes."""
        os.ftruncate(self._file.fileno(), size)


@contextmanager
def open_growing(path: Path) -> Iterator[GrowingFile]:
    """Open or create a file; one that is empty in the end and was not there before is removed. Raises UsageError."""
    where = f"--out {path}"
    new = not path.exists()
    with report_write_errors(where):
        if not new and not path.is_file():
            raise UsageError(f"{where}: not a regular file; name another file")
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    with file:
        try:
            # The lock ends with the process, even if the process is killed.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"{where}: another command is writing it; wait for it or name another file") from error
        try:
            yield GrowingFile(path, file, where)
        finally:
            if new and not os.fstat(file.fileno()).st_size:
                path.unlink(missing_ok=True)
