"""Files that only grow: records are appended under a lock, and a crash loses at most the record being written."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from diorama.scene_specs.language.errors import UsageError
from diorama.scene_specs.language.foreign import MOST_BYTES
from diorama.scene_specs.language.writing import report_write_errors


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

    def records(self, start: bytes) -> Iterator[tuple[int, bytes]]:
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
def open_growing(path: Path, option: str = "--out") -> Iterator[GrowingFile]:
    """Open or create a file; one that is empty in the end and was not there before is removed. Raises UsageError."""
    where = f"{option} {path}"
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
