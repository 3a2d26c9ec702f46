"""Which frame each Select looks at: how many ways there are, and any one of them by its number.

Selects come in groups; a frame's object is asked at most once a group. Category and identity are one group, because
the one gives the other away. The frames that are looked at are numbered 0 ... m - 1 here; delays come between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, factorial, perm

# Groups of properties, in the order of counts.
GROUPS: tuple[tuple[str, ...], ...] = (("location",), ("category", "identity"), ("view_angle",))
Uses = tuple[int, ...]


def group_of(name: str) -> int:
    """Index of a property's group."""
    return next(index for index, names in enumerate(GROUPS) if name in names)


@lru_cache(maxsize=10_000)
def assignments(uses: Uses, objects: int) -> int:
    """Ways to give every Select a frame of `objects`, different ones within a group, none left out."""
    return _from(uses, objects, 0)


@lru_cache(maxsize=100_000)
def _from(uses: Uses, objects: int, covered: int) -> int:
    """The same for groups that are left, when so many frames are looked at already."""
    if not uses:
        return int(covered == objects)
    return sum(
        ways * _from(uses[1:], objects, covered + new) for new, ways in _steps(uses[0], objects, covered) if ways
    )


def _steps(use: int, objects: int, covered: int) -> list[tuple[int, int]]:
    """(frames that are new, ways) for one group."""
    return [
        (new, comb(covered, use - new) * comb(objects - covered, new) * factorial(use))
        for new in range(max(0, use - covered), min(use, objects - covered) + 1)
    ]


def assignment(uses: Uses, objects: int, index: int) -> tuple[tuple[int, ...], ...]:
    """Way `index` of assignments(): a tuple of frames a group."""
    seen: list[int] = []
    found = []
    for position, use in enumerate(uses):
        for new, ways in _steps(use, objects, len(seen)):
            rest = _from(uses[position + 1 :], objects, len(seen) + new)
            if index < ways * rest:
                here, index = divmod(index, rest)
                break
            index -= ways * rest
        fresh = [frame for frame in range(objects) if frame not in seen]
        here, order = divmod(here, factorial(use))
        which_old, which_new = divmod(here, comb(len(fresh), new))
        frames = [*_combination(sorted(seen), use - new, which_old), *_combination(fresh, new, which_new)]
        found.append(_permutation(frames, order))
        seen += [frame for frame in frames if frame not in seen]
    return tuple(found)


def _combination(items: Sequence[int], count: int, index: int) -> list[int]:
    """Combination number `index` of so many of the items, in lexicographic order."""
    found: list[int] = []
    start = 0
    while len(found) < count:
        rest = comb(len(items) - start - 1, count - len(found) - 1)
        if index < rest:
            found.append(items[start])
        else:
            index -= rest
        start += 1
    return found


def _permutation(items: Sequence[int], index: int) -> tuple[int, ...]:
    left, found = list(items), []
    for size in range(len(left), 0, -1):
        at, index = divmod(index, perm(size - 1))
        found.append(left.pop(at))
    return tuple(found)


@lru_cache(maxsize=10_000)
def delays(gaps: int, count: int, longest: int | None) -> int:
    """Ways to put so many empty frames into gaps, at most `longest` into one."""
    if gaps == 0:
        return int(count == 0)
    most = count if longest is None else min(count, longest)
    return sum(delays(gaps - 1, count - here, longest) for here in range(most + 1))


def delay(gaps: int, count: int, longest: int | None, index: int) -> tuple[int, ...]:
    """Way `index` of delays(): empty frames in each gap."""
    found: list[int] = []
    for gap in range(gaps, 0, -1):
        for here in range(count + 1):
            too_long = longest is not None and here > longest
            ways = 0 if too_long else delays(gap - 1, count - here, longest)
            if index < ways:
                found.append(here)
                count -= here
                break
            index -= ways
    return tuple(found)


def positions(gaps: Sequence[int]) -> tuple[int, ...]:
    """Frame of each looked-at object in the trial, with the delays before it."""
    at, found = 0, [0]
    for gap in gaps:
        at += gap + 1
        found.append(at)
    return tuple(found)
