"""What each object of a frame is: shape, colour, material, size, rotation, given or drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from render.compiler.rng import Keys
from render.geometry.rotation import Vec
from render.scene import SceneMaterial
from scene_specs.spec import FrameSpec, MaterialSpec, ObjectSpec, object_name
from scene_specs.stage import Stage, StageDefaults
from scene_specs.vocabulary import COLORS, SIZES, linear_of_name, linear_of_srgb

Fail = Callable[[str], Exception]
Look = tuple[object, object, object, object]

# How often drawing distinct objects may start again before the frame fails.
_DISTINCT_TRIES = 100


@dataclass(frozen=True)
class Item:
    """One object before it has a place. location: as given, with z filled in; None if it is free."""

    name: str
    shape: str
    color: str | None
    color_linear: Vec
    material: SceneMaterial
    size: str | None
    scale: float
    rotation_deg: Vec
    location: Vec | None


@dataclass(frozen=True)
class _Wanted:
    """An object's fields as given, and lists to draw the others from. pairs: whole (shape, color) choices."""

    spec: ObjectSpec
    shapes: Sequence[str]
    colors: Sequence[str]
    materials: Sequence[str]
    sizes: Sequence[str]
    pairs: Sequence[tuple[str, str]] | None = None

    def looks(self) -> list[Look]:
        """Every choice it allows, as (shape, color, material, size)."""
        spec = self.spec
        pairs: Sequence[tuple[object, object]] = self.pairs or list(
            product([spec.shape] if spec.shape else self.shapes, [spec.color] if spec.color else self.colors)
        )
        materials: Sequence[object] = [spec.material] if spec.material else self.materials
        sizes: Sequence[object] = [spec.size] if spec.size is not None else self.sizes
        return [(shape, color, material, size) for (shape, color), material, size in product(pairs, materials, sizes)]


def rounded(value: float) -> float:
    """To 6 decimals, as every number of a Scene; never a negative zero."""
    return round(float(value), 6) + 0.0


def rounded3(value: Sequence[float]) -> Vec:
    """Three numbers to 6 decimals."""
    return (rounded(value[0]), rounded(value[1]), rounded(value[2]))


def material_of(given: str | MaterialSpec) -> SceneMaterial:
    """A Scene's material from a spec's."""
    if isinstance(given, str):
        return SceneMaterial(name=given)
    strength = 1.0 if given.strength is None else given.strength
    return SceneMaterial(name=given.name or "blend", strength=strength, blend=given.blend, group=given.group)


def _pick(values: Sequence[str], u: float) -> str:
    return values[min(int(u * len(values)), len(values) - 1)]


def _wanted(frame: FrameSpec, defaults: StageDefaults, keys: Keys) -> list[_Wanted]:
    base = (defaults.shapes, defaults.colors, defaults.materials, defaults.sizes)
    listed = [_Wanted(spec, *base) for spec in frame.objects]
    more = frame.random_objects
    if more is None:
        return listed
    fewest, most = more.count if isinstance(more.count, tuple) else (more.count, more.count)
    count = fewest + int(float(keys.generator("count").random()) * (most - fewest + 1))
    drawn = _Wanted(
        ObjectSpec(),
        more.shapes or defaults.shapes,
        more.colors or defaults.colors,
        more.materials or defaults.materials,
        more.sizes or defaults.sizes,
        more.combinations,
    )
    return listed + [drawn] * min(count, most)


def _draw_freely(wanted: Sequence[_Wanted], u: NDArray[np.float64]) -> list[Look]:
    looks: list[Look] = []
    for want, (a, b, c, d) in zip(wanted, u[:, :4].tolist(), strict=True):
        shape, color = want.spec.shape or _pick(want.shapes, a), want.spec.color or _pick(want.colors, b)
        if want.pairs is not None:
            shape, color = want.pairs[min(int(a * len(want.pairs)), len(want.pairs) - 1)]
        size = want.spec.size if want.spec.size is not None else _pick(want.sizes, d)
        looks.append((shape, color, want.spec.material or _pick(want.materials, c), size))
    return looks


def _draw_distinct(wanted: Sequence[_Wanted], keys: Keys, fail: Fail) -> list[Look]:
    """Choices of which no two agree in everything; objects with the fewest choices choose first."""
    choices = [want.looks() for want in wanted]
    order = sorted(range(len(wanted)), key=lambda k: (len(choices[k]), k))
    for u in keys.generator("distinct").random((_DISTINCT_TRIES, len(wanted))).tolist():
        chosen: dict[int, Look] = {}
        taken: set[Look] = set()
        for k in order:
            left = [look for look in choices[k] if look not in taken]
            if not left:
                break
            chosen[k] = left[min(int(u[k] * len(left)), len(left) - 1)]
            taken.add(chosen[k])
        if len(chosen) == len(wanted):
            return [chosen[k] for k in range(len(wanted))]
    raise fail(
        f"distinct: {len(wanted)} objects that differ in shape, color, material or size were not found in "
        f"{_DISTINCT_TRIES} draws; widen the lists of random_objects or ask for fewer"
    )


def _item(name: str, spec: ObjectSpec, look: Look, turn: float, fail: Fail) -> Item:
    shape, color, material, size = look
    assert isinstance(shape, str)
    assert isinstance(material, str | MaterialSpec)
    if isinstance(color, str) and color not in COLORS:
        raise fail(f"object {name}: unknown color {color!r}; there are: {', '.join(COLORS)}")
    if isinstance(size, str) and size not in SIZES:
        raise fail(f"object {name}: unknown size {size!r}; there are: {', '.join(SIZES)}")
    linear = linear_of_name(color) if isinstance(color, str) else linear_of_srgb(color)  # type: ignore[arg-type]
    scale = SIZES[size] if isinstance(size, str) else rounded(float(size))  # type: ignore[arg-type]
    given = spec.rotation_deg
    rotation = (0.0, 0.0, turn) if given is None else given if isinstance(given, tuple) else (0.0, 0.0, given)
    place = None
    if spec.location is not None:
        place = rounded3((*spec.location, scale) if len(spec.location) == 2 else spec.location)
    return Item(
        name,
        shape,
        color if isinstance(color, str) else None,
        rounded3(linear),
        material_of(material),
        size if isinstance(size, str) else None,
        scale,
        rounded3(rotation),
        place,
    )


def draw_items(frame: FrameSpec, stage: Stage, keys: Keys, fail: Fail) -> list[Item]:
    """All objects of a frame, the named first, then the drawn. Raises what `fail` makes of a problem.

    An object's numbers are drawn whether needed or not, so that giving one attribute leaves the others as they were.
    """
    wanted = _wanted(frame, stage.defaults, keys)
    u = keys.generator("attributes").random((len(wanted), 5))
    distinct = frame.random_objects is not None and frame.random_objects.distinct
    looks = _draw_distinct(wanted, keys, fail) if distinct else _draw_freely(wanted, u)
    names = [object_name(want.spec, index) for index, want in enumerate(wanted)]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise fail(f"two objects are called {name!r}; `object-<index>` is the name of one that has none")
    turns = (u[:, 4] * 360.0).tolist()
    return [
        _item(name, want.spec, look, turn, fail)
        for name, want, look, turn in zip(names, wanted, looks, turns, strict=True)
    ]
