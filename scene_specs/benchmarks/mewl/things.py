"""The 144 objects of MEWL, and small draws that the tasks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES

# shape, color, material, size: the order of the published files.
Thing = tuple[str, str, str, str]
Order = tuple[int, ...]
_Item = TypeVar("_Item")

TYPES: tuple[str, ...] = ("shape", "color", "material", "size")
VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"shape": SHAPES, "color": tuple(COLORS), "material": MEWL_MATERIALS, "size": tuple(SIZES)}
)
THINGS: tuple[Thing, ...] = tuple(product(*(VALUES[kind] for kind in TYPES)))  # type: ignore[arg-type]
THING_NUMBER: Mapping[Thing, int] = MappingProxyType({thing: number for number, thing in enumerate(THINGS)})
# Three objects stand in one of six orders along an axis.
ORDERS: tuple[Order, ...] = tuple(permutations(range(3)))


def index(rng: np.random.Generator, count: int) -> int:
    """One of 0 ... count - 1."""
    return int(rng.integers(count))


def sample(rng: np.random.Generator, items: Sequence[_Item], count: int) -> list[_Item]:
    """So many different ones of the items, in an order as random as the choice."""
    return [items[k] for k in rng.permutation(len(items))[:count].tolist()]


def shuffled(rng: np.random.Generator, items: Sequence[_Item]) -> list[_Item]:
    """All items in a random order."""
    return sample(rng, items, len(items))


def thing_with(rng: np.random.Generator, **given: str) -> Thing:
    """An object with the given attributes, the others drawn, each value as likely."""
    draws = rng.random(len(TYPES)).tolist()
    shape, color, material, size = (
        given.get(kind) or VALUES[kind][int(u * len(VALUES[kind]))] for kind, u in zip(TYPES, draws, strict=True)
    )
    return (shape, color, material, size)


def in_order(order: Order, first: int, second: int) -> Order:
    """The order, with two of its members swapped where `first` does not come before `second`."""
    if order.index(first) < order.index(second):
        return order
    swap = {first: second, second: first}
    return tuple(swap.get(k, k) for k in order)
