"""Output that a rerun completes: atomic files and folders, equal files are not written again, one process at a time."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.foreign import refuse_links


class FileConflictError(Exception):
    """A file exists with other contents, and --overwrite was not passed."""


def below(out: Path, name: str | Path) -> Path:
    """Return the path of a file or folder to write or delete below `out`.

    Raises UsageError if the name leads elsewhere, or if a symbolic link or a pipe is on the way.

    Call it right before each use: a store, an export or a gallery may come from somebody else, with links in it.
    """
    path = out / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise UsageError(f"--out {out}: the name {str(name)!r} leads out of this folder; nothing is written there")
    try:
        refuse_links(out, path)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.filename} {error.strerror}; remove the link") from error
    if path.is_fifo():
        raise UsageError(f"--out {out}: {path} is a pipe; remove it")
    return path


def put_file(out: Path, name: str | Path, content: bytes, overwrite: bool) -> bool:
    """Write a file below `out` atomically; return False if it already has this content.

    Raises:
        FileConflictError: a file exists with other contents.
        UsageError: for a link.
        OSError: a file can't be read or written.
    """
    path = below(out, name)
    if has_content(path, content, overwrite):
        return False
    # A rerun writes again what a power failure takes.
    write_atomic(path, content, fsync=False)
    return True


def has_content(path: Path, content: bytes, overwrite: bool) -> bool:
    """Return whether a file has this content already; raises as `put_file`."""
    try:
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            return True
    except FileNotFoundError:
        return False
    if not overwrite:
        raise FileConflictError(f"{path} exists with other contents")
    return False


def put_folder(
    out: Path, name: Path, files: Mapping[str, bytes], clear: Callable[[Path, Mapping[str, bytes]], None] | None = None
) -> None:
    """Write a folder of files (relative path -> content) below `out` that gets its name once it is complete.

    Args:
        clear: removes files from an existing folder, given the new files, which are then moved there one by one; by
            default the folder is deleted and replaced.

    Raises:
        UsageError: for a link.
        OSError: a file can't be read or written.
    """
    target = below(out, name)
    partial = below(out, name.with_name(f".{name.name}.partial"))
    # Left by a process that was killed.
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for file, content in files.items():
        path = partial / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    if clear is not None and target.exists():
        clear(target, files)
        for file in files:
            (partial / file).replace(target / file)
        partial.rmdir()
        return
    if target.exists():
        remove_folder(out, name)
    partial.rename(target)


def remove_folder(out: Path, name: Path, own: str = "") -> bool:
    """Delete a folder below `out`; return False if files of others keep it there.

    Args:
        own: regular expression of the names of the files to delete; "" for everything.

    Raises:
        UsageError: for a link.
        OSError: a file can't be read or written.
    """
    parent = below(out, name).parent
    # The folder that the user named may be a link; none below it.
    handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | (0 if parent == out else os.O_NOFOLLOW))
    try:
        # Relative to the open folder, and links are refused: nothing can be put in place of either.
        if not own:
            shutil.rmtree(name.name, dir_fd=handle)
            return True
        for _, folders, files, inner in os.fwalk(name.name, dir_fd=handle):
            ours = [file for file in files if re.fullmatch(own, file)]
            for file in ours:
                os.unlink(file, dir_fd=inner)
            if folders or len(ours) < len(files):
                return False
        os.rmdir(name.name, dir_fd=handle)
        return True
    finally:
        os.close(handle)


def remove_leftovers(out: Path) -> None:
    """Delete the temporary files (diorama.scene_specs.files.writing) that a killed export left below `out`.

    Call it only inside `output_lock`.
    """
    for path in out.rglob(".*.????????.part"):
        path.unlink(missing_ok=True)


@contextmanager
def output_lock(out: Path) -> Iterator[None]:
    """Create the folder and lock it against other exports and gallery builds.

    Raises UsageError, also for a folder inside a store, whose files are Lance's alone.
    """
    real = Path(os.path.realpath(out))
    try:
        if store := next((path for path in (real, *real.parents) if (path / "_versions").is_dir()), None):
            raise UsageError(f"--out {out}: is inside the store {store}; pass a folder outside it")
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"--out {out}: can't be a folder for the output: {error.strerror or error}") from error
    try:
        try:
            # A lock on the folder itself leaves no file behind, and ends with the process.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"--out {out}: another export or gallery build is writing there; wait for it or pass another folder"
            ) from error
        except OSError as error:
            # Some network file systems have no locks, and two processes in one folder would damage each other's files.
            raise UsageError(
                f"--out {out}: the folder can't be locked ({error.strerror or error}); write to "
                "a local disk and copy the files from there"
            ) from error
        yield
    finally:
        os.close(handle)
