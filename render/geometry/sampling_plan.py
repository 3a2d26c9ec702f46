"""The samples of a view: how many it gets, and the renders that they are divided into.

Light that passed through glass, that is, any material that transmits light, arrives in rare, bright samples. The
denoiser takes them for noise and darkens what they light. Where only the lamps of the stage light the ground, it needs
few samples (`opaque_samples`); with glass, further ones grow with the square of its share of the image. A crowd of
eight glass objects, which fills nearly a fifth, needs about ten times as many as one, because its light passes through
several of them (docs/quality.md).

Objects and their edges hold most of an image's noise, but fill a tenth of it (docs/quality.md). With
`Settings.object_samples`, a frame is rendered as a whole, then each rectangle again with another seed; `merged` weighs
them by their samples, and the result is denoised once. Without, the plan is one render, which Cycles denoises itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import compose, mask_box, object_layer
from diorama.scene_specs.model.materials import scatters, transmits
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView, Settings
from diorama.scene_specs.model.spec import EpisodeSpec, MaterialSpec
from diorama.scene_specs.model.stage import load_stage

Layers = dict[str, NDArray[np.float32]]
Boxes = NDArray[np.int64]

# Share of the image from which on the samples are `glass_samples`.
FULL_SHARE = 0.2
# Largest width in pixels at which the share is measured; more pixels do not change it.
_WIDTH = 80
# Pixels around an object's box: its antialiased edge and the contact shadow.
_MARGIN = 6
# One more render takes as long as this many samples of one pixel: synchronization, its file, the first rays.
_RENDER_SAMPLES = 25_000
# Samples per pixel from which on a frame is costly.
_COSTLY = 32
# Flips bits of the seed, others for each rectangle: Cycles' noise depends on the seed and the place of a pixel, and
# rectangles overlap.
_OTHER_SEED = 0x55AA55


class Box(NamedTuple):
    """A rectangle: rows top to bottom - 1 and columns left to right - 1 of an image; row 0 is at the top."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index of an (H, W) array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


class Part(NamedTuple):
    """One render.

    Attributes:
        samples: per pixel.
        box: None for the whole frame.
    """

    samples: int
    seed: int
    box: Box | None = None


def glass_share(frame: SceneFrame, view: SceneView, settings: Settings) -> float:
    """Return the share of pixels that show an object of glass, 0 to 1; of a contrast, the largest of its members."""
    if view.glass is not None:
        return view.glass
    glass = [transmits(item.material.name) for item in frame.objects]
    if not any(glass):
        return 0.0
    coarser = max(settings.width // _WIDTH, 1)
    camera = Camera.of(view.camera, max(settings.width // coarser, 1), max(settings.height // coarser, 1))
    ids, _ = compose([object_layer(item, camera) for item in frame.objects], camera.width, camera.height)
    # An id is 1 + the position of its object; 0 is none.
    return float(np.count_nonzero(np.array([False, *glass])[ids])) / ids.size


def expected_number(kind: Callable[[str], bool], episode: EpisodeSpec | Scene) -> list[float]:
    """Return the number of objects per frame with a kind of material; of a spec, the mean over its draws."""
    if isinstance(episode, Scene):
        return [float(sum(kind(item.material.name) for item in frame.objects)) for frame in episode.frames]
    stage = load_stage(episode.stage)
    defaults = stage.defaults.materials
    numbers = []
    for frame in episode.frames:
        numbers.append(sum(_chance_of_kind(kind, item.material, defaults) for item in frame.objects))
        if frame.pointer is not None:
            given = frame.pointer.material or (stage.pointer.material if stage.pointer else None)
            numbers[-1] += _chance_of_kind(kind, given, defaults)
        if frame.random_objects is not None:
            count = float(np.mean(frame.random_objects.count))
            numbers[-1] += count * _chance_of_kind(kind, None, frame.random_objects.materials or defaults)
    return numbers


def _chance_of_kind(kind: Callable[[str], bool], material: str | MaterialSpec | None, defaults: Sequence[str]) -> float:
    """Probability that a material is of the kind; None is drawn from the defaults."""
    if material is None:
        return sum(map(kind, defaults)) / len(defaults)
    name = MaterialSpec.of(material).name
    return float(name is not None and kind(name))


def may_show_glass(episode: EpisodeSpec | Scene) -> bool:
    """Return whether an object of a Scene is of glass, or one of a spec may be."""
    shares = [view.glass for frame in episode.frames for view in frame.views] if isinstance(episode, Scene) else []
    return any(shares) or any(expected_number(transmits, episode))


def samples_at(settings: Settings, share: float, plain: bool = False) -> int:
    """Return the samples per pixel of an image.

    Args:
        share: share of the image that is glass.
        plain: whether no object transmits or gives light.
    """
    if plain and settings.opaque_samples:
        return min(settings.opaque_samples, settings.samples)
    if settings.glass_samples <= settings.samples:
        return settings.samples
    return settings.samples + round(min(share / FULL_SHARE, 1.0) ** 2 * (settings.glass_samples - settings.samples))


def samples_of(settings: Settings, frame: SceneFrame, view: SceneView) -> int:
    """Return the samples per pixel of one view."""
    share = glass_share(frame, view, settings) if settings.glass_samples > settings.samples else 0.0
    # Hidden objects light the ground, too. Nobody knows about materials of .blend files.
    materials = [item.material for item in frame.objects]
    plain = all(material.blend is None and scatters(material.name) for material in materials)
    return samples_at(settings, share, plain)


def whole_frame(settings: Settings, frame: SceneFrame, view: SceneView) -> Part:
    """Return the first render of a view; the only one of flat stages, as one sample is exact, or many smooth edges."""
    if frame.pixels == "center":
        return Part(1, frame.seed)
    chosen = settings if frame.pixels is None else settings.without_rectangles()
    return Part(samples_of(chosen, frame, view), frame.seed)


def has_rectangles(settings: Settings, frame: SceneFrame) -> bool:
    """Return whether objects get samples of their own; flat stages have no noise."""
    return settings.object_samples > 0 and frame.pixels is None


def object_samples_at(settings: Settings, samples: int) -> int:
    """Return the further samples of rectangles in a frame of so many samples.

    In an image full of glass, they grow as those of the whole frame. Without glass, they replace what it lacks.
    """
    if samples < settings.samples and settings.object_samples:
        return settings.samples + settings.object_samples
    return settings.object_samples * samples // settings.samples


def is_costly(whole: Part) -> bool:
    """Return whether a frame takes so many samples that three more passes of the denoiser hardly count."""
    return whole.samples >= _COSTLY


def rectangles(settings: Settings, whole: Part, ids: NDArray[np.uint16]) -> list[Part]:
    """Return the other renders: rectangles around the objects.

    Where objects fill much of the image, rectangles get fewer samples: together never more than the whole frame would
    take with at least `samples` per pixel.

    Args:
        whole: the first render.
        ids: (H, W), of the first render.
    """
    samples = object_samples_at(settings, whole.samples)
    height, width = ids.shape
    boxes = []
    for index in np.unique(ids[ids > 0]):
        box = mask_box(ids == index)
        assert box is not None
        x, y, across, down = box
        boxes.append((y - _MARGIN, y + down + _MARGIN, x - _MARGIN, x + across + _MARGIN))
    joined = _join_boxes(
        np.clip(np.array(boxes).reshape(-1, 4), 0, (height, height, width, width)), _RENDER_SAMPLES / samples
    )
    most = max(whole.samples, settings.samples) * ids.size // max(int(_pixel_counts(joined).sum()), 1)
    parts = [Box(*map(int, box)) for box in joined]
    samples = max(min(samples, most), 1)
    return [Part(samples, whole.seed ^ (_OTHER_SEED + 2 * number), box) for number, box in enumerate(parts)]


def _pixel_counts(boxes: Boxes) -> Boxes:
    """(...): number of pixels of boxes, (..., 4)."""
    pixels: Boxes = np.diff(boxes.reshape(*boxes.shape[:-1], 2, 2)).prod(axis=(-2, -1))
    return pixels


def _join_boxes(boxes: Boxes, render_pixels: float) -> Boxes:
    """(N, 4) boxes of which no two are cheaper to render together. render_pixels: what a render costs, in pixels."""
    while len(boxes) > 1:
        first, second = boxes[:, None], boxes[None]
        around = np.where([True, False, True, False], np.minimum(first, second), np.maximum(first, second))
        added = _pixel_counts(around) - _pixel_counts(first) - _pixel_counts(second)
        np.fill_diagonal(added, np.iinfo(added.dtype).max)
        pair = np.unravel_index(np.argmin(added), added.shape)
        if added[pair] >= render_pixels:
            break
        boxes = np.vstack([np.delete(boxes, pair, axis=0), around[pair]])
    return boxes


def _fading_weights(box: Box, height: int, width: int) -> NDArray[np.float64]:
    """(h, w, 1) weights of a box's pixels: 1, and less in its margin, except at the image's own edges."""

    def along(first: int, after: int, size: int) -> NDArray[np.float64]:
        rising = np.minimum(np.arange(1, after - first + 1) / (_MARGIN + 1), 1) ** 2
        weights = np.ones(after - first)
        weights *= rising if first else 1
        weights *= rising[::-1] if after < size else 1
        return weights

    return np.outer(along(box.top, box.bottom, height), along(box.left, box.right, width))[..., None]


def merged(parts: Sequence[tuple[Part, Mapping[str, NDArray[np.float32]]]]) -> Layers:
    """Average all parts by their samples. Sums of float64 hold a background's value exactly.

    Samples of rectangles count less toward their edges: what the denoiser does depends on the noise, and a sudden
    change of it would show.

    Args:
        parts: each with its layers, (h, w, C); the whole frame first.
    """
    (whole, first), *others = parts
    weights = np.full((*next(iter(first.values())).shape[:2], 1), float(whole.samples))
    counted = []
    for part, layers in others:
        assert part.box is not None
        counted.append((part.box.slices, part.samples * _fading_weights(part.box, *weights.shape[:2]), layers))
        weights[part.box.slices] += counted[-1][1]
    result = {}
    for name, layer in first.items():
        # One layer after the other: in float64, all of them would take twice what Cycles wrote.
        total = layer.astype(np.float64) * whole.samples
        for slices, samples, layers in counted:
            total[slices] += layers[name].astype(np.float64) * samples
        result[name] = (total / weights).astype(np.float32)
    return result
