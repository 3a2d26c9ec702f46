"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path, fsync: bool = True) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; rename it to `path` if the block ends without an error.

    Missing parent folders are created. The file gets the permissions of the user's umask. A pipe or a device, such as
    /dev/null, receives the contents after the block: a rename would remove it.

    Args:
        fsync: wait until the disk has the contents; leave it out for files that a rerun makes again.

    Raises:
        OSError: a file can't be read or written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with tempfile.TemporaryDirectory() as spool:
            temporary = Path(spool) / "contents"
            yield temporary
            with temporary.open("rb") as contents, path.open("wb") as special:
                shutil.copyfileobj(contents, special)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Created exclusively and under an unpredictable name, so that no link of somebody else's is followed.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:200]}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        # mkstemp makes files with mode 0600; made again, the kernel applies the umask.
        temporary.unlink()
        temporary.touch(exist_ok=False)
        yield temporary
        if fsync:
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: Path, content: bytes | str, fsync: bool = True) -> None:
    """Write a file atomically; text as UTF-8, line ends as they are. See `atomic_path`. Raises OSError."""
    with atomic_path(path, fsync) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
