"""What objects look like, where the spec leaves it open: shape, color, material and size are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from render.compiler.rng import Keys
from scene_specs.language.model_names import ORIGINAL, PAINTED, is_model
from scene_specs.language.spec import FrameSpec, ObjectSpec
from scene_specs.language.stage import StageDefaults

Fail = Callable[[str], Exception]
# (shape, color, material, size), words or what specs have in their place.
Look = tuple[object, object, object, object]

# How often drawing distinct objects may start again before the frame fails.
_DISTINCT_TRIES = 100


@dataclass(frozen=True)
class Wanted:
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


def _pick(values: Sequence[str], u: float) -> str:
    return values[min(int(u * len(values)), len(values) - 1)]


def wanted_of(frame: FrameSpec, defaults: StageDefaults, keys: Keys) -> list[Wanted]:
    """Every object of a frame, the given first, then as many as are drawn."""
    base = (defaults.shapes, defaults.colors, defaults.materials, defaults.sizes)
    listed = [Wanted(spec, *base) for spec in frame.objects]
    more = frame.random_objects
    if more is None:
        return listed
    fewest, most = more.count if isinstance(more.count, tuple) else (more.count, more.count)
    count = fewest + int(float(keys.generator("count").random()) * (most - fewest + 1))
    drawn = Wanted(
        ObjectSpec(),
        more.shapes or defaults.shapes,
        more.colors or defaults.colors,
        more.materials or defaults.materials,
        more.sizes or defaults.sizes,
        more.combinations,
    )
    return listed + [drawn] * min(count, most)


def _of_model(spec: ObjectSpec, look: Look) -> Look:
    """A model keeps its own colors and materials where the spec gives neither, its materials where it gives a color.

    A drawn color is only of use to a material that was asked for.
    """
    shape, color, material, size = look
    if not isinstance(shape, str) or not is_model(shape):
        return look
    if spec.material is None:
        material = ORIGINAL if spec.color is None else PAINTED
    return (shape, None if material == ORIGINAL else color, material, size)


def _draw_freely(wanted: Sequence[Wanted], u: NDArray[np.float64]) -> list[Look]:
    looks: list[Look] = []
    for want, (a, b, c, d) in zip(wanted, u[:, :4].tolist(), strict=True):
        shape, color = want.spec.shape or _pick(want.shapes, a), want.spec.color or _pick(want.colors, b)
        if want.pairs is not None:
            shape, color = want.pairs[min(int(a * len(want.pairs)), len(want.pairs) - 1)]
        size = want.spec.size if want.spec.size is not None else _pick(want.sizes, d)
        looks.append(_of_model(want.spec, (shape, color, want.spec.material or _pick(want.materials, c), size)))
    return looks


def _draw_distinct(wanted: Sequence[Wanted], keys: Keys, fail: Fail) -> list[Look]:
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
            return [_of_model(wanted[k].spec, chosen[k]) for k in range(len(wanted))]
    raise fail(
        f"distinct: {len(wanted)} objects that differ in shape, color, material or size were not found in "
        f"{_DISTINCT_TRIES} draws; widen the lists of random_objects or ask for fewer"
    )


def draw_looks(wanted: Sequence[Wanted], u: NDArray[np.float64], distinct: bool, keys: Keys, fail: Fail) -> list[Look]:
    """A look for each. u: (N, 4 or more) uniform numbers, drawn whether needed or not. Raises what `fail` makes."""
    return _draw_distinct(wanted, keys, fail) if distinct else _draw_freely(wanted, u)
