"""`Scene`: an episode with every number filled in. Compiling a Scene returns it unchanged.

A Scene is stored with its images, so a re-render samples nothing. In JSON its key `scene_version` distinguishes it from
a spec, and it can be used wherever a spec can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from diorama.scene_specs.files.notebook import html_of
from diorama.scene_specs.model.look import Recipe, SceneLook
from diorama.scene_specs.model.spec import Byte, Contact, EpisodeId, Name, OutlineSpec, Seed, SpecModel, Vector3

Color = tuple[float, float, float]
# Maximum width and height of an image in pixels, for rendering, reading and `--size`; Blender renders at least 4 x 4.
LEAST_SIDE, MOST_SIDE = 4, 16384
MOST_SAMPLES = 1_000_000
# The numbers of a Scene have six decimals, so no compiled camera has a smaller one.
_LEAST = 1e-6
_AddedSamples = Annotated[int, Field(ge=0, le=MOST_SAMPLES, exclude_if=lambda samples: samples == 0)]


# Settings are part of every job hash: a new field follows the rule at SpecModel in scene_specs/model/spec.py.
class Settings(SpecModel):
    """Sampling settings: the data of a profile, and the image size in pixels.

    A default is the behavior before the field existed.

    Attributes:
        samples: per pixel.
        glass_samples: more, per pixel of an image that is full of glass (diorama.render.geometry.sampling_plan); 0 for
            `samples`.
        object_samples: additional ones per pixel of rectangles around objects (diorama.render.geometry.sampling_plan),
            and `samples` more where the whole frame has fewer than `samples`.
        opaque_samples: fewer, of an image without glass or lights among its objects; 0 for `samples`.
        prefilter: how the denoiser (OpenImageDenoise) filters its guides; unused with object_samples.
        denoising_quality: quality of the denoiser.
        bounces: (total, diffuse, glossy, transmission).
        min_light_bounces: bounce at which Russian roulette starts.
        filter_glossy: blur of indirect glossy light (Cycles' Filter Glossy).
        adaptive_threshold: 0 is off.
    """

    profile: str
    width: Annotated[int, Field(ge=1, le=MOST_SIDE)]
    height: Annotated[int, Field(ge=1, le=MOST_SIDE)]
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)]
    glass_samples: Annotated[int, Field(ge=0, le=MOST_SAMPLES)] = 0
    object_samples: _AddedSamples = 0
    opaque_samples: _AddedSamples = 0
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

    @property
    def max_samples(self) -> int:
        """Maximum number of samples of a pixel."""
        most = max(self.samples, self.glass_samples)
        return max(self.max_samples_without_glass, most + self.object_samples * most // self.samples)

    @property
    def max_samples_without_glass(self) -> int:
        """Maximum number of samples of a pixel of images that are not full of glass."""
        return self.samples + self.object_samples + self.opaque_samples

    def without_rectangles(self) -> Settings:
        """Return the settings with at most as many samples, the same for every pixel."""
        # Rectangles take together at most as many samples as the whole frame.
        times = 2 if self.object_samples else 1
        return self.with_samples(min(times * self.samples, MOST_SAMPLES), min(times * self.glass_samples, MOST_SAMPLES))

    def with_samples(self, samples: int, glass_samples: int = 0) -> Settings:
        """Return the settings with these samples in every pixel, and with these in an image that is full of glass."""
        exact = {"samples": samples, "glass_samples": glass_samples, "object_samples": 0, "opaque_samples": 0}
        return self.model_copy(update=exact)


class SceneMaterial(SpecModel):
    """A material. All other keys are parameters of the material that differ from their defaults.

    Attributes:
        name: name of a material, or "blend".
        strength: strength of emission.
        blend: .blend file with the material; see MaterialSpec.
        group: node group in that file; see MaterialSpec.
        pattern: pattern that a look adds.
        takes_color: of a .blend file's group, whether its input `Color` is linked on to its surface, and the spec does
            not say that no color shows; None in Scenes of 0.1.
    """

    model_config = ConfigDict(extra="allow")

    name: str
    strength: float = 1.0
    blend: str | None = None
    group: str | None = None
    pattern: Recipe | None = Field(default=None, exclude_if=lambda recipe: recipe is None)
    takes_color: bool | None = Field(default=None, exclude_if=lambda takes: takes is None)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that differ from their defaults."""
        return (self.model_extra or {}) | ({} if self.strength == 1.0 else {"strength": self.strength})


class SceneObject(SpecModel):
    """An object of a frame.

    Attributes:
        index: instance id in the id pass, from 1.
        shape: its name; of a model `shapenet:<folder>/<id>` or `model:<file>`, the longest side of whose mesh is 2.
        color: the name in the spec, None for a triple and where the material shows no color.
        color_linear: linear RGB, 0 to 1; 0.8 where a material of a .blend file shows no color.
        material: a model's own materials are called "original", "painted" in the object's color, or "unlit".
        size: the name in the spec, None for a number.
        scale: half the edge of the 2 x 2 x 2 mesh, Blender units.
        location: place of the mesh's origin, Blender units.
        rotation_deg: Euler XYZ.
        front_deg: yaw of its front, see ObjectSpec; None if it has no front, or nothing in its frame depends on fronts.
        outline: of prisms and of shapes specified by corners, which are called "polygon"; units of `scale`.
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
    front_deg: float | None = Field(default=None, exclude_if=lambda front: front is None)


class SceneLight(SpecModel):
    """A StageLight after jitter; area lights are aimed at look_at, suns are rotated by Euler XYZ radians."""

    name: str
    kind: Literal["area", "sun"]
    energy: float
    color: Color
    size: float
    location: Vector3
    look_at: Vector3 | None = None
    rotation_rad: Vector3 | None = None


class SceneCamera(SpecModel):
    """A camera aimed at look_at with Z up.

    Attributes:
        lens: focal length, mm.
        sensor_width: along the longer side of the image, mm.
        clip: nearest and farthest depth, Blender units.
        ortho_scale: Blender units along the longer side of an orthographic image; None for perspective.
        shift: of the lens to the right and up, shares of the longer side of the image.
        right: direction on the ground that relations call right, a unit vector; None for that of the image.
    """

    location: Vector3
    look_at: Vector3
    lens: Annotated[float, Field(ge=_LEAST)]
    sensor_width: Annotated[float, Field(ge=_LEAST)]
    clip: tuple[float, float]
    ortho_scale: Annotated[float, Field(ge=_LEAST)] | None = None
    shift: tuple[float, float] = Field(default=(0.0, 0.0), exclude_if=lambda shift: shift == (0.0, 0.0))
    right: tuple[float, float] | None = Field(default=None, exclude_if=lambda right: right is None)

    @model_validator(mode="after")
    def _looks_somewhere(self) -> SceneCamera:
        # Compiled points differ by at least one decimal; points written by hand may be too close to divide by.
        if math.dist(self.location, self.look_at) < _LEAST / 2:
            problem = f"found {list(self.location)} for both location and look_at"
            raise ValueError(f"{problem}; allowed: two different points")
        return self


class SceneView(SpecModel):
    """One image of a frame.

    Attributes:
        name: None for a frame without named views.
        glass: share of the image from which the number of samples is computed; None for its own
            (diorama.render.geometry.sampling_plan).
    """

    name: Name | None = None
    camera: SceneCamera
    glass: Annotated[float, Field(ge=0, le=1)] | None = Field(default=None, exclude_if=lambda share: share is None)


class ScenePointer(SpecModel):
    """The pointer of a frame.

    Attributes:
        index: index of the object that is the pointer, the last in `objects`.
        target: name of the object it points at.
    """

    index: Annotated[int, Field(ge=1, le=32767)]
    target: Name


class SceneObserver(SpecModel):
    """A person who looks at something.

    Attributes:
        index: index of the object that is the person.
        looks_at: name of an object, or a point.
    """

    index: Annotated[int, Field(ge=1, le=32767)]
    looks_at: Name | Vector3


class SceneContact(SpecModel):
    """A relation of contact or distance that the spec states, and that the layout keeps; see ConstraintSpec."""

    relation: Contact
    subject: Name
    of: Name
    other: Name | None = None

    def label(self) -> str:
        """Name the relation in messages."""
        return f"{self.subject} {self.relation} {self.of}" + (f" and {self.other}" if self.other else "")

    def holds(self, table: Mapping[str, Mapping[str, Sequence[str]]]) -> bool:
        """Return whether measured relations, relation -> name -> names, include it."""
        known = table[self.relation]
        if self.other is not None:
            return any(self.subject in known.get(f"{a} | {b}", ()) for a, b in permutations((self.of, self.other)))
        return self.subject in known.get(self.of, ())


class SceneFrame(SpecModel):
    """One layout and its views.

    Attributes:
        contacts: relations of contact and distance that the spec states; with any, annotations have all that hold.
        utterance: carried, never interpreted.
        truth: carried, never interpreted.
        seed: seed of Cycles, for every view.
        background: 8-bit sRGB where no object is visible; None for the stage's ground and a black world.
        fixation: whether the stage's cross is drawn over the images.
        pixels: on flat stages, "center" samples a pixel at its center, "mean" averages over its square; neither uses
            the profile's filter and denoiser.
    """

    name: Name
    utterance: str | None = None
    truth: dict[str, Any] | None = None
    objects: tuple[SceneObject, ...]
    contacts: tuple[SceneContact, ...] = Field(default=(), exclude_if=lambda stated: not stated)
    pointer: ScenePointer | None = None
    observers: tuple[SceneObserver, ...] = Field(default=(), exclude_if=lambda people: not people)
    lights: tuple[SceneLight, ...]
    views: Annotated[tuple[SceneView, ...], Field(min_length=1)]
    passes: tuple[Name, ...]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    background: tuple[Byte, Byte, Byte] | None = None
    fixation: bool | None = None
    pixels: Literal["center", "mean"] | None = None

    def image_name(self, view: SceneView) -> str:
        """Return `<frame>`, or `<frame>.<view>` if the view has a name."""
        return self.name if view.name is None else f"{self.name}.{view.name}"


# What `render-specs contrast` can change.
Change = Literal[
    "color", "material", "shape", "size", "relation", "count", "pointer", "observer", "position", "support"
]


class SceneContrast(SpecModel):
    """The part of a Scene in a pair or chain whose neighbors differ in one factor.

    Attributes:
        pair: id of the pair or chain.
        source: id of the episode that its first Scene equals.
        member: number of this Scene, from 0.
        members: number of all Scenes.
        frame: name of the frame in which neighbors differ.
        objects: that differ between neighbors.
        values: value of the factor in each member.
        answers: whether neighbors have different answers, by the benchmark of the episode; None without one.
    """

    pair: EpisodeId
    source: EpisodeId
    change: Change
    member: Annotated[int, Field(ge=0)]
    members: Annotated[int, Field(ge=2)]
    frame: Name
    objects: tuple[Name, ...]
    values: tuple[Any, ...]
    answers: Literal["flip", "stay"] | None = None


class Scene(SpecModel):
    """A compiled episode.

    Attributes:
        assets: name -> SHA-256 of every mesh, model, stage, look and .blend file that it needs.
        look: None for `plain`.
    """

    scene_version: Literal[1]
    id: EpisodeId
    seed: Seed
    stage: str
    split: str | None = None
    settings: Settings
    assets: dict[str, str]
    frames: Annotated[tuple[SceneFrame, ...], Field(min_length=1)]
    task: dict[str, Any] | None = None
    contrast: SceneContrast | None = Field(default=None, exclude_if=lambda part: part is None)
    look: SceneLook | None = Field(default=None, exclude_if=lambda look: look is None)

    def to_json(self) -> str:
        """Return canonical JSON: equal Scenes have equal bytes."""
        return self.model_dump_json()

    def _repr_html_(self) -> str | None:
        """Show the top view and a table of the objects in a notebook."""
        return html_of(self)
