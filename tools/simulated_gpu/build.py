"""Compile the simulated driver into the cache, once for each version of its sources."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from render.model.errors import UsageError

SOURCES = Path(__file__).parent
_COMPILE_SECONDS = 300.0
_DRIVER = ("driver.c", "faults.c", "nvml.c", "textures.c")


def cache_folder() -> Path:
    """Return the folder for compiled drivers and the programs that they need."""
    return Path(os.environ.get("DIORAMA_CACHE") or Path("~/.cache/diorama").expanduser()) / "simulated-gpu"


def c_compiler() -> list[str]:
    """Return the command of a C compiler. Raises UsageError if there is none."""
    for name in ("gcc", "cc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise UsageError("no C compiler found; install gcc, or `pip install ziglang` (100 MB, 440 MB on disk)")


def compile_library(command: list[str], target: Path) -> None:
    """Run a compiler. Raises UsageError with its first error."""
    line = [*command, "-shared", "-fPIC", "-o", str(target)]
    done = subprocess.run(line, cwd=SOURCES, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False)
    if done.returncode:
        problem = next((row for row in done.stderr.splitlines() if "error" in row), done.stderr.strip())
        raise UsageError(f"the simulated driver does not compile with {command[0]}: {problem}")


def build_driver() -> Path:
    """Return the folder with lib/libcuda.so, lib/libnvidia-ml.so.1 and bin/nvidia-smi; make it if needed.

    Raises UsageError if there is no compiler.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.is_file()))
    target = cache_folder() / digest.hexdigest()[:16]
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as name:
        made = Path(name) / "driver"
        (made / "lib").mkdir(parents=True)
        (made / "bin").mkdir()
        options = ["-std=gnu11", "-O2", "-fvisibility=hidden", *_DRIVER, "-ldl", "-lpthread", "-lm"]
        compile_library([*c_compiler(), *options], made / "lib" / "libcuda.so")
        (made / "lib" / "libnvidia-ml.so.1").symlink_to("libcuda.so")
        shutil.copy(SOURCES / "nvidia-smi", made / "bin")
        try:
            made.rename(target)
        except OSError:
            # Another process has made the same.
            if not target.is_dir():
                raise
    return target
