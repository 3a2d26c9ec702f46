"""Which errors of Cycles are the GPU's. The texts are those of bpy 4.5.15 on a driver that returns the error."""

from __future__ import annotations

import os

import pytest

from diorama.render.renderers.cycles.capture import captured, naming, render_error
from diorama.scene_specs.errors import GpuError, GpuMemoryError, RenderError

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
    assert type(render_error("CUDA", [f"Error: {text}{text}"])) is GpuError
    assert type(render_error("OPTIX", [text])) is GpuError


@pytest.mark.parametrize(("kind", "text"), OTHERS)
def test_the_drivers_of_other_kinds_are_known(kind: str, text: str) -> None:
    assert type(render_error(kind, [text])) is GpuError


@pytest.mark.parametrize("text", MEMORY)
def test_a_lack_of_memory_says_what_to_do(text: str) -> None:
    error = render_error("CUDA", [f"Error: {text}{text}", f"Error: {text}{text}"])
    assert type(error) is GpuMemoryError
    assert str(error).count(text) == 1
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
    assert type(render_error(kind, [text])) is RenderError
    assert "no image" in str(render_error(kind, []))


def test_a_message_begins_with_what_was_rendered() -> None:
    for error in (RenderError("no image"), GpuError("no image")):
        with pytest.raises(type(error), match=r"^episode a: frame f: no image$"), naming("episode a: frame f: ", list):
            raise error


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ("Saved: '/runs/error-analysis/view.exr'", False),
        ("Fra:1 Mem:9M | Updating Images | Loading error.png", False),
        ("Fra:1 Mem:9M | Cancel | Illegal address in CUDA queue synchronize", True),
        ("ERROR (gpu.device): failed to open /runs/view.exr", True),
        ("Rendering 1 of 8 samples", False),
    ],
)
def test_failures_are_told_from_names_of_files(line: str, fails: bool) -> None:
    with captured() as output:
        os.write(1, f"{line}\n{line}\n".encode())
    assert output.failures == [line] * fails
