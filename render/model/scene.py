"""`Scene`: an episode with every number filled in. Compiling a Scene gives the same Scene.

A Scene is stored with its images, so a re-render needs nothing that was drawn at random. As JSON it is told from a
spec by its key `scene_version`, and can be given wherever a spec can.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from render.model.notebook import html_of
from scene_specs.language.spec import Byte, EpisodeId, Name, OutlineSpec, Pass, Seed, SpecModel, Vector3

Color = tuple[float, float, float]
# Pixels of a picture's side at most, here and wherever a picture is read; `--size` allows as much.
MOST_SIDE = 16384
# A Scene's numbers have six decimals: no camera that was compiled has less.
_LEAST = 1e-6


# Settings are part of every job hash: a new field follows the rule at SpecModel in scene_specs/language/spec.py.
class Settings(SpecModel):
    """How a Scene is sampled; the data of a profile, and the size of the image.

    samples: a pixel. glass_samples: a pixel, where glass fills the picture (render.geometry.glass); 0 is `samples`.
    prefilter, denoising_quality: of the denoiser (OpenImageDenoise). bounces: (total, diffuse, glossy, transmission).
    min_light_bounces: from which bounce on paths may end by chance (Russian roulette). adaptive_threshold: 0 is off.
    light_tree, caustics, filter_glossy: as Cycles names them. Defaults: as it was before there was the field.
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
    """name: a built-in material, or "blend". strength: of emission. blend, group: see MaterialSpec."""

    name: str
    strength: float = 1.0
    blend: str | None = None
    group: str | None = None


class SceneObject(SpecModel):
    """index: instance id in the id pass, from 1. color: the name in the spec, None for a triple.

    color_linear: linear RGB, 0-1. size: the name in the spec, None for a number. scale: half the edge of the 2 x
        2 x 2 mesh.
    location: of the mesh's origin. rotation_deg: Euler XYZ. Of a model, `shape` is `shapenet:<folder>/<id>`, its mesh's
        longest side is 2, and its own materials are called "original", or "painted" in the object's color.
    outline: of prisms and of what is given by corners, which is called "polygon"; units of `scale`.
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
    """As StageLight, after jitter; area lights are aimed at look_at, suns turned by Euler XYZ radians."""

    name: str
    kind: Literal["area", "sun"]
    energy: float
    color: Color
    size: float
    location: Vector3
    look_at: Vector3 | None = None
    rotation_rad: Vector3 | None = None


class SceneCamera(SpecModel):
    """Aimed at look_at with Z up. lens, sensor_width in mm (along the longer side), clip in Blender units.

    ortho_scale: makes it orthographic, Blender units along the longer side of the image; None is perspective.
    """

    location: Vector3
    look_at: Vector3
    lens: Annotated[float, Field(ge=_LEAST)]
    sensor_width: Annotated[float, Field(ge=_LEAST)]
    clip: tuple[float, float]
    ortho_scale: Annotated[float, Field(ge=_LEAST)] | None = None

    @model_validator(mode="after")
    def _looks_somewhere(self) -> SceneCamera:
        # Points that were compiled differ by a whole decimal; what was written by hand may be too near to divide by.
        if math.dist(self.location, self.look_at) < _LEAST / 2:
            raise ValueError(
                f"found {list(self.location)} for both location and look_at; allowed: two different points"
            )
        return self


class SceneView(SpecModel):
    """One image of a frame. name: None for a frame without named views."""

    name: Name | None = None
    camera: SceneCamera


class ScenePointer(SpecModel):
    """Which object of the frame is the pointer (by index; it stands last in `objects`), and what it points at, by
    name.
    """

    index: Annotated[int, Field(ge=1, le=32767)]
    target: Name


class SceneFrame(SpecModel):
    """One layout and the views of it. seed: Cycles' own, for every view. truth, utterance: carried.

    background: 8-bit sRGB of what shows no object; None leaves it to the stage's ground and a black world.
    fixation: whether the stage's cross is drawn over the pictures. pixels: of flat stages, "center" shows in a pixel
    what lies at its center, "mean" the mean over its square; both without the profile's filter and denoiser.
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
        """`<frame>`, or `<frame>.<view>` where the view has a name."""
        return self.name if view.name is None else f"{self.name}.{view.name}"


class Scene(SpecModel):
    """A compiled episode. assets: name -> SHA-256 of every mesh, stage and .blend file it needs."""

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
        """Canonical JSON: the same Scene gives the same bytes."""
        return self.model_dump_json()

    def _repr_html_(self) -> str | None:
        """Show the top view and a table of the objects in a notebook."""
        return html_of(self)
