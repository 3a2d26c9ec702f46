"""Compute devices: list those that Cycles finds, and enable exactly the requested one.

A GPU renders only if the preferences have its type, the device list was refreshed, and the device is enabled.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import bpy

from diorama.render.renderers.cycles.capture import captured
from diorama.scene_specs.errors import DeviceError

GPU_KINDS = ("OPTIX", "CUDA", "HIP", "ONEAPI", "METAL")
NVIDIA = GPU_KINDS[:2]
# Kinds to try, in order.
_KINDS = {"auto": (*NVIDIA, "CPU"), "gpu": NVIDIA, **{kind.lower(): (kind,) for kind in ("CPU", *GPU_KINDS)}}


class Device(NamedTuple):
    """A device that renders.

    Attributes:
        kind: CPU or one of GPU_KINDS.
        name: name that Cycles reports.
    """

    kind: str
    name: str


def _cycles_preferences() -> Any:
    return bpy.context.preferences.addons["cycles"].preferences


def visible_devices(kind: str) -> list[Device]:
    """Return the devices of a kind that Cycles finds."""
    preferences = _cycles_preferences()
    # Without a driver, 5.2 logs a warning for each maker.
    with captured():
        preferences.refresh_devices()
    return [Device(kind, str(d.name)) for d in preferences.get_devices_for_type(kind) if d.type == kind]


def use(scene: Any, wanted: str) -> Device:
    """Enable a device (auto, gpu, or a kind in lower case) for a scene and return it.

    auto tries OptiX, CUDA, then the CPU; gpu tries the first two. Raises DeviceError if none is found.
    """
    for kind in _KINDS[wanted]:
        if kind == "CPU":
            _cycles_preferences().compute_device_type = "NONE"
            scene.cycles.device = "CPU"
            return Device("CPU", cpu_name())
        devices = visible_devices(kind)
        if not devices:
            continue
        preferences = _cycles_preferences()
        preferences.compute_device_type = kind
        for device in preferences.devices:
            device.use = device.type == kind
        scene.cycles.device = "GPU"
        return devices[0]
    raise DeviceError(
        f"--device {wanted}: Cycles finds no {wanted.upper()} device on this machine, only the CPU ({cpu_name()}). "
        "Check the driver, for NVIDIA with nvidia-smi (in Docker: --gpus all and "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics), "
        "or use --device cpu, or --device auto to use any available device."
    )


def survey(wanted: str) -> dict[str, Any]:
    """Enable a device and return facts of this Blender: its version, all GPUs that it finds, and `uncompiled_kernels`.

    Raises:
        DeviceError: Cycles doesn't find the device.
    """
    return {
        "bpy": bpy.app.version_string,
        "found": {kind: [device.name for device in visible_devices(kind)] for kind in GPU_KINDS},
        "kernels": uncompiled_kernels(use(bpy.context.scene, wanted).kind),
    }


def uncompiled_kernels(kind: str) -> str:
    """Return what to say before the first image on NVIDIA GPUs for which Blender has no kernels; "" if it has them."""
    # The add-on, which Blender imported at its start.
    folder = Path(str(sys.modules["cycles"].__file__)).parent / "lib"
    shipped = {path.name.split(".")[0] for path in folder.glob("kernel_sm_*.cubin*")}
    visible = sorted(set(_compute_capabilities())) if kind in NVIDIA else []
    missing = [f"{major}.{minor}" for major, minor in visible if f"kernel_sm_{major}{minor}" not in shipped]
    if not missing:
        return ""
    return (
        f"Blender {bpy.app.version_string} has no kernels for GPUs of compute capability {', '.join(missing)}: the "
        "driver compiles them the first time, which takes up to 10 minutes, and keeps them in $CUDA_CACHE_PATH "
        "(default: ~/.nv/ComputeCache). `render-doctor --warm` compiles them ahead of time"
    )


def _start_cuda_driver() -> Any:
    """Return the CUDA driver, started; None without one."""
    for name in ("libcuda.so", "libcuda.so.1"):
        with suppress(OSError):
            driver = ctypes.CDLL(name)
            return None if driver.cuInit(0) else driver
    return None


def gpu_uuid(kind: str) -> str:
    """Return the UUID of the visible NVIDIA GPU that renders, as nvidia-smi prints it; "" if it is not known.

    Numbers don't identify a GPU: those of CUDA and of nvidia-smi may be in different orders.
    """
    driver, device, uuid = _start_cuda_driver() if kind in NVIDIA else None, ctypes.c_int(), (ctypes.c_ubyte * 16)()
    if driver is None or driver.cuDeviceGet(ctypes.byref(device), 0):
        return ""
    try:
        failed = driver.cuDeviceGetUuid(ctypes.byref(uuid), device)
    except AttributeError:
        return ""
    return "" if failed else f"GPU-{UUID(bytes=bytes(uuid))}"


def _compute_capabilities() -> list[tuple[int, int]]:
    """Return the compute capability of each visible NVIDIA GPU, as (major, minor); empty without a driver."""
    driver = _start_cuda_driver()
    count, device, value = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    capabilities = []
    for index in range(count.value):
        driver.cuDeviceGet(ctypes.byref(device), index)
        pair = []
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        for attribute in (75, 76):
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            pair.append(value.value)
        capabilities.append((pair[0], pair[1]))
    return capabilities


def _cpu_field(key: str) -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def cpu_name() -> str:
    """Model name of the processor."""
    return _cpu_field("model name") or platform.processor() or platform.machine()


def instruction_set() -> str:
    """Return the widest instruction set that Cycles uses here; images are byte-identical only within one."""
    flags = set(_cpu_field("flags").split())
    for name, needed in (("avx2", "avx2"), ("sse4.2", "sse4_2")):
        if needed in flags:
            return f"{platform.machine()} {name}"
    return platform.machine()
