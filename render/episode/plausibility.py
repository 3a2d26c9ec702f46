"""Whether a rendered image can be one of its Scene: GPUs that fail silently return zeros, ones, noise or old images.

Ids are compared with those of the software id buffer, from the layers of objects that the annotation needs anyway.
Others are a fault. Colors of a GPU are checked where the Scene says what they are (plain backgrounds, unlit colors),
where light falls (not black), and between neighboring pixels (not noise). Honest images may look so, too: they raise a
doubt, which another device settles. `python -m tools plausibility` measures both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.display import display
from diorama.render.geometry.raster import Layer, Pose, compose, object_layer, rasterize
from diorama.render.geometry.solid import solid
from diorama.render.renderers import make_renderer
from diorama.scene_specs.errors import ImplausibleError
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord
from diorama.scene_specs.model.scene import MOST_SAMPLES, Scene, SceneFrame, SceneView
from diorama.scene_specs.model.stage import Stage, scene_stage

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
# Pixels of a region that are looked at; rows where noise is, and squares along the shorter side where the ground is.
_SAMPLE, _ROWS, _SQUARES = 600, 10, 12
# About as many pixels are looked at to find where light falls.
_LIT_PIXELS = 80 * 60
_ORIGIN = Pose((0.0, 0.0, 0.0), 1.0, (0.0, 0.0, 0.0))
# The second look, by the CPU: its images are shorter by this factor, but no shorter than Blender renders, and have more
# samples per pixel by this factor; largest mean difference of red, green or blue, levels.
SHRINK, _LEAST_SIDE, _MORE_SAMPLES, MOST_DIFFERENT = 4, 4, 4, 12.0
_LINEAR = np.array([linear_of_srgb((byte, 0, 0))[0] for byte in range(256)], dtype=np.float32)


class Check(NamedTuple):
    """One measurement of an image.

    Attributes:
        name: overlap, plain, black, constant or noise.
        ratio: of the measured value and its bound; above 1, the image is not of its Scene, or looks so.
        problem: what it then is.
        looks: shape, material and color of each object that looks so; "" for what is not an object.
    """

    name: str
    ratio: float
    problem: str
    looks: tuple[str, ...] = ("",)


def is_cpu(device: str) -> bool:
    """Return whether a device, as named in provenance, is a CPU, or none that renders."""
    return device.upper().startswith(("CPU", "NONE"))


def find_doubt(
    scene: Scene, frame: SceneFrame, view: SceneView, passes: Passes, layers: Sequence[Layer], renderer: str = CYCLES
) -> Check | None:
    """Return what in the colors of a GPU's image is unlike an image of its Scene, None if nothing is.

    Args:
        layers: each object of the frame alone, at the size of the passes.
        renderer: name of the renderer. Only CYCLES and FAKE have to show the colors of the Scene.

    Raises:
        ImplausibleError: the ids can't be of the Scene.
    """
    if fault := first_problem(check_ids(scene, frame, view, passes.ids, layers)):
        raise _implausible(scene, frame.image_name(view), passes.device, fault.problem)
    if is_cpu(passes.device):
        return None
    return first_problem(check_color(scene, frame, view, passes.color, passes.ids, renderer))


def unusual_images(record: EpisodeRecord) -> Iterator[str]:
    """Yield what is unlike others in stored images of a GPU, with the ids of their masks.

    An image whose masks or whose file can't be read is damaged, and left out.
    """
    for image, frame, view in () if is_cpu(record.provenance.device) else _images(record):
        ids = np.zeros((image.height, image.width), dtype=np.uint16)
        for item in image.annotation.objects:
            ids[item.rle.mask()] = item.index
        if doubt := first_problem(check_color(record.scene, frame, view, image.color(), ids, record.job.renderer)):
            confirmed = "; another device rendered the same" if image.name in record.provenance.unusual else ""
            yield f"image {image.name}: {doubt.problem}{confirmed}"


def check_on_cpu(record: EpisodeRecord, threads: int = 0, asset_roots: Sequence[Path] = ()) -> None:
    """Render the unusual images of a record on the CPU.

    Raises:
        ImplausibleError: an image is not what the CPU renders.
    """
    unusual = record.provenance.unusual
    if not unusual:
        return
    with closing(make_renderer(record.job.renderer, "cpu", threads, asset_roots)) as renderer:
        for image, frame, view in _images(record):
            if image.name in unusual:
                small = renderer.render(*shrunk(record.scene, frame), view)
                if (off := difference(image.color(), small)) > MOST_DIFFERENT:
                    why = (
                        f"the CPU renders another one, by {off:.0f} levels of 255 in the mean: {unusual[image.name][0]}"
                    )
                    raise _implausible(record.scene, image.name, record.provenance.device, why)


def shrunk(scene: Scene, frame: SceneFrame) -> tuple[Scene, SceneFrame]:
    """Return a Scene and a frame of it with smaller images, of less noise and without what is sampled at points."""
    settings = scene.settings
    size = {side: max(getattr(settings, side) // SHRINK, _LEAST_SIDE) for side in ("width", "height")}
    samples = (min(_MORE_SAMPLES * count, MOST_SAMPLES) for count in (settings.samples, settings.glass_samples))
    small = settings.with_samples(*samples).model_copy(update={"denoise": False, **size})
    mean = frame.model_copy(update={"pixels": frame.pixels and "mean"})
    return scene.model_copy(update={"settings": small}), mean


def difference(color: Colors, small: Passes) -> float:
    """Return how an image (H, W, 3) differs from a smaller one: the largest mean of red, green and blue, levels.

    Objects count by a third of their own mean if that is more: pale objects are a small part of a pale image.
    """
    bands = (Image.fromarray(band) for band in _LINEAR[color].transpose(2, 0, 1))
    height, width = small.ids.shape
    shown = [display(np.array(band.resize((width, height), Image.Resampling.BOX))) for band in bands]
    off = np.abs(np.stack(shown, axis=-1).astype(int) - small.color)
    objects = off[small.ids > 0]
    least = objects.mean(axis=0).max() / 3 if len(objects) >= MIN_PIXELS else 0.0
    return float(max(off.mean(axis=(0, 1)).max(), least))


def _images(record: EpisodeRecord) -> Iterator[tuple[ImageRecord, SceneFrame, SceneView]]:
    views = [(frame, view) for frame in record.scene.frames for view in frame.views]
    return ((image, *place) for image, place in zip(record.images, views, strict=False))


def _implausible(scene: Scene, image: str, device: str, why: str) -> ImplausibleError:
    on = f" on {device}" if device else ""
    text = f"episode {scene.id}: image {image} was rendered{on} without an error, but is not of its scene and was"
    return ImplausibleError(f"{text} discarded: {why}")


def first_problem(checks: Iterable[Check]) -> Check | None:
    """Return the first check that failed, None if there is none."""
    return next((check for check in checks if check.ratio > 1), None)


def check_ids(scene: Scene, frame: SceneFrame, view: SceneView, ids: Ids, layers: Sequence[Layer]) -> Iterator[Check]:
    """Compare an id pass (H, W) with the objects of its frame, each drawn alone in `layers`."""
    count, (height, width) = len(frame.objects), ids.shape
    lowest, highest = int(ids.min(initial=0)), int(ids.max(initial=0))
    if lowest < 0 or highest > count:
        yield Check("overlap", np.inf, f"the id pass has ids from {lowest} to {highest}; expected 0 to {count}")
        return
    checks = [*_overlaps(frame, ids, compose(layers, width, height)[0])]
    ground = scene_stage(scene).ground
    if ground is not None and first_problem(checks):
        # From below or behind, the ground hides objects, and shows what it has below it.
        camera = Camera.of(view.camera, width, height)
        drawn = [object_layer(item, camera) for item in frame.objects]
        expected, _ = compose([*drawn, rasterize(solid(ground.mesh), _ORIGIN, camera)], width, height)
        checks = [*_overlaps(frame, ids, expected * (expected <= count))]
    yield from checks


def _overlaps(frame: SceneFrame, ids: Ids, expected: Ids) -> Iterator[Check]:
    """Compare the pixels of each object with those expected."""
    count = len(frame.objects)
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
        renderer: as in `find_doubt`.
    """
    noise = _pixel_noise(color, ids)
    yield Check("noise", noise / MOST_NOISE, f"neighboring pixels differ by {noise:.0f} levels, as in noise")
    if renderer not in (CYCLES, FAKE):
        yield Check("black", 2.0 * bool(ids.any() and not color.any()), "all pixels are black")
        return
    stage = scene_stage(scene)
    if frame.fixation and stage.fixation is not None:
        center = color[len(color) // 2, color.shape[1] // 2].tolist()
        off = float(center != [*stage.fixation.color])
        yield Check("plain", 2 * off, f"the fixation cross has the color {center}; expected {stage.fixation.color}")
    for what, region, expected in _plain_regions(stage, frame, ids):
        shown = color[_spread_pixels(region)]
        if len(shown) >= MIN_PIXELS:
            median_color = np.median(shown, axis=0).astype(int)
            problem = f"{what} has the color {median_color.tolist()}; expected {expected.tolist()}"
            yield Check("plain", float(np.abs(median_color - expected).max()) / TOLERANCE, problem)
    # What is lit is large: of an image of 320 x 240, every fourth row and column suffice.
    step = max(1, math.isqrt(ids.size // _LIT_PIXELS))
    color, ids = color[::step, ::step], ids[::step, ::step]
    lit, shaded = _lit_regions(stage, frame, view, ids)
    for name, region, most in (("black", lit, MOST_BLACK), ("constant", shaded, MOST_EQUAL)):
        at = _spread_pixels(region)
        if len(shown := color[at]) < MIN_PIXELS or (name == "constant" and renderer == FAKE):
            continue
        same = ~shown.any(axis=1) if name == "black" else (shown == shown[0]).all(axis=1)
        share = float(np.mean(same))
        which = "pixels where light falls are black" if name == "black" else f"shaded pixels are {shown[0].tolist()}"
        # A model that looks so is known by what decides its look.
        owners = [frame.objects[index - 1] for index in np.unique(ids[at][same]) if index and share > most]
        looks = [f"{name} {one.shape} {one.material.model_dump_json()} {one.color_linear}" for one in owners]
        ground = ("",) * bool((ids[at][same] == 0).any())
        yield Check(name, share / most, f"{100 * share:.0f} % of the {which}", (*ground, *looks))


def _spread_pixels(region: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of about 600 pixels of a region, evenly spread."""
    where = np.flatnonzero(region)
    return np.divmod(where[:: max(1, len(where) // _SAMPLE)], region.shape[1])


def _inside(ids: Ids, index: int) -> Bools:
    """Return the pixels of an object, or of what is behind all, without its edges: these may be of two colors."""
    inside: Bools = np.logical_and.reduce([np.roll(ids, step, axis) == index for axis in (0, 1) for step in (-1, 0, 1)])
    return inside


def _plain_regions(stage: Stage, frame: SceneFrame, ids: Ids) -> Iterator[tuple[str, Bools, NDArray[np.uint8]]]:
    """Yield what has one color, known from the Scene: its name, its pixels and the color as displayed."""
    if frame.background is not None and stage.ground is None:
        yield "the background", _inside(ids, 0), np.array(frame.background, dtype=np.uint8)
    for item in frame.objects if stage.pixels == "center" else ():
        if item.material.name == "emission":
            shown = np.array(item.color_linear, dtype=np.float32) * np.float32(item.material.strength)
            yield f"object {item.name!r}", _inside(ids, item.index), display(shown)


def _lit_regions(stage: Stage, frame: SceneFrame, view: SceneView, ids: Ids) -> tuple[Bools, Bools]:
    """Return two regions (H, W): what can't be black all over, and the part of it whose shades differ."""
    light = any(stage.ambient) or any(light.energy > 0 and any(light.color) for light in frame.lights)
    # By id; 0 is what is behind the objects.
    own = np.array([False, *(item.material.name in ("emission", "unlit") for item in frame.objects)])
    bright = [False, *(max(item.color_linear) * item.material.strength > DARK for item in frame.objects)]
    shaded = np.take(np.array(bright) & ~own & light, ids)
    if light and stage.ground is not None and stage.ground.albedo > DARK:
        # In the middle of each square of pixels.
        side = max(1, min(ids.shape) // _SQUARES)
        height, width = (length // side for length in ids.shape)
        seen = rasterize(solid(stage.ground.mesh), _ORIGIN, Camera.of(view.camera, width, height))
        middles = tuple(slice(side // 2, side * count, side) for count in (height, width))
        shaded[middles] |= (ids[middles] == 0) & seen.in_image(height, width)
    return shaded | np.take(np.array(bright) & own, ids) if any(own) else shaded, shaded


def _pixel_noise(color: Colors, ids: Ids) -> float:
    """Return the mean difference of horizontal neighbors of one object or of the ground in some rows, levels."""
    rows = slice(None, None, max(1, len(ids) // _ROWS))
    ids = ids[rows]
    same = ids[:, 1:] == ids[:, :-1]
    steps = np.abs(np.diff(color[rows].astype(np.int16), axis=1))[same]
    return float(steps.mean()) if len(steps) >= MIN_PIXELS else 0.0
