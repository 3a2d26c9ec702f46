"""Which errors of Cycles are the GPU's. The texts are those of bpy 4.5.15 on a driver that returns the error."""

from __future__ import annotations

import pytest

from render.model.errors import GpuError, GpuMemoryError, RenderError
from render.renderers.cycles.capture import render_error

FATAL = [
    "Illegal address in CUDA queue synchronize (integrator_init_from_camera integrator_reset)",
    "Launch failed in CUDA queue enqueue (integrator_shade_surface)",
    "Launch exceeded timeout in cuMemcpyHtoD_v2((CUdeviceptr)device_pointer, host_pointer, size) "
    "(intern/cycles/device/cuda/device_impl.cpp:571)",
    "Launch exceeded timeout in cuMemcpyHtoD_v2(mem + __builtin_offsetof (KernelParamsCUDA, shaders), host, size) "
    "(intern/cycles/device/../kernel/data_arrays.h:26)",
    "Failed to load CUDA kernel from '/lib/kernel_compute_75.ptx.zst' (No binary for GPU)",
    "Failed to retain CUDA context (Unknown CUDA error value)",
    "Failed to get CUDA device handle from ordinal (Unknown error)",
]
OTHERS = [
    ("OPTIX", "OPTIX_ERROR_LAUNCH_FAILURE in optixLaunch(pipeline)"),
    ("HIP", "Illegal address in HIP queue"),
    ("ONEAPI", 'oneAPI kernel "x" execution error'),
]
MEMORY = [
    "System is out of GPU memory",
    "System is out of GPU and shared host memory",
    "Out of memory in CUDA queue enqueue (integrator_init_from_camera integrator_reset)",
]


@pytest.mark.parametrize("text", FATAL)
def test_an_error_of_the_driver_is_the_gpus(text: str) -> None:
    assert type(render_error("episode a: ", "CUDA", [f"Error: {text}{text}"])) is GpuError
    assert type(render_error("episode a: ", "OPTIX", [text])) is GpuError


@pytest.mark.parametrize(("kind", "text"), OTHERS)
def test_the_drivers_of_other_kinds_are_known(kind: str, text: str) -> None:
    assert type(render_error("episode a: ", kind, [text])) is GpuError


@pytest.mark.parametrize("text", MEMORY)
def test_a_lack_of_memory_says_what_to_do(text: str) -> None:
    error = render_error("episode a: frame f: ", "CUDA", [f"Error: {text}{text}", f"Error: {text}{text}"])
    assert type(error) is GpuMemoryError
    assert str(error).startswith("episode a: frame f: ") and str(error).count(text) == 1
    assert all(option in str(error) for option in ("--size", "--workers-per-gpu", "objects"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("CUDA", "Error: failed to open image"),
        ("CPU", "out of memory"),
        ("HIP", "Error: Failed to open /data/shipments/wood.blend"),
        ("HIP", "Error: Failed to open ships/HIP/wood.blend"),
        ("METAL", "Error: could not load material metal.blend: file is not available"),
        ("CUDA", "Error: failed to load '/data/CUDA/tex.png'"),
        ("CUDA", "Error: failed to load /data/my CUDA/tex.png"),
        ("CUDA", "out of memory: cannot allocate 3 GB of host memory while loading model"),
    ],
)
def test_other_errors_are_not(kind: str, text: str) -> None:
    assert type(render_error("episode a: ", kind, [text])) is RenderError
    assert "no image" in str(render_error("episode a: ", kind, []))
