"""The renders that make up one frame: the whole frame, and rectangles around its objects with more samples.

Objects and their edges hold most of an image's noise, but fill a tenth of it (docs/quality.md). With
`Settings.object_samples`, a frame is rendered as a whole, then each rectangle again with another seed; `merged` weighs
them by their samples, and the result is denoised once. Without, the plan is one render, which Cycles denoises itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from render.geometry.glass import samples_of
from scene_specs.language.scene import SceneFrame, SceneView, Settings

Layers = dict[str, NDArray[np.float32]]

# Pixels around an object's box: its antialiased edge and the contact shadow.
_MARGIN = 6
# One more render takes as long as this many samples of one pixel: synchronization, its file, the first rays.
_RENDER_SAMPLES = 25_000
# Flips bits of the seed, so that the rectangles' noise is independent of the whole frame's.
_OTHER_SEED = 0x55AA55


class Box(NamedTuple):
    """Rows top to bottom - 1 and columns left to right - 1 of an image; row 0 is at the top."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return (self.bottom - self.top) * (self.right - self.left)

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index of an (H, W) array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def around(self, other: Box) -> Box:
        """The smallest box that contains both."""
        low, high = np.minimum(self, other), np.maximum(self, other)
        return Box(int(low[0]), int(high[1]), int(low[2]), int(high[3]))


class Part(NamedTuple):
    """One render. box: None for the whole frame. samples: per pixel."""

    samples: int
    seed: int
    box: Box | None = None


def whole_frame(settings: Settings, frame: SceneFrame, view: SceneView) -> Part:
    """The first render of a view. Flat stages have no rectangles: one sample is exact, or all of them smooth edges."""
    if frame.pixels == "center":
        return Part(1, frame.seed)
    samples = samples_of(settings, frame, view)
    return Part(samples if frame.pixels is None else samples + settings.object_samples, frame.seed)


def has_rectangles(settings: Settings, frame: SceneFrame) -> bool:
    """Whether objects get samples of their own; flat stages have no noise."""
    return settings.object_samples > 0 and frame.pixels is None


def rectangles(settings: Settings, whole: Part, ids: NDArray[np.uint16]) -> list[Part]:
    """The other renders: rectangles around the objects. ids: (H, W), of the first render.

    In an image full of glass, the rectangles get as many times more samples as the whole frame. Where objects fill much
    of the image, they get fewer: the rectangles never take more samples together than the whole frame did.
    """
    samples = settings.object_samples * whole.samples // settings.samples
    height, width = ids.shape
    boxes = []
    for index in np.unique(ids[ids > 0]):
        rows, columns = np.nonzero(ids == index)
        boxes.append(
            Box(
                max(int(rows.min()) - _MARGIN, 0),
                min(int(rows.max()) + _MARGIN + 1, height),
                max(int(columns.min()) - _MARGIN, 0),
                min(int(columns.max()) + _MARGIN + 1, width),
            )
        )
    boxes = _joined(boxes, _RENDER_SAMPLES / samples)
    most = whole.samples * ids.size // max(sum(box.pixels for box in boxes), 1)
    return [Part(max(min(samples, most), 1), whole.seed ^ _OTHER_SEED, box) for box in boxes]


def _joined(boxes: list[Box], render_pixels: float) -> list[Box]:
    """Boxes of which none are cheaper to render together. render_pixels: what one more render costs, in pixels."""
    boxes = list(boxes)
    while len(boxes) > 1:
        pairs = [(a, b) for k, a in enumerate(boxes) for b in boxes[:k]]
        first, second = min(pairs, key=lambda pair: pair[0].around(pair[1]).pixels - pair[0].pixels - pair[1].pixels)
        both = first.around(second)
        if both.pixels - first.pixels - second.pixels >= render_pixels:
            break
        boxes.remove(first)
        boxes.remove(second)
        boxes.append(both)
    return boxes


def merged(parts: Sequence[tuple[Part, Mapping[str, NDArray[np.float32]]]]) -> Layers:
    """The mean over the samples of all parts. parts: each with its layers, (h, w, C); the whole frame first.

    Sums of float64, which hold a background's value exactly.
    """
    (whole, first), *others = parts
    weights = np.full((*next(iter(first.values())).shape[:2], 1), float(whole.samples))
    sums = {name: layer * weights for name, layer in first.items()}
    for part, layers in others:
        assert part.box is not None
        weights[part.box.slices] += part.samples
        for name, layer in layers.items():
            sums[name][part.box.slices] += layer.astype(np.float64) * part.samples
    return {name: (total / weights).astype(np.float32) for name, total in sums.items()}
