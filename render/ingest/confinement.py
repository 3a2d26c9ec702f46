"""Confines a forked process before it reads a model of a stranger. There is no way back.

Linux only: Landlock (kernel 5.13) hides all files but a few folders, a seccomp filter refuses sockets and new programs,
and limits bound memory, time and the size of files.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

# CPU seconds, bytes beyond those of the process itself, and bytes of a file that it writes.
SECONDS, MEMORY, FILE_BYTES = 20, 2 << 30, 1 << 30
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SIGKILL, _EPERM = 9, 1
_IN_OPEN = 0x20
_LIBC = ctypes.CDLL(None, use_errno=True)
_READ, _EXECUTE, _OF_FILES = 0xC, 0x1, 0x6
# Machine -> its number in the kernel's audit, and the calls for sockets, new programs, other processes, io_uring, and
# leaving a group of processes.
_CALLS = {
    "x86_64": (0xC000003E, (41, 53, 59, 322, 101, 310, 311, 319, 425, 109, 112)),
    "aarch64": (0xC00000B7, (198, 199, 221, 281, 117, 270, 271, 279, 425, 154, 157)),
}


def is_supported() -> bool:
    """Return whether this system can confine a process."""
    machine = os.uname()
    return machine.sysname == "Linux" and machine.machine in _CALLS and _landlock_version() > 0


def _landlock_version() -> int:
    return int(_LIBC.syscall(_CREATE_RULESET, None, 0, 1))


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def flush() -> None:
    """Write out what Python and C code have printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    _LIBC.fflush(None)


def limit() -> None:
    """Limit memory, time and files of this process, which ends with its parent."""
    # One that waits at a pipe would stay forever.
    _check(_LIBC.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl")
    status = Path("/proc/self/status").read_text().split()
    own = int(status[status.index("VmData:") + 1]) * 1024
    for kind, bound in (
        (resource.RLIMIT_DATA, own + MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))


class OpenedFiles:
    """What any process opens in folders from now on; all files in them where the system doesn't tell."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = [*folders]
        start = getattr(_LIBC, "inotify_init1", None)
        self._events = start(os.O_NONBLOCK | os.O_CLOEXEC) if start else -1
        watch = [_LIBC.inotify_add_watch(self._events, os.fsencode(f), _IN_OPEN) for f in self._folders if start]
        self._watched = dict(zip(watch, self._folders, strict=False))

    def paths(self) -> set[Path]:
        """Return their paths."""
        paths, data = set(), b""
        with suppress(BlockingIOError):
            while self._events >= 0 and -1 not in self._watched:
                data = data or os.read(self._events, 1 << 16)
                watch, _, _, size = struct.unpack_from("iIII", data)
                name, data = data[16 : 16 + size].rstrip(b"\0"), data[16 + size :]
                if watch < 0:
                    # Events were lost.
                    break
                paths.add(self._watched[watch] / os.fsdecode(name))
            return {path for folder in self._folders for path in folder.iterdir()}
        return paths


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Hide all files but those below some folders, and refuse sockets and new programs. Raises OSError.

    Args:
        readable: files and folders that may be read.
        writable: folders that may also be written.
    """
    version = _landlock_version()
    # All of the first version; then moving files between folders, and truncating.
    rights = (1 << 12 + min(version, 3)) - 1
    # Files, TCP (version 4), and signals and abstract sockets (version 6).
    handled = struct.pack("QQQ", rights, 3, 3)
    rules = _LIBC.syscall(_CREATE_RULESET, handled, 24 if version >= 6 else 16 if version >= 4 else 8, 0)
    _check(rules, "Landlock")
    for path, access in [(path, _READ) for path in readable] + [(path, rights & ~_EXECUTE) for path in writable]:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", access if path.is_dir() else access & _OF_FILES, handle)
        _check(_LIBC.syscall(_ADD_RULE, rules, 1, rule, 0), f"Landlock: {path}")
        os.close(handle)
    _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _check(_LIBC.syscall(_RESTRICT_SELF, rules, 0), "Landlock")
    os.close(rules)
    _refuse_calls(*_CALLS[os.uname().machine])


def _refuse_calls(machine: int, numbers: Sequence[int]) -> None:
    """Let system calls fail; end the process at one of another machine, whose numbers differ."""
    load, equal, above, answer = 0x20, 0x15, 0x35, 0x06
    refused = len(numbers)
    code = [
        (load, 0, 0, 4),
        (equal, 1, 0, machine),
        (answer, 0, 0, 0x80000000),
        (load, 0, 0, 0),
        # The x32 calls of x86_64 have numbers of their own.
        (above, refused + 1, 0, 0x40000000),
        *((equal, refused - index, 0, number) for index, number in enumerate(numbers)),
        (answer, 0, 0, 0x7FFF0000),
        (answer, 0, 0, 0x50000 | _EPERM),
    ]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    filters = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text))
    _check(_LIBC.prctl(_PR_SET_SECCOMP, 2, filters, 0, 0), "seccomp")
