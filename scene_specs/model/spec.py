"""The spec language, version 1.

An `EpisodeSpec` is a JSON object. Specified values are fixed; the compiler samples everything else from the seed. The
models check form (types, ranges, unknown keys), `diorama.scene_specs.checks.semantics` checks what needs more than one
field, and `diorama.scene_specs.reading.source` turns both into diagnostics with file, line and path.

What a field may be stands at the field: messages, the JSON Schema and the tables of docs/fields.md read it here.

Units: Blender units, degrees (every such name ends in `_deg`), pixels at the stage's own size. Z is up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SerializationInfo, ValidationError, model_serializer
from pydantic_core import PydanticKnownError

from diorama.scene_specs.errors import SpecError, spec_error
from diorama.scene_specs.language.invented import Invented
from diorama.scene_specs.language.model_names import mesh_name
from diorama.scene_specs.language.registry import plugins, shapes
from diorama.scene_specs.language.validation import Allowed, form_diagnostics
from diorama.scene_specs.language.vocabulary import COLORS, CONTACTS, RELATIONS, SIZES

# fmt: off
# Names of `diorama`; everything else is imported by its name.
__all__ = [
    "AreaSpec", "CameraSpec", "ConstraintSpec", "EpisodeSpec", "FrameSpec", "IntrinsicsSpec", "InventedShape",
    "InventedSpec", "LightSpec", "LookSpec", "MaterialSpec", "MeshSpec", "ObjectSpec", "ObjectViewSpec",
    "ObserverSpec", "OutlineSpec", "PointerSpec", "RandomObjectsSpec", "ViewSpec",
]
# fmt: on

# An episode, frame or object as JSON data: what generators write and verifiers read. The models say which keys it has.
EpisodeData = dict[str, Any]
FrameData = dict[str, Any]
ObjectData = dict[str, Any]

Relation = Literal["left", "right", "front", "behind"]
assert set(RELATIONS) == {"left", "right", "front", "behind"}
Contact = Literal["on", "in", "leaning", "under", "touching", "near", "far", "between"]
assert set(CONTACTS) == {*get_args(Contact)}


def _known_pass(name: str) -> str:
    if name not in (names := plugins("passes")):
        raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, names))})
    return name


_T = TypeVar("_T")
# A list in JSON; Python also takes other sequences for it. In a validated spec, it is a tuple.
if TYPE_CHECKING:
    Many = Sequence
else:
    Many = tuple[_T, ...]

Pass = Annotated[str, AfterValidator(_known_pass), Allowed(names=lambda: plugins("passes"))]
# Ids become folders in exports and keys in stores: ASCII segments without leading dots and "..".
_SEGMENT = "[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"
_ID = Allowed("segments of letters, digits and _ . + -, joined by '/', none beginning with a dot", ["demo/first/0001"])
EpisodeId = Annotated[str, Field(pattern=f"^{_SEGMENT}(/{_SEGMENT}){{0,7}}$", max_length=200), _ID]
_NAME = Allowed("letters, digits, spaces and _ + # -, at most 100, beginning with a letter or digit")
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}$"), _NAME]
Target = Annotated[Name, Allowed("the name of an object of this frame")]
Finite = Annotated[float, Field(ge=-1e4, le=1e4, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e4, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e4, allow_inf_nan=False)]
Elevation = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Length = Annotated[float, Field(ge=1, le=1000, allow_inf_nan=False)]
LinearColor = Annotated[
    tuple[NotNegative, NotNegative, NotNegative], Allowed("linear [red, green, blue]", [[1, 0.9, 0.8]])
]
Byte = Annotated[int, Field(ge=0, le=255, strict=True), Allowed("an integer from 0 to 255")]
Vector2 = tuple[Finite, Finite]
Vector3 = Annotated[tuple[Finite, Finite, Finite], Allowed("[x, y, z]", [[7, -6, 5]])]
Location = Annotated[
    Vector2 | Vector3, Allowed("[x, y] on the ground or [x, y, z] of the center", [[1, 2], [1, 2, 0.7]])
]
Rotation = Annotated[
    Finite | Vector3, Allowed("degrees about Z, or three Euler angles XYZ in degrees", [30, [90, 0, 45]])
]
Range = Annotated[Vector2, Allowed("[least, greatest]", [[-3, 3]])]
_Count = Annotated[int, Field(ge=0, le=100, strict=True)]
Words = Annotated[Many[_T], Field(min_length=1)]
Side = Annotated[int, Field(ge=1, le=10_000, strict=True), Allowed("an integer from 1 to 10000")]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]

Canvas = Annotated[tuple[Side, Side], Allowed("[width, height], integers from 1 to 10000", [[640, 480]])]
Split = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,50}$"), Allowed("letters, digits and _ . + -, at most 50")]

ShapeName = Annotated[str, Allowed(names=shapes)]
ColorName = Annotated[str, Allowed(names=lambda: COLORS)]
MaterialName = Annotated[str, Allowed(names=lambda: plugins("materials"))]
Pair = Annotated[tuple[str, str], Allowed("a pair", [["cube", "red"]])]
SizeName = Annotated[str, Allowed(names=lambda: SIZES)]
Srgb = Annotated[tuple[Byte, Byte, Byte], Allowed("an sRGB triple of integers from 0 to 255", [[255, 255, 255]])]
Color = Annotated[str | Srgb, Allowed("an sRGB triple of integers from 0 to 255", [[240, 191, 29]], lambda: COLORS)]
Scale = Annotated[float, Field(gt=0, le=10, allow_inf_nan=False), Allowed("a scale, above 0 and at most 10", [0.6])]
Size = Annotated[str | Positive, Allowed("a scale in Blender units, above 0 and at most 100", [0.5], lambda: SIZES)]


# Dumps of these models are hashed into the identity of every stored episode. Give a new field a default that keeps the
# old meaning, and `Field(exclude_if=...)` that leaves it out of a dump at that default; never rename or remove a field.
# tests/compatibility/test_field_names.py checks this.
class SpecModel(BaseModel):
    """Base class of models: strict and immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


def spec_text(data: object, file: str = "", line: int = 0) -> str:
    """Return a spec, or a part of one, as JSON text. It may contain models.

    Raises:
        SpecError: it is not JSON data, such as numbers of numpy.
    """
    try:
        return json.dumps(data, default=_json_data)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "a spec is a dict of JSON data; write int(x), float(x) or x.tolist() for those of numpy"
        raise spec_error(f"not a spec: {error}", hint, file=file, line=line) from None


def _json_data(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=isinstance(value, SpecPart))
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


class SpecPart(SpecModel):
    """Base class of the models that people write, in files or in Python; both are checked in the same way.

    Attributes:
        EXAMPLE: for messages and editors.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, /, **data: Any) -> None:
        """Check the fields.

        Raises:
            SpecError: fields are wrong; has every diagnostic.
        """
        text = spec_text(data)
        try:
            self.__pydantic_validator__.validate_json(text, strict=True, self_instance=self)
        except ValidationError as error:
            found = form_diagnostics(error, type(self), json.loads(text), EpisodeSpec)
            raise SpecError([diagnostic.in_file() for diagnostic in found]) from None

    # As in pydantic's RootModel: models inside others are made without calling it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


class ObjectViewSpec(SpecPart):
    """The direction from which the frame's first camera sees an object; the object is rotated accordingly.

    Attributes:
        yaw_deg: direction about the object's vertical axis: 0 shows its front, 90 its own left side.
        elevation_deg: of the camera above the object's horizontal plane.
    """

    EXAMPLE = {"yaw_deg": 30, "elevation_deg": 20}

    yaw_deg: Finite = 0.0
    elevation_deg: Elevation = 0.0


class MaterialSpec(SpecPart):
    """A material with parameters, or one from a .blend file. All other keys are parameters of the material.

    Attributes:
        name: a [material](fields.md#material).
        strength: a parameter of `emission`; [other materials](fields.md#material) have other parameters. A parameter
            that the material does not have is an error. Default: the material's.
        blend: path of a Blender file (.blend) below an asset root. Specify `blend` and `group` together, instead of
            `name`. Separate folders with `/`; `..` is not allowed.
        group: name of a shader node group in the Blender file; an input called `Color` takes the object's color. A
            material whose `Color` is not linked on to its surface shows no color: its objects have the color null, and
            specify none.
    """

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Allowed("a name", ["glass"], lambda: plugins("materials"))] | None = None
    strength: Positive | None = None
    blend: Annotated[str, Field(min_length=1, max_length=400), Allowed(examples=["checker.blend"])] | None = None
    group: Annotated[str, Field(min_length=1, max_length=63)] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, *, name: str | None = None, blend: str | None = None, group: str | None = None, **parameters: Any
        ) -> None: ...

    @classmethod
    def of(cls, material: str | MaterialSpec) -> MaterialSpec:
        """Return a material of a spec, which may be its name alone."""
        return cls(name=material) if isinstance(material, str) else material

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters as given, not checked."""
        return (self.model_extra or {}) | ({} if self.strength is None else {"strength": self.strength})


_MATERIALS = [{"name": "emission", "strength": 5}, {"blend": "materials/checker.blend", "group": "Checker"}]
Material = Annotated[str | MaterialSpec, Allowed("an object", _MATERIALS, lambda: plugins("materials"))]
Corner = Annotated[Vector2, Allowed("a corner, [x, y]")]
_CORNERS = Allowed("3 to 256 corners, [x, y] each, in order", [[[0, 0], [1, 0], [0, 1]]])


class OutlineSpec(SpecPart):
    """A flat shape, or a prism on it. The object's `size` scales all lengths.

    Attributes:
        polygon: corners relative to the object's origin, in clockwise or counterclockwise order. Edges may meet only
            at corners. `size` multiplies the coordinates and defaults to 1. `rotation_deg` defaults to 0.
        outline: instead of `polygon`: a named flat shape.
        height: a height above 0 makes a prism: a solid with this base, which can stand on the ground of any stage.
            `size` multiplies the height, too. In annotations, the shape of a prism is the name of its base.
    """

    polygon: Annotated[Many[Corner], Field(min_length=3, max_length=256), _CORNERS] | None = None
    outline: Literal["circle", "square", "rectangle", "triangle"] | None = None
    height: NotNegative = 0.0


class MeshSpec(SpecPart):
    """A model in a file of your own; in specs and Scenes also as text, such as `model:<mesh>` or `model:<mesh>?up=z`.

    Attributes:
        mesh: path of a model file below an asset root. Separate folders with `/`; `..` is not allowed. Diorama
            looks for it in each asset root in turn.
        up: the axis that points up in the file. If `up` is `y`, the front of the object faces +z, as in glTF and in
            Blender's exports; if `up` is `z`, the front faces -y. That it has a front, `"front_deg": 0` of the object
            says ([Whose left?](fields.md#whose-left)).
        part: name of one collection of a .blend file, or of one object with its children; default all that a render
            of the file shows.
    """

    mesh: Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^?]*$"), Allowed(examples=["mugs/red.glb"])]
    up: Literal["y", "z"] = "y"
    part: Annotated[str, Field(min_length=1, max_length=100)] | None = None

    def shape(self) -> str:
        """Return the name of the shape."""
        return mesh_name(self.mesh, self.up == "z", self.part or "")


class InventedSpec(SpecPart):
    """What an invented shape is made from.

    Attributes:
        family: a [family](invented.md), or one [from a package](extending.md#a-family-of-invented-shapes).
        seed: decides all that the axes leave open: two seeds are two different things.
        axes: positions on the axes of the family, rounded to four digits. Those that you leave out are drawn from the
            seed.
    """

    family: Annotated[str, Allowed(names=lambda: plugins("families"))]
    seed: Seed
    axes: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(max_length=20)] = {}


class InventedShape(SpecPart):
    """A shape that nobody has a word for; in specs and Scenes also as text, `invented:blob/12?roundness=0.3`.

    Attributes:
        invented: what the shape is made from.
    """

    invented: InventedSpec

    def shape(self) -> str:
        """Return the name of the shape; positions are rounded to four digits."""
        return Invented(self.invented.family, self.invented.seed, self.invented.axes).name


# In a validated spec, a mesh or an invented shape is its name, so that all shapes with a name are text.
if TYPE_CHECKING:
    MeshName = MeshSpec
    InventedName = InventedShape
else:
    MeshName = Annotated[MeshSpec, AfterValidator(MeshSpec.shape)]
    InventedName = Annotated[InventedShape, AfterValidator(InventedShape.shape)]
_PRISMS = [{"polygon": [[0, 0], [1, 0], [0, 1]], "height": 1}, {"outline": "circle", "height": 1}]
_SHAPES = ["shapenet:chairs/#3", {"mesh": "mugs/red.glb"}, *_PRISMS, {"invented": {"family": "blob", "seed": 12}}]
_ANY_SHAPE = Allowed("a model, a file of your own, a prism or an invented shape", _SHAPES, shapes)
Shape = Annotated[str | OutlineSpec | MeshName | InventedName, _ANY_SHAPE]


class ColoredPart(SpecPart):
    """Base class of parts with color and material; of one in a .blend file, `"color": null` says that none shows."""

    if TYPE_CHECKING:
        color: Color | None
        material: Material | None

    def blend(self) -> tuple[str, str] | None:
        """Return file and group of a material of a .blend file; None for other materials."""
        material = self.material
        return (material.blend, material.group or "") if isinstance(material, MaterialSpec) and material.blend else None

    def takes_color(self, linked: Mapping[tuple[str, str], bool]) -> bool | None:
        """Return whether a material of a .blend file takes the color; None for other materials.

        Args:
            linked: file and group -> whether its color is linked on to its surface.
        """
        return linked[blend] and not self._is_colorless() if (blend := self.blend()) else None

    def _is_colorless(self) -> bool:
        """Whether the color is null, and not only left out, with a material of a .blend file."""
        return self.color is None and "color" in self.model_fields_set and self.blend() is not None

    @model_serializer(mode="wrap")
    def _with_null(self, dump: Any) -> dict[str, Any]:
        # Dumps leave out what is null.
        return {**dump(self), **({"color": None} if self._is_colorless() else {})}


class ObjectSpec(ColoredPart):
    """An object of a frame. All fields are optional.

    Attributes:
        name: its name in constraints and annotations. Default: `object-<index>`.
        shape: `cube`, `sphere`, `cylinder`, one of the [containers](shapes.md#things-that-touch) `bowl`, `box` and
            `shelf`, a [cell](shapes.md#things-that-touch) (`open_cell` or `closed_cell`), a [flat
            shape](shapes.md#flat-shapes-and-stages), a [model](shapes.md#models-and-their-stages) such as
            `shapenet:chairs/#3`, [a mesh file](shapes.md#your-own-objects) such as `{"mesh": "mugs/red.glb"}`, [an
            invented shape](invented.md) such as `{"invented": {"family": "blob", "seed": 12}}`, a [person who looks
            somewhere](shapes.md#people) such as `person:30/-10`, or [a shape from a
            package](spec.md#your-own-stages-shapes-and-materials). Default: sampled.
        color: a name, or an sRGB color `[r, g, b]`. Names depend on the [stage](spec.md#units-and-axes): on `clevr`,
            `studio` and `quadrants`, the numbers of a [name](fields.md#object) are *linear*, as in CLEVR's published
            renderer, so a name looks lighter than a triple with the same numbers. Models keep [their own
            colors](shapes.md#models-and-their-stages) by default. With a material of a .blend file, `null` says that it
            shows no color. Default: sampled; for a model, its own.
        material: one of [Diorama's materials](fields.md#material), or [one from a
            package](spec.md#your-own-stages-shapes-and-materials). Default: sampled; for a model, its own.
        size: `large` (0.7), `small` (0.35), or a number, at most 100 except on flat stages. Blender units: half the
            edge of a cube, the radius of a sphere or cylinder, half the longest side of a model. Default: sampled.
        footprint: instead of `size`: area of a [flat shape, or of the base of a
            prism](shapes.md#flat-shapes-and-stages).
        location: center of the object. With two numbers, the object stands on the ground (cube, sphere, cylinder: z =
            size). Default: found by a [search](spec.md#where-objects-are-placed).
        rotation_deg: rotation about Z, or Euler angles XYZ. If you tilt an object, specify all three numbers of
            `location`; otherwise, an edge may sink into the ground. Default: sampled about Z, 0 to 360.
        place: instead of `location`: one of the named locations, called places, of the stages [`studio`, `quadrants`
            and `pictures`](shapes.md#models-and-their-stages). Default: a free place, on stages that have places.
        view: instead of `rotation_deg`, with 0 for the angle that you leave out: turns the object, not the camera, so
            that the first camera of the frame sees it from this direction. Angles as for [a
            camera](fields.md#camera-and-views): 0, 0 shows the front. Yaw 90 shows the side that faces +x when the
            object has no rotation. Only on stages without ground.
        normalize: only for models. If true, the longest side is twice `size`; if false, `size` multiplies the units of
            the model's file. Default: true.
        front_deg: direction of the object's own front, degrees about its vertical axis; as `rotation_deg`, from -y and
            counterclockwise as seen from above. See [Whose left?](fields.md#whose-left). Default: 0 for a
            [model](shapes.md#models-and-their-stages) of an airplane, boat, car, chair or sofa; others have no front.
        drop: whether [`render-specs settle`](shapes.md#objects-that-fall) lets the object fall; no other command reads
            it.
    """

    EXAMPLE = {"shape": "cube"}

    name: Name | None = None
    shape: Shape | None = None
    color: Color | None = None
    material: Material | None = None
    size: Size | None = None
    footprint: Annotated[float, Field(gt=0, le=1e8, allow_inf_nan=False)] | None = None
    location: Location | None = None
    rotation_deg: Rotation | None = None
    place: Annotated[str, Allowed("the name of a place of the stage", ["center", "top_left"])] | None = None
    view: ObjectViewSpec | None = None
    normalize: bool | None = None
    front_deg: Finite | None = Field(default=None, exclude_if=lambda front: front is None)
    drop: bool = Field(default=False, exclude_if=lambda drop: not drop)

    @property
    def plain_shape(self) -> str | OutlineSpec | None:
        """The shape of a validated spec, in which a mesh and an invented shape are their names."""
        return self.shape  # type: ignore[return-value]


class PointerSpec(ColoredPart):
    """A hand (or an arrow) that hovers over the ground and points at an object of the frame.

    Its name in annotations is "pointer".

    Attributes:
        target: name of the object in `objects` that the pointer points at.
        kind: shape of the pointer.
        color: as for an object. MEWL's yellow is 240, 191, 29 as a *linear* color. If you specify `[240, 191, 29]`, it
            is an sRGB color, as everywhere in a spec, and looks darker than the default. Default: MEWL's yellow.
        material: as for an object. Default: `rubber`.
        size: scale of the pointer's mesh. Default: 0.6.
        location: location of the pointer's origin. With two numbers, the pointer hovers at MEWL's height (z = 0.6).
            Default: found by a search.
    """

    EXAMPLE = {"target": "a"}

    target: Target
    kind: Literal["hand", "hand-left", "arrow"] = "hand"
    color: Color | None = None
    material: Material | None = None
    size: Scale | None = None
    location: Location | None = None


class ObserverSpec(SpecPart):
    """A person on the ground who looks at something; in annotations an object, listed after all other objects.

    Attributes:
        name: its name in constraints and annotations; no object of the frame has the same one.
        looks_at: name of the object in `objects` at whose center it looks, or the point at which it looks.
        color: as for an object: color of the clothes, which are of rubber. Default: sampled.
        size: as for an object: half the height, Blender units. Default: 1.
        location: center of the person. With two numbers, it stands on the ground. Default: found by a search.
    """

    EXAMPLE = {"name": "Anna", "looks_at": "a"}

    name: Name
    looks_at: Annotated[Name | Vector3, Allowed("the name of an object of this frame, or a point [x, y, z]")]
    color: Color | None = None
    size: Size | None = None
    location: Location | None = None


class RandomObjectsSpec(SpecPart):
    """Random objects, in addition to those listed in the frame. Lists have possible values.

    Attributes:
        count: number of random objects, or `[fewest, most]`, which includes both ends.
        shapes: values to sample from, as in [objects](fields.md#object), but only names. A value that you list twice
            is twice as likely. A model or mesh file is written as text, such as `shapenet:chairs/#3`. Default: the
            stage's defaults.
        colors: likewise; no color triples. Models take colors and materials only from your own lists: without
            `colors`, `materials` and `combinations`, they keep [their own](shapes.md#models-and-their-stages); with
            `materials` alone, their colors are the stage's. Default: the stage's defaults.
        materials: likewise. Default: the stage's defaults.
        sizes: likewise; no numbers. Default: the stage's defaults.
        combinations: instead of `shapes` and `colors`: the allowed pairs `[shape, color]` (as in CLEVR-CoGenT).
        distinct: whether every two objects of the frame differ in at least one of shape, color, material and size.
            Values count as what they stand for: `0.7` is `large`, and models that keep their colors differ only in
            shape and size.
    """

    EXAMPLE = {"count": [3, 10]}

    count: Annotated[_Count | tuple[_Count, _Count], Allowed("an integer up to 100, or [fewest, most]", [3, [3, 10]])]
    shapes: Words[ShapeName] | None = None
    colors: Words[ColorName] | None = None
    materials: Words[MaterialName] | None = None
    sizes: Words[SizeName] | None = None
    combinations: Annotated[Words[Pair], Allowed("a list of [shape, color] pairs", [[["cube", "red"]]])] | None = None
    distinct: bool = False

    @property
    def bounds(self) -> tuple[int, int]:
        """Fewest and most objects."""
        return self.count if isinstance(self.count, tuple) else (self.count, self.count)


class ConstraintSpec(SpecPart):
    """A requirement of the layout, of exactly one kind.

    Attributes:
        relation: a side: `subject` is on the named side of the object `of`, seen from the camera or from `seen_from`,
            by more than `margin`. Contact or distance, from `on`: see [Things that
            touch](shapes.md#things-that-touch).
        subject: the first object of a relation.
        of: the second object of a relation.
        other: the second of the two objects that `subject` is `between`.
        seen_from: of a side: an observer, or the object in `of`, [whose](fields.md#whose-left) left, right, front or
            behind it is. Default: the camera.
        margin: of a side: minimum difference of the two locations along the [right axis](spec.md#units-and-axes)
            (`left`, `right`) or the front axis (`front`, `behind`), Blender units. Default: 0.4, with
            [exceptions](fields.md#constraints).
        min_visible_pixels: minimum number of visible pixels, inside the image and not hidden by others. On `clevr` and
            `table`, the ground rises behind the objects: it is an error if it hides an object from the first camera
            that must be visible, because that camera is behind or below it. In other views, the ground may hide
            objects. If one constraint names an object and another applies to all objects, the larger number applies.
            Default: 200.
        objects: the objects that a `min_visible_pixels` is for. Default: all objects.
        min_distance: minimum distance on the ground between the edges of any two objects. An object counts as a disc
            of radius `size`, a model as its convex outline as seen from above. Default: 0.25.
        axis_margin: minimum difference between the locations of any two objects along the right axis *and* along the
            front axis, so that no relation is ambiguous. Default: 0.4.
        in_frame: whether objects must be completely inside the image. Default: true.
    """

    EXAMPLE = {"relation": "left", "subject": "a", "of": "b"}

    relation: Literal[Relation, Contact] | None = None
    subject: Name | None = None
    of: Name | None = None
    other: Name | None = Field(default=None, exclude_if=lambda name: name is None)
    seen_from: Name | None = Field(default=None, exclude_if=lambda name: name is None)
    margin: NotNegative | None = None
    min_visible_pixels: Annotated[int, Field(ge=0, le=10**6, strict=True)] | None = None
    objects: Words[Name] | None = None
    min_distance: NotNegative | None = None
    axis_margin: NotNegative | None = None
    in_frame: bool | None = None


class IntrinsicsSpec(SpecPart):
    """The matrix K of a calibrated pinhole camera, for images of a size. Pixel centers are at .5.

    Attributes:
        fx: focal length, pixels.
        fy: the same as `fx`: pixels are square.
        cx: principal point from the left edge of the image, pixels.
        cy: principal point from the top edge, pixels.
        width: width of the images that K is for, pixels. `--size` with the same aspect ratio scales K.
        height: height of these images, pixels.
    """

    EXAMPLE = {"fx": 350, "fy": 350, "cx": 160, "cy": 120, "width": 320, "height": 240}

    fx: Positive
    fy: Positive
    cx: Finite
    cy: Finite
    width: Side
    height: Side


class CameraSpec(SpecPart):
    """A camera, at a location or at a direction from what it looks at. Lengths are in Blender units.

    Attributes:
        location: location of the camera. Default: the stage's (`clevr`: 7.4811, -6.5076, 5.3437).
        look_at: point that the camera is aimed at; the z axis points up in the image. Default: the stage's (0, 0, 0).
        lens: focal length, mm. Default: the stage's (35).
        sensor_width: size of the sensor along the longer side of the image, mm. Default: the stage's (32).
        intrinsics: instead of `lens` and `sensor_width`: the matrix K of a calibrated camera.
        jitter: half-width of a uniform random offset that is added to each coordinate of `location`, Blender units;
            not used with `yaw_deg`, `elevation_deg`, `distance` or `framing`. Default: the stage's (0.5) if `location`
            is left out, else 0.
        yaw_deg: instead of `location`: direction to the camera from the point that the camera looks at. Here, that
            point is `look_at` if you specify it, otherwise the center of the objects. At 0, 0 the camera is on the -y
            side and sees the front of objects that are not rotated. As the yaw grows, the camera moves
            counterclockwise as seen from above: at yaw 90 it is on the +x side. Default: direction of the stage's
            camera (`clevr`: 49).
        elevation_deg: likewise; at 90 the camera is above. Default: direction of the stage's camera (`clevr`: 28.3).
        distance: instead of `framing`: distance of the camera from the point that it looks at, Blender units. Default:
            computed from `framing`.
        framing: instead of `distance`: share of the image's shorter side that the bounding sphere of the objects
            fills, at the aspect ratio of the stage's own size; see [other ratios](fields.md#camera-and-views). A stage
            can define another default. Default: 0.9.
        right: direction on the ground, [x, y], that relations and constraints mean by `right`; `left`, `front` and
            `behind` follow from it. Default: what is right in the image.
    """

    EXAMPLE = {"location": [7, -6, 5]}

    location: Vector3 | None = None
    look_at: Vector3 | None = None
    lens: Length | None = None
    sensor_width: Length | None = None
    intrinsics: IntrinsicsSpec | None = Field(default=None, exclude_if=lambda matrix: matrix is None)
    jitter: NotNegative | None = None
    yaw_deg: Finite | None = None
    elevation_deg: Elevation | None = None
    distance: Positive | None = None
    framing: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] | None = None
    right: Vector2 | None = Field(default=None, exclude_if=lambda right: right is None)


class ViewSpec(CameraSpec):
    """A named camera. A frame with views has one image per view, named `<frame>.<view>`.

    The first view defines relations, margins and visibility.

    Attributes:
        name: name of the view.
    """

    EXAMPLE = {"name": "front"}

    name: Name


class LightSpec(SpecPart):
    """Changes to a light of the stage, by its name.

    Attributes:
        name: the light of the stage to change (`clevr` and `table`: `key`, `fill`, `back`, `sun`; `studio`: `key`,
            `fill`, `rim`; `quadrants`: `key`, `fill`; flat stages have no lights).
        energy: power in W; for a sun, irradiance in W/m2. Default: the stage's.
        color: color, linear RGB. Default: the stage's.
        location: location; area lights only. Default: the stage's.
        jitter: as for a camera; area lights only. Default: the stage's (1) if `location` is left out, else 0.
    """

    EXAMPLE = {"name": "key", "energy": 200}

    name: Name
    energy: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    color: LinearColor | None = None
    location: Vector3 | None = None
    jitter: NotNegative | None = None


class AreaSpec(SpecPart):
    """The area for centers of objects, Blender units.

    Attributes:
        x: range to the right.
        y: range to the rear.
    """

    EXAMPLE = {"x": [-3, 3], "y": [-3, 3]}

    x: Range
    y: Range


class FrameSpec(SpecPart):
    """A scene. `utterance` and `truth` are copied to the output without interpretation.

    Attributes:
        name: name of the image; unique in the episode, ignoring case. Default: `frame-<index>`.
        utterance: what is said about the image; stored unchanged, a column of the store.
        objects: [objects](fields.md#object) that you specify.
        random_objects: further objects, [sampled](fields.md#random-objects).
        pointer: [a hand or arrow](fields.md#pointer) that points at an object.
        observers: [people](fields.md#observers) who look at something; not with a pointer or relations of contact.
        constraints: [what the layout must satisfy](fields.md#constraints) in addition to the stage's rules.
        camera: [the camera](fields.md#camera-and-views) of the frame; you can't combine it with `views`. Default: the
            stage's, with jitter.
        views: several [named cameras](fields.md#camera-and-views); one image each, called `<frame>.<view>`.
        lights: [changes](fields.md#light) to lights of the stage; all others are the stage's, with jitter.
        area: `{"x": [low, high], "y": [low, high]}`: allowed range for the centers of objects, in Blender units.
            Default: the stage's (`clevr`: -3 to 3 for both).
        passes: additional [passes](fields.md#passes) to store. Boxes, and masks of the visible pixels, are always
            stored.
        background: `[r, g, b]`: exact sRGB color of every pixel without an object; only on stages without ground
            (`studio`, `quadrants`, `pictures`, `flat`, `tangram`). Default: the stage's.
        fixation: whether the fixation cross is drawn over the middle of the image; masks and passes ignore it. Only on
            stages that have a cross (`quadrants`, `pictures`); an error on others. Default: false.
        antialias: whether a pixel has the mean color of its area instead of the color at its center; only on [flat
            stages](shapes.md#flat-shapes-and-stages). Default: false.
        truth: ground truth of the frame, in the benchmark's own format, stored unchanged.
    """

    name: Name | None = None
    utterance: Annotated[str, Field(max_length=10_000)] | None = None
    objects: Annotated[Many[ObjectSpec], Field(max_length=100)] = ()
    random_objects: RandomObjectsSpec | None = None
    pointer: PointerSpec | None = None
    observers: Annotated[Many[ObserverSpec], Field(max_length=10, exclude_if=lambda people: not people)] = ()
    constraints: Annotated[Many[ConstraintSpec], Field(max_length=1000)] = ()
    camera: CameraSpec | None = None
    views: Annotated[Many[ViewSpec], Field(min_length=1, max_length=100)] | None = None
    lights: Annotated[Many[LightSpec], Field(max_length=20)] = ()
    area: AreaSpec | None = None
    passes: Annotated[Many[Pass], Field(max_length=100)] = ()
    background: Srgb | None = None
    fixation: bool | None = None
    antialias: bool | None = None
    truth: dict[str, Any] | None = None


class LookSpec(SpecPart):
    """A look and one of its variants.

    Attributes:
        name: a [look](looks.md).
        variant: number of one of its variants, from 0. Default: chosen by the seed.
    """

    name: str
    variant: Annotated[int, Field(ge=0, strict=True)] | None = None


class EpisodeSpec(SpecPart):
    """An episode: frames, and the benchmark's truth in `task`, which is copied to the output.

    Attributes:
        version: version of this language.
        id: unique in a run, ignoring case. A segment has up to 100 letters, digits and `_ . + -`, and starts with a
            letter, a digit or `_`.
        seed: together with `id` and the names of the frames, it determines every sampled value.
        stage: the environment: camera, lights, ground, defaults and layout rules. Diorama's stages are `clevr`,
            `mewl`, `table`, [`studio`, `quadrants`, `pictures`](shapes.md#models-and-their-stages), [`flat` and
            `tangram`](shapes.md#flat-shapes-and-stages); you can also use [a stage of your
            own](spec.md#your-own-stages-shapes-and-materials). `clevr` has the lights of CLEVR, `mewl` the brighter
            ones of MEWL, and `table` these on a darker ground, seen from higher up. `table` has its own sRGB values for
            CLEVR's color names, and two more names: `white` and `black`.
        canvas: `[width, height]`; only on [flat stages](shapes.md#flat-shapes-and-stages) without places (`flat`,
            `tangram`): size of the canvas in units, and of the images in pixels unless you pass `--size`. Default: the
            stage's.
        split: name of the split, such as `train`; a column of the store.
        look: ground, light, patterns and camera finish, on stages with a ground; see [Looks](looks.md). `variant` is
            the number of one of its variants; without it, the seed chooses. Default: `plain`.
        frames: the images: [frames](fields.md#frame).
        task: ground truth of the episode, in the benchmark's own format, stored unchanged. No key is required, and you
            can add your own. The keys `benchmark`, `name` (column `task`), `options` and `answer` become columns of
            the store. If you specify both `options` (a list) and `answer`, the answer must be one of the options.
    """

    # Required in files.
    if TYPE_CHECKING:
        version: Literal[1] = 1
    else:
        version: Annotated[Literal[1], Allowed('write "version": 1')]
    id: EpisodeId
    seed: Seed = 0
    stage: Annotated[str, Allowed(names=lambda: sorted(plugins("stages")))] = "clevr"
    canvas: Canvas | None = None
    split: Split | None = None
    look: str | LookSpec | None = Field(default=None, exclude_if=lambda look: look is None)
    frames: Annotated[Many[FrameSpec], Field(min_length=1, max_length=1000), Allowed("a list of 1 to 1000 frames")]
    task: dict[str, Any] | None = None

    if not TYPE_CHECKING:

        def __init__(self, /, **data: Any) -> None:
            super().__init__(**{"version": 1, **data})

        __init__.__pydantic_base_init__ = True

    @model_serializer(mode="wrap")
    def _with_stage(self, dump: Any, info: SerializationInfo) -> dict[str, Any]:
        """Write the stage also where defaults are left out: a default may change, as it did in 0.2."""
        data: dict[str, Any] = dump(self)
        if "stage" in data or not info.exclude_defaults:
            return data
        return {"version": data.get("version"), "id": data.get("id"), "stage": self.stage, **data}

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
