"""Feed mangled files to every reader of foreign files.

    python -m tools mangle [KIND...] --count 100000 --seed 1

Input number N of a kind depends only on KIND, N and `--seed`. Prints a row per kind: inputs, read, refused (with a
DioramaError), failures, seconds. Failures are other exceptions, more than `--seconds`, more than 2 GiB, processes, and
files that a reader opens or changes elsewhere. They are kept in `--folder`. Exit code 1: there are failures.
"""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import Any

from diorama.scene_specs.errors import DioramaError, UsageError
from diorama.scene_specs.language.diagnostics import did_you_mean
from tests.hostile.mangle_kinds import KINDS
from tools.programs import positive

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 250
_MEMORY = 2 << 30
_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2**31, 2**63, 10**40, -1e308, 1e-320, float("nan"), float("inf"), "", "\0", "a", "../../../x",
    "/etc/passwd", "\x1b[2J\n", "\ud800", "a" * 70_000, "1" * 5000, [], {}, [[]], {"a": 1}, [0] * 3000,
)  # fmt: skip
_BYTES = (
    b"\0", b"\xff", b"\n", b'"', b"'", b"<", b">", b"&x;", b",", b"{", b"[", b"[" * 50_000, b"-", b"1e999", b"NaN",
    b"9" * 5000, b" " * 20_000, b"/" * 20_000, b"1/" * 9000, b"../", b"\xef\xbb\xbf", b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
)  # fmt: skip
# What changes something, with its path as the first argument.
_CHANGES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"}
_PROCESSES = {"subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "socket.connect"}


class _TimeUp(BaseException):
    """Not an Exception, which some readers catch."""


class Watch:
    """Notes paths outside the allowed folders while it is on. An audit hook can't be removed."""

    def __init__(self, folder: Path) -> None:
        self.on, self.found = False, list[str]()
        self._written = (f"{folder}/", "/dev/null")
        roots = (sys.prefix, sys.base_prefix, ROOT)
        self._read = (*self._written, *(f"{Path(root).resolve()}/" for root in roots))
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        writes = event in _CHANGES
        if event == "open" and not isinstance(arguments[0], int):
            writes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        elif event not in _CHANGES | _PROCESSES:
            return
        path = os.path.realpath(os.fsdecode(arguments[0])) if event not in _PROCESSES else ""
        if not path.startswith(self._written if writes else self._read):
            self.found.append(f"{event} {path}")


def mangled(data: bytes, rng: random.Random) -> bytes:
    """The data with one to three random changes of bytes, lines or values."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice((_bytes, _lines, _values, _values))(data, rng)
    return data


def _bytes(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 0, 1, 4, 100, len(data))))
    new = rng.choice((b"", rng.choice(_BYTES), rng.randbytes(rng.randint(1, 8)), data[start:end] * 2))
    return data[:start] + new + data[end:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    start, to = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    part = lines[start : start + rng.randint(1, 3)]
    if rng.random() < 0.5:
        del lines[start : start + len(part)]
    lines[to:to] = part * rng.choice((0, 1, 1, 2, 50))
    return b"\n".join(lines)


def _values(data: bytes, rng: random.Random) -> bytes:
    """Change a JSON value of the data, of a line or of a .glb file's head; in other files, change a number."""
    start, end = 0, len(data)
    if data.startswith(b"glTF"):
        start, end = 20, 20 + int.from_bytes(data[12:16], "little")
    elif b"\n" in data.strip():
        start = data.rfind(b"\n", 0, rng.randrange(len(data))) + 1
        end = max(data.find(b"\n", start), start)
    try:
        new = _json(json.loads(data[start:end]), rng)
    except (ValueError, RecursionError, IndexError):
        numbers = list(re.finditer(rb"-?\d+(\.\d+)?", data[start:end][:100_000]))
        if not numbers:
            return _bytes(data, rng)
        one = rng.choice(numbers)
        start, end, new = start + one.start(), start + one.end(), str(rng.choice(_ODD)).encode("utf-8", "replace")
    if data.startswith(b"glTF"):
        new += b" " * (-len(new) % 4)
        data = data[:12] + len(new).to_bytes(4, "little") + data[16:]
        data = data[:8] + (len(data) + len(new) - end + start).to_bytes(4, "little") + data[12:]
    return data[:start] + new + data[end:]


def _json(value: Any, rng: random.Random) -> bytes:
    slots: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict | list):
            slots += [(one, key) for key in (one if isinstance(one, dict) else range(len(one)))]
            todo += one.values() if isinstance(one, dict) else one
    inside, key = rng.choice(slots)
    other, name = rng.choice(slots)
    match rng.randrange(4):
        case 0:
            del inside[key]
        case 1:
            inside[key] = json.loads(json.dumps(other[name]))
        case 2 if isinstance(inside, dict):
            inside[str(rng.choice(_ODD))] = inside.pop(key)
        case _:
            inside[key] = rng.choice(_ODD)
    return json.dumps(value).encode()


@lru_cache
def _prepared(kind: str, folder: Path) -> tuple[Watch, Path, list[bytes]]:
    """What a process needs; the first reading imports modules, which the watch does not see."""
    logging.disable()
    signal.signal(signal.SIGALRM, _time_up)
    place = folder / f"{kind}-{os.getpid()}"
    place.mkdir()
    os.environ["DIORAMA_CACHE"] = str(place / "cache")
    path = place / KINDS[kind].file
    path.parent.mkdir(exist_ok=True)
    seeds = KINDS[kind].seeds(path.parent)
    for seed in seeds:
        path.write_bytes(seed)
        KINDS[kind].read(path)
    size = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, resource.RLIM_INFINITY))
    return Watch(place), path, seeds


def _time_up(*_: object) -> None:
    raise _TimeUp


def _outcome(kind: str, path: Path, watch: Watch, seconds: float) -> str:
    """Read a file: "read", "refused", or the failure."""
    watch.found.clear()
    watch.on = True
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        KINDS[kind].read(path)
        found = "read"
    except DioramaError as error:
        found = "refused" if not isinstance(error.__cause__, MemoryError) else "out of memory"
    except BaseException as error:  # a reader may raise anything, which is what this tool looks for
        where = traceback.extract_tb(error.__traceback__)[-1]
        found = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {str(error)[:150]!r}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        watch.on = False
    return watch.found[0] if watch.found else found


def run_chunk(kind: str, numbers: range, options: Namespace, folder: Path) -> Counter[str]:
    """Read some inputs of a kind; keep those that fail."""
    watch, path, seeds = _prepared(kind, folder)
    counts: Counter[str] = Counter()
    for number in numbers:
        rng = random.Random(f"{options.seed}/{kind}/{number}")
        data = mangled(rng.choice(seeds), rng)
        path.write_bytes(data)
        outcome = _outcome(kind, path, watch, options.seconds)
        counts[outcome] += 1
        if outcome not in ("read", "refused") and counts[outcome] == 1:
            (folder / f"failed-{kind}-{number}").write_bytes(data)
    return counts


def _listing(folder: Path) -> list[tuple[str, int, str]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(str(p), p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in files]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)} [all]")
    parser.add_argument("--count", type=positive, default=100_000, help="inputs per kind [100000]")
    parser.add_argument("--first", type=int, default=0, help="number of the first input [0]")
    parser.add_argument("--seed", type=int, default=1, help="of all random changes [1]")
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit per input [5]")
    parser.add_argument("--folder", type=Path, help="for inputs and failures [a temporary folder]")


def run_kind(kind: str, options: Namespace, folder: Path) -> Counter[str]:
    """Read all inputs of a kind in two processes. A process that dies is a failure, and ends the kind."""
    counts: Counter[str] = Counter()
    last = options.first + options.count
    chunks = [range(start, min(start + CHUNK, last)) for start in range(options.first, last, CHUNK)]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(run_chunk, kind, chunk, options, folder): chunk for chunk in chunks}
        for future, chunk in futures.items():
            try:
                counts += future.result()
            except BrokenProcessPool:
                counts[f"a process died at or after input {chunk.start}"] += 1
                break
    return counts


def main(options: Namespace) -> int:
    """Mangle all kinds. Returns 1 if anything failed."""
    for kind in options.kinds:
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise UsageError(f"unknown kind {kind!r}; allowed: {', '.join(KINDS)}" + (f"; {hint}" if hint else ""))
    folder = (options.folder or Path(tempfile.mkdtemp(prefix="diorama-mangle-"))).resolve()
    (folder / "canary" / "deep").mkdir(parents=True, exist_ok=True)
    for name in ("precious.txt", "deep/thesis.tex"):
        (folder / "canary" / name).write_text("mine\n", encoding="utf-8")
    before, failed = _listing(folder / "canary"), 0
    sys.stdout.write("| kind | inputs | read | refused | failures | seconds |\n|---|---|---|---|---|---|\n")
    for kind in options.kinds or KINDS:
        start = time.perf_counter()
        counts = run_kind(kind, options, folder)
        read, refused = counts.pop("read", 0), counts.pop("refused", 0)
        failures = counts.total()
        failed += failures
        figures = (read + refused + failures, read, refused, failures, round(time.perf_counter() - start))
        sys.stdout.write(f"| {kind} | " + " | ".join(f"{figure:,}" for figure in figures) + " |\n")
        sys.stdout.flush()
        for text, number in counts.most_common(20):
            sys.stderr.write(f"{kind}: {number} x {text}\n")
    if _listing(folder / "canary") != before:
        failed += 1
        sys.stderr.write("the canary folder was changed\n")
    sys.stderr.write(f"inputs and failures: {folder}\n")
    return int(failed > 0)
