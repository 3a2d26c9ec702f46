"""Whether a rendered image can be one of its Scene: GPUs that fail silently return zeros, ones, noise or old images.

Ids are compared with those of the software id buffer, from the layers of objects that the annotation needs anyway.
Colors are checked where the Scene says what they are (plain backgrounds, unlit colors), where light falls (not black),
and between neighboring pixels (not noise). The bounds are far beyond what honest images reach:
`python -m tools plausibility` measures both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.display import display
from diorama.render.geometry.ground import on_sheet
from diorama.render.geometry.raster import Layer, compose
from diorama.scene_specs.errors import ImplausibleError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.stage import Stage, StageGround, load_stage

Colors = NDArray[np.uint8]
Ids = NDArray[np.uint16]
Bools = NDArray[np.bool_]
# The renderer that simulates light, and the one that shows colors without light. Those of plug-ins may show others.
CYCLES, FAKE = "cycles", "fake"
# Regions of fewer pixels are not judged.
MIN_PIXELS = 40
# Least intersection over union of an object's pixels with those of the software id buffer.
LEAST_OVERLAP = 0.6
# Largest share of black pixels where light falls, and of equal ones where it makes shades.
MOST_BLACK = MOST_EQUAL = 0.5
# Largest difference of a plain region's color, levels.
TOLERANCE = 4
# Largest mean difference of horizontal neighbors of one object or of the ground, levels; uniform noise has 85.
MOST_NOISE = 40.0
# What is darker than this, in linear RGB, may be black.
DARK = 0.02
# Height of the ground up to which it counts as flat, Blender units.
_FLAT = 0.1
# Pixels of a region that are looked at, and rays that look for the ground along each axis of the image.
_SAMPLE, _RAYS = 600, 10
# About as many pixels are looked at to find where light falls.
_LIT_PIXELS = 80 * 60


class Check(NamedTuple):
    """One measurement of an image.

    Attributes:
        name: overlap, plain, black, constant or noise.
        ratio: of the measured value and its bound; above 1, the image is not of its Scene.
        problem: what it then is.
    """

    name: str
    ratio: float
    problem: str


def check_image(
    scene: Scene, frame: SceneFrame, view: SceneView, passes: Passes, layers: Sequence[Layer], renderer: str = CYCLES
) -> None:
    """Raise ImplausibleError for passes that can't be of their Scene.

    Args:
        layers: each object of the frame alone, at the size of the passes.
        renderer: name of the renderer. Only CYCLES and FAKE have to show the colors of the Scene.
    """
    colors = check_color(scene, frame, view, passes.color, passes.ids, renderer)
    checks = chain(check_ids(frame, passes.ids, layers), colors)
    if problem := first_problem(checks):
        on = f" on {passes.device}" if passes.device else ""
        raise ImplausibleError(
            f"episode {scene.id}: image {frame.image_name(view)} was rendered{on} without an error, but is not of its "
            f"scene and was discarded: {problem}"
        )


def image_problems(record: EpisodeRecord) -> Iterator[str]:
    """Yield how colors of stored images contradict their Scene, with the ids of their masks.

    An image whose masks or whose file can't be read is damaged, and left out.
    """
    views = [(frame, view) for frame in record.scene.frames for view in frame.views]
    for image, (frame, view) in zip(record.images, views, strict=False):
        ids = np.zeros((image.height, image.width), dtype=np.uint16)
        for item in image.annotation.objects:
            ids[item.rle.mask()] = item.index
        if problem := first_problem(check_color(record.scene, frame, view, image.color(), ids, record.job.renderer)):
            yield f"image {image.name}: {problem}"


def first_problem(checks: Iterable[Check]) -> str:
    """Return the first problem; "" if there is none."""
    return next((check.problem for check in checks if check.ratio > 1), "")


def check_ids(frame: SceneFrame, ids: Ids, layers: Sequence[Layer]) -> Iterator[Check]:
    """Compare an id pass (H, W) with the objects of its frame, each drawn alone in `layers`."""
    count, (height, width) = len(frame.objects), ids.shape
    lowest, highest = int(ids.min(initial=0)), int(ids.max(initial=0))
    if lowest < 0 or highest > count:
        yield Check("overlap", np.inf, f"the id pass has ids from {lowest} to {highest}; expected 0 to {count}")
        return
    expected, _ = compose(layers, width, height)
    # Two bytes are faster, and suffice for most frames.
    wide = expected if count < 255 else expected.astype(np.intp)
    both = np.bincount((wide * wide.dtype.type(count + 1) + ids).ravel(), minlength=(count + 1) ** 2)
    table = both.reshape(count + 1, count + 1)
    for item, wanted, drawn in zip(frame.objects, table.sum(axis=1)[1:], table.sum(axis=0)[1:], strict=True):
        common = int(table[item.index, item.index])
        if max(wanted, drawn) >= MIN_PIXELS:
            overlap = common / int(wanted + drawn - common)
            problem = f"{drawn} pixels in the id pass, {common} of them where it is; expected about {wanted}"
            yield Check("overlap", (1 - overlap) / (1 - LEAST_OVERLAP), f"object {item.name!r} has {problem}")


def check_color(
    scene: Scene, frame: SceneFrame, view: SceneView, color: Colors, ids: Ids, renderer: str = CYCLES
) -> Iterator[Check]:
    """Compare a color pass (H, W, 3) with what its Scene says about colors and light.

    Args:
        ids: (H, W), of the objects.
        renderer: as in `check_image`.
    """
    noise = _pixel_noise(color, ids)
    yield Check("noise", noise / MOST_NOISE, f"neighboring pixels differ by {noise:.0f} levels, as in noise")
    if renderer not in (CYCLES, FAKE):
        yield Check("black", 2.0 * bool(ids.any() and not color.any()), "all pixels are black")
        return
    stage = load_stage(scene.stage)
    if frame.fixation and stage.fixation is not None:
        center = color[len(color) // 2, color.shape[1] // 2].tolist()
        off = float(center != [*stage.fixation.color])
        yield Check("plain", 2 * off, f"the fixation cross has the color {center}; expected {stage.fixation.color}")
    for what, region, expected in _plain_regions(stage, frame, ids):
        shown = _sample_pixels(color, region)
        if len(shown) >= MIN_PIXELS:
            median_color = np.median(shown, axis=0).astype(int)
            problem = f"{what} has the color {median_color.tolist()}; expected {expected.tolist()}"
            yield Check("plain", float(np.abs(median_color - expected).max()) / TOLERANCE, problem)
    # What is lit is large: of an image of 320 x 240, every fourth row and column suffice.
    step = max(1, math.isqrt(ids.size // _LIT_PIXELS))
    color, ids = color[::step, ::step], ids[::step, ::step]
    lit, shaded = _lit_regions(stage, frame, view, ids)
    if len(shown := _sample_pixels(color, lit)) >= MIN_PIXELS:
        black = float(np.mean(~shown.any(axis=1)))
        problem = f"{100 * black:.0f} % of the pixels where light falls are black"
        yield Check("black", black / MOST_BLACK, f"{problem} (--keep-implausible is for scenes that are as dark)")
    if renderer == CYCLES and len(shown := _sample_pixels(color, shaded)) >= MIN_PIXELS:
        same = float(np.mean((shown == shown[0]).all(axis=1)))
        yield Check("constant", same / MOST_EQUAL, f"{100 * same:.0f} % of the shaded pixels are {shown[0].tolist()}")


def _sample_pixels(color: Colors, region: Bools) -> Colors:
    """Return about 600 pixels of a region, evenly spread."""
    where = np.flatnonzero(region)
    sample: Colors = color[np.divmod(where[:: max(1, len(where) // _SAMPLE)], region.shape[1])]
    return sample


def _plain_regions(stage: Stage, frame: SceneFrame, ids: Ids) -> Iterator[tuple[str, Bools, NDArray[np.uint8]]]:
    """Yield what has one color, known from the Scene: its name, its pixels and the color as displayed."""
    if frame.background is not None and stage.ground is None:
        yield "the background", ids == 0, np.array(frame.background, dtype=np.uint8)
    for item in frame.objects if stage.pixels == "center" else ():
        if item.material.name == "emission":
            shown = np.array(item.color_linear, dtype=np.float32) * np.float32(item.material.strength)
            yield f"object {item.name!r}", ids == item.index, display(shown)


def _lit_regions(stage: Stage, frame: SceneFrame, view: SceneView, ids: Ids) -> tuple[Bools, Bools]:
    """Return two regions (H, W): what can't be black all over, and the part of it whose shades differ."""
    light = any(stage.ambient) or any(light.energy > 0 and any(light.color) for light in frame.lights)
    # By id; 0 is what is behind the objects.
    own = np.array([False, *(item.material.name in ("emission", "unlit") for item in frame.objects)])
    bright = [False, *(max(item.color_linear) * item.material.strength > DARK for item in frame.objects)]
    shaded = np.take(np.array(bright) & ~own & light, ids)
    if light and stage.ground is not None and stage.ground.albedo > DARK:
        height, width = ids.shape
        grid = np.ix_(_spread_indices(height), _spread_indices(width))
        shaded[grid] |= (ids[grid] == 0) & _rays_meet_ground(stage.ground, Camera.of(view.camera, width, height), *grid)
    return shaded | np.take(np.array(bright) & own, ids) if any(own) else shaded, shaded


@lru_cache(maxsize=16)
def _spread_indices(length: int) -> NDArray[np.intp]:
    return np.linspace(0, length - 1, min(length, _RAYS), dtype=np.intp)


def _rays_meet_ground(ground: StageGround, camera: Camera, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Bools:
    """Return whether the rays of pixels meet the flat part of the ground, (rows, columns)."""
    # Between its points, the profile is monotone.
    flat = tuple(point for point in ground.profile if abs(point[1]) < _FLAT)
    if not flat:
        return np.zeros((rows.size, columns.size), dtype=np.bool_)
    y, x = (axis.ravel() + 0.5 for axis in np.broadcast_arrays(rows, columns))
    (eye_x, ahead_x), (eye_y, ahead_y), (eye_z, ahead_z) = camera.unproject(x, y, np.array([[0.0], [1.0]]))
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = eye_z / (eye_z - ahead_z)
        at_x, at_y = eye_x + depth * (ahead_x - eye_x), eye_y + depth * (ahead_y - eye_y)
        met = (depth > camera.clip[0]) & (depth < camera.clip[1])
        met &= on_sheet(ground.model_copy(update={"profile": flat}), at_x, at_y)
    seen: Bools = met.reshape(rows.size, columns.size)
    return seen


def _pixel_noise(color: Colors, ids: Ids) -> float:
    """Return the mean difference of horizontal neighbors of one object or of the ground in some rows, levels."""
    rows = _spread_indices(len(ids))
    ids = ids[rows]
    same = ids[:, 1:] == ids[:, :-1]
    steps = np.abs(np.diff(color[rows].astype(np.int16), axis=1))[same]
    return float(steps.mean()) if len(steps) >= MIN_PIXELS else 0.0
