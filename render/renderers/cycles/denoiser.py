"""Denoise a merged frame with the OpenImageDenoise that Blender ships, since Cycles denoises only what it rendered.

The functions are those of OpenImageDenoise's C interface (github.com/RenderKit/oidn, include/OpenImageDenoise/oidn.h),
the same in 2.3 (bpy 4.5) and 2.5 (bpy 5.2). Settings are those of Cycles (intern/cycles/integrator/denoiser_oidn.cpp).
"""

from __future__ import annotations

import ctypes
import logging
from functools import lru_cache
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.geometry.sampling_plan import Layers
from diorama.render.passes import Floats
from diorama.render.renderers.cycles.capture import render_error
from diorama.render.renderers.cycles.devices import NVIDIA
from diorama.scene_specs.errors import DeviceError, RenderError

log = logging.getLogger(__name__)
# Values of OIDNDeviceType, OIDNFormat, OIDNError and OIDNQuality.
_CPU, _CUDA, _FLOAT3, _UNSUPPORTED = 1, 3, 3, 5
_QUALITIES = {"FAST": 4, "BALANCED": 5, "HIGH": 6}
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
# Function -> type of its result, types of its arguments.
_FUNCTIONS = {
    "oidnNewDevice": (_POINTER, [ctypes.c_int]),
    "oidnSetDeviceInt": (None, [_POINTER, ctypes.c_char_p, ctypes.c_int]),
    "oidnSetDeviceBool": (None, [_POINTER, ctypes.c_char_p, ctypes.c_bool]),
    "oidnCommitDevice": (None, [_POINTER]),
    "oidnGetDeviceError": (ctypes.c_int, [_POINTER, ctypes.POINTER(ctypes.c_char_p)]),
    "oidnNewFilter": (_POINTER, [_POINTER, ctypes.c_char_p]),
    "oidnNewBuffer": (_POINTER, [_POINTER, _SIZE]),
    "oidnWriteBuffer": (None, [_POINTER, _SIZE, _SIZE, _POINTER]),
    "oidnReadBuffer": (None, [_POINTER, _SIZE, _SIZE, _POINTER]),
    "oidnReleaseBuffer": (None, [_POINTER]),
    "oidnSetFilterImage": (None, [_POINTER, ctypes.c_char_p, _POINTER, ctypes.c_int, *[_SIZE] * 5]),
    "oidnSetFilterBool": (None, [_POINTER, ctypes.c_char_p, ctypes.c_bool]),
    "oidnSetFilterInt": (None, [_POINTER, ctypes.c_char_p, ctypes.c_int]),
    "oidnCommitFilter": (None, [_POINTER]),
    "oidnExecuteFilter": (None, [_POINTER]),
    "oidnReleaseFilter": (None, [_POINTER]),
}
# Below Blender's folder, on Linux, macOS and Windows.
_NAMES = ("lib/libOpenImageDenoise.so.2", "lib/libOpenImageDenoise*.dylib", "OpenImageDenoise.dll")
_ADVICE = "reinstall bpy, or use a profile without `object_samples`"
# Pixels between the points on which the low-passed residual is computed.
_GRID = 20
# Linear color that counts as removed from a pixel at most. Caustics have less: with 1, they become too dark.
_MOST_REMOVED = 4.0


@lru_cache(maxsize=1)
def _load_library() -> ctypes.CDLL:
    folder = Path(bpy.utils.resource_path("LOCAL")).parent
    for path in (path for name in _NAMES for path in sorted(folder.glob(name))):
        try:
            library = ctypes.CDLL(str(path))
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise DeviceError(f"{path}: unusable OpenImageDenoise: {error}; {_ADVICE}") from error
        return library
    raise DeviceError(f"{folder}: no OpenImageDenoise, which profiles with `object_samples` need; {_ADVICE}")


@lru_cache(maxsize=4)
def _open_device(threads: int, kind: str) -> tuple[int, str]:
    """Return what denoises for a device of this kind, and its kind: an NVIDIA GPU, or so many threads, 0 for all.

    A GPU takes a hundredth of the time of two threads. As in Cycles, threads stay where the process may run.
    """
    oidn = _load_library()
    if kind in NVIDIA:
        device: int = oidn.oidnNewDevice(_CUDA)
        oidn.oidnCommitDevice(device)
        message = ctypes.c_char_p()
        if (code := oidn.oidnGetDeviceError(device, ctypes.byref(message))) != _UNSUPPORTED:
            if code:
                raise _failure(kind, message)
            return device, kind
        log.info("the CPU denoises, because OpenImageDenoise does not support the GPU: %s", _text(message))
    device = oidn.oidnNewDevice(_CPU)
    oidn.oidnSetDeviceInt(device, b"numThreads", threads)
    oidn.oidnSetDeviceBool(device, b"setAffinity", False)
    oidn.oidnCommitDevice(device)
    _raise_if_failed(device, "CPU")
    return device, "CPU"


def _raise_if_failed(device: int, kind: str) -> None:
    message = ctypes.c_char_p()
    if _load_library().oidnGetDeviceError(device, ctypes.byref(message)):
        raise _failure(kind, message)


def _failure(kind: str, message: ctypes.c_char_p) -> RenderError:
    if kind != "CPU":
        return render_error(kind, [f"{kind}: OpenImageDenoise: {_text(message)}"])
    return RenderError(
        f"OpenImageDenoise failed: {_text(message)}; render smaller images (--size), or start fewer workers"
    )


def _text(message: ctypes.c_char_p) -> str:
    return (message.value or b"").decode("utf-8", "replace")


def denoise(layers: Layers, ids: NDArray[np.uint16], quality: str, threads: int, mirrored: bool, kind: str) -> Floats:
    """Return the linear color, (H, W, 3), without its noise.

    Args:
        layers: result of `merged`.
        ids: (H, W).
        threads: number of threads on a CPU, 0 for all.
        mirrored: also denoise the three mirror images, and return the mean: the network errs differently in each.
        kind: kind of the device that rendered; an NVIDIA GPU denoises, too.

    Raises:
        RenderError: rendering failed.
        DeviceError: the device is not available.
    """
    turns = [np.s_[::y, ::x] for y in (1, -1) for x in (1, -1)] if mirrored else [np.s_[:, :]]
    turned = [
        _denoise_layers({name: layer[at] for name, layer in layers.items()}, quality, threads, kind)[at] for at in turns
    ]
    return _restore_ground(np.mean(turned, axis=0, dtype=np.float32), layers["color"], ids)


def _denoise_layers(layers: Layers, quality: str, threads: int, kind: str) -> Floats:
    """Return what Cycles would make of the layers, except for the last digits of a float32."""
    oidn, (device, own) = _load_library(), _open_device(threads, kind)
    height, width = layers["color"].shape[:2]
    output = np.empty((height, width, 3), np.float32)
    # Cycles' images begin at the bottom, and the denoiser's network is not symmetric.
    images = {name: np.ascontiguousarray(layer[::-1]) for name, layer in layers.items()} | {"output": output}
    handle = oidn.oidnNewFilter(device, b"RT")
    buffers = {name: oidn.oidnNewBuffer(device, output.nbytes) for name in images}
    try:
        _raise_if_failed(device, own)
        for name, image in images.items():
            oidn.oidnWriteBuffer(buffers[name], 0, output.nbytes, image.ctypes.data)
            oidn.oidnSetFilterImage(handle, name.encode(), buffers[name], _FLOAT3, width, height, 0, 0, 0)
        oidn.oidnSetFilterBool(handle, b"hdr", True)
        oidn.oidnSetFilterBool(handle, b"cleanAux", True)
        oidn.oidnSetFilterInt(handle, b"quality", _QUALITIES[quality])
        oidn.oidnCommitFilter(handle)
        oidn.oidnExecuteFilter(handle)
        oidn.oidnReadBuffer(buffers["output"], 0, output.nbytes, output.ctypes.data)
        _raise_if_failed(device, own)
    finally:
        for buffer in buffers.values():
            oidn.oidnReleaseBuffer(buffer)
        oidn.oidnReleaseFilter(handle)
    return output[::-1]


def _restore_ground(denoised: Floats, noisy: Floats, ids: NDArray[np.uint16]) -> Floats:
    """Return the denoised image, (H, W, 3), with the slow part of what was removed from the ground added back.

    The denoiser tints smooth areas slightly; the mean of many pixels has little noise and shows the tint. ids: (H, W).
    """
    ground = (ids == 0).astype(np.float32)[..., None]
    # A pixel that a single light path made bright would lighten the ground around it.
    removed = np.minimum(np.nan_to_num(noisy - denoised), _MOST_REMOVED)
    slow = _low_pass(np.concatenate([removed * ground, ground], axis=2))
    restored: Floats = np.maximum(denoised + ground * slow[..., :3] / np.maximum(slow[..., 3:], 1e-6), 0)
    return restored


def _low_pass(image: Floats) -> Floats:
    """(H, W, C): means around the points of a coarse grid, interpolated."""
    height, width = image.shape[:2]
    coarse = max(width // _GRID, 1), max(height // _GRID, 1)
    bands = [Image.fromarray(image[..., k]) for k in range(image.shape[2])]
    bilinear = Image.Resampling.BILINEAR
    return np.stack([np.asarray(b.resize(coarse, bilinear).resize((width, height), bilinear)) for b in bands], axis=2)
