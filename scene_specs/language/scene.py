"""`Scene`, the resolved form of an episode: every number is filled in. Compiling a Scene returns the same Scene.

A Scene is stored with its images, so a re-render draws nothing at random. As JSON it differs from a spec by its key
`scene_version`, and any command that takes a spec takes a Scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from scene_specs.language.spec import Byte, EpisodeId, Name, OutlineSpec, Pass, Seed, SpecModel, Vector3

Color = tuple[float, float, float]
# Maximum side of an image in pixels, for rendering (`--size`) and for reading.
MOST_SIDE = 16384
# A Scene's numbers have six decimals, so this is the smallest value that a compiled camera can have.
_LEAST = 1e-6


class Settings(SpecModel):
    """Sampling settings: the data of a profile, and the size of the image in pixels.

    samples: per pixel. glass_samples: per pixel if glass fills the image (render.geometry.glass); 0 means `samples`.
    prefilter, denoising_quality: of the denoiser (OpenImageDenoise). bounces: (total, diffuse, glossy, transmission).
    min_light_bounces: first bounce with Russian roulette. adaptive_threshold: 0 turns adaptive sampling off.
    light_tree, caustics, filter_glossy: Cycles' names. Default values reproduce Scenes stored before a field existed.
    """

    profile: str
    width: Annotated[int, Field(ge=1, le=MOST_SIDE)]
    height: Annotated[int, Field(ge=1, le=MOST_SIDE)]
    samples: Annotated[int, Field(ge=1, le=1_000_000)]
    glass_samples: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    denoise: bool
    prefilter: Literal["NONE", "FAST", "ACCURATE"]
    denoising_quality: Literal["HIGH", "BALANCED", "FAST"] = "HIGH"
    bounces: tuple[int, int, int, int]
    min_light_bounces: Annotated[int, Field(ge=0, le=1024)] = 0
    filter_glossy: float
    caustics: bool
    light_tree: bool
    sampling_pattern: Literal["AUTOMATIC", "TABULATED_SOBOL", "BLUE_NOISE"]
    adaptive_threshold: float
    adaptive_min_samples: int


class SceneMaterial(SpecModel):
    """The material of an object. name: a built-in material, or "blend". strength: of emission. blend, group: see
    MaterialSpec.
    """

    name: str
    strength: float = 1.0
    blend: str | None = None
    group: str | None = None


class SceneObject(SpecModel):
    """An object with its exact pose. index: instance id in the id pass, from 1.

    color: the name in the spec, None for a triple. color_linear: linear RGB, 0 to 1.
    size: the name in the spec, None for a number. scale: half the edge of the 2 x 2 x 2 mesh, Blender units.
    location: of the mesh's origin. rotation_deg: Euler XYZ.
    shape: of a model, `shapenet:<folder>/<id>`. Its mesh's longest side is 2; its own materials are named "original",
        or "painted" in the object's color.
    outline: of prisms and polygons, in units of `scale`.
    """

    index: Annotated[int, Field(ge=1, le=32767)]
    name: Name
    shape: str
    color: str | None = None
    color_linear: Color
    material: SceneMaterial
    size: str | None = None
    scale: float
    location: Vector3
    rotation_deg: Vector3
    outline: OutlineSpec | None = None


class SceneLight(SpecModel):
    """A StageLight after jitter. Area lights are aimed at look_at; suns are turned by Euler XYZ radians."""

    name: str
    kind: Literal["area", "sun"]
    energy: float
    color: Color
    size: float
    location: Vector3
    look_at: Vector3 | None = None
    rotation_rad: Vector3 | None = None


class SceneCamera(SpecModel):
    """A camera aimed at look_at with Z up. lens, sensor_width (along the longer side): mm. clip: Blender units.

    ortho_scale: Blender units along the longer side of the image of an orthographic camera; None is perspective.
    """

    location: Vector3
    look_at: Vector3
    lens: Annotated[float, Field(ge=_LEAST)]
    sensor_width: Annotated[float, Field(ge=_LEAST)]
    clip: tuple[float, float]
    ortho_scale: Annotated[float, Field(ge=_LEAST)] | None = None

    @model_validator(mode="after")
    def _looks_somewhere(self) -> SceneCamera:
        # Compiled points differ by at least 1e-6; points written by hand may be too close to normalize the direction.
        if math.dist(self.location, self.look_at) < _LEAST / 2:
            raise ValueError(
                f"found {list(self.location)} for both location and look_at; allowed: two different points"
            )
        return self


class SceneView(SpecModel):
    """One image of a frame. name: None if the frame has no named views."""

    name: Name | None = None
    camera: SceneCamera


class ScenePointer(SpecModel):
    """The pointer of a frame. index: of its object, which is the last of `objects`. target: name of the object that it
    points at.
    """

    index: Annotated[int, Field(ge=1, le=32767)]
    target: Name


class SceneFrame(SpecModel):
    """One layout and its views. seed: Cycles' seed for every view. truth, utterance: copied from the spec.

    background: 8-bit sRGB of pixels without an object; None shows the stage's ground and a black world.
    fixation: whether the stage's fixation cross is drawn over the images.
    pixels: on flat stages, "center" gives a pixel the color at its center, "mean" the mean over its square, both
        without the profile's filter and denoiser.
    """

    name: Name
    utterance: str | None = None
    truth: dict[str, Any] | None = None
    objects: tuple[SceneObject, ...]
    pointer: ScenePointer | None = None
    lights: tuple[SceneLight, ...]
    views: Annotated[tuple[SceneView, ...], Field(min_length=1)]
    passes: tuple[Pass, ...]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    background: tuple[Byte, Byte, Byte] | None = None
    fixation: bool | None = None
    pixels: Literal["center", "mean"] | None = None

    def image_name(self, view: SceneView) -> str:
        """Return `<frame>`, or `<frame>.<view>` if the view has a name."""
        return self.name if view.name is None else f"{self.name}.{view.name}"


def _plain_html(scene: Scene) -> str:
    return f"<pre>{escape(repr(scene))}</pre>"


class Scene(SpecModel):
    """A compiled episode. assets: name -> SHA-256 of every mesh, stage and .blend file that it needs.

    notebook_html: HTML of a Scene for notebooks; `render.model.scene` sets it to the renderer's top view.
    """

    notebook_html: ClassVar[Callable[[Scene], str]] = _plain_html

    scene_version: Literal[1]
    id: EpisodeId
    seed: Seed
    stage: str
    split: str | None = None
    settings: Settings
    assets: dict[str, str]
    frames: Annotated[tuple[SceneFrame, ...], Field(min_length=1)]
    task: dict[str, Any] | None = None

    def to_json(self) -> str:
        """Return canonical JSON: equal Scenes give equal bytes."""
        return self.model_dump_json()

    def _repr_html_(self) -> str:
        return Scene.notebook_html(self)
