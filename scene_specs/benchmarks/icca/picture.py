"""What a picture shows, as a graph: things with attributes, relations between them. Descriptions are such graphs, too.

A description is true of a picture if its things can be taken for different things of the picture, so that all its
attributes and relations hold: expressions as subgraphs (Krahmer, van Erk and Verleg, Graph-based generation of
referring expressions, Computational Linguistics 29(1), 2003).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

# Relations are kept in this form; their opposites are the same relations, said from the other side.
STORED: Mapping[str, tuple[str, bool]] = {
    "left": ("left", False), "right": ("left", True), "front": ("front", False), "behind": ("front", True),
}  # fmt: skip
# Ways to take five things for five are 120; of more than seven nothing here is made.
MOST_THINGS = 7


class Atom(NamedTuple):
    """One value of one thing, or (value "") one relation of a thing to another."""

    name: str
    value: str
    thing: int
    other: int = -1


@dataclass(frozen=True)
class Picture:
    """things: of each its attributes, (name, value), in a fixed order. relations: (left or front, thing, of thing)."""

    things: tuple[tuple[tuple[str, str], ...], ...]
    relations: tuple[tuple[str, int, int], ...] = ()

    def atoms(self) -> tuple[Atom, ...]:
        """Everything that can be said of it: attributes thing by thing, then relations."""
        said = [Atom(name, value, k) for k, thing in enumerate(self.things) for name, value in thing]
        return (*said, *(Atom(name, "", thing, other) for name, thing, other in self.relations))

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        found: dict[str, Any] = {"things": [dict(thing) for thing in self.things]}
        if self.relations:
            found["relations"] = [list(one) for one in self.relations]
        return found


def picture_of(things: Sequence[Mapping[str, str]], relations: Sequence[Sequence[Any]] = ()) -> Picture:
    """From attributes and (relation, thing, of thing), in any of the four words; relations come out sorted."""
    stored = set()
    for name, thing, other in relations:
        base, turned = STORED[name]
        stored.add((base, other, thing) if turned else (base, thing, other))
    return Picture(tuple(tuple(thing.items()) for thing in things), tuple(sorted(stored)))


def picture_from(data: Mapping[str, Any]) -> Picture:
    """From JSON data. Raises ValueError for what is none."""
    things: Any = data.get("things") if isinstance(data, Mapping) else None
    relations: Any = data.get("relations", []) if isinstance(data, Mapping) else None
    good = (
        isinstance(things, list)
        and len(things) <= MOST_THINGS
        and all(
            isinstance(thing, dict) and all(isinstance(k, str) and isinstance(v, str) for k, v in thing.items())
            for thing in things
        )
    )
    if not good or not isinstance(relations, list):
        raise ValueError(f"expected things, at most {MOST_THINGS}, each an object of words, and a list of relations")
    for one in relations:
        whole = isinstance(one, list) and len(one) == 3 and one[0] in STORED
        if not whole or not all(isinstance(k, int) and 0 <= k < len(things) for k in one[1:]):
            raise ValueError(f"found relation {one!r}; expected [relation, thing, of thing]")
    return picture_of(things, relations)


@lru_cache(maxsize=4096)
def readings(said: Picture, seen: Picture) -> tuple[int, ...]:
    """Bit sets over said.atoms(): what holds under each way to take its things for different things of `seen`.

    Only sets that are in no other of them; never empty. Bit k is atom k. A thing may be taken for none.
    """
    atoms = said.atoms()
    values = [dict(thing) for thing in seen.things]
    stands = {*seen.relations}
    places: list[int | None] = [*range(len(seen.things))]
    places += [None] * max(0, len(said.things) - len(seen.things))
    found = set()
    for taken in permutations(places, len(said.things)):
        bits = 0
        for k, atom in enumerate(atoms):
            at = taken[atom.thing]
            if at is None:
                continue
            holds = (
                values[at].get(atom.name) == atom.value
                if atom.other < 0
                else (atom.name, at, taken[atom.other]) in stands
            )
            bits |= holds << k
        found.add(bits)
    kept: list[int] = []
    for bits in sorted(found, key=lambda one: (-one.bit_count(), one)):
        if not any(bits | other == other for other in kept):
            kept.append(bits)
    return tuple(kept)


def holds(description: Picture, picture: Picture) -> bool:
    """Whether a description is true of a picture."""
    everything = (1 << len(description.atoms())) - 1
    return readings(description, picture)[0] == everything


def agreement(description: Picture, picture: Picture) -> int:
    """How many of a description's values and relations hold at most, under one way to read it."""
    return readings(description, picture)[0].bit_count()


def differences(one: Picture, other: Picture) -> int:
    """How many values and relations of the first differ in the second, things matched so that they are fewest.

    Symmetric for pictures with as many values and relations.
    """
    return len(one.atoms()) - agreement(one, other)


def part_of(picture: Picture, chosen: int) -> Picture:
    """The description that says the atoms of these bits, and only things that these speak of."""
    atoms = [atom for k, atom in enumerate(picture.atoms()) if chosen >> k & 1]
    used = sorted({k for atom in atoms for k in (atom.thing, atom.other) if k >= 0})
    things = [tuple((name, value) for name, value in picture.things[k] if Atom(name, value, k) in atoms) for k in used]
    relations = [(atom.name, used.index(atom.thing), used.index(atom.other)) for atom in atoms if atom.other >= 0]
    return Picture(tuple(things), tuple(relations))
