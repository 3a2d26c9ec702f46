"""Convert a published scene, in the format that CLEVR and MEWL share, to a frame of a spec."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from diorama.scene_specs.errors import Diagnostic, SpecError
from diorama.scene_specs.files.strict_json import Path as JsonPath
from diorama.scene_specs.files.strict_json import has_surrogate
from diorama.scene_specs.language.diagnostics import did_you_mean, path_text, preview_json, value_at
from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES, name_or_none
from diorama.scene_specs.model import spec
from diorama.scene_specs.model.record import CameraAnnotation
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.reading.located_json import scan

Vec = tuple[float, float, float]
Array = NDArray[np.float64]

# Ratio of the errors of depths (32-bit arithmetic) and of pixels (rounded).
_PIXEL_WEIGHT = 1e-6
_PIXEL_WEIGHT_FIRST = 1e-2
# Above these residuals (rounding is half a pixel), the numbers belong to another kind of camera.
MAX_DEPTH_RESIDUAL = 1e-3
MAX_PIXEL_RESIDUAL = 1.0
_STEPS = 30
# Objects of CLEVR and MEWL are within 3 units of the center; pixels are rounded by at most half of one.
_STAGE_EDGE = 3.0
_ROUNDING = 0.5


class Recovery(NamedTuple):
    """A recovered camera.

    depth_residual (Blender units), pixel_residual (pixels): largest of all objects.

    Attributes:
        location: Blender units.
        size: size of the image, pixels.
    """

    location: Vec
    depth_residual: float
    pixel_residual: float
    size: tuple[int, int]

    @property
    def consistent(self) -> bool:
        """Return whether a camera aimed at the origin explains the file's numbers."""
        return self.depth_residual <= MAX_DEPTH_RESIDUAL and self.pixel_residual <= MAX_PIXEL_RESIDUAL


def project(location: Array, points: Array, focal: float, size: tuple[int, int]) -> Array:
    """Project (N, 3) world points to (..., N, 3), x and y in pixels and depth, by cameras aimed at the origin.

    Args:
        location: (..., 3), one or several cameras.
        focal: focal length as a share of the image's longer side.
    """
    forward = -location / np.sqrt((location * location).sum(axis=-1, keepdims=True))
    right = np.stack([forward[..., 1], -forward[..., 0], np.zeros_like(forward[..., 0])], axis=-1)
    right /= np.sqrt((right * right).sum(axis=-1, keepdims=True))
    down = np.cross(forward, right)
    delta = points - location[..., None, :]
    x, y, z = ((delta * axis[..., None, :]).sum(axis=-1) for axis in (right, down, forward))
    scale = focal * max(size)
    return np.stack([size[0] / 2 + scale * x / z, size[1] / 2 + scale * y / z, z], axis=-1)


def recover(
    points: Array, pixels: Array, nominal: Vec, focal: float, sizes: Sequence[tuple[int, int]]
) -> Recovery | None:
    """Return the camera that saw `points` at `pixels`, by Gauss-Newton from the nominal location.

    Args:
        points: (N, 3) world.
        pixels: (N, 3) x, y and depth as in `pixel_coords`.
        sizes: image sizes to try first; if none fits, the size is computed. None with fewer than two points, with two
            that leave the camera open, or if the iteration diverges.
    """
    if len(points) < 2:
        return None
    start = np.array(nominal)
    if len(points) == 2:
        pairs = [_solve_camera(points, pixels, start, focal, size) for size in sizes]
        fits = [each for each in pairs if each and each.consistent and _pair_suffices(points, each, focal)]
        return fits[0] if len(fits) == 1 else None
    best: Recovery | None = None
    for size in sorted(sizes, key=lambda size: float(np.abs(project(start, points, focal, size) - pixels).max())):
        recovery = _solve_camera(points, pixels, start, focal, size)
        if recovery is not None and (best is None or recovery.pixel_residual < best.pixel_residual):
            best = recovery
        # A wrong size is off by tens of pixels.
        if best is not None and best.consistent:
            return best
    # Depths don't depend on the size: they locate the camera, and pixels then give the size.
    location = _descend(points, pixels, start, focal, sizes[0], 0.0)
    if location is not None and (computed := _fit_size(points, pixels, location, focal)) is not None:
        sized = _solve_camera(points, pixels, location, focal, computed)
        if sized is not None and (best is None or sized.consistent):
            return sized
    return best


def _pair_suffices(points: Array, recovery: Recovery, focal: float) -> bool:
    """Return whether two objects fix a camera: what rounded pixels leave open moves nothing on stage by over a pixel.

    Two depths leave one direction in which the camera could be elsewhere, and pixels bound how far.
    """
    edge, at = [-_STAGE_EDGE, _STAGE_EDGE], np.array(recovery.location)
    seen = np.concatenate([points, [(x, y, 0.0) for x in edge for y in edge]])
    slopes = _slopes(at, seen, focal, recovery.size)
    open_direction = np.linalg.svd(slopes[:2, 2])[2][2]
    moves = np.abs(slopes[:, :2] @ open_direction).max(axis=1)
    return bool(moves.max() * _ROUNDING <= moves[:2].max())


def _slopes(location: Array, points: Array, focal: float, size: tuple[int, int]) -> Array:
    """Return by how much each number of `project` changes per unit of each coordinate of the camera, (N, 3, 3)."""
    near = project(location + np.concatenate([np.eye(3), -np.eye(3)]) * 1e-5, points, focal, size)
    return np.moveaxis((near[:3] - near[3:]) / 2e-5, 0, -1)


def _fit_size(points: Array, pixels: Array, location: Array, focal: float) -> tuple[int, int] | None:
    """Return the image size that explains the pixels best, None if no size of an image does."""
    # In an image of 2 x 2 pixels, the center is (1, 1) and the scale 2 * focal.
    x, y = ((project(location, points, focal, (2, 2))[:, :2] - 1) / 2).T
    half, zero = np.full_like(x, 0.5), np.zeros_like(x)
    wide = np.concatenate([np.stack([half + x, zero], axis=1), np.stack([y, half], axis=1)])
    tall = np.concatenate([np.stack([half, x], axis=1), np.stack([zero, half + y], axis=1)])
    seen = np.concatenate([pixels[:, 0], pixels[:, 1]])
    for terms, is_wide in ((wide, True), (tall, False)):
        width, height = np.rint(np.linalg.lstsq(terms, seen, rcond=None)[0]).astype(int).tolist()
        if min(width, height) > 0 and (width >= height) == is_wide:
            return width, height
    # Rounded pixels of a square image can fit neither.
    side = round(float(np.linalg.lstsq(wide.sum(axis=1, keepdims=True), seen, rcond=None)[0][0]))
    return (side, side) if side > 0 else None


def _solve_camera(points: Array, pixels: Array, start: Array, focal: float, size: tuple[int, int]) -> Recovery | None:
    # Depths of three collinear objects fit two cameras: pixels select one, and depths then locate it.
    location = start
    for weight in (_PIXEL_WEIGHT_FIRST, _PIXEL_WEIGHT):
        better = _descend(points, pixels, location, focal, size, weight)
        if better is None:
            return None
        location = better
    off = np.abs(project(location, points, focal, size) - pixels).max(axis=0)
    point = (float(location[0]), float(location[1]), float(location[2]))
    return Recovery(point, float(off[2]), float(max(off[0], off[1])), size)


def _descend(
    points: Array, pixels: Array, location: Array, focal: float, size: tuple[int, int], pixel_weight: float
) -> Array | None:
    """Run Gauss-Newton from `location`; None if it diverges."""
    weights = np.array([pixel_weight, pixel_weight, 1.0])

    def error(place: Array) -> Array:
        off: Array = project(place, points, focal, size) - pixels
        return np.ravel(off * weights)

    residual = error(location)
    for _ in range(_STEPS):
        slopes = _slopes(location, points, focal, size) * weights[:, None]
        change = np.linalg.lstsq(slopes.reshape(-1, 3), -residual, rcond=None)[0]
        # Halving keeps an overshooting step from reaching another solution.
        while float(np.abs(change).max()) > 1.0:
            change = change / 2
        location = location + change
        residual = error(location)
        if not np.isfinite(residual).all():
            return None
        if float(np.abs(change).max()) < 1e-10:
            break
    return location


CameraMode = Literal["recover", "nominal"]
RelationsMode = Literal["image", "file"]
STAGE = "clevr"
POINTER = "arrow"
_NUMBERS = TypeAdapter(list[Annotated[float, Field(strict=True, ge=-1e4, le=1e4)]])
# Sizes of the published CLEVR images, and the default of both published generators.
SIZES_OF_IMAGES = ((480, 320), (320, 240))

log = logging.getLogger(__name__)

# A published layout is used as it is, so no constraint applies.
_UNCONSTRAINED = (
    spec.ConstraintSpec(min_visible_pixels=0),
    spec.ConstraintSpec(min_distance=0.0),
    spec.ConstraintSpec(axis_margin=0.0),
    spec.ConstraintSpec(in_frame=False),
)


@dataclass
class SourceFile:
    """A published file that is being read, and its diagnostics.

    Attributes:
        strict: report a camera that cannot be recovered.
        relations: "image": relations as they are in the image; "file": by the file's `directions`.
        at: path of the scene in the file.
        size: width and height of the published image, if its camera was recovered.
    """

    file: str
    camera: CameraMode = "recover"
    strict: bool = False
    relations: RelationsMode = "image"
    at: JsonPath = ()
    size: tuple[int, int] | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def diagnostic(self, path: JsonPath, problem: str, hint: str = "") -> None:
        """Add a diagnostic at a path below the scene."""
        self.diagnostics.append(Diagnostic(self.file, 0, "", path_text((*self.at, *path)), problem, hint))

    def unexpected(self, path: JsonPath, wrong: Any, allowed: str) -> None:
        """Add the diagnostic of a wrong value."""
        self.diagnostic(path, f"found {preview_json(wrong)}; allowed: {allowed}")

    def invalid(self, error: SpecError) -> None:
        """Add the diagnostics of data that no spec can hold."""
        above = f"{path_text(self.at)}." if self.at else ""
        self.diagnostics += [replace(each, file=self.file, path=above + each.path) for each in error.diagnostics]

    def location(self) -> str:
        """Return file and scene, for a warning."""
        return f"{self.file}: {path_text(self.at)}" if self.at else self.file

    def raise_diagnostics(self) -> None:
        """Raise SpecError if there are diagnostics."""
        if self.diagnostics:
            raise SpecError(self.diagnostics)


def frame_of(
    scene: Any, source: SourceFile, name: str | None = None, utterance: str | None = None
) -> spec.FrameSpec | None:
    """Return the scene as a frame that leaves nothing open; None if `source`, which is new, got diagnostics instead."""
    if not isinstance(value_at(scene, ("objects",)), list):
        source.unexpected((), scene, "a scene, an object with a list of `objects`")
        return None
    objects: list[spec.ObjectSpec] = []
    hands: list[int] = []
    for index, entry in enumerate(scene["objects"]):
        if value_at(entry, ("shape",)) == POINTER:
            hands.append(index)
            continue
        if (item := _read_object(entry, source, ("objects", index))) is not None:
            objects.append(item)
    pointer = _read_pointer(scene, hands, objects, source) if hands and not source.diagnostics else None
    camera = None if source.diagnostics else _read_camera(scene, source)
    if camera is not None and source.relations == "file":
        camera = camera.model_copy(update={"right": _read_right(scene, source)})
    if source.diagnostics:
        return None
    try:
        return spec.FrameSpec(
            name=name,
            utterance=utterance,
            objects=tuple(objects),
            pointer=pointer,
            constraints=_UNCONSTRAINED,
            camera=camera,
            # The files do not record the lights' jitter; the stage's locations are the best estimate.
            lights=tuple(spec.LightSpec(name=light, jitter=0.0) for light in ("key", "fill", "back")),
            area=_area_of(objects),
        )
    except SpecError as error:
        source.invalid(error)
        return None


def _read_object(entry: Any, source: SourceFile, at: JsonPath) -> spec.ObjectSpec | None:
    if not isinstance(entry, dict):
        source.unexpected(at, entry, "an object")
        return None
    words = {"shape": SHAPES, "color": tuple(COLORS), "material": MEWL_MATERIALS, "size": tuple(SIZES)}
    for key, known in words.items():
        if entry.get(key) not in known:
            shown = preview_json(entry[key]) if key in entry else "nothing"
            hint = did_you_mean(entry.get(key), known)
            source.diagnostic((*at, key), f"found {shown}; allowed: {', '.join(known)}", hint)
    place = _read_numbers(entry.get("3d_coords"), 3, source, (*at, "3d_coords"))
    turn = _read_numbers([entry.get("rotation")], 1, source, (*at, "rotation"))
    name = entry.get("name")
    if place is None or turn is None or any(entry.get(key) not in known for key, known in words.items()):
        return None
    try:
        return spec.ObjectSpec(
            name=name_or_none(name),
            shape=entry["shape"],
            color=entry["color"],
            material=entry["material"],
            size=entry["size"],
            location=(place[0], place[1], place[2]),
            # Both generators pass the number to Blender as radians, whatever unit they drew it in.
            rotation_deg=math.degrees(turn[0]) % 360.0,
        )
    except SpecError as error:
        source.diagnostic((*at, "name"), error.diagnostics[0].problem)
        return None


def _read_pointer(
    scene: dict[str, Any], hands: list[int], objects: list[spec.ObjectSpec], source: SourceFile
) -> spec.PointerSpec | None:
    """Return the hand of a pragmatic scene. `points_to` is the index of its target; its rotation follows."""
    index = hands[0]
    if len(hands) > 1:
        source.diagnostic(("objects", hands[1]), "found a second pointing hand; allowed: one")
        return None
    place = _read_numbers(scene["objects"][index].get("3d_coords"), 3, source, ("objects", index, "3d_coords"))
    target = scene.get("points_to")
    if not isinstance(target, int) or isinstance(target, bool) or not 0 <= target < len(objects):
        shown = preview_json(target) if "points_to" in scene else "nothing"
        source.diagnostic(("points_to",), f"found {shown}; allowed: the index of an object, 0 to {len(objects) - 1}")
        return None
    if place is None:
        return None
    return spec.PointerSpec(target=spec.object_name(objects[target], target), location=(place[0], place[1], place[2]))


def _read_numbers(value: Any, count: int, source: SourceFile, at: JsonPath) -> list[float] | None:
    """Return `count` finite numbers, or None after a diagnostic."""
    with suppress(ValidationError):
        numbers = _NUMBERS.validate_python(value, strict=True)
        if len(numbers) == count:
            return numbers
    wrong_value, allowed = (value[0], "a number") if count == 1 else (value, f"{count} numbers")
    source.unexpected(at, wrong_value, f"{allowed} from -10000 to 10000")
    return None


def _read_right(scene: dict[str, Any], source: SourceFile) -> tuple[float, float] | None:
    """Return the direction on the ground that the file's relations call right, None after a diagnostic."""
    right = _read_numbers(value_at(scene, ("directions", "right")), 3, source, ("directions", "right"))
    return None if right is None else (right[0], right[1])


def _read_camera(scene: dict[str, Any], source: SourceFile) -> spec.CameraSpec:
    """Return the recorded or recovered camera, or the stage's without jitter if requested or if recovery fails."""
    stage = load_stage(STAGE).camera
    nominal = spec.CameraSpec(location=stage.location, jitter=0.0)
    if source.camera == "nominal":
        return nominal
    seen = [entry for entry in scene["objects"] if "pixel_coords" in entry]
    points, pixels = [], []
    for index, entry in enumerate(seen):
        point = _read_numbers(entry.get("3d_coords"), 3, source, ("objects", index, "3d_coords"))
        pixel = _read_numbers(entry["pixel_coords"], 3, source, ("objects", index, "pixel_coords"))
        if point is not None and pixel is not None:
            points.append(point)
            pixels.append(pixel)
    match scene.get("camera"):
        case dict(recorded) if recorded.get("projection") != "orthographic" and not source.diagnostics:
            return _read_recorded_camera(recorded, np.array(points), np.array(pixels), source) or nominal
    why = f"{len(points)} of at least 2 objects have pixel_coords"
    if len(points) >= 2:
        focal = stage.lens / stage.sensor_width
        recovery = recover(np.array(points), np.array(pixels), stage.location, focal, SIZES_OF_IMAGES)
        if recovery is not None and recovery.consistent:
            source.size = recovery.size
            return spec.CameraSpec(location=recovery.location, jitter=0.0)
        why = "no camera aimed at the origin fits its numbers"
        if len(points) == 2:
            why = "two objects leave it open"
        if recovery is not None:
            why += f" (off by {recovery.depth_residual:.2g} in depth and {recovery.pixel_residual:.2g} pixels)"
    if source.strict:
        source.diagnostic(("objects",), f"the camera can't be recovered: {why}", "without --strict: the nominal camera")
    else:
        log.warning("%s: the camera can't be recovered: %s; the nominal camera is used", source.location(), why)
    return nominal


def _read_recorded_camera(value: Any, points: Array, pixels: Array, source: SourceFile) -> spec.CameraSpec | None:
    """Return the camera that our exports record, None after a diagnostic. Files of any image size have it."""
    stage = load_stage(STAGE).camera
    try:
        given = CameraAnnotation.model_validate(value)
        (scale, _, x), (_, _, y), _ = given.intrinsics
        location = np.array(given.location)
        rows = np.array(given.extrinsics)[:3]
        # The point of the optical axis that is nearest to where the stage's camera looks.
        forward = rows[2, :3] / np.linalg.norm(rows[2, :3])
        aim = np.array(stage.look_at)
        nearest = location + forward * float((aim - location) @ forward)
        aimed = float(np.abs(nearest - aim).max()) < MAX_DEPTH_RESIDUAL
        lens = scale * stage.sensor_width / (2 * max(x, y))
        camera = spec.CameraSpec(
            location=given.location,
            look_at=None if aimed else (float(nearest[0]), float(nearest[1]), float(nearest[2])),
            lens=None if math.isclose(lens, stage.lens, rel_tol=1e-6) else lens,
            jitter=0.0,
        )
    except (SpecError, ValidationError, ZeroDivisionError):
        source.unexpected(("camera",), value, "the camera of an export")
        return None
    if len(points):
        x, y, z = rows[:, :3] @ points.T + rows[:, 3:]
        seen = np.array(given.intrinsics) @ (x / z, y / z, np.ones_like(z))
        off = np.abs([seen[0] - pixels[:, 0], seen[1] - pixels[:, 1], z - pixels[:, 2]])
        limits = np.array([[MAX_PIXEL_RESIDUAL], [MAX_PIXEL_RESIDUAL], [MAX_DEPTH_RESIDUAL]])
        for index in np.flatnonzero(~(off <= limits).all(axis=0)).tolist():
            source.diagnostic(("objects", index, "pixel_coords"), "is not where the file's camera sees the object")
    return camera


def _area_of(objects: list[spec.ObjectSpec]) -> spec.AreaSpec | None:
    """Return an area that contains all locations, None if the stage's area does."""
    stage = load_stage(STAGE).placement.area
    spans = []
    for axis, (least, greatest) in enumerate((stage.x, stage.y)):
        given = [item.location[axis] for item in objects if item.location is not None]
        spans.append((float(math.floor(min([least, *given]))), float(math.ceil(max([greatest, *given])))))
    if spans == [stage.x, stage.y]:
        return None
    return spec.AreaSpec(x=spans[0], y=spans[1])


def parse_json(text: str, file: str) -> Any:
    """Parse JSON without NaN, infinities and lone surrogates. Raises SpecError with the line of each problem."""
    try:
        value = json.loads(text, parse_constant=_reject_constant)
        if "\\u" in text and has_surrogate(value):
            _reject_constant("surrogate")
        return value
    except (ValueError, RecursionError):
        located = [diagnostic.in_file(file) for diagnostic in scan(text).diagnostics]
        raise SpecError(located or [Diagnostic.of("not JSON", file=file)]) from None


def _reject_constant(word: str) -> Any:
    raise ValueError(word)


def published_by(benchmark: str) -> str:
    """Return what dataset cards say of episodes that come from the published files of a benchmark."""
    return f"published scenes of {benchmark}, imported with `render-specs import`"


def segment(text: str) -> str:
    """Return a text as a segment of an episode id."""
    plain = re.sub(r"[^A-Za-z0-9_.+-]+", "-", text)[:50].lstrip(".+-")
    return plain or "scene"
