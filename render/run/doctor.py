"""Checks whether this machine is ready: one check per requirement of a run, each with what to do if it fails."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from diorama.render.machine.blender_series import PYTHONS, require_module
from diorama.render.run.machine import core_limits, memory_here, memory_limits, workers_that_fit
from diorama.scene_specs.errors import DioramaError, UsageError, counted

# Shared library that bpy loads -> Debian package that has it.
LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libGL.so.1": "libgl1",
}
# The nouns that anything can be registered for, except benchmarks and their players.
_NOUNS = (
    "benchmarks", "exports", "families", "grounds", "looks", "materials", "passes", "patterns", "renderers", "shapes",
    "stages",
)  # fmt: skip
_PROBE_SECONDS = 60.0
# The first use of a GPU for which the wheel has no kernels compiles them, which takes minutes without output.
_WARM_SECONDS = 1800.0
_LEAST_FREE = 2 * 2**30
_IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: of the check.
        ok: None is a warning.
        found: what was found.
        todo: what to do if not ok.
    """

    name: str
    ok: bool | None
    found: str
    todo: str = ""

    def line(self) -> str:
        """Return the result in one line of text."""
        mark = {True: "ok  ", False: "FAIL", None: "warn"}[self.ok]
        return f"{mark}  {self.name:10} {self.found}" + (f"; {self.todo}" if self.todo else "")


def check_python() -> Check:
    """Check that this Python has a bpy."""
    version, rendering = ".".join(map(str, sys.version_info[:3])), PYTHONS.values()
    right = ".".join(version.split(".")[:2]) in rendering
    return Check("python", right, version, "" if right else f"make an environment with Python {' or '.join(rendering)}")


def check_foreign_files() -> Check:
    """Check that no other distribution installs files into our packages, where they would run as ours."""
    if foreign := sorted({*packages_distributions().get("diorama", ())} - {"diorama-render"}):
        problem = f"{', '.join(foreign)}: installs files into the package `diorama`, which run as Diorama's own"
        return Check("packages", False, problem, f"pip uninstall {' '.join(foreign)}, then reinstall Diorama")
    return Check("packages", True, "no other distribution installs files into the package `diorama`")


def memory_and_cores() -> list[Check]:
    """Report the memory and the cores that a run may use here, and every limit with its source."""
    memory, cores = memory_limits(), core_limits()
    sizes = ", ".join(f"{limit.amount / 2**30:.2f} GiB ({limit.source})" for limit in memory) or "unknown"
    workers = workers_that_fit(memory_here())
    enough = f"; enough for {counted(workers, 'CPU worker')}" if workers else ""
    counts = ", ".join(f"{limit.amount:g} ({limit.source})" for limit in cores)
    return [Check("memory", True, f"{sizes}{enough}"), Check("cores", True, counts)]


def check_libraries() -> Check:
    """Check that the shared libraries which bpy loads are installed."""
    missing = []
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    if missing:
        return Check("libraries", False, f"{len(missing)} missing", f"sudo apt-get install {' '.join(missing)}")
    return Check("libraries", True, f"all {len(LIBRARIES)} system libraries that Blender loads")


def run_probe(device: str, limit: float = _PROBE_SECONDS, size: int = 8, card: str = "") -> dict[str, Any]:
    """Run the Blender probe in its own process.

    Args:
        device: as --device.
        limit: seconds that it may take.
        size: of the image in pixels, 0 for none.
        card: the only NVIDIA GPU that it may use, "" for all.

    Returns:
        Its facts, or {"error": ...} if it crashed, hung or failed.
    """
    # -P: a module in the working directory, which may hold others' files, must not take the place of a library.
    command = [sys.executable, "-P", "-m", "diorama.render.run.probe", device, str(size)]
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": card} if card else None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=env)
    except subprocess.TimeoutExpired:
        return {"error": f"Blender did not answer within {limit:.0f} s", "slow": True}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or ["nothing on standard error"])[-1]
        return {"error": f"Blender ended with code {done.returncode}: {last}"}
    return answer


def check_blender(device: str, limit: float = _PROBE_SECONDS) -> list[Check]:
    """Check that Blender imports, finds devices, and renders on the requested one."""
    answer = run_probe(device, limit)
    # A GPU for which Blender has no kernels is not ill: its driver may only have begun to compile them.
    missing = run_probe(device, size=0).get("kernels") if "slow" in answer else ""
    if missing:
        return [Check("kernels", False, f"no image within {limit:.0f} s: {missing}", "run render-doctor --warm first")]
    if "error" in answer:
        todo = "check the line of the libraries, or choose another --device"
        return [Check("blender", False, str(answer["error"]), todo)]
    seen = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in answer["found"].items() if names)
    return [
        Check("blender", True, f"bpy {answer['bpy']}, imported in {answer['import_s']} s"),
        Check("devices", True, seen or "no GPU, only the CPU"),
        *([Check("kernels", None, answer["kernels"])] if answer["kernels"] else []),
        Check("render", True, f"8 x 8 on {answer['device']}: first {answer['first_s']} s, then {answer['second_s']} s"),
    ]


def check_ray() -> Check:
    """Check that Ray starts and a worker answers."""
    try:
        require_module("ray")
    except UsageError as error:
        return Check("ray", False, str(error))
    import ray

    from diorama.render.run.local_ray import ray_nodes

    start = time.perf_counter()
    try:
        with ray_nodes() as nodes:
            answer = ray.get(ray.remote(lambda: True).remote(), timeout=_PROBE_SECONDS)
    except Exception as error:
        return Check("ray", False, f"{ray.__version__}: {error}", "check the memory and the temporary folder")
    took = time.perf_counter() - start
    seen = f"{ray.__version__}, sees {counted(sum(node.gpus for node in nodes), 'GPU')}"
    return Check("ray", bool(answer), f"{seen}, a worker answered within {took:.1f} s")


def check_disk(store: str, thorough: bool = False) -> Check:
    """Check the free space where the store is, and the file system.

    Args:
        store: its path or URL; it need not exist.
        thorough: test commits of several processes, too.
    """
    if "://" in store:
        return Check("disk", True, f"{store} is remote; not checked")
    from diorama.render.store.lance.file_system import check_file_system, kind_of

    # Path.resolve raises for a link to itself.
    folder = Path(os.path.realpath(store)).parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    kind, shared = kind_of(folder)
    try:
        check_file_system(folder, thorough)
    except DioramaError as error:
        todo = "pass --store a path in a writable folder that supports hard links, or on S3"
        return Check("disk", False, f"{kind}: {error}", todo)
    facts = f"{free / 2**30:.1f} GiB free at {folder} ({kind or 'unknown file system'})"
    if thorough:
        facts += ", with hard links, fsync and commits of several processes"
    if free < _LEAST_FREE:
        return Check("disk", None, facts, "little free space")
    if shared:
        todo = "if several nodes write, give each a store of its own (docs/slurm.md): only this node was tested"
        return Check("disk", None, facts, todo)
    if kind in _IN_MEMORY:
        return Check("disk", None, facts, "it is in memory: it counts toward the limit of a job, and may go with it")
    return Check("disk", True, facts)


def check_store(store: str) -> Check:
    """Check that the store opens, if it exists."""
    from diorama.render.store import peek

    try:
        opened = peek(store)
        if opened is None:
            return Check("store", True, f"nothing at {store} yet; render-batch creates it")
        return Check("store", True, f"{store}: {counted(opened.count(), 'episode')}")
    except DioramaError as error:
        return Check("store", False, str(error))


def check_assets() -> Check:
    """Check that meshes and stages load."""
    from diorama.render.geometry.meshes import all_mesh_paths, load_mesh
    from diorama.scene_specs.language.registry import plugins
    from diorama.scene_specs.model.stage import load_stage

    try:
        meshes, stages = [*map(load_mesh, all_mesh_paths())], [*map(load_stage, plugins("stages"))]
    except DioramaError as error:
        return Check("assets", False, str(error), "reinstall Diorama")
    return Check("assets", True, f"{len(meshes)} meshes, {len(stages)} stages")


def check_plugins() -> Check:
    """Check that no two packages provide one name, and list what packages other than Diorama provide."""
    from diorama.scene_specs.language.registry import plugins, singular

    try:
        provided = [plugin for noun in _NOUNS for plugin in plugins(noun).values()]
    except DioramaError as error:
        return Check("plug-ins", False, str(error))
    names = [f"{singular(each.noun)} {each.name} ({each.owner} {each.version})" for each in provided if not each.own]
    return Check("plug-ins", True, f"{len(provided) - len(names)} of Diorama" + "".join(f", {name}" for name in names))


def examine(device: str, store: str, thorough: bool = False) -> Iterator[Check]:
    """Run all checks, the slow ones in parallel.

    Args:
        device: as --device.
        store: path or URL of the store to check.
        thorough: see `check_disk`.
    """
    quick: list[Callable[[], Check]] = [check_python, check_foreign_files, check_libraries, check_assets, check_plugins]
    reads = not any(find_spec(name) for name in ("bpy", "ray"))
    if reads:
        quick.remove(check_libraries)
    with ThreadPoolExecutor(max_workers=1) as pool:
        blender = None if reads else pool.submit(check_blender, device)
        for check in quick:
            yield check()
        yield from memory_and_cores()
        yield check_disk(store, thorough)
        if blender is None:
            yield Check("rendering", None, "not installed: bpy and ray are missing; everything else works here")
        else:
            ray = check_ray()
            yield from blender.result()
            yield ray
        yield check_store(store)


def warm(device: str) -> list[Check]:
    """Compile the kernels of each GPU ahead of time, into its cache; a CPU needs none."""
    cache = os.environ.get("CUDA_CACHE_PATH", "~/.nv/ComputeCache")
    if device == "cpu":
        return [*check_blender(device), Check("warm", True, "the CPU has no kernels to compile")]
    device = "gpu" if device == "auto" else device
    # The first GPU compiles the kernels for all of its architecture.
    checks = [_warm_card(device, card) for card in _nvidia_cards(device)] or check_blender(device, _WARM_SECONDS)
    ready = all(check.ok is not False for check in checks)
    outcome = f"kernels are cached in {cache} (CUDA_CACHE_PATH)" if ready else "not compiled for every GPU"
    return [*checks, Check("warm", ready, outcome)]


def _nvidia_cards(device: str) -> list[str]:
    """Return the NVIDIA GPUs that Cycles finds, as in CUDA_VISIBLE_DEVICES; none if another kind is requested."""
    devices = run_probe(device, size=0).get("found", {}) if device in ("gpu", "cuda", "optix") else {}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else map(str, range(len(devices.get("CUDA", ()))))
    return [name for name, _ in zip(names, devices.get("CUDA", ()), strict=False)]


def _warm_card(device: str, card: str) -> Check:
    """Render on one GPU."""
    answer = run_probe(device, _WARM_SECONDS, card=card)
    if "error" in answer:
        return Check(f"GPU {card}", False, str(answer["error"]), "check it with nvidia-smi")
    speed = f"first image in {answer['first_s']} s, then {answer['second_s']} s"
    return Check(f"GPU {card}", True, f"{answer['device']}: {speed}")
