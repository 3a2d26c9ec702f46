"""The spec language, version 1.

An `EpisodeSpec` is a JSON object. Specified values are fixed; the compiler samples everything else from the seed. The
models check form (types, ranges, unknown keys), `diorama.scene_specs.checks.semantics` checks what needs more than one
field, and `diorama.scene_specs.reading.source` turns both into diagnostics with file, line and path.

Units: Blender units, degrees (every such name ends in `_deg`), pixels at the stage's own size. Z is up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticKnownError

from diorama.scene_specs.language.invented import Invented
from diorama.scene_specs.language.model_names import mesh_name
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.vocabulary import CONTACTS, RELATIONS

Relation = Literal["left", "right", "front", "behind"]
assert set(RELATIONS) == {"left", "right", "front", "behind"}
Contact = Literal["on", "in", "leaning", "under", "touching", "near", "far", "between"]
assert set(CONTACTS) == {*get_args(Contact)}


def _known_pass(name: str) -> str:
    if name not in (names := plugins("passes")):
        raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, names))})
    return name


Pass = Annotated[str, AfterValidator(_known_pass)]
# Ids become folders in exports and keys in stores: ASCII segments without leading dots and "..".
_SEGMENT = "[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"
EpisodeId = Annotated[str, StringConstraints(pattern=f"^{_SEGMENT}(/{_SEGMENT}){{0,7}}$", max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}$")]
Finite = Annotated[float, Field(ge=-1e4, le=1e4, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e4, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e4, allow_inf_nan=False)]
LinearColor = tuple[NotNegative, NotNegative, NotNegative]
Byte = Annotated[int, Field(ge=0, le=255, strict=True)]
Vector2 = tuple[Finite, Finite]
Vector3 = tuple[Finite, Finite, Finite]
_Count = Annotated[int, Field(ge=0, le=100, strict=True)]
Words = Annotated[tuple[str, ...], Field(min_length=1)]
Side = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


# Dumps of these models are hashed into the identity of every stored episode. Give a new field a default that keeps the
# old meaning, and `Field(exclude_if=...)` that leaves it out of a dump at that default; never rename or remove a field.
# tests/compatibility/test_field_names.py checks this.
class SpecModel(BaseModel):
    """Base class of models: strict and immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class ObjectViewSpec(SpecModel):
    """The direction from which the frame's first camera sees an object; the object is rotated accordingly.

    Attributes:
        yaw_deg: about its vertical axis; 0 shows its front, 90 its own left side.
        elevation_deg: of the camera above the object's horizontal plane.
    """

    yaw_deg: Finite = 0.0
    elevation_deg: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] = 0.0


class MaterialSpec(SpecModel):
    """A material with parameters, or one from a .blend file. All other keys are parameters of the material.

    Attributes:
        name: of a material.
        strength: a parameter of `emission`.
        blend: a .blend file below an asset root.
        group: a shader node group in it. If the group has an input "Color", the input gets the object's color.
    """

    model_config = ConfigDict(extra="allow")

    name: str | None = None
    strength: Positive | None = None
    blend: Annotated[str, StringConstraints(min_length=1, max_length=400)] | None = None
    group: Annotated[str, StringConstraints(min_length=1, max_length=63)] | None = None

    @classmethod
    def of(cls, material: str | MaterialSpec) -> MaterialSpec:
        """Return a material of a spec, which may be its name alone."""
        return cls(name=material) if isinstance(material, str) else material

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters as given, not checked."""
        return (self.model_extra or {}) | ({} if self.strength is None else {"strength": self.strength})


class OutlineSpec(SpecModel):
    """A flat shape, or a prism on it. The object's `size` scales all lengths.

    Attributes:
        polygon: its corners, [x, y] about the object's origin, in either direction; edges only meet at corners.
        outline: a named flat shape instead.
        height: of the prism, whose origin is at half its height; 0 is flat.
    """

    polygon: Annotated[tuple[Vector2, ...], Field(min_length=3, max_length=256)] | None = None
    outline: Literal["circle", "square", "rectangle", "triangle"] | None = None
    height: NotNegative = 0.0


class MeshSpec(SpecModel):
    """A model in a file of your own; in specs and Scenes also as text, `model:<mesh>` or `model:<mesh>?up=z`.

    Attributes:
        mesh: a .glb or .obj file below an asset root.
        up: the axis that points up in it. With y, as in glTF, the front is +z; with z, the front is -y.
    """

    mesh: Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=r"^[^?]*$")]
    up: Literal["y", "z"] = "y"

    def shape(self) -> str:
        """Return the name of the shape."""
        return mesh_name(self.mesh, self.up == "z")


class InventedSpec(SpecModel):
    """What an invented shape is made from.

    Attributes:
        family: name of a family, such as blob.
        seed: decides all that the axes leave open.
        axes: name of an axis of the family -> position, from 0 to 1; drawn from the seed if left out.
    """

    family: str
    seed: Seed
    axes: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(max_length=20)] = {}


class InventedShape(SpecModel):
    """A shape that nobody has a word for; in specs and Scenes also as text, `invented:blob/12?roundness=0.3`."""

    invented: InventedSpec

    def shape(self) -> str:
        """Return the name of the shape; positions are rounded to four digits."""
        return Invented(self.invented.family, self.invented.seed, self.invented.axes).name


# In a validated spec, a mesh or an invented shape is its name, so that all shapes with a name are text.
if TYPE_CHECKING:
    MeshName = str
    InventedName = str
else:
    MeshName = Annotated[MeshSpec, AfterValidator(MeshSpec.shape)]
    InventedName = Annotated[InventedShape, AfterValidator(InventedShape.shape)]


class ObjectSpec(SpecModel):
    """An object of a frame. All fields are optional.

    Attributes:
        shape: a name; or a model: `shapenet:chairs/<model id>`, `shapenet:03001627/<model id>`, or
            `shapenet:chairs/#3`, the third model of the category in the order of ids; or a file of your own (MeshSpec);
            or corners (OutlineSpec); or an invented shape (InventedShape).
        color: a palette name, or an 8-bit sRGB triple. A model without color and material keeps its own.
        size: a name, or the scale in Blender units: half the edge of the 2 x 2 x 2 mesh, half the longest side of a
            model. Of corners, a factor, default 1.
        footprint: of flat shapes and prisms, the area of the outline instead of a size, square Blender units.
        location: [x, y] on the ground, or [x, y, z] of its center.
        rotation_deg: about Z, or Euler XYZ.
        place: a named place of the stage instead of a location.
        view: direction from which it is seen, instead of a rotation; on stages without ground.
        normalize: true makes a model's longest side twice `size`; false multiplies the units of its file by `size`.
        front_deg: direction of its own front, about its vertical axis, from -y without rotation, counterclockwise from
            above. Airplanes, boats, cars, chairs and sofas have one at 0.
        drop: whether `render-specs settle` lets it fall; no other command reads it.
    """

    name: Name | None = None
    shape: str | OutlineSpec | MeshName | InventedName | None = None
    color: str | tuple[Byte, Byte, Byte] | None = None
    material: str | MaterialSpec | None = None
    size: str | Positive | None = None
    footprint: Annotated[float, Field(gt=0, le=1e8, allow_inf_nan=False)] | None = None
    location: Vector2 | Vector3 | None = None
    rotation_deg: Finite | Vector3 | None = None
    place: str | None = None
    view: ObjectViewSpec | None = None
    normalize: bool | None = None
    front_deg: Finite | None = Field(default=None, exclude_if=lambda front: front is None)
    drop: bool = Field(default=False, exclude_if=lambda drop: not drop)


class PointerSpec(SpecModel):
    """A hand (or an arrow) that hovers over the ground and points at an object of the frame.

    Its name in annotations is "pointer".

    Attributes:
        target: name of the object.
        kind: its shape.
        color: default the published yellow, (240, 191, 29) as a linear color.
        material: default rubber.
        size: scale of the mesh, default 0.6.
        location: [x, y] at the published height, or [x, y, z] of its origin; by default, the compiler finds a location
            from which it points at the target without hiding it.
    """

    target: Name
    kind: Literal["hand", "hand-left", "arrow"] = "hand"
    color: str | tuple[Byte, Byte, Byte] | None = None
    material: str | MaterialSpec | None = None
    size: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] | None = None
    location: Vector2 | Vector3 | None = None


class ObserverSpec(SpecModel):
    """A person on the ground who looks at something; in annotations an object, listed after all other objects.

    Attributes:
        looks_at: name of an object of the frame, or a point, Blender units.
        color: of the clothes, default sampled from the stage's.
        size: half the height, or a name, default 1.
        location: [x, y] on the ground, or [x, y, z] of the middle; found by the layout if left out.
    """

    name: Name
    looks_at: Name | Vector3
    color: str | tuple[Byte, Byte, Byte] | None = None
    size: str | Positive | None = None
    location: Vector2 | Vector3 | None = None


class RandomObjectsSpec(SpecModel):
    """Random objects, in addition to those listed in the frame. Lists have possible values, default the stage's.

    Attributes:
        count: number of objects, or [fewest, most], inclusive.
        combinations: possible (shape, color) pairs instead of shapes and colors (CLEVR-CoGenT).
        distinct: no two objects of the frame share all of shape, color, material and size.
    """

    count: _Count | tuple[_Count, _Count]
    shapes: Words | None = None
    colors: Words | None = None
    materials: Words | None = None
    sizes: Words | None = None
    combinations: Annotated[tuple[tuple[str, str], ...], Field(min_length=1)] | None = None
    distinct: bool = False

    @property
    def bounds(self) -> tuple[int, int]:
        """Fewest and most objects."""
        return self.count if isinstance(self.count, tuple) else (self.count, self.count)


class ConstraintSpec(SpecModel):
    """A requirement of the layout, of exactly one kind.

    Attributes:
        relation: the subject stands in this relation to `of`: left, right, front and behind by more than `margin`;
            others by contact or distance.
        other: of `between`, the second object.
        seen_from: whose left, right, front or behind it is: the camera's if left out; an observer's, from whose place
            what is nearer is in front; or `of`, which has a front of its own, or looks somewhere.
        margin: Blender units, default the stage's.
        min_visible_pixels: of each object (or of `objects`), at the stage's own size.
        min_distance: between the radii of any two objects on the ground, Blender units.
        axis_margin: minimum difference of any two objects along right and along front, Blender units.
        in_frame: whether objects must be entirely inside the image.
    """

    relation: Relation | Contact | None = None
    subject: Name | None = None
    of: Name | None = None
    other: Name | None = Field(default=None, exclude_if=lambda name: name is None)
    seen_from: Name | None = Field(default=None, exclude_if=lambda name: name is None)
    margin: NotNegative | None = None
    min_visible_pixels: Annotated[int, Field(ge=0, le=10**6, strict=True)] | None = None
    objects: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    min_distance: NotNegative | None = None
    axis_margin: NotNegative | None = None
    in_frame: bool | None = None


class CameraSpec(SpecModel):
    """A camera, at a location or at a direction from what it looks at. Lengths are in Blender units.

    Attributes:
        look_at: the point that it is aimed at, default the stage's.
        lens: focal length, mm.
        sensor_width: mm along the longer side of the image.
        jitter: uniform, plus or minus, per axis, added to the location; default 0 with a location, else the stage's.
        yaw_deg: direction from look_at, instead of location: 0 is the -Y side, which is the front of objects without
            rotation; 90 is the +X side.
        elevation_deg: likewise; 90 is above.
        distance: from look_at.
        framing: instead of distance, share of the image's shorter side that the bounding sphere of all objects fills
            (default 0.9).
    """

    location: Vector3 | None = None
    look_at: Vector3 | None = None
    lens: Annotated[float, Field(ge=1, le=1000, allow_inf_nan=False)] | None = None
    sensor_width: Annotated[float, Field(ge=1, le=1000, allow_inf_nan=False)] | None = None
    jitter: NotNegative | None = None
    yaw_deg: Finite | None = None
    elevation_deg: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    distance: Positive | None = None
    framing: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] | None = None


class ViewSpec(CameraSpec):
    """A named camera. A frame with views has one image per view, named `<frame>.<view>`.

    The first view defines relations, margins and visibility.
    """

    name: Name


class LightSpec(SpecModel):
    """Changes to a light of the stage, by its name (`clevr`: key, fill, back, sun).

    Attributes:
        energy: W; of a sun W/m2.
        color: linear RGB.
        location: of area lights, Blender units.
        jitter: as for the camera.
    """

    name: Name
    energy: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    color: LinearColor | None = None
    location: Vector3 | None = None
    jitter: NotNegative | None = None


class AreaSpec(SpecModel):
    """The area for centers of objects, Blender units."""

    x: Vector2
    y: Vector2


class FrameSpec(SpecModel):
    """A scene. `utterance` and `truth` are copied to the output without interpretation.

    Attributes:
        background: exact 8-bit sRGB of every pixel without an object; only on stages without ground.
        fixation: whether the stage's fixation cross is drawn over the image.
        antialias: on flat stages, whether a pixel has the mean color of its square instead of the color at its center.
    """

    name: Name | None = None
    utterance: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    objects: Annotated[tuple[ObjectSpec, ...], Field(max_length=100)] = ()
    random_objects: RandomObjectsSpec | None = None
    pointer: PointerSpec | None = None
    observers: Annotated[tuple[ObserverSpec, ...], Field(max_length=10, exclude_if=lambda people: not people)] = ()
    constraints: Annotated[tuple[ConstraintSpec, ...], Field(max_length=1000)] = ()
    camera: CameraSpec | None = None
    views: Annotated[tuple[ViewSpec, ...], Field(min_length=1, max_length=100)] | None = None
    lights: Annotated[tuple[LightSpec, ...], Field(max_length=20)] = ()
    area: AreaSpec | None = None
    passes: Annotated[tuple[Pass, ...], Field(max_length=100)] = ()
    background: tuple[Byte, Byte, Byte] | None = None
    fixation: bool | None = None
    antialias: bool | None = None
    truth: dict[str, Any] | None = None


class LookSpec(SpecModel):
    """A look and the number of one of its variants, from 0."""

    name: str
    variant: Annotated[int, Field(ge=0, strict=True)] | None = None


class EpisodeSpec(SpecModel):
    """An episode: frames, and the benchmark's truth in `task`, which is copied to the output.

    Attributes:
        look: ground, patterns and light, on stages with a ground; "plain" if left out.
        canvas: [width, height] of a flat stage, in its units, which are pixels at the default size.
    """

    version: Literal[1]
    id: EpisodeId
    seed: Seed = 0
    stage: str = "clevr"
    canvas: tuple[Side, Side] | None = None
    split: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.+-]{1,50}$")] | None = None
    look: str | LookSpec | None = Field(default=None, exclude_if=lambda look: look is None)
    frames: Annotated[tuple[FrameSpec, ...], Field(min_length=1, max_length=1000)]
    task: dict[str, Any] | None = None

    def chosen_look(self) -> LookSpec:
        """Return the look with its name."""
        return LookSpec(name=self.look or "plain") if not isinstance(self.look, LookSpec) else self.look

    def to_json(self) -> str:
        """Return JSON of all values that are not left out."""
        return self.model_dump_json(exclude_none=True, exclude_defaults=True)

    def frame_name(self, index: int) -> str:
        """Return the name of a frame: its own, or `frame-<index>`."""
        return self.frames[index].name or f"frame-{index}"


def is_oriented(frame: FrameSpec) -> bool:
    """Return whether the fronts of a frame matter: with observers, `front_deg` or `seen_from`."""
    given = any(item.front_deg is not None for item in frame.objects)
    return bool(frame.observers) or given or any(c.seen_from is not None for c in frame.constraints)


def object_name(spec: ObjectSpec, index: int) -> str:
    """Return the name of an object: its own, or `object-<index>`."""
    return spec.name or f"object-{index}"
