"""One published scene (the format that CLEVR and MEWL share) as one frame of a spec."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from scene_specs.importing.camera import recover
from scene_specs.language.diagnostics import did_you_mean, path_text, preview_json
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.spec import (
    AreaSpec,
    CameraSpec,
    ConstraintSpec,
    FrameSpec,
    LightSpec,
    ObjectSpec,
    PointerSpec,
    object_name,
)
from scene_specs.language.stage import load_stage
from scene_specs.language.strict_json import Path as JsonPath
from scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES
from scene_specs.reading.located_json import scan

CameraMode = Literal["recover", "nominal"]
STAGE = "clevr"
POINTER = "arrow"
# The published CLEVR pictures, and what both published generators make by default.
SIZES_OF_IMAGES = ((480, 320), (320, 240))

log = logging.getLogger(__name__)

# Everything is given, so nothing is to be checked: a published layout is obeyed as it is.
_OBEYED = (
    ConstraintSpec(min_visible_pixels=0),
    ConstraintSpec(min_distance=0.0),
    ConstraintSpec(axis_margin=0.0),
    ConstraintSpec(in_frame=False),
)


@dataclass
class Foreign:
    """A published file being read. strict: a camera that can't be recovered is a fault. at: path of the scene in it."""

    file: str
    line: int = 0
    camera: CameraMode = "recover"
    strict: bool = False
    at: JsonPath = ()
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def diagnostic(self, path: JsonPath, problem: str, hint: str = "") -> None:
        """Note a diagnostic at a path below the scene."""
        self.diagnostics.append(Diagnostic(self.file, self.line, "", path_text((*self.at, *path)), problem, hint))

    def place(self) -> str:
        """File and scene, for a warning."""
        return f"{self.file}: {path_text(self.at)}" if self.at else self.file

    def done(self) -> None:
        """Raises SpecError if there are faults."""
        if self.diagnostics:
            raise SpecError(self.diagnostics)


def parse(text: str, file: str) -> Any:
    """The value of a JSON text. Raises SpecError with the line of each fault."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        slow = scan(text)
        places = [Diagnostic(file, p.line, "", path_text(p.path), p.problem, p.hint) for p in slow.diagnostics]
        raise SpecError(places or [Diagnostic(file, 0, "", "", "not JSON")]) from None


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def frame_of(scene: Any, source: Foreign, name: str | None = None, utterance: str | None = None) -> FrameSpec | None:
    """The scene as a frame with everything given; None where `source` has got diagnostics instead."""
    before = len(source.diagnostics)
    if not isinstance(scene, dict) or not isinstance(scene.get("objects"), list):
        source.diagnostic((), f"found {preview_json(scene)}; allowed: a scene, an object with a list of `objects`")
        return None
    objects: list[ObjectSpec] = []
    hands: list[int] = []
    for index, entry in enumerate(scene["objects"]):
        if isinstance(entry, dict) and entry.get("shape") == POINTER:
            hands.append(index)
            continue
        item = _object(entry, source, ("objects", index))
        if item is not None:
            objects.append(item)
    pointer = _pointer(scene, hands, objects, source) if hands and len(source.diagnostics) == before else None
    camera = _camera(scene["objects"], source) if len(source.diagnostics) == before else None
    if len(source.diagnostics) > before:
        return None
    return FrameSpec(
        name=name,
        utterance=utterance,
        objects=tuple(objects),
        pointer=pointer,
        constraints=_OBEYED,
        camera=camera,
        # The files don't record the lights' jitter; the stage's own places are the best guess.
        lights=tuple(LightSpec(name=light, jitter=0.0) for light in ("key", "fill", "back")),
        area=_area(objects),
    )


def _object(entry: Any, source: Foreign, at: JsonPath) -> ObjectSpec | None:
    if not isinstance(entry, dict):
        source.diagnostic(at, f"found {preview_json(entry)}; allowed: an object")
        return None
    words = {"shape": SHAPES, "color": tuple(COLORS), "material": MEWL_MATERIALS, "size": tuple(SIZES)}
    for key, known in words.items():
        if entry.get(key) not in known:
            found = preview_json(entry[key]) if key in entry else "nothing"
            source.diagnostic(
                (*at, key), f"found {found}; allowed: {', '.join(known)}", did_you_mean(entry.get(key), known)
            )
    place = _numbers(entry.get("3d_coords"), 3, source, (*at, "3d_coords"))
    turn = _numbers([entry.get("rotation")], 1, source, (*at, "rotation"))
    name = entry.get("name")
    if place is None or turn is None or any(entry.get(key) not in known for key, known in words.items()):
        return None
    return ObjectSpec(
        name=name if isinstance(name, str) else None,
        shape=entry["shape"],
        color=entry["color"],
        material=entry["material"],
        size=entry["size"],
        location=(place[0], place[1], place[2]),
        # Both generators hand their number to Blender as radians, whatever they drew it as.
        rotation_deg=math.degrees(turn[0]) % 360.0,
    )


def _pointer(scene: dict[str, Any], hands: list[int], objects: list[ObjectSpec], source: Foreign) -> PointerSpec | None:
    """The hand of a pragmatic scene: `points_to` is the index of its target. Its turn follows from its place."""
    index = hands[0]
    at: JsonPath = ("objects", index)
    if len(hands) > 1:
        source.diagnostic(("objects", hands[1]), "found a second pointing hand; allowed: one")
        return None
    place = _numbers(scene["objects"][index].get("3d_coords"), 3, source, (*at, "3d_coords"))
    target = scene.get("points_to")
    if not isinstance(target, int) or isinstance(target, bool) or not 0 <= target < len(objects):
        found = preview_json(target) if "points_to" in scene else "nothing"
        source.diagnostic(("points_to",), f"found {found}; allowed: the index of an object, 0 to {len(objects) - 1}")
        return None
    if place is None:
        return None
    return PointerSpec(target=object_name(objects[target], target), location=(place[0], place[1], place[2]))


def _numbers(value: Any, count: int, source: Foreign, at: JsonPath) -> list[float] | None:
    """`count` finite numbers, or None and a fault."""
    if isinstance(value, list) and len(value) == count:
        good = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= 1e4]
        if len(good) == count:
            return [float(v) for v in good]
        value = value[0] if count == 1 else value
    allowed = "a number" if count == 1 else f"{count} numbers"
    source.diagnostic(at, f"found {preview_json(value)}; allowed: {allowed} from -10000 to 10000")
    return None


def _camera(entries: list[Any], source: Foreign) -> CameraSpec:
    """The recovered camera, or the stage's own without jitter where that is asked for or nothing else is possible."""
    stage = load_stage(STAGE).camera
    nominal = CameraSpec(location=stage.location, jitter=0.0)
    if source.camera == "nominal":
        return nominal
    seen = [entry for entry in entries if isinstance(entry, dict) and "pixel_coords" in entry]
    points, pixels = [], []
    for index, entry in enumerate(seen):
        point = _numbers(entry.get("3d_coords"), 3, source, ("objects", index, "3d_coords"))
        pixel = _numbers(entry["pixel_coords"], 3, source, ("objects", index, "pixel_coords"))
        if point is not None and pixel is not None:
            points.append(point)
            pixels.append(pixel)
    why = f"{len(points)} of at least 3 objects have pixel_coords"
    if len(points) >= 3:
        focal = stage.lens / stage.sensor_width
        found = recover(np.array(points), np.array(pixels), stage.location, focal, SIZES_OF_IMAGES)
        if found is not None and found.consistent:
            return CameraSpec(location=found.location, jitter=0.0)
        why = "its numbers fit no camera aimed at the origin"
        if found is not None:
            why += f" (off by {found.depth_residual:.2g} in depth and {found.pixel_residual:.2g} pixels)"
    if source.strict:
        source.diagnostic(("objects",), f"the camera can't be recovered: {why}", "without --strict: the nominal camera")
    else:
        log.warning("%s: the camera can't be recovered: %s; the nominal camera is used", source.place(), why)
    return nominal


def _area(objects: list[ObjectSpec]) -> AreaSpec | None:
    """An area that holds every place given, None if the stage's does."""
    stage = load_stage(STAGE).placement.area
    spans = []
    for axis, (least, greatest) in enumerate((stage.x, stage.y)):
        given = [item.location[axis] for item in objects if item.location is not None]
        spans.append((float(math.floor(min([least, *given]))), float(math.ceil(max([greatest, *given])))))
    if spans == [stage.x, stage.y]:
        return None
    return AreaSpec(x=spans[0], y=spans[1])
