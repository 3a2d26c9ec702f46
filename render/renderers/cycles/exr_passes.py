"""Read passes from the multilayer EXR that Cycles writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import OpenEXR
from numpy.typing import NDArray

from diorama.render.geometry.display import display, restore_background
from diorama.render.geometry.sampling_plan import Layers, Part, merged
from diorama.render.renderers.cycles.series import LAYERS
from diorama.scene_specs.errors import RenderError

Floats = NDArray[np.float32]

# What Cycles reads at the center of a pixel; all other layers are means over its samples.
_AT_CENTER = ("IndexOB", "Depth", "Position")
# Cryptomatte ids per pixel, two in each RGBA layer.
CRYPTOMATTE_LEVELS = 4


def object_name(index: int) -> str:
    """Name of an object in Blender, by which Cryptomatte knows it; names in a spec never start with `~`."""
    return f"~{index}"


class Exr:
    """The channels of an EXR file, with the names of 4.5 without view layer: `IndexOB.X`. Raises RenderError."""

    def __init__(self, path: Path) -> None:
        try:
            file = OpenEXR.File(str(path), separate_channels=True)
        except Exception as error:  # the binding raises bare RuntimeError or Exception
            raise RenderError(f"Cycles wrote no readable image: {error}") from error
        self.channels: dict[str, Floats] = {}
        for part in file.parts:
            for name, channel in part.channels.items():
                layer, letter = name.split(".")[-2:] if "." in name else ("", name)
                self.channels[f"{LAYERS.get(layer, layer)}.{letter}".lstrip(".")] = channel.pixels
        self.header = file.header()
        self._parts: list[tuple[Part, Exr]] = []

    def stack(self, layer: str, letters: str) -> Floats:
        """Return the channels of a layer as (H, W, len(letters)). Raises RenderError if one is missing."""
        try:
            return np.stack([self.channels[f"{layer}.{letter}"] for letter in letters], axis=-1)
        except KeyError as error:
            raise RenderError(
                f"the image of Cycles lacks {error}; it has {', '.join(sorted(self.channels))}"
            ) from error

    def sampled(self) -> Layers:
        """Color before denoising, and what guides the denoiser, each (H, W, 3)."""
        color = "Noisy Image" if "Noisy Image.R" in self.channels else "Combined"
        guides = {"albedo": self.stack("Denoising Albedo", "RGB"), "normal": self.stack("Denoising Normal", "XYZ")}
        return {"color": self.stack(color, "RGB"), **guides}

    def merge(self, parts: list[tuple[Part, Exr]]) -> None:
        """Average all means over samples with other renders of the frame; this one is the first of the parts."""
        self._parts = parts
        names = [name for name in self.channels if not name.startswith((*_AT_CENTER, "Crypto"))]
        means = merged([(part, {name: exr.channels[name][..., None] for name in names}) for part, exr in parts])
        self.channels |= {name: mean[..., 0] for name, mean in means.items()}

    def replace(self, layer: str, color: Floats) -> None:
        """Replace a layer by linear color, (H, W, 3)."""
        self.channels |= {f"{layer}.{letter}": color[..., k] for k, letter in enumerate("RGB")}

    def color(self, background: tuple[int, int, int] | None, gain: Sequence[float]) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 display values.

        Args:
            background: 8-bit sRGB, None where the world shows none.
            gain: factors of linear RGB.
        """
        color = display(self.stack("Combined", "RGB") * np.array(gain, dtype=np.float32))
        if background is None:
            return color
        sampled = "Noisy Image" if "Noisy Image.R" in self.channels else "Combined"
        return restore_background(color, self.stack(sampled, "RGB"), background)

    def ids(self) -> NDArray[np.uint16]:
        """(H, W) uint16 instance ids."""
        ids: NDArray[np.uint16] = np.rint(self.stack("IndexOB", "X")[..., 0]).astype(np.uint16)
        return ids

    def coverage(self, indices: Sequence[int]) -> Floats:
        """(N, H, W) float32: share of each pixel that the objects cover."""
        if not self._parts:
            return self._coverage(indices)
        layers = [(part, {"": np.moveaxis(exr._coverage(indices), 0, -1)}) for part, exr in self._parts]
        return np.moveaxis(merged(layers)[""], -1, 0)

    def _coverage(self, indices: Sequence[int]) -> Floats:
        hashes = self._manifest()
        layers = [
            self.stack(f"CryptoObject{k:02d}", "rgba" if "CryptoObject00.r" in self.channels else "RGBA")
            for k in range(CRYPTOMATTE_LEVELS // 2)
        ]
        out = np.zeros((len(indices), *layers[0].shape[:2]), dtype=np.float32)
        for layer in layers:
            for start in (0, 2):
                ids = np.ascontiguousarray(layer[..., start]).view(np.uint32)
                for k, index in enumerate(indices):
                    out[k] += np.where(ids == hashes[object_name(index)], layer[..., start + 1], np.float32(0))
        return out

    def _manifest(self) -> dict[str, int]:
        for key, value in self.header.items():
            if key.startswith("cryptomatte/") and key.endswith("/manifest"):
                return {name: int(code, 16) for name, code in json.loads(value).items()}
        raise RenderError("the image of Cycles has no Cryptomatte manifest")
