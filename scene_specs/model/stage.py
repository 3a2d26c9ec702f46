"""Stages: camera, lights, ground and defaults of scenes. A stage is a JSON file; built-in ones are in `assets/stages`.

They are plug-ins; see scene_specs/language/registry.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from diorama.scene_specs.errors import DioramaError, PluginError
from diorama.scene_specs.language.outlines import FLAT_SHAPES
from diorama.scene_specs.language.registry import plugin, plugins
from diorama.scene_specs.language.vocabulary import COLORS, SIZES, linear_of_name, linear_of_srgb
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import (
    AreaSpec,
    Byte,
    CameraSpec,
    EpisodeSpec,
    Finite,
    FrameSpec,
    LinearColor,
    NotNegative,
    OutlineSpec,
    Positive,
    RandomObjectsSpec,
    Side,
    SpecModel,
    Vector3,
    Words,
)

# Units between the flat objects of a frame on a flat stage without `layers`; as on the stage `flat`.
_LAYERS = 0.05
# The fields of a camera that orbits what it looks at.
ORBIT = ("yaw_deg", "elevation_deg", "distance", "framing")


class StageError(DioramaError):
    """A stage that does not exist, or whose file is invalid."""

    exit_code = 2


class StageCamera(SpecModel):
    """A camera. Lengths are in Blender units, except where stated.

    Attributes:
        lens: focal length, mm.
        sensor_width: along the longer side of the image, mm.
        jitter: range of the location, uniform, plus or minus, per axis.
        ortho_scale: units along the longer side of an orthographic image.
        framing: share of the image's shorter side that the bounding sphere of all objects fills; it sets the distance,
            and the aim to the sphere's center.
    """

    location: Vector3
    look_at: Vector3
    lens: Positive = 35.0
    sensor_width: Positive = 32.0
    clip: tuple[Positive, Positive]
    jitter: NotNegative = 0.0
    ortho_scale: Positive | None = None
    framing: Positive | None = None

    @model_validator(mode="after")
    def _check(self) -> StageCamera:
        if self.location == self.look_at:
            raise ValueError("location is the point that the camera looks at")
        if self.clip[0] >= self.clip[1]:
            raise ValueError(f"found clip {list(self.clip)}; expected [nearest, farthest]")
        return self


class StageLight(SpecModel):
    """An area light aimed at `look_at`, or a sun with Euler XYZ radians.

    Attributes:
        energy: W; of a sun W/m2.
        color: linear RGB.
        size: edge of the square, Blender units; of a sun the angle in radians.
    """

    name: str
    kind: Literal["area", "sun"]
    energy: NotNegative
    color: LinearColor
    size: NotNegative
    location: Vector3 = (0.0, 0.0, 0.0)
    look_at: Vector3 | None = None
    rotation_rad: Vector3 | None = None
    jitter: NotNegative = 0.0


class StageGround(SpecModel):
    """A surface z = h(s), where s is the distance from the origin along `direction`.

    Attributes:
        profile: (s, h) by rising s, Blender units.
        across: extent along the direction rotated by -90 degrees about Z.
        mesh: the asset that Cycles renders, built from these numbers.
        albedo: gray value of the diffuse surface.
    """

    direction: tuple[Finite, Finite]
    profile: tuple[tuple[Finite, Finite], ...]
    across: tuple[Finite, Finite]
    mesh: str
    albedo: NotNegative


class StagePlacement(SpecModel):
    """CLEVR's rules for objects without a location; distances in Blender units, pixels at the stage's own size.

    Attributes:
        tries: candidate locations per object before the layout restarts.
        restarts: maximum number of restarts.
    """

    area: AreaSpec
    min_distance: NotNegative
    axis_margin: NotNegative
    min_visible_pixels: int = Field(ge=0)
    in_frame: bool
    relation_threshold: NotNegative
    tries: int = Field(ge=1, le=10_000)
    restarts: int = Field(ge=0)


class StagePointer(SpecModel):
    """The published pointer.

    A pointer and three objects without a location each get a quadrant of a square about `center`. The pointer has the
    quadrant towards the camera (+x, -y); objects 0, 1, 2 have the left, back and right one.

    Attributes:
        scale: scale of its mesh.
        height: height of its origin, Blender units.
        color: 8-bit, used as a linear color.
        center: center of the square, Blender units.
        side: side of the square.
        gap: free space on each side of both center lines.
    """

    scale: Positive
    height: NotNegative
    color: tuple[int, int, int]
    material: str
    center: tuple[Finite, Finite]
    side: Positive
    gap: NotNegative


class StagePlace(SpecModel):
    """A named place for one object.

    Attributes:
        location: place of its center, Blender units.
        radius: radius of the sphere that fills the place; an object without a size is scaled to it.
    """

    location: Vector3
    radius: Positive


class StageFixation(SpecModel):
    """A cross drawn over the center of the image.

    From the center pixel (index side // 2), each arm extends int(arm x side) + h pixels and is h pixels wide to both
    sides, where h is half of int(width x side), rounded down.

    Attributes:
        arm: share of the shorter side.
        width: share of the shorter side.
        color: 8-bit sRGB.
    """

    arm: Positive
    width: Positive
    color: tuple[Byte, Byte, Byte]


class StageDefaults(SpecModel):
    """Values drawn uniformly for attributes that a spec leaves out."""

    shapes: Words[str]
    colors: Words[str]
    materials: Words[str]
    sizes: Words[str]


class Stage(SpecModel):
    """A stage: camera, lights, ground and defaults of scenes.

    Attributes:
        size: width and height in pixels of the images that it is designed for.
        places: named locations of single objects. Such a stage has no layout search; an object without place and
            location gets a free place.
        background: 8-bit sRGB of pixels without an object.
        ambient: linear RGB of invisible light from all directions.
        sampling: "content" derives Cycles' seed from the visible content instead of the episode, so that images with
            equal content are equal and rendered once.
        pixels: "center" makes the stage flat: one unit is one pixel, x right and y down from the top left corner, z
            into the image. A pixel has the color at its center, or with `antialias` the mean over its square.
        layers: distance in z by which each object with two coordinates or without location is nearer than the one
            before.
        palette: color names of this stage, 8-bit sRGB, which replace those of the vocabulary.
        sizes: size names of this stage -> scale, which replace those of the vocabulary.
    """

    name: str
    size: tuple[Side, Side]
    camera: StageCamera
    lights: tuple[StageLight, ...]
    ground: StageGround | None
    placement: StagePlacement
    pointer: StagePointer | None = None
    defaults: StageDefaults
    places: dict[str, StagePlace] | None = None
    background: tuple[Byte, Byte, Byte] | None = None
    ambient: LinearColor = (0.0, 0.0, 0.0)
    fixation: StageFixation | None = None
    sampling: Literal["episode", "content"] = "episode"
    pixels: Literal["filtered", "center"] = "filtered"
    layers: Positive | None = None
    palette: dict[str, tuple[Byte, Byte, Byte]] | None = None
    sizes: dict[str, Positive] | None = None

    @model_validator(mode="after")
    def _check(self) -> Stage:
        for key, known in (("colors", self.color_names()), ("sizes", self.size_names())):
            if unknown := [name for name in getattr(self.defaults, key) if name not in known]:
                raise ValueError(f"defaults.{key}: found {unknown[0]!r}; allowed: {', '.join(known)}")
        return self

    def color_names(self) -> tuple[str, ...]:
        """Return the color names of this stage."""
        return tuple(COLORS if self.palette is None else self.palette)

    def linear_of(self, name: str) -> tuple[float, float, float]:
        """Return linear RGB in [0, 1] of a color name."""
        return linear_of_name(name) if self.palette is None else linear_of_srgb(self.palette[name])

    def size_names(self) -> Mapping[str, float]:
        """Return size name -> scale."""
        return SIZES if self.sizes is None else self.sizes


def orbits(camera: CameraSpec, stage: Stage) -> bool:
    """Return whether a camera orbits what it looks at, instead of having a location."""
    given = any(getattr(camera, key) is not None for key in ORBIT)
    return camera.location is None and (given or stage.camera.framing is not None)


def flat_layer_distance(frame: FrameSpec, stage: Stage) -> float | None:
    """Return the distance in z between flat objects where the stage has no `layers` and two could be in one plane.

    The stage `pictures` of 0.1.0 had none, so that such objects showed through each other. Its file stays as it is:
    render keys hold its digest, and most frames on it show models alone.
    """
    if stage.pixels != "center" or stage.layers is not None:
        return None
    flat = sum(_may_be_flat(item.plain_shape, stage) for item in frame.objects)
    if (drawn := frame.random_objects) is not None:
        flat += drawn.bounds[1] * any(_may_be_flat(shape, stage) for shape in drawn_shapes(drawn, stage))
    return _LAYERS if flat > 1 else None


def drawn_shapes(drawn: RandomObjectsSpec, stage: Stage) -> Sequence[str]:
    """Return the shapes that random objects may have."""
    return [shape for shape, _ in drawn.combinations or ()] or drawn.shapes or stage.defaults.shapes


def flat_heights(frame: FrameSpec, stage: Stage) -> dict[int, float]:
    """Return index -> z of the listed objects that may be flat and have a certain z, see `flat_layer_distance`."""
    layers = flat_layer_distance(frame, stage)
    if layers is None:
        return {}
    heights = {}
    for index, item in enumerate(frame.objects):
        if _may_be_flat(item.plain_shape, stage):
            _, _, *fixed = item.location or (0.0, 0.0)
            heights[index] = fixed[0] if fixed else -layers * (index + 1)
    return heights


def is_outline(shape: str | OutlineSpec | None) -> bool:
    """Return whether a shape is given by its corners, or by the name of an outline."""
    return isinstance(shape, OutlineSpec) or shape in FLAT_SHAPES


def _may_be_flat(shape: str | OutlineSpec | None, stage: Stage) -> bool:
    return is_outline(shape) or (shape is None and any(map(is_outline, stage.defaults.shapes)))


@lru_cache(maxsize=64)
def load_stage(name: str) -> Stage:
    """Return the stage with this name.

    Raises:
        StageError: it does not exist, or its file is invalid.
    """
    try:
        path: Path = plugin("stages", name).load()
        # `mewl` is the file that was called `clevr` in 0.1, byte for byte.
        return Stage.model_validate_json(path.read_bytes()).model_copy(update={"name": name})
    except PluginError as error:
        raise StageError(str(error)) from error
    except (OSError, ValueError) as error:
        raise StageError(f"stage {name!r}: {path}: {error}") from error


def stage_of(spec: EpisodeSpec) -> Stage:
    """Return the stage of an episode, with the episode's canvas if the stage is flat.

    Raises:
        StageError: the stage does not exist.
    """
    stage = load_stage(spec.stage)
    return stage if spec.canvas is None or stage.pixels != "center" else _on_canvas(spec.stage, spec.canvas)


@lru_cache(maxsize=64)
def _on_canvas(name: str, canvas: tuple[int, int]) -> Stage:
    """Return a flat stage with a canvas of width x height units."""
    stage = load_stage(name)
    width, height = canvas
    old = stage.camera
    location, aim = ((width / 2, height / 2, point[2]) for point in (old.location, old.look_at))
    camera = old.model_copy(update={"location": location, "look_at": aim, "ortho_scale": float(max(canvas))})
    area = AreaSpec(x=(0.0, float(width)), y=(0.0, float(height)))
    placement = stage.placement.model_copy(update={"area": area})
    return stage.model_copy(update={"size": canvas, "camera": camera, "placement": placement})


@lru_cache(maxsize=64)
def stage_digest(name: str) -> str:
    """Return the SHA-256 of the stage's file, hexadecimal.

    Raises:
        StageError: the stage does not exist.
    """
    load_stage(name)
    return hashlib.sha256(plugin("stages", name).load().read_bytes()).hexdigest()


def stage_with(name: str, digest: str | None) -> str:
    """Return the name of the stage whose file has a digest: `name`, or else another of Diorama's; `name` if none has.

    Raises:
        StageError: the stage `name` does not exist.
    """
    own = (known for known, provided in plugins("stages").items() if provided.own)
    return next((known for known in (name, *own) if stage_digest(known) == digest), name)


def scene_stage(scene: Scene) -> Stage:
    """Return the stage that a Scene was made with, which may have another name by now.

    Raises:
        StageError: the stage does not exist.
    """
    return load_stage(stage_with(scene.stage, scene.assets.get(f"stage:{scene.stage}")))
