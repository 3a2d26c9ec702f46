"""Programs that only the simulation needs, each in a folder of the cache, from a lock file."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diorama.render.model.errors import UsageError
from tools.programs import ROOT

log = logging.getLogger(__name__)

_COMMAND_SECONDS = 1200.0


def cache_folder() -> Path:
    """Return the folder for compiled drivers and the programs that they need."""
    return Path(os.environ.get("DIORAMA_CACHE") or Path("~/.cache/diorama").expanduser()) / "simulated-gpu"


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder; rename it to `target` if the block ends without an error. The first of several wins."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as name:
        made = Path(name) / target.name
        made.mkdir()
        yield made
        try:
            made.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def run(command: list[str], problem: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command. Raises UsageError with `problem` and the first error that it prints."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{problem}: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [done.stderr.strip()[-300:]]
        raise UsageError(f"{problem}: {lines[0]}")


def installed(lock: str) -> Path:
    """Return a folder with the packages of a lock file of this checkout; install them if needed. Raises UsageError."""
    path = ROOT / lock
    # The lock names other versions for other Pythons.
    digest = hashlib.sha256(path.read_bytes() + sys.version.encode()).hexdigest()[:16]
    target = cache_folder() / f"{path.stem.removeprefix('requirements-')}-{digest}"
    if not target.is_dir():
        log.info("installing %s into %s", lock, target)
        uv = shutil.which("uv")
        pip = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
        options = ["--quiet", "--only-binary", ":all:", "--require-hashes", "--no-deps", "-r", str(path), "--prefix"]
        with atomic_folder(target) as made:
            run([*pip, *options, str(made)], f"{lock} can't be installed")
    return target
