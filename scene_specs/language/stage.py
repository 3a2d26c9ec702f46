"""Stages: where a scene is set. A stage is a JSON file; ours are in `assets/stages`.

A package adds a stage by an entry point of group `diorama.stages` whose value is a function that returns the
path of such a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata, resources
from pathlib import Path
from typing import Literal

from pydantic import Field

from scene_specs.language.diagnostics import did_you_mean
from scene_specs.language.errors import DioramaError
from scene_specs.language.spec import AreaSpec, Byte, EpisodeSpec, Finite, NotNegative, Positive, SpecModel, Vector3
from scene_specs.language.vocabulary import COLORS, SIZES, linear_of_name, linear_of_srgb


class StageError(DioramaError):
    """A stage that is not there or whose file is wrong."""

    exit_code = 2


class StageCamera(SpecModel):
    """location, look_at: Blender units. lens, sensor_width: mm. jitter: uniform +- per axis of the location.

    ortho_scale: makes it orthographic; Blender units along the longer side of the image. framing: it stands so far off
    that the sphere about all objects fills this share of the image's shorter side, looked at in its middle.
    """

    location: Vector3
    look_at: Vector3
    lens: Positive = 35.0
    sensor_width: Positive = 32.0
    clip: tuple[Positive, Positive]
    jitter: NotNegative = 0.0
    ortho_scale: Positive | None = None
    framing: Positive | None = None


class StageLight(SpecModel):
    """An area light aimed at `look_at`, or a sun with Euler XYZ radians.

    energy: W, sun W/m2. color: linear RGB. size: edge of the square, Blender units; sun: angle in radians.
    """

    name: str
    kind: Literal["area", "sun"]
    energy: NotNegative
    color: tuple[NotNegative, NotNegative, NotNegative]
    size: NotNegative
    location: Vector3 = (0.0, 0.0, 0.0)
    look_at: Vector3 | None = None
    rotation_rad: Vector3 | None = None
    jitter: NotNegative = 0.0


class StageGround(SpecModel):
    """A sheet z = h(s), s the distance from the origin along `direction`; `profile` is (s, h) ascending in s.

    across: extent along the direction turned by -90 degrees about Z. mesh: the asset Cycles renders, made from
        these numbers.
    albedo: gray of the diffuse surface.
    """

    direction: tuple[Finite, Finite]
    profile: tuple[tuple[Finite, Finite], ...]
    across: tuple[Finite, Finite]
    mesh: str
    albedo: NotNegative


class StagePlacement(SpecModel):
    """CLEVR's rules for free objects; distances in Blender units, pixels at the stage's own size.

    tries: candidate places an object before the layout starts again. restarts: how often it may.
    """

    area: AreaSpec
    min_distance: NotNegative
    axis_margin: NotNegative
    min_visible_pixels: int
    in_frame: bool
    relation_threshold: NotNegative
    tries: int = Field(ge=1)
    restarts: int = Field(ge=0)


class StagePointer(SpecModel):
    """The published pointer. scale: of its mesh. height: of its origin. color: 8-bit, used as linear color. material.

    center, side, gap: with a pointer and three free objects, each stands in a quadrant of a square of this side about
    `center`, and `gap` stays free on each side of both center lines; the pointer has the quadrant towards the camera
    (+x, -y), objects 0, 1, 2 the left, back and right one.
    """

    scale: Positive
    height: NotNegative
    color: tuple[int, int, int]
    material: str
    center: tuple[Finite, Finite]
    side: Positive
    gap: NotNegative


class StagePlace(SpecModel):
    """A named place for one object. location: of its center. radius: of the sphere about it that fills the place; an
    object without a size of its own is scaled to it.
    """

    location: Vector3
    radius: Positive


class StageFixation(SpecModel):
    """A cross in the middle of the picture, drawn over it. arm, width: shares of the shorter side; color: 8-bit sRGB.

    Of the middle pixel (half the side, counted from 0), each arm reaches int(arm x side) + h pixels out and is h pixels
    wide to both sides, h being half of int(width x side), rounded down.
    """

    arm: Positive
    width: Positive
    color: tuple[Byte, Byte, Byte]


class StageDefaults(SpecModel):
    """What is drawn, uniformly, for an attribute that a spec leaves out."""

    shapes: tuple[str, ...]
    colors: tuple[str, ...]
    materials: tuple[str, ...]
    sizes: tuple[str, ...]


class Stage(SpecModel):
    """A whole stage. size: width, height in pixels of the images it is made for.

    places: where single objects stand, by name; on such a stage nothing is searched for, and an object without place
        and location gets a free one.
    background: 8-bit sRGB of what shows no object. ambient: linear RGB that comes from all sides and is not seen.
    sampling: "content" takes Cycles' seed from what a picture shows instead of from the episode, so that pictures of
        the same things are the same picture, and are rendered once.
    pixels: "center" makes it flat: one unit is one pixel, x right and y down from the top left corner, z into the
        picture; a pixel shows exactly what lies at its center, or with `antialias` the mean over its square.
    layers: objects with two coordinates, and free ones, lie each this much nearer than the one before.
    palette: color names of this stage, true 8-bit sRGB, in place of the vocabulary's. sizes: so, too.
    """

    name: str
    size: tuple[int, int]
    camera: StageCamera
    lights: tuple[StageLight, ...]
    ground: StageGround | None
    placement: StagePlacement
    pointer: StagePointer | None = None
    defaults: StageDefaults
    places: dict[str, StagePlace] | None = None
    background: tuple[Byte, Byte, Byte] | None = None
    ambient: tuple[NotNegative, NotNegative, NotNegative] = (0.0, 0.0, 0.0)
    fixation: StageFixation | None = None
    sampling: Literal["episode", "content"] = "episode"
    pixels: Literal["filtered", "center"] = "filtered"
    layers: Positive | None = None
    palette: dict[str, tuple[Byte, Byte, Byte]] | None = None
    sizes: dict[str, Positive] | None = None

    def color_names(self) -> tuple[str, ...]:
        """The color names that are known here."""
        return tuple(COLORS if self.palette is None else self.palette)

    def linear_of(self, name: str) -> tuple[float, float, float]:
        """Linear RGB in [0, 1] of a color name."""
        return linear_of_name(name) if self.palette is None else linear_of_srgb(self.palette[name])

    def size_names(self) -> Mapping[str, float]:
        """Size name -> scale."""
        return SIZES if self.sizes is None else self.sizes


def stage_paths() -> dict[str, Path]:
    """Name -> file of every stage: ours and those of installed packages."""
    folder = Path(str(resources.files("assets"))) / "stages"
    paths = {path.stem: path for path in sorted(folder.glob("*.json"))}
    for point in sorted(metadata.entry_points(group="diorama.stages"), key=lambda p: p.name):
        paths.setdefault(point.name, Path(point.load()()))
    return paths


@lru_cache(maxsize=64)
def load_stage(name: str) -> Stage:
    """The stage called `name`. Raises StageError."""
    paths = stage_paths()
    if name not in paths:
        problem = f"unknown stage {name!r}; there are: {', '.join(sorted(paths))}"
        raise StageError("; ".join(filter(None, (problem, did_you_mean(name, paths)))))
    try:
        return Stage.model_validate_json(paths[name].read_bytes())
    except (OSError, ValueError) as error:
        raise StageError(f"stage {name!r}: {paths[name]}: {error}") from error


def stage_of(spec: EpisodeSpec) -> Stage:
    """The stage of an episode; a flat one with the episode's own canvas. Raises StageError."""
    stage = load_stage(spec.stage)
    return stage if spec.canvas is None or stage.pixels != "center" else _on_canvas(spec.stage, spec.canvas)


@lru_cache(maxsize=64)
def _on_canvas(name: str, canvas: tuple[int, int]) -> Stage:
    """A flat stage with a canvas of width x height units."""
    stage = load_stage(name)
    width, height = canvas
    old = stage.camera
    place, aim = ((width / 2, height / 2, point[2]) for point in (old.location, old.look_at))
    camera = old.model_copy(update={"location": place, "look_at": aim, "ortho_scale": float(max(canvas))})
    area = AreaSpec(x=(0.0, float(width)), y=(0.0, float(height)))
    placement = stage.placement.model_copy(update={"area": area})
    return stage.model_copy(update={"size": canvas, "camera": camera, "placement": placement})


def stage_digest(name: str) -> str:
    """SHA-256 of the stage's file, hexadecimal."""
    load_stage(name)
    return hashlib.sha256(stage_paths()[name].read_bytes()).hexdigest()
