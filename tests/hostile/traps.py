"""Shared traps: folders that must stay as they are, stores with hostile contents, commands with bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diorama.render.store import open_or_create
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Victim:
    """A folder of somebody's files, which no command may touch."""

    folder: Path

    def files(self) -> dict[str, bytes]:
        """Relative path -> contents of every file."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


def make_victim(folder: Path) -> Victim:
    """A folder with two files and a folder in it."""
    (folder / "deep").mkdir(parents=True)
    (folder / "precious.txt").write_text("mine\n")
    (folder / "deep" / "thesis.tex").write_text("years of work\n")
    return Victim(folder)


def make_store(folder: Path, records: Sequence[EpisodeRecord] = ()) -> str:
    """A store of the given records, by default of three harmless ones; returns its path."""
    url = str(folder / "s.lance")
    store = open_or_create(url)
    store.put(list(records) or [rendered("demo/a", 1), rendered("demo/b", 2, split="val"), rendered("demo/c", 3)])
    store.close()
    return url


@dataclass(frozen=True)
class Finished:
    """A command that ended. peak: MiB of memory it used at most."""

    code: int
    out: str
    err: str
    peak: float


def run_bounded(program: str, *arguments: str | Path, env: dict[str, str] | None = None, cwd: Path = ROOT) -> Finished:
    """Run a command in its own process. Raises subprocess.TimeoutExpired where it takes longer than four minutes."""
    code = (
        "import sys\n"
        "from tests.compatibility.commands import command\n"
        "try:\n"
        f"    command({program!r})({[str(argument) for argument in arguments]!r}, prog_name={program!r})\n"
        "finally:\n"
        "    sys.stdout.flush()\n"
        # Not ru_maxrss: a new process begins with that of the one that started it.
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    peak = next(line for line in lines if line.startswith('VmHWM')).split()[1]\n"
        "    sys.stderr.write('\\npeak %d\\n' % (int(peak) // 1024))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        # Above every limit of the commands' own, so that it ends only what has none.
        timeout=240,
        check=False,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
    )
    err, _, peak = done.stderr.decode("utf-8", "replace").rpartition("\npeak ")
    err += peak.partition("\n")[2]
    return Finished(done.returncode, done.stdout.decode("utf-8", "replace"), err, float(peak.split()[0] if peak else 0))


def changed(record: EpisodeRecord, **update: Any) -> EpisodeRecord:
    """The record with fields replaced, unchecked: what a hostile maker would store."""
    return record.model_copy(update=update)
