"""Attributes of a frame's objects: shape, color, material, size and rotation, specified or sampled."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera, seen_from
from diorama.render.geometry.outlines import corners_of, outline_of
from diorama.render.geometry.person import FOOTPRINT
from diorama.render.geometry.solid import Stand, stand_of
from diorama.scene_specs.errors import CompileError, counted
from diorama.scene_specs.language.invented import parse_invented
from diorama.scene_specs.language.model_names import ORIGINAL, PAINTED, UNLIT, has_front, is_model
from diorama.scene_specs.language.outlines import POLYGON, signed_area
from diorama.scene_specs.language.person import Gaze
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.language.vocabulary import linear_of_srgb, name_or_none
from diorama.scene_specs.model.materials import changed_parameters
from diorama.scene_specs.model.scene import SceneMaterial
from diorama.scene_specs.model.spec import FrameSpec, MaterialSpec, ObjectSpec, OutlineSpec, is_oriented, object_name
from diorama.scene_specs.model.stage import Stage, StageDefaults, StagePlace, flat_layer_distance
from diorama.scene_specs.rotation import Vec, rounded, rounded3
from diorama.scene_specs.shapes.shapenet import canonical, load_model

T = TypeVar("T")
_Shape = str | OutlineSpec
_Color = str | tuple[int, int, int] | None
_Material = str | MaterialSpec
_Size = str | float
Look = tuple[_Shape, _Color, _Material, _Size]

# How often sampling distinct objects may start over before the frame fails.
_DISTINCT_TRIES = 100
# How far the body of an observer is at most turned away from what it looks at, degrees.
_MOST_ASIDE = 50.0
OBSERVER_MATERIAL = "rubber"
# Linear RGB of objects whose material of a .blend file shows no color.
_NO_COLOR = (0.8, 0.8, 0.8)
# File and group of a .blend material -> whether its color is linked on to its surface (`linked_colors`).
LinkedColors = Mapping[tuple[str, str], bool]


@dataclass(frozen=True)
class Item:
    """An object before the layout. Lengths are in Blender units.

    Attributes:
        color: name in the spec; None for a triple.
        color_linear: linear RGB, 0 to 1.
        size: name in the spec; None for a number.
        location: the specified one, with z filled in; None if the layout decides it.
        height: distance of its origin above the ground.
        radius: radius of the disc that is its footprint.
        hull: convex outline of the footprint, about the origin, rotated and scaled; None where unknown.
        reach: radius of the sphere about the origin that contains it.
        outline: corners and height of a prism or of a shape defined by corners.
        front_deg: yaw of the object's own front; see SceneObject.
        looks_at: of an observer without a pose so far, whose rotation is the angle between what it looks at and where
            its body is turned; see `with_poses`.
    """

    name: str
    shape: str
    color: str | None
    color_linear: Vec
    material: SceneMaterial
    size: str | None
    scale: float
    rotation_deg: Vec
    location: Vec | None
    height: float
    radius: float
    hull: tuple[tuple[float, float], ...] | None = None
    reach: float = 0.0
    outline: OutlineSpec | None = None
    front_deg: float | None = None
    looks_at: str | Vec | None = None


def material_of(material: str | MaterialSpec) -> SceneMaterial:
    """Return the Scene's form of a spec's material."""
    spec = MaterialSpec.of(material)
    if spec.name is None:
        return SceneMaterial(name="blend", blend=spec.blend, group=spec.group)
    return SceneMaterial(name=spec.name, **changed_parameters(spec.name, spec.parameters))


def with_color_fact(item: Item, takes: bool | None) -> Item:
    """Return an object with the result of `ColoredPart.takes_color`; of a color that is not taken, nothing is said."""
    if takes is None:
        return item
    item = replace(item, material=item.material.model_copy(update={"takes_color": takes}))
    return item if takes else replace(item, color=None, color_linear=_NO_COLOR)


def _color_of(color: _Color, shape: str, stage: Stage) -> Vec:
    """Linear RGB of a color name or triple; of a model with its own colors, their mean."""
    if color is None:
        return load_model(shape).color
    return rounded3(stage.linear_of(color) if isinstance(color, str) else linear_of_srgb(color))


def _scale_of(
    spec: ObjectSpec, size: _Size, drawn: OutlineSpec | None, stand: Stand, setting: _Setting
) -> tuple[float, str | None]:
    """Scale and size name. An object without a size fills its place, if it has one."""
    if spec.footprint is not None and drawn is not None:
        return rounded(math.sqrt(spec.footprint / signed_area(corners_of(drawn)))), None
    if setting.place is not None and spec.size is None:
        return rounded(setting.place.radius / stand.radius), None
    if spec.size is None and drawn is not None and drawn.polygon is not None:
        return 1.0, None
    word = name_or_none(size)
    scale = setting.stage.size_names()[word] if word else rounded(float(size))
    if spec.normalize is False and stand.unit is not None:
        return rounded(scale * stand.unit), None
    return scale, word


def _footprint(stand: Stand, rotation_deg: Vec, scale: float) -> tuple[tuple[float, float], ...] | None:
    """Outline of the footprint in the world, about the origin; None for tilted objects, whose footprint is a disc."""
    if stand.hull is None or len(stand.hull) < 3 or rotation_deg[0] or rotation_deg[1]:
        return None
    turn = math.radians(rotation_deg[2])
    c, s = math.cos(turn) * scale, math.sin(turn) * scale
    return tuple((x * c - y * s, x * s + y * c) for x, y in stand.hull)


def turned(item: Item, yaw_deg: float) -> Item:
    """Return an upright object with another rotation about Z."""
    if item.rotation_deg[0] or item.rotation_deg[1]:
        return item
    turn = (0.0, 0.0, rounded(yaw_deg))
    return replace(item, rotation_deg=turn, hull=_footprint(stand_of(item.shape, item.outline), turn, item.scale))


@dataclass(frozen=True)
class _Setting:
    """Where an object is placed: the stage, its place there if any, and the number of objects before it.

    layers: distance in z between flat objects, where the stage's file has none.
    """

    stage: Stage
    place: StagePlace | None
    before: int
    layers: float | None

    def height(self, scale: float, stand: Stand, flat: bool) -> float:
        """z of an object with two coordinates or none: on the ground, or in its layer."""
        layers = self.stage.layers or (self.layers if flat else None)
        if layers is not None:
            return rounded(-layers * (self.before + 1))
        return scale if stand.height == 1.0 else rounded(scale * stand.height)


def _shape_of(shape: _Shape) -> tuple[str, OutlineSpec | None]:
    """Name of a shape, and its outline where the name does not define it."""
    if isinstance(shape, OutlineSpec):
        return shape.outline or POLYGON, shape if shape.polygon or shape.height else None
    if (invented := parse_invented(shape)) is not None:
        return invented.complete().name, None
    return canonical(shape) if is_model(shape) else shape, None


def _item(name: str, spec: ObjectSpec, look: Look, turn: Vec, setting: _Setting) -> Item:
    spec_shape, color, material, size = look
    stage, place = setting.stage, setting.place
    shape, outline = _shape_of(spec_shape)
    stand = stand_of(shape, outline)
    drawn = outline_of(shape, outline)
    scale, word = _scale_of(spec, size, drawn, stand, setting)
    if not scale:
        problem = f"object {name}: its scale is less than 0.000001"
        raise CompileError(f"{problem}; raise size or footprint, or leave out normalize")
    height = setting.height(scale, stand, drawn is not None)
    location = place.location if place is not None else None
    if location is not None and drawn is not None and setting.layers is not None:
        location = (*location[:2], height)
    if spec.location is not None:
        location = (*spec.location, height) if len(spec.location) == 2 else spec.location
    tilted = bool(turn[0] or turn[1])
    return Item(
        name,
        shape,
        name_or_none(color),
        _color_of(color, shape, stage),
        material_of(material),
        word,
        scale,
        rounded3(turn),
        None if location is None else rounded3(location),
        height,
        scale * (stand.radius if tilted and stand.hull else stand.ground_radius),
        _footprint(stand, turn, scale),
        scale * stand.radius,
        outline,
    )


def _choose_places(wanted: Sequence[Wanted], stage: Stage, keys: Keys) -> list[StagePlace | None]:
    """Return the stage's place of each object: the named one, or a free one for objects without place and location."""
    if stage.places is None:
        return [None] * len(wanted)
    chosen = [want.spec.place for want in wanted]
    free = [name for name in stage.places if name not in chosen]
    without = [k for k, want in enumerate(wanted) if want.spec.place is None and want.spec.location is None]
    if len(without) > len(free):
        objects, places = counted(len(without), "object"), counted(len(free), "free place")
        raise CompileError(f"{objects} without place or location, and {places}: {', '.join(free)}")
    order = np.argsort(keys.generator("places").random(len(free)), kind="stable") if len(free) > 1 else range(len(free))
    for k, slot in zip(without, order, strict=False):
        chosen[k] = free[int(slot)]
    return [None if name is None else stage.places[name] for name in chosen]


def _rotation_of(spec: ObjectSpec, drawn: float, eye: Camera) -> Vec:
    """Euler XYZ in degrees: as specified, as seen in a view, or sampled about Z."""
    if spec.view is not None:
        return seen_from(spec.view.yaw_deg, spec.view.elevation_deg, eye)
    rotation = spec.rotation_deg
    if rotation is None:
        # The corners of a polygon define its orientation.
        rotation = 0.0 if isinstance(spec.shape, OutlineSpec) and spec.shape.polygon is not None else drawn
    return rotation if isinstance(rotation, tuple) else (0.0, 0.0, rotation)


@dataclass(frozen=True)
class Wanted:
    """The specified fields of an object, and the values to sample the others from.

    Attributes:
        pairs: (shape, color) choices in place of `shapes` and `colors`.
        given: which of `color` and `material` the spec lists values of; these apply to models, too.
        takes_color: see ColoredPart.
    """

    spec: ObjectSpec
    shapes: Sequence[str]
    colors: Sequence[str]
    materials: Sequence[str]
    sizes: Sequence[str]
    pairs: Sequence[tuple[str, str]] | None = None
    given: frozenset[str] = frozenset()
    takes_color: bool | None = None

    def looks(self) -> list[Look]:
        """List all allowed combinations."""
        spec = self.spec
        shapes: Sequence[_Shape] = [spec.plain_shape] if spec.plain_shape else self.shapes
        colors: Sequence[_Color] = [spec.color] if spec.color else self.colors
        pairs: Sequence[tuple[_Shape, _Color]] = self.pairs or list(product(shapes, colors))
        materials: Sequence[_Material] = [spec.material] if spec.material else self.materials
        sizes: Sequence[_Size] = [spec.size] if spec.size is not None else self.sizes
        return [(shape, color, material, size) for (shape, color), material, size in product(pairs, materials, sizes)]


def _pick_value(values: Sequence[T], u: float) -> T:
    return values[min(int(u * len(values)), len(values) - 1)]


def wanted_of(frame: FrameSpec, defaults: StageDefaults, keys: Keys, linked: LinkedColors) -> list[Wanted]:
    """Return the objects of a frame: first the specified ones, then the random ones."""
    base = (defaults.shapes, defaults.colors, defaults.materials, defaults.sizes)
    listed = [Wanted(spec, *base, takes_color=spec.takes_color(linked)) for spec in frame.objects]
    more = frame.random_objects
    if more is None:
        return listed
    fewest, most = more.bounds
    count = _pick_value(range(fewest, most + 1), float(keys.generator("count").random()))
    drawn = Wanted(
        ObjectSpec(),
        more.shapes or defaults.shapes,
        more.colors or defaults.colors,
        more.materials or defaults.materials,
        more.sizes or defaults.sizes,
        more.combinations,
        frozenset({"color"} if more.colors or more.combinations else ()) | ({"material"} if more.materials else set()),
    )
    return listed + [drawn] * count


def _of_model(want: Wanted, look: Look) -> Look:
    """Return a model's look: its own colors and materials if neither is specified, its materials if only a color is.

    A sampled color of the stage's applies only with a specified material.
    """
    shape, color, material, size = look
    if not is_model(shape):
        return look
    if want.spec.material is None and "material" not in want.given:
        material = ORIGINAL if want.spec.color is None and "color" not in want.given else PAINTED
    return (shape, None if material in (ORIGINAL, UNLIT) else color, material, size)


def _draw_freely(wanted: Sequence[Wanted], u: NDArray[np.float64]) -> list[Look]:
    looks: list[Look] = []
    for want, (a, b, c, d) in zip(wanted, u[:, :4].tolist(), strict=True):
        shape = want.spec.plain_shape or _pick_value(want.shapes, a)
        color = want.spec.color or _pick_value(want.colors, b)
        if want.pairs is not None:
            shape, color = _pick_value(want.pairs, a)
        size = want.spec.size if want.spec.size is not None else _pick_value(want.sizes, d)
        looks.append(_of_model(want, (shape, color, want.spec.material or _pick_value(want.materials, c), size)))
    return looks


def _appearance(want: Wanted, look: Look, stage: Stage) -> Hashable:
    """Return the look that values stand for: "rubber" and {"name": "rubber"} are one, and so are "large" and 0.7.

    Objects that fill their places have one size.
    """
    shape, color, material, size = look
    fills = stage.places is not None and want.spec.size is None and want.spec.location is None
    scale = stage.size_names().get(size, size) if isinstance(size, str) else size
    color = None if want.takes_color is False else color
    return _shape_of(shape), color, material_of(material).model_dump_json(), None if fills else scale


def _pick_distinct(choices: Sequence[Sequence[tuple[Hashable, Look]]], draws: list[list[float]]) -> list[Look] | None:
    """One of the (key, look) choices of each object, with different keys; those with the fewest choose first."""
    order = sorted(range(len(choices)), key=lambda k: (len(choices[k]), k))
    for u in draws:
        chosen: dict[int, Look] = {}
        taken: set[Hashable] = set()
        for k in order:
            left = [choice for choice in choices[k] if choice[0] not in taken]
            if not left:
                break
            key, chosen[k] = _pick_value(left, u[k])
            taken.add(key)
        if len(chosen) == len(choices):
            return [chosen[k] for k in range(len(choices))]
    return None


def _draw_distinct(wanted: Sequence[Wanted], stage: Stage, keys: Keys) -> list[Look]:
    """Sample looks of which no two are equal."""
    draws = keys.generator("distinct").random((_DISTINCT_TRIES, len(wanted))).tolist()
    looks = [[(look, _of_model(want, look)) for look in want.looks()] for want in wanted]
    # Version 0.1.0 compared values as written. Where its looks differ, they stay.
    drawn = _pick_distinct(looks, draws)
    if drawn and len({_appearance(*pair, stage) for pair in zip(wanted, drawn, strict=True)}) < len(drawn):
        seen = [
            {_appearance(want, look, stage): look for _, look in own} for want, own in zip(wanted, looks, strict=True)
        ]
        drawn = _pick_distinct([[*own.items()] for own in seen], draws)
    if drawn is not None:
        return drawn
    raise CompileError(
        f"distinct: no {len(wanted)} objects that differ in shape, color, material or size were found in "
        f"{_DISTINCT_TRIES} draws; extend the lists of random_objects or request fewer objects"
    )


def draw_items(frame: FrameSpec, stage: Stage, keys: Keys, eye: Camera, linked: LinkedColors) -> list[Item]:
    """Decide the attributes of all objects of a frame, first the specified, then the random ones.

    The numbers of an object are drawn whether needed or not, so that specifying one attribute does not change the
    others.

    Args:
        eye: the camera of the layout, from which a `view` is seen; only its orientation matters.
        linked: of all .blend materials.

    Raises:
        CompileError: there are not enough free places or distinct looks, or an object is too small.
        AssetError: a mesh or model can't be read.
    """
    wanted = wanted_of(frame, stage.defaults, keys, linked)
    u = keys.generator("attributes").random((len(wanted), 5))
    distinct = frame.random_objects is not None and frame.random_objects.distinct
    looks = _draw_distinct(wanted, stage, keys) if distinct else _draw_freely(wanted, u)
    names = [object_name(want.spec, index) for index, want in enumerate(wanted)]
    turns = (u[:, 4] * 360.0).tolist()
    places = _choose_places(wanted, stage, keys)
    layers = flat_layer_distance(frame, stage)
    items = [
        _item(name, want.spec, look, _rotation_of(want.spec, turn, eye), _Setting(stage, place, k, layers))
        for k, (name, want, look, turn, place) in enumerate(zip(names, wanted, looks, turns, places, strict=True))
    ]
    items = [with_color_fact(item, want.takes_color) for item, want in zip(items, wanted, strict=True)]
    if is_oriented(frame):
        given = [want.spec.front_deg for want in wanted]
        own = [0.0 if front is None and has_front(i.shape) else front for front, i in zip(given, items, strict=True)]
        items = [replace(item, front_deg=front) for item, front in zip(items, own, strict=True)]
    return items + _observers(frame, stage, keys)


def _observers(frame: FrameSpec, stage: Stage, keys: Keys) -> list[Item]:
    """Return the observers of a frame, without their poses."""
    # Numbers of their own, so that an object more or less does not change them.
    u = keys.generator("observers").random((len(frame.observers), 2)).tolist() if frame.observers else []
    items = []
    for spec, (a, b) in zip(frame.observers, u, strict=True):
        color, size = spec.color or _pick_value(stage.defaults.colors, a), 1.0 if spec.size is None else spec.size
        look: Look = (Gaze(0.0, 0.0).shape, color, OBSERVER_MATERIAL, size)
        setting = _Setting(stage, None, 0, None)
        item = _item(spec.name, ObjectSpec(size=size, location=spec.location), look, (0.0, 0.0, 0.0), setting)
        turn = rounded((2 * b - 1) * _MOST_ASIDE)
        radius = item.scale * FOOTPRINT
        items.append(replace(item, rotation_deg=(0.0, 0.0, turn), looks_at=spec.looks_at, radius=radius, hull=None))
    return items
