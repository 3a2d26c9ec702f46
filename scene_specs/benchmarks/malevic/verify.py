"""Verification of MALeViC items: everything that they claim, recomputed from what their scenes and images show."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.malevic.recompute import RULES, Seen, contradictions
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData
from diorama.scene_specs.tasks.copies import Copy, lines_of

_LIT = {"red": (1, 0, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "green": (0, 1, 0), "white": (1, 1, 1)}
COLORS = {name: tuple(255 * part for part in lit) for name, lit in _LIT.items()}
_SHAPES = ("triangle", "circle", "square", "rectangle")
CANVAS = 1024
# Beyond all sizes, in units of the canvas; painting takes memory.
_LARGEST = 200
# Ids of imported items. Outlines of published triangles may overlap others, by a row of pixels.
_PUBLISHED, _SLACK = "malevic/published/", 300
# Split of scenes without questions, which the authors' code makes first.
_RAW = "raw"
# An edge this near to the center of a pixel, in pixels, may include it or not. A few pixels may be elsewhere.
_MARGIN, _STRAY = 0.05, 2
# Scenes on the table: canvas units per Blender unit, the factor of outlines, and directions of columns and rows.
_PER_UNIT, _SHRUNK = CANVAS / 6.2, 0.95
_AWAY = math.hypot(6.036, 5.251)
_COLUMNS, _ROWS = (5.251 / _AWAY, 6.036 / _AWAY), (6.036 / _AWAY, -5.251 / _AWAY)
_LEVEL = math.degrees(math.atan2(6.036, 5.251))


@lru_cache
def _circle_pixels(radius: int) -> int:
    """Return how many pixels have their center nearer than `radius` to the center of a pixel."""
    row, column = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return int((row * row + column * column < radius * radius).sum())


def verify_spec(data: EpisodeData) -> str:
    """Return why something that a spec, as JSON data, claims does not follow from its objects; "" if all does.

    Raises SpecError if the spec is not a complete MALeViC item.
    """
    return _find_contradiction(Truth.of_spec(data), data)


def _find_contradiction(truth: Truth, data: EpisodeData) -> str:
    try:
        (frame,) = data["frames"]
        if reason := next(lines_of(_about_frame(data, frame, truth)), ""):
            return reason
        slack = _SLACK if str(data["id"]).startswith(_PUBLISHED) else 0
        objects, reason = _read_objects(frame["objects"], truth.world == "3d", truth.areas == "true", truth.rads, slack)
        if not reason:
            reason = _about_names(data, truth) or next(contradictions(truth, objects), "")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        problem = f"not a MALeViC item: {type(error).__name__}: {error}"
        raise spec_error(problem, episode=str(data.get("id", "")), path="task") from error
    return reason


def _about_frame(data: EpisodeData, frame: FrameData, truth: Truth) -> Iterator[Copy]:
    """Yield what follows from a spec's world, and what its task states, too."""
    flat, canvas, background = truth.world == "flat", data.get("canvas"), frame.get("background")
    yield Copy("stage", data.get("stage"), "flat" if flat else "table")
    if canvas is not None:
        yield Copy("canvas", [*canvas], [CANVAS, CANVAS])
    if background is not None:
        yield Copy("background", [*background], [0, 0, 0] if flat else None)
    yield Copy("split", data.get("split"), truth.split)
    yield Copy("utterance", frame.get("utterance") or "", truth.question)


def _about_names(data: EpisodeData, truth: Truth) -> str:
    """Return how set, split and id of a spec contradict each other."""
    name, split = truth.name, truth.split
    if name not in RULES:
        return f"found the set {preview_json(name)}; expected one of {', '.join(RULES)}"
    own = f"malevic/{name}/{split}/{truth.number:06d}"
    imported = str(data["id"]).startswith(_PUBLISHED)
    if not (truth.question or imported or split == _RAW):
        return f"it has no question; of set {name}, only scenes of split {_RAW} have none"
    # A member of a contrast has the id of its source and a suffix; one of a stream, a sibling or a balanced set, that
    # and a prefix.
    if not imported and not re.fullmatch(
        rf"((live|like|balanced)\.[0-9.]+/)?{re.escape(own)}(\+[a-z]+-[0-9]+)?", str(data["id"])
    ):
        return f"the id is {data['id']}; set, split and number belong to {own}"
    # The number in the id of an imported item is that of its image, which is named anew in the published data sets.
    digits = "(static/)?[0-9]{6}(/[0-9]+)?"
    if imported and not re.fullmatch(re.escape(f"{_PUBLISHED}{name}/{split}/") + digits, data["id"]):
        return f"the id is {data['id']}; set and split belong to {_PUBLISHED}{name}/{split}/"
    splits = (*RULES[name][2], _RAW)
    if split not in splits:
        return f"the split is {preview_json(split)}; set {name} has {', '.join(splits)}"
    return ""


class _Drawn(NamedTuple):
    """An outline on the canvas. x, y: center of its box. size: of a circle its radius, else half a square's edge."""

    shape: str
    x: float
    y: float
    size: float
    turned: bool


def _number_of(value: Any) -> float:
    """Return a number of a spec. Raises TypeError for a text or a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"found {preview_json(value)}; expected a number")
    return float(value)


def _outline_of(item: ObjectData, prisms: bool) -> _Drawn:
    """Return the outline of an object of a spec. Raises ValueError for a rotation that no published object has."""
    x, y = item["location"][:2]
    shape, size, turn = item["shape"], _number_of(item["size"]), _number_of(item["rotation_deg"])
    if prisms:
        shape, size, turn = shape["outline"], size * _PER_UNIT / _SHRUNK, turn - _LEVEL
        x, y = (CANVAS / 2 + (x * axis[0] + y * axis[1]) * _PER_UNIT for axis in (_COLUMNS, _ROWS))
    # From the second pose, in degrees; triangles on the table point to the near side in the first.
    first, second, full = {"triangle": (180.0 if prisms else 0.0, 270.0, 360.0), "rectangle": (90.0, 0.0, 180.0)}.get(
        shape, (0.0, 0.0, 90.0)
    )
    poses = [abs((turn - pose + full / 2) % full - full / 2) < 1e-3 for pose in (first, second)]
    if shape != "circle" and not any(poses):
        raise ValueError(f"a {shape} turned by {turn:g} degrees")
    turned = shape in ("triangle", "rectangle") and poses[1]
    if prisms and shape == "triangle":
        # Flat triangles have this offset, so that no diagonal passes through centers of pixels.
        x, y = (x, y + 0.25) if turned else (x + 0.25, y)
    return _Drawn(shape, x, y, size, turned)


def _painted_pixels(outline: _Drawn) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the pixels whose center is inside an outline."""
    s = outline.size
    across, down = {"rectangle": (s / 2, 2 * s), "triangle": (2 * s, s)}.get(outline.shape, (s, s))
    if outline.turned:
        across, down = down, across
    spans = [(math.floor(at - reach), math.ceil(at + reach)) for at, reach in ((outline.y, down), (outline.x, across))]
    row, column = (np.arange(low, high) + 0.5 for low, high in spans)
    dy, dx = (row - outline.y)[:, None], (column - outline.x)[None, :]
    mask = (abs(dx) < across) & (abs(dy) < down)
    if outline.shape == "circle":
        mask = dx * dx + dy * dy < s * s
    elif outline.shape == "triangle":
        mask &= abs(dy if outline.turned else dx) < s - (dx if outline.turned else dy)
    rows, columns = np.nonzero(mask)
    return rows + spans[0][0], columns + spans[1][0]


def _read_objects(
    items: Sequence[ObjectData], prisms: bool, true_areas: bool, rads: Sequence[int], slack: int
) -> tuple[list[Seen], str]:
    """Return the objects that a spec shows, and why they can't be a scene of MALeViC, "" if they can.

    slack: number of pixels in which an object may overlap others.

    Areas are counted on the canvas; those of prisms follow from their sizes.
    """
    owner = np.full((CANVAS, CANVAS), -1)
    seen: list[Seen] = []
    for index, item in enumerate(items):
        outline = _outline_of(item, prisms)
        if not 0 < outline.size < _LARGEST:
            return seen, f"object {index} has the size {outline.size:g}, which is that of no size class"
        pixels = _painted_pixels(outline)
        if min(ends.min(initial=0) for ends in pixels) < 0 or max(ends.max(initial=0) for ends in pixels) >= CANVAS:
            return seen, f"object {index} reaches beyond the canvas"
        below = owner[pixels]
        if (below >= 0).sum() > slack:
            return seen, f"objects {below.max()} and {index} overlap"
        owner[pixels] = index
        for word, allowed in ((item["color"], COLORS), (outline.shape, _SHAPES)):
            if word not in allowed:
                return seen, f"object {index} is {word!r}; expected {', '.join(allowed)}"
        circle = outline.shape == "circle" and not true_areas
        radii = {_circle_pixels(radius) if circle else 4 * radius * radius: radius for radius in rads}
        exact = outline.size**2 * (math.pi if outline.shape == "circle" else 4.0)
        area = min(radii, key=lambda area: abs(area - exact)) if prisms else len(pixels[0])
        if area not in radii or (prisms and abs(area - exact) > 2e-3 * area):
            return seen, f"object {index}, a {outline.shape}, has the area {exact:.0f}, which is that of no size class"
        to_apex = radii[area] if outline.shape == "triangle" else 0
        # Centers of flat circles are up to half a pixel beyond the published ones, and triangles a quarter.
        row = round(outline.y - 0.25 + (0 if outline.turned else to_apex))
        column = round(outline.x - 0.25 + (to_apex if outline.turned else 0))
        seen.append(Seen(outline.shape, item["color"], radii[area], area, row, column, outline.turned))
    return seen, ""


def verify_record(episode: EpisodeRecord) -> str:
    """Return why something that a rendered item claims does not follow from its image, "" if all does.

    The objects of the scene decide every claim. In flat images without antialiasing, each must have exactly the pixels
    of its outline, in its color, and all other pixels are black. Raises SpecError.
    """
    truth = Truth.of_record(episode)
    prisms = truth.world == "3d"
    scene = episode.scene.frames[0]
    looks: list[ObjectData] = [
        {
            "size": item.scale,
            "color": item.color,
            "location": item.location,
            "shape": {"outline": item.shape} if prisms else item.shape,
            "rotation_deg": item.rotation_deg[2],
        }
        for item in scene.objects
    ]
    frame: FrameData = {"utterance": scene.utterance, "background": scene.background, "objects": looks}
    about: EpisodeData = {"id": episode.episode_id, "stage": episode.scene.stage, "split": episode.scene.split}
    reason = _find_contradiction(truth, {**about, "frames": [frame]})
    image = episode.images[0]
    hidden = [item.name for item in image.annotation.objects if item.visible_pixels == 0]
    if reason or scene.pixels != "center":
        return reason or (f"{', '.join(hidden)} not visible" if hidden else "")
    reason = f"{', '.join(hidden)} not visible" if hidden else _pixel_difference(image, looks, min)
    if reason and image.width != image.height and not _pixel_difference(image, looks, max):
        return (
            "outdated: version 0.1.0 cropped images that are not square; render it again with `render-batch --replace`"
        )
    return reason


def _pixel_difference(image: ImageRecord, looks: Sequence[ObjectData], fitted: Callable[[tuple[int, ...]], int]) -> str:
    """Return how the pixels of a flat image differ from the objects of its scene, "" if they do not.

    fitted: which side of the image is as long as the canvas, min or max.
    """
    pixels = image.color()
    rest = pixels.any(axis=2)
    unit = fitted(rest.shape) / CANVAS
    top, left = ((side - fitted(rest.shape)) / 2 for side in rest.shape)
    for drawn, look in zip(image.annotation.objects, looks, strict=True):
        mask, outline = drawn.rle.mask(), _outline_of(look, prisms=False)
        rest &= ~mask
        if not (pixels[mask] == COLORS[look["color"]]).all():
            return f"{drawn.name}: not all of its pixels are {look['color']}"
        inner, outer = np.zeros((2, *mask.shape), dtype=bool)
        for picture, margin in ((inner, -_MARGIN), (outer, _MARGIN)):
            x, y, size = left + outline.x * unit, top + outline.y * unit, outline.size * unit + margin
            rows, columns = _painted_pixels(_Drawn(outline.shape, x, y, size, outline.turned))
            within = (rows >= 0) & (columns >= 0) & (rows < mask.shape[0]) & (columns < mask.shape[1])
            picture[rows[within], columns[within]] = True
        if (off := int((inner & ~mask).sum() + (mask & ~outer).sum())) > _STRAY:
            return f"{drawn.name}: {off} pixels are not those of a {outline.shape} of its size at its location"
    return f"{int(rest.sum())} pixels of no object are not black" if rest.any() else ""
