"""How alike four pictures are, and how easily one is named: the levels as numbers, and structures that reach them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np

from scene_specs.benchmarks.icca.describe import SameError, full_brevity, length, single_names
from scene_specs.benchmarks.icca.picture import Picture, differences, picture_of
from scene_specs.benchmarks.icca.sources import AXES, Source
from scene_specs.language.rng import pick

SIZE = 4
Four = tuple[Picture, ...]
Thing = dict[str, str]
_Build = Callable[[Source, np.random.Generator], list[Picture]]


@dataclass(frozen=True)
class Figures:
    """differences: of the six pairs (0, 1), (0, 2), ..., values and relations in which they differ.

    shortest: of each picture, how much its shortest description says. single: of each, the single values that name it.
    values: values and relations that each picture has.
    """

    differences: tuple[int, ...]
    shortest: tuple[int, ...]
    single: tuple[tuple[str, ...], ...]
    values: int


def figures(pictures: Sequence[Picture]) -> Figures | None:
    """Measured; None where two pictures show the same."""
    try:
        shortest = tuple(length(full_brevity(one, _others(pictures, k))) for k, one in enumerate(pictures))
    except SameError:
        return None
    return Figures(
        distances(pictures),
        shortest,
        tuple(tuple(single_names(one, _others(pictures, k))) for k, one in enumerate(pictures)),
        len(pictures[0].atoms()),
    )


def distances(pictures: Sequence[Picture]) -> tuple[int, ...]:
    """Values and relations in which the six pairs differ."""
    return tuple(differences(one, other) for one, other in combinations(pictures, 2))


def _others(pictures: Sequence[Picture], k: int) -> tuple[Picture, ...]:
    return tuple(one for j, one in enumerate(pictures) if j != k)


@dataclass(frozen=True)
class Level:
    """What holds for a context. differences, shortest: fewest and most. half: pictures differ in at least half of all.

    named: single values name every picture (True), none (False), or it does not matter. absence: also values that are
    in all pictures but one count as names.
    """

    differences: tuple[int, int]
    shortest: tuple[int, int]
    builds: tuple[_Build, ...]
    half: bool = False
    named: bool | None = None

    def near(self, counts: Sequence[int]) -> bool:
        """Whether pairs of pictures may differ in so many values."""
        return all(self.differences[0] <= count <= self.differences[1] for count in counts)

    def fits(self, found: Figures) -> bool:
        """Whether a context with these figures is of the level."""
        if not self.near(found.differences):
            return False
        if self.half and 2 * min(found.differences) < found.values:
            return False
        if not all(self.shortest[0] <= count <= self.shortest[1] for count in found.shortest):
            return False
        # What is missing in one picture alone names it, too, but no value that is in it does.
        shown = [any(not name.startswith("no ") for name in names) for names in found.single]
        return self.named is None or all(named == self.named for named in shown)


def _thing(source: Source, rng: np.random.Generator) -> Thing:
    return {name: pick(rng, values) for name, values in source.values.items()}


def _drawn(rng: np.random.Generator, items: Sequence[str], count: int) -> list[str]:
    return [items[int(k)] for k in rng.permutation(len(items))[:count]]


def _rich(source: Source) -> list[str]:
    """Attributes of which four pictures can have four values."""
    return [name for name, values in source.values.items() if len(values) >= SIZE]


def _pictures(shown: Sequence[Sequence[Thing]], rng: np.random.Generator) -> list[Picture]:
    """The order of things is one for all pictures: what is at one place in all of them differs least."""
    order = rng.permutation(len(shown[0])).tolist()
    return [picture_of([things[k] for k in order]) for things in shown]


def decoys(source: Source, rng: np.random.Generator) -> list[Picture]:
    """One thing differs, in one attribute; each of its four values is had by another thing in all four pictures."""
    name = pick(rng, _rich(source))
    values = _drawn(rng, source.values[name], SIZE)
    odd = _thing(source, rng)
    shared = [{**_thing(source, rng), name: value} for value in values]
    return _pictures([[{**odd, name: value}, *shared] for value in values], rng)


def missing(source: Source, rng: np.random.Generator) -> list[Picture]:
    """Four things that differ in one attribute, of which each picture lacks another one; beside them at most one."""
    name = pick(rng, _rich(source))
    base = _thing(source, rng)
    odd = [{**base, name: value} for value in _drawn(rng, source.values[name], SIZE)]
    room = source.things[1] - (SIZE - 1)
    shared = [_thing(source, rng) for _ in range(int(rng.integers(min(room, 1) + 1)))]
    return _pictures([[*(one for j, one in enumerate(odd) if j != k), *shared] for k in range(SIZE)], rng)


def pairs(source: Source, rng: np.random.Generator) -> list[Picture]:
    """One thing differs, in two attributes; the others are shared."""
    first, second = _drawn(rng, _rich(source), 2)
    odd = _thing(source, rng)
    count = int(rng.integers(source.things[0], source.things[1] + 1)) - 1
    shared = [_thing(source, rng) for _ in range(count)]
    values = zip(_drawn(rng, source.values[first], SIZE), _drawn(rng, source.values[second], SIZE), strict=True)
    return _pictures([[{**odd, first: a, second: b}, *shared] for a, b in values], rng)


def apart(source: Source, rng: np.random.Generator) -> list[Picture]:
    """Everything drawn for each picture."""
    count = int(rng.integers(source.things[0], source.things[1] + 1))
    return [picture_of([_thing(source, rng) for _ in range(count)]) for _ in range(SIZE)]


def arranged(source: Source, rng: np.random.Generator, near: bool) -> list[Picture]:
    """The same three things, which stand otherwise. near: two neighbors change places along each axis, or don't."""
    things = [_thing(source, rng) for _ in range(3)]
    base = [rng.permutation(3).tolist() for _ in AXES]
    if not near:
        return [_standing(things, [rng.permutation(3).tolist() for _ in AXES]) for _ in range(SIZE)]
    other = []
    for order in base:
        at = int(rng.integers(2))
        turned = list(order)
        turned[at], turned[at + 1] = turned[at + 1], turned[at]
        other.append(turned)
    orders = [(a, b) for a in (base[0], other[0]) for b in (base[1], other[1])]
    return [_standing(things, orders[int(k)]) for k in rng.permutation(SIZE)]


def _standing(things: Sequence[Thing], orders: Sequence[Sequence[int]]) -> Picture:
    relations = [
        (relation, a, b) for (relation, _), order in zip(AXES, orders, strict=True) for a, b in combinations(order, 2)
    ]
    return picture_of(things, relations)


_NEAR, _FAR = partial(arranged, near=True), partial(arranged, near=False)
_MOST = 1000
# vary -> difficulty -> what holds.
LEVELS: Mapping[str, Mapping[str, Level]] = MappingProxyType(
    {
        "attributes": MappingProxyType(
            {
                "easy": Level((2, _MOST), (1, 1), (apart,), half=True, named=True),
                "medium": Level((2, 2), (1, 2), (pairs,)),
                "hard": Level((1, 1), (2, 3), (decoys, missing), named=False),
            }
        ),
        # Swaps have a parity: of three arrangements two differ in an even number of relations, so one is too few.
        "relations": MappingProxyType(
            {
                "easy": Level((3, _MOST), (1, 6), (_FAR,), named=True),
                "medium": Level((2, 3), (1, 6), (_FAR,)),
                "hard": Level((1, 2), (1, 9), (_NEAR,), named=False),
            }
        ),
    }
)
DIFFICULTIES: tuple[str, ...] = tuple(LEVELS["attributes"])


def distinct_things(pictures: Sequence[Picture]) -> bool:
    """Whether no picture shows two things alike."""
    return all(len({*one.things}) == len(one.things) for one in pictures)


def builds_for(source: Source, level: Level) -> list[_Build]:
    """The structures of a level that have room in a source's pictures."""
    return [one for one in level.builds if one is not decoys or source.things[1] > SIZE]
