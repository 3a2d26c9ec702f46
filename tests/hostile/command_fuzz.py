"""Run every command with every kind of input for its paths.

    python -m tools command-fuzz [COMMAND...] --kind FIFO --every 1

A pair is a call in which all arguments are right except one path. Prints a row per path: pairs, exit codes, findings,
seconds, and the longest time and most memory of a pair. Findings are exceptions, exit codes that the help of the
command does not list, more than `--seconds`, more than 1,500 MiB, and changed files that the command was not asked to
write; for inputs of up to 100 kB, also a refusal after more than 2 s of the processor, and more than 1,000 MiB. At the
end, the ten pairs with such an input that took longest, in seconds of the processor. Exit code 1: there are findings.
"""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import click
from click.testing import CliRunner

from diorama.scene_specs.errors import UsageError
from tests.hostile.fuzz_inputs import KINDS, Good, make_input
from tests.render.cli.test_help import every_command
from tools.programs import positive

# Arguments that are no paths.
_WORDS = {"episode", "episodes", "episode_id", "name", "models"}
# Options that name stores and specs as text.
_PATH_METAVARS = {"STORE", "SPEC"}
# Parameters that name what a command writes.
_OUTPUTS = {"out", "target", "json_log", "plot", "images", "folders", "specs_out", "sheet", "plan"}
# These change the store that they are given.
_CHANGING = {f"render-store {name}" for name in ("compact", "create", "delete", "migrate", "repair", "tag")}
_EPISODE = "clevr/train/000000"
_PLAY = "games=@games --speaker=scripted --listener=oracle"
# Command, or command and parameter under test -> a right call. @: a file of fuzz_inputs; OUT: an empty folder. The
# parameter under test is replaced or added. Commands with nothing to add are not here.
_CALLS = {
    "render-batch": "specs=@clevr.jsonl --dry-run --out=OUT/s.lance",
    "render-batch --status": "",
    "render-specs check --store": "--prove",
    "render-specs clevr": "--count=1",
    "render-specs icca": "--contexts=1",
    "render-specs icca games": "store=@all.lance --out=OUT/games",
    "render-specs icca play": _PLAY,
    "render-specs icca prompt": "game=@games/001_482c32a6d4d9",
    "render-specs icca score": "played=@played.jsonl",
    "render-specs icca similarity": "files=@icca.jsonl",
    "render-specs import": "--from=clevr files=@published.json",
    "render-specs iwisdm": "--benchmark=low --count=1",
    "render-specs iwisdm --config": "--count=1",
    "render-specs iwisdm balance": "files=@iwisdm.jsonl",
    "render-specs kilogram": "--pictures",
    "render-specs kilogram --svg": "--pictures --annotations=@annotations.json",
    "render-specs kilogram --annotations": "--pictures --svg=@tangrams",
    "render-specs kilogram --splits": "--pictures --svg=@tangrams --annotations=@annotations.json",
    "render-specs kilogram drawings --splits": "folder=@tangrams --annotations=@annotations.json",
    "render-specs kilogram naming": "files=@annotations.json",
    "render-specs kilogram tangrams": "--count=1",
    "render-specs malevic": "--set=pos1 --count=1",
    "render-specs malevic statistics": "files=@malevic.jsonl",
    "render-specs mewl": "--task=shape --count=1",
    "render-specs mewl audit": "files=@mewl.jsonl",
    "render-specs mewl captions": "files=@mewl.jsonl",
    "render-specs novel": "--task=all --count=1",
    "render-specs perspective": "--count=1",
    "render-specs questions": "sources=@clevr.jsonl --per-image=3",
    "render-specs report": "name=mewl files=@mewl.jsonl",
    "render-specs views": "models=chairs --limit=1",
    "render-export": "source=@all.lance --out=OUT/new",
    "render-gallery": "url=@all.lance --out=OUT/new",
    "render-episode": f"store=@all.lance episode_id={_EPISODE} --renderer=fake --out=OUT/new",
    "render-episode --from": "--renderer=fake --out=OUT/new",
    "render-episode --sheet": f"store=@all.lance episode_id={_EPISODE}",
    "render-episode --plan": f"store=@all.lance episode_id={_EPISODE}",
    "render-store copy": "source=@all.lance target=OUT/copy.lance",
    "render-store delete": f"url=@all.lance episodes={_EPISODE}",
    "render-store diff": "url=@all.lance other=@all.lance",
    "render-store get": f"url=@all.lance episodes={_EPISODE} --out=OUT/new",
    "render-store stats": "url=@all.lance",
    "render-store tag": "url=@all.lance name=first",
    "render-store verify": "url=@all.lance",
}
# Arguments of all other commands.
_FILES = {"files": "files=@every.jsonl", "folder": "folder=@tangrams"}
# In MiB; the commands alone take 300.
_MEMORY = 1500
# Of inputs up to a size in bytes: seconds of the processor until one is refused, and MiB.
_SMALL, _SMALL_SECONDS, _SMALL_MEMORY = 100_000, 2.0, 1000


class Target(NamedTuple):
    """A path that a command takes: an argument or an option."""

    command: str
    param: click.Parameter

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self.param.opts[-1] if isinstance(self.param, click.Option) else (self.param.name or "").upper()


class Outcome(NamedTuple):
    """One call. problem: why it must not be so, or "". cpu: seconds of the processor. size: bytes of the input."""

    kind: str
    code: int
    seconds: float
    cpu: float
    size: int
    peak: int
    problem: str
    stderr: str


class _TimeUp(BaseException):
    """Not an Exception, which commands catch."""


def targets() -> list[Target]:
    """Every path of every command. Not of render-doctor: it starts Ray, which a process may do once."""
    found = []
    for name, command in every_command():
        for param in command.params if name != "render-doctor" else ():
            argument = isinstance(param, click.Argument) and param.name not in _WORDS
            if argument or isinstance(param.type, click.Path) or param.metavar in _PATH_METAVARS:
                found.append(Target(name, param))
    return found


def documented_codes(command: str) -> set[int]:
    """The exit codes that the help of a command lists, or of the nearest group above it; 2 is click's own."""
    commands = dict(every_command())
    while "Exit codes:" not in (text := commands[command].help or ""):
        command = command.rpartition(" ")[0]
    return {2} | {int(code) for code in re.findall(r"\b(\d+):", text.partition("Exit codes:")[2].partition("\n\n")[0])}


def _words(target: Target, path: str, good: Good, out: Path) -> list[str]:
    """The words after the command: a right call in which the path takes the place of the parameter under test."""
    arguments = [
        param.name for param in dict(every_command())[target.command].params if param.param_type_name == "argument"
    ]
    usual = " ".join(_FILES[name] for name in arguments if name in _FILES)
    call = _CALLS.get(f"{target.command} {target.name}", _CALLS.get(target.command, usual))
    words, found = [], False
    for word in call.split():
        name, equals, value = word.partition("=")
        if name in (target.param.name, target.name):
            value, found = path, True
        elif value.startswith("@"):
            first, _, rest = value[1:].partition("/")
            value = str(good.path(first) / rest)
        value = value.replace("OUT", str(out), 1) if value.startswith("OUT") else value
        words.append(value if equals and not name.startswith("-") else f"{name}{equals}{value}")
    if not found:
        words += [path] if target.param.param_type_name == "argument" else [f"{target.name}={path}"]
    return words


def _obey_permissions() -> None:
    """Take the right to ignore permissions from root, in this thread and those that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Version 3; this thread. Three masks of 64 bits, in halves: effective, permitted, inheritable.
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data) == 0:
        # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
        data[0] &= ~0b110
        libc.capset(header, data)


def _time_up(*_: object) -> None:
    raise _TimeUp


def listing(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Relative path -> type, permissions, size, and time of the last change, of all that can be seen."""
    found: dict[str, tuple[Any, ...]] = {}
    for below, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(below, name)
            state = path.lstat()
            changed = 0 if path.is_dir() and not path.is_symlink() else state.st_mtime_ns
            found[str(path.relative_to(folder))] = (state.st_mode, 0 if changed == 0 else state.st_size, changed)
    return found


def _peak() -> int:
    """Most memory since `_forget_peak`, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


class Place:
    """Where a process works: `given` with the input, `out`, and folders in which nothing may appear."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.good = Good(folder / "good")
        self.given, self.out = folder / "call/given", folder / "call/out"
        self._empty = [folder / "call" / name for name in ("cwd", "home", "tmp", "cache")]

    def clear(self) -> None:
        """Make the folders anew."""
        for below, folders, _ in os.walk(self.folder / "call"):
            for name in folders:
                Path(below, name).chmod(0o755)
        shutil.rmtree(self.folder / "call", ignore_errors=True)
        for path in (self.given, self.out, *self._empty):
            path.mkdir(parents=True)
        os.chdir(self._empty[0])

    def surroundings(self) -> dict[str, str]:
        """Environment of the commands."""
        cwd, home, tmp, cache = map(str, self._empty)
        return {"PWD": cwd, "HOME": home, "TMPDIR": tmp, "DIORAMA_CACHE": cache, "XDG_CONFIG_HOME": home}

    def beside(self, before: dict[str, tuple[Any, ...]], target: Target) -> list[str]:
        """What has changed that the command was not asked to write."""
        after = listing(self.folder / "call")
        changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
        asked = ["out/", "cache/"]
        if target.param.name in _OUTPUTS or target.command in _CHANGING:
            asked.append("given/")
        return sorted(name for name in changed if not name.startswith(tuple(asked)))


def _drain(pipe: int, done: Event) -> None:
    """Read from a pipe, as the program behind a shell's `|` does."""
    while not done.wait(0.01):
        with suppress(BlockingIOError):
            os.read(pipe, 1 << 20)
    os.close(pipe)


def run_pair(target: Target, kind: str, place: Place, seconds: float) -> Outcome:
    """Run a command with one wrong path."""
    place.clear()
    # A command sets the library of its process.
    os.environ.pop("DIORAMA_SHAPENET", None)
    path = make_input(kind, place.good, place.given)
    done = Event()
    if kind == "FIFO" and target.param.name in _OUTPUTS:
        Thread(target=_drain, args=(os.open(path, os.O_RDWR | os.O_NONBLOCK), done)).start()
    program, *below = target.command.split()
    words = [*below, *_words(target, str(path), place.good, place.out)]
    main = dict(every_command())[program]
    before = listing(place.folder / "call")
    _forget_peak()
    size = _size_of(path)
    start, used, problem, code, stderr = time.perf_counter(), time.process_time(), "", -1, ""
    # For what ignores signals: code of libraries.
    faulthandler.dump_traceback_later(2 * seconds + 10, exit=True)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        result = CliRunner().invoke(main, words, prog_name=program)
        code, stderr = result.exit_code, result.stderr
        problem = problem_of(target, result)
    except _TimeUp as error:
        problem = f"more than {seconds:g} s: {_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        done.set()
    took, used, peak = time.perf_counter() - start, time.process_time() - used, _peak()
    small = size <= _SMALL
    if not problem and small and code and used > _SMALL_SECONDS:
        problem = f"refused after {used:.1f} s of the processor"
    if not problem and peak > (_SMALL_MEMORY if small else _MEMORY):
        problem = f"{peak} MiB of memory"
    if not problem and (beside := place.beside(before, target)):
        problem = f"wrote {', '.join(beside[:3])}"
    return Outcome(kind, code, took, used, size, peak, problem, stderr)


def _size_of(path: Path) -> int:
    """Bytes of an input, 0 if it can't be read."""
    with suppress(OSError):
        return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())
    return 0


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__}: {str(error)[:120]} in " + ", ".join(
        f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-4:]
    )


def problem_of(target: Target, result: Any) -> str:
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return _where(result.exception)
    if "Traceback (most recent call last)" in result.output:
        return "prints a traceback"
    if result.exit_code not in documented_codes(target.command):
        return f"exit code {result.exit_code}, which its help does not list: {result.stderr[-200:]}"
    if result.exit_code and not result.stderr.strip() and not result.stdout.strip():
        return f"exit code {result.exit_code} without a message"
    return ""


@lru_cache(maxsize=1)
def _prepared(folder: Path) -> Place:
    """What a process needs before its first pair."""
    _obey_permissions()
    signal.signal(signal.SIGALRM, _time_up)
    place = Place(folder / str(os.getpid()))
    os.environ.update(place.surroundings())
    os.environ.pop("DIORAMA_STORE", None)
    place.clear()
    return place


def run_target(index: int, kinds: Sequence[str], options: Namespace, folder: Path) -> list[Outcome]:
    """Run the pairs of one path of a command."""
    place, target = _prepared(folder), targets()[index]
    return [run_pair(target, kind, place, options.seconds) for kind in kinds]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="part of the names of commands [all]")
    parser.add_argument("--kind", action="append", help=f"input, repeatable, of: {', '.join(KINDS)} [all]")
    parser.add_argument("--every", type=positive, default=1, metavar="N", help="run every Nth pair only [1]")
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit per pair [20]")
    parser.add_argument("--processes", type=positive, default=2, help="processes [2]")
    parser.add_argument("--verbose", action="store_true", help="print every pair with its exit code and message")


def _chosen(options: Namespace) -> Iterator[tuple[int, Target, list[str]]]:
    """Path by path, the kinds to run. Every Nth pair: N that is no divisor of the kinds reaches all of them."""
    number = 0
    for index, target in enumerate(targets()):
        if options.commands and not any(part in f"{target.command} {target.name}" for part in options.commands):
            continue
        kinds = []
        for kind in options.kind or KINDS:
            number += 1
            if number % options.every == 0:
                kinds.append(kind)
        if kinds:
            yield index, target, kinds


def main(options: Namespace) -> int:
    """Run the pairs. Returns 1 if there are findings."""
    if unknown := set(options.kind or ()) - set(KINDS):
        raise UsageError(f"unknown kind {', '.join(sorted(unknown))}; allowed: {', '.join(KINDS)}")
    chosen = list(_chosen(options))
    if not chosen:
        raise UsageError("no pair is selected; COMMAND is a part of a command's name, such as `store verify`")
    # Not below the folder of a user, whose parents may be closed.
    folder = Path(tempfile.mkdtemp(prefix="diorama-commands-"))
    pairs, failed, start, small = 0, 0, time.perf_counter(), list[tuple[float, str, Outcome]]()
    sys.stdout.write(
        "| path | pairs | exit codes | findings | seconds | slowest | MiB |\n|---|---|---|---|---|---|---|\n"
    )
    with ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(run_target, index, kinds, options, folder) for index, _, kinds in chosen]
        for (_, target, kinds), future in zip(chosen, futures, strict=True):
            name = f"{target.command} {target.name}"
            try:
                found = future.result()
            except BrokenProcessPool:
                sys.stderr.write(f"{name}: a process died; see above\n")
                failed += 1
                break
            pairs += len(kinds)
            failed += sum(bool(one.problem) for one in found)
            small += [(one.cpu, name, one) for one in found if 0 < one.size <= _SMALL]
            sys.stdout.write(_row(name, found))
            sys.stdout.flush()
            for one in found:
                if one.problem or options.verbose:
                    told = one.problem or one.stderr.strip().replace("\n", " / ")[-300:]
                    sys.stderr.write(f"{name} [{one.kind}] {one.code} {one.seconds:.1f} s: {told}\n")
    shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write("\n| path | input | kB | exit code | s | s per kB | MiB |\n|---|---|---|---|---|---|---|\n")
    for cpu, name, one in sorted(small, key=lambda each: each[0], reverse=True)[:10]:
        size = one.size / 1000
        sys.stdout.write(
            f"| {name} | {one.kind} | {size:.1f} | {one.code} | {cpu:.2f} | {cpu / size:.3f} | {one.peak} |\n"
        )
    sys.stdout.write(f"\n{pairs:,} pairs, {failed:,} findings, {time.perf_counter() - start:.0f} s\n")
    return int(failed > 0)


def _row(name: str, found: Sequence[Outcome]) -> str:
    codes = ", ".join(f"{code}: {n}" for code, n in sorted(Counter(one.code for one in found).items()))
    bad, took = sum(bool(one.problem) for one in found), [one.seconds for one in found]
    peak = max(one.peak for one in found)
    return f"| {name} | {len(found)} | {codes} | {bad} | {sum(took):.1f} | {max(took):.1f} | {peak} |\n"
