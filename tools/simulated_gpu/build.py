"""Compile the simulated driver into the cache, once for each version of its sources."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import sys
from pathlib import Path

from diorama.render.model.errors import UsageError
from tools.programs import ROOT
from tools.simulated_gpu.packages import atomic_folder, cache_folder, installed, run

log = logging.getLogger(__name__)

SOURCES = Path(__file__).parent
_DRIVER = ("driver.c", "faults.c", "nvml.c", "textures.c")
_C_OPTIONS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden")
_OPENCL = "requirements-opencl.lock"
_LIBRARY = ("-shared", "-fPIC", "-o")


def c_compiler() -> list[str]:
    """Return the command of a C compiler; without one, install that of Zig (100 MB, 440 MB on disk)."""
    for name in ("gcc", "cc", "clang"):
        if shutil.which(name):
            return [name]
    (zig,) = installed("requirements-ziglang.lock").rglob("ziglang/zig")
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
    render = [sys.executable, "-m", "diorama.render.renderers.cycles.probe", "cuda"]
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
