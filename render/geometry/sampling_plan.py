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

from diorama.render.geometry.glass import samples_of
from diorama.render.geometry.raster import mask_box
from diorama.scene_specs.language.scene import SceneFrame, SceneView, Settings

Layers = dict[str, NDArray[np.float32]]
Boxes = NDArray[np.int64]

# Pixels around an object's box: its antialiased edge and the contact shadow.
_MARGIN = 6
# One more render takes as long as this many samples of one pixel: synchronization, its file, the first rays.
_RENDER_SAMPLES = 25_000
# A frame is costly from so many times the samples of the profile on.
_COSTLY = 4
# Flips bits of the seed, others for each rectangle: Cycles' noise depends on the seed and the place of a pixel, and
# rectangles overlap.
_OTHER_SEED = 0x55AA55


class Box(NamedTuple):
    """Rows top to bottom - 1 and columns left to right - 1 of an image; row 0 is at the top."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index of an (H, W) array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


class Part(NamedTuple):
    """One render. box: None for the whole frame. samples: per pixel."""

    samples: int
    seed: int
    box: Box | None = None


def whole_frame(settings: Settings, frame: SceneFrame, view: SceneView) -> Part:
    """The first render of a view. Flat stages have no rectangles: one sample is exact, or many smooth all edges."""
    if frame.pixels == "center":
        return Part(1, frame.seed)
    chosen = settings if frame.pixels is None else settings.without_rectangles()
    return Part(samples_of(chosen, frame, view), frame.seed)


def has_rectangles(settings: Settings, frame: SceneFrame) -> bool:
    """Whether objects get samples of their own; flat stages have no noise."""
    return settings.object_samples > 0 and frame.pixels is None


def object_samples_at(settings: Settings, samples: int) -> int:
    """Further samples of rectangles in a frame of so many samples.

    In an image full of glass, they grow as those of the whole frame. Without glass, they replace what it lacks.
    """
    if samples < settings.samples and settings.object_samples:
        return settings.samples + settings.object_samples
    return settings.object_samples * samples // settings.samples


def is_costly(settings: Settings, whole: Part) -> bool:
    """Whether a frame takes so many samples that three more passes of the denoiser hardly count."""
    return whole.samples >= _COSTLY * settings.samples


def rectangles(settings: Settings, whole: Part, ids: NDArray[np.uint16]) -> list[Part]:
    """The other renders: rectangles around the objects. ids: (H, W), of the first render.

    Where objects fill much of the image, rectangles get fewer samples: together never more than the whole frame would
    take with at least `samples` per pixel.
    """
    samples = object_samples_at(settings, whole.samples)
    height, width = ids.shape
    boxes = []
    for index in np.unique(ids[ids > 0]):
        box = mask_box(ids == index)
        assert box is not None
        x, y, across, down = box
        boxes.append((y - _MARGIN, y + down + _MARGIN, x - _MARGIN, x + across + _MARGIN))
    joined = _joined(
        np.clip(np.array(boxes).reshape(-1, 4), 0, (height, height, width, width)), _RENDER_SAMPLES / samples
    )
    most = max(whole.samples, settings.samples) * ids.size // max(int(_pixels(joined).sum()), 1)
    parts = [Box(*map(int, box)) for box in joined]
    samples = max(min(samples, most), 1)
    return [Part(samples, whole.seed ^ (_OTHER_SEED + 2 * number), box) for number, box in enumerate(parts)]


def _pixels(boxes: Boxes) -> Boxes:
    """(...): number of pixels of boxes, (..., 4)."""
    pixels: Boxes = np.diff(boxes.reshape(*boxes.shape[:-1], 2, 2)).prod(axis=(-2, -1))
    return pixels


def _joined(boxes: Boxes, render_pixels: float) -> Boxes:
    """(N, 4) boxes of which no two are cheaper to render together. render_pixels: what a render costs, in pixels."""
    while len(boxes) > 1:
        first, second = boxes[:, None], boxes[None]
        around = np.where([True, False, True, False], np.minimum(first, second), np.maximum(first, second))
        added = _pixels(around) - _pixels(first) - _pixels(second)
        np.fill_diagonal(added, np.iinfo(added.dtype).max)
        pair = np.unravel_index(np.argmin(added), added.shape)
        if added[pair] >= render_pixels:
            break
        boxes = np.vstack([np.delete(boxes, pair, axis=0), around[pair]])
    return boxes


def _fading(box: Box, height: int, width: int) -> NDArray[np.float64]:
    """(h, w, 1) weights of a box's pixels: 1, and less in its margin, except at the image's own edges."""

    def along(first: int, after: int, size: int) -> NDArray[np.float64]:
        rising = np.minimum(np.arange(1, after - first + 1) / (_MARGIN + 1), 1) ** 2
        weights = np.ones(after - first)
        weights *= rising if first else 1
        weights *= rising[::-1] if after < size else 1
        return weights

    return np.outer(along(box.top, box.bottom, height), along(box.left, box.right, width))[..., None]


def merged(parts: Sequence[tuple[Part, Mapping[str, NDArray[np.float32]]]]) -> Layers:
    """The mean over the samples of all parts. parts: each with its layers, (h, w, C); the whole frame first.

    Samples of rectangles count less toward their edges: what the denoiser does depends on the noise, and a sudden
    change of it would show. Sums of float64, which hold a background's value exactly.
    """
    (whole, first), *others = parts
    weights = np.full((*next(iter(first.values())).shape[:2], 1), float(whole.samples))
    counted = []
    for part, layers in others:
        assert part.box is not None
        counted.append((part.box.slices, part.samples * _fading(part.box, *weights.shape[:2]), layers))
        weights[part.box.slices] += counted[-1][1]
    result = {}
    for name, layer in first.items():
        # One layer after the other: in float64, all of them would take twice what Cycles wrote.
        total = layer.astype(np.float64) * whole.samples
        for slices, samples, layers in counted:
            total[slices] += layers[name].astype(np.float64) * samples
        result[name] = (total / weights).astype(np.float32)
    return result
