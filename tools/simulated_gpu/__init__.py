"""Run a command on simulated GPUs.

    python -m tools simulated-gpu --cards 8 -- render-doctor --device cuda
    python -m tools simulated-gpu --cards 4 --memory 4GB --fail cuLaunchKernel=719:40@3 -- render-batch a.jsonl --gpus 4

Cycles finds the cards through a CUDA driver that this tool compiles. Images are black, because kernels do nothing; with
--level 2, the CPU runs them. tools/simulated_gpu/README.md says what is simulated. Exit code: that of the command.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from diorama.scene_specs.errors import UsageError
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
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
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
    target = cache_folder() / f"{path.stem}-{digest}"
    if not target.is_dir():
        log.info("installing %s into %s", lock, target)
        uv = shutil.which("uv")
        pip = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
        options = ["--quiet", "--only-binary", ":all:", "--require-hashes", "--no-deps", "-r", str(path), "--prefix"]
        with atomic_folder(target) as made:
            run([*pip, *options, str(made)], f"{lock} can't be installed")
    return target


SOURCES = Path(__file__).parent
_DRIVER = ("driver.c", "faults.c", "nvml.c", "textures.c")
_C_OPTIONS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden")
_OPENCL = "tools/locks/opencl.lock"
_LIBRARY = ("-shared", "-fPIC", "-o")


def c_compiler() -> list[str]:
    """Return the command of a C compiler; without one, install that of Zig (100 MB, 440 MB on disk)."""
    for name in ("gcc", "cc", "clang"):
        if shutil.which(name):
            return [name]
    (zig,) = installed("tools/locks/ziglang.lock").rglob("ziglang/zig")
    return [str(zig), "cc"]


def bpy_folder() -> Path:
    """Return the folder of the bpy package, which is not imported."""
    found = importlib.util.find_spec("bpy")
    if found is None or found.origin is None:
        raise UsageError("bpy is not installed; run `make env`")
    return Path(found.origin).parent


def build_driver(level: int) -> Path:
    """Return a folder with lib/libcuda.so, lib/libnvidia-ml.so.1 and bin/nvidia-smi; make it if needed.

    Level 2 also has lib/kernels.so, and compiled kernels in `kernels`. Raises UsageError if a compiler is missing.
    """
    sources = [path for path in sorted(SOURCES.iterdir()) if path.suffix in (".c", ".h", ".cpp", "") and path.is_file()]
    parts = [path.read_bytes() for path in sources]
    # The kernels are linked against one version of the OpenCL runtime.
    parts += [str(bpy_folder()).encode(), str(level).encode(), (ROOT / _OPENCL).read_bytes()]
    target = cache_folder() / f"level{level}-{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}"
    if not target.is_dir():
        with atomic_folder(target) as made:
            _compile_driver(made, level)
            if level == 2:
                _compile_kernels(made)
    return target


def _compile_driver(made: Path, level: int) -> None:
    library = made / "lib" / "libcuda.so"
    library.parent.mkdir()
    sources = [*_DRIVER, *(["opencl.c"] if level == 2 else [])]
    command = [*c_compiler(), *_C_OPTIONS, *sources, *_LIBRARY, str(library), "-ldl", "-lpthread", "-lm"]
    run(command, "the simulated driver does not compile", SOURCES)
    # Ray finds the cards through this name, and nothing else of NVIDIA's libraries is in the folder.
    (library.parent / "libnvidia-ml.so.1").symlink_to(library.name)
    (made / "bin").mkdir()
    shutil.copy(SOURCES / "nvidia-smi", made / "bin")


def _compile_kernels(made: Path) -> None:
    """Compile what runs kernels, and, by a first render, all kernels of Cycles; the latter takes half a minute."""
    if not shutil.which("g++"):
        raise UsageError("level 2 needs g++: apt-get install g++, or use level 1")
    runtime, sycl = installed(_OPENCL), bpy_folder() / "lib" / "libsycl.so.8"
    options = ["-std=c++17", "-O1", "-w", "-I", str(runtime / "include"), "kernels.cpp"]
    run(["g++", *options, *_LIBRARY, str(made / "lib" / "kernels.so"), str(sycl)], "kernels.cpp", SOURCES)
    for name in ("libtbb.so.12", "libtbbmalloc.so.2"):
        (made / "lib" / name).symlink_to(runtime / "lib" / name)
    log.info("compiling the kernels of Cycles for the CPU")
    render = [sys.executable, "-m", "diorama.render.run.probe", "cuda"]
    run(render, "the kernels do not run", env={**os.environ, **driver_variables(made), "SIMULATED_GPU_CARDS": "1"})


def driver_variables(folder: Path) -> dict[str, str]:
    """Return the environment variables with which a process finds the driver in a folder; level 2 if it has kernels."""
    variables = {
        "PATH": f"{folder / 'bin'}:{os.environ.get('PATH', os.defpath)}",
        "LD_LIBRARY_PATH": ":".join(filter(None, [str(folder / "lib"), os.environ.get("LD_LIBRARY_PATH")])),
    }
    if not (folder / "lib" / "kernels.so").exists():
        return variables
    runtime = installed(_OPENCL) / "lib"
    return variables | {
        # The functions of opencl.c must come before those of the OpenCL runtime.
        "LD_PRELOAD": str(folder / "lib" / "libcuda.so"),
        "SIMULATED_GPU_KERNELS": str(folder / "lib" / "kernels.so"),
        "SIMULATED_GPU_CYCLES": str(bpy_folder() / "lib" / "libcycles_kernel_oneapi_aot.so"),
        "OCL_ICD_FILENAMES": str(runtime / "libintelocl.so"),
        "UR_ADAPTERS_FORCE_LOAD": str(runtime / "libur_adapter_opencl.so.0"),
        "ONEAPI_DEVICE_SELECTOR": "opencl:*",
        "CL_CONFIG_USE_VECTORIZER": "False",
        "SYCL_CACHE_DIR": str(folder / "kernels"),
        "SYCL_CACHE_PERSISTENT": "1",
        "SYCL_CACHE_THRESHOLD": "0",
    }


NAME = "Simulated GPU"
MOST_CARDS = 64
_MEBIBYTES = {"MB": 1, "GB": 1024}
_RULE = re.compile(r"(?:(hang|zero|0xff|random)|(\w+)=(\d+))(?::(\d+))?(?:@(\d+))?(?:x(\d+))?")


def environment(
    cards: int, *, level: int = 1, memory: str | None = None, fail: str = "", log: Path | None = None,
    arch: str = "9.0", listed: int | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return the environment variables with which a process finds simulated cards; build the driver if needed.

    level: 1, black images; 2, kernels run on the CPU. memory: of each card, such as 4GB, or one for each, such as
    4GB,512MB; the last is that of all further cards. fail: rules FUNCTION=CODE[:AFTER][@CARD][xTIMES], separated by
    commas; see README.md. log: file to which the driver appends a line for each kernel and fault. arch: compute
    capability. listed: number of cards that nvidia-smi and Ray find, if the driver finds another. Raises UsageError.
    """
    if not 0 <= cards <= MOST_CARDS:
        raise UsageError(f"--cards {cards}: choose 0 to {MOST_CARDS}")
    return driver_variables(build_driver(level)) | {
        "SIMULATED_GPU_CARDS": str(cards),
        "SIMULATED_GPU_NAME": NAME,
        "SIMULATED_GPU_ARCH": arch,
        "SIMULATED_GPU_FAIL": " ".join(_rule(one, log) for one in fail.split(",") if one),
        "SIMULATED_GPU_MEMORY": ",".join(str(_mebibytes(one)) for one in (memory or "4GB").split(",")),
        "SIMULATED_GPU_LISTED": str(cards if listed is None else listed),
        "SIMULATED_GPU_LOG": str(log.absolute()) if log else "",
        # Otherwise, the driver would write into the folder of a real one.
        "CUDA_CACHE_PATH": os.environ.get("CUDA_CACHE_PATH") or f"{log.absolute() if log else cache_folder()}.ptx",
    }


def _rule(text: str, log: Path | None) -> str:
    """Return a rule as the driver reads it; see faults.c."""
    found = _RULE.fullmatch(text)
    if not found:
        form = "FUNCTION=CODE[:AFTER][@CARD][xTIMES], or hang, zero, 0xff, random for FUNCTION=CODE"
        raise UsageError(f"--fail {text}: write {form}")
    silent, function, code, after, card, times = found.groups()
    if log is None and (times or function == "vanish"):
        raise UsageError(f"--fail {text}: processes share it through files beside the log; add --log FILE")
    return f"{silent or function} {code or 0} {after or 0} {card or -1} {times or 0}"


def _mebibytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)(MB|GB)", text)
    if not found:
        raise UsageError(f"--memory {text}: write a number with MB or GB, such as 4GB")
    return int(found[1]) * _MEBIBYTES[found[2]]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--cards", type=int, default=1, help="number of cards (1)")
    parser.add_argument("--level", type=int, choices=[1, 2], default=1, help="1: black images; 2: kernels run")
    parser.add_argument("--memory", help="of each card (4GB), or one for each: 4GB,512MB")
    parser.add_argument("--fail", default="", metavar="RULES", help="FUNCTION=CODE[:AFTER][@CARD][xTIMES],...")
    parser.add_argument("--log", type=Path, help="file for a line per kernel and fault")
    parser.add_argument("--arch", default="9.0", help="compute capability (9.0)")
    parser.add_argument("--listed", type=int, help="cards that nvidia-smi and Ray find (as many as the driver)")
    parser.add_argument("command", nargs="+", help="after --")


def main(options: Namespace, run: Callable[..., object] = os.execvpe) -> None:
    """Replace this process by the command. Raises OSError if there is no such command."""
    chosen = {key: value for key, value in vars(options).items() if key != "command"}
    run(options.command[0], options.command, {**os.environ, **environment(**chosen)})
