"""The 144 objects of MEWL, and random draws that its tasks share."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product

import numpy as np

from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES

# shape, color, material, size: the order of the published files.
Object = tuple[str, str, str, str]
Order = tuple[int, ...]

TYPES: tuple[str, ...] = ("shape", "color", "material", "size")
VALUES: Mapping[str, tuple[str, ...]] = dict(
    zip(TYPES, (SHAPES, tuple(COLORS), MEWL_MATERIALS, tuple(SIZES)), strict=True)
)
OBJECTS: tuple[Object, ...] = tuple(product(*(VALUES[kind] for kind in TYPES)))  # type: ignore[arg-type]
OBJECT_NUMBER: Mapping[Object, int] = {item: number for number, item in enumerate(OBJECTS)}
# The six orders in which three objects can stand along an axis.
ORDERS: tuple[Order, ...] = tuple(permutations(range(3)))


def index(rng: np.random.Generator, count: int) -> int:
    """Draw an integer from 0 to count - 1."""
    return int(rng.integers(count))


def object_with(rng: np.random.Generator, **fixed: str) -> Object:
    """Draw an object with the fixed attributes; every value of the others is equally likely."""
    draws = rng.random(len(TYPES)).tolist()
    shape, color, material, size = (
        fixed.get(kind) or VALUES[kind][int(u * len(VALUES[kind]))] for kind, u in zip(TYPES, draws, strict=True)
    )
    return (shape, color, material, size)


def in_order(order: Order, first: int, second: int) -> Order:
    """Return the order, with two members swapped if `first` does not come before `second`."""
    if order.index(first) < order.index(second):
        return order
    swap = {first: second, second: first}
    return tuple(swap.get(k, k) for k in order)
