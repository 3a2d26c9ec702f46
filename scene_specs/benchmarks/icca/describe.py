"""Referring expressions for one of several pictures: the shortest, and the one that a speaker finds step by step.

Full brevity (Dale, Cooking up referring expressions, ACL 1989): no expression that says less names the target.
Incremental (Dale and Reiter, Computational interpretations of the Gricean maxims in the generation of referring
expressions, Cognitive Science 19(2), 1995): values in an order of preference, each taken if it rules out something.
Theirs rule out objects; here, where an expression is about several things, what is ruled out is a reading: a way to
take the things for things of another picture (`scene_specs.benchmarks.icca.picture`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from scene_specs.benchmarks.icca.picture import Atom, Picture, part_of, readings

# What people name first: the type, then color (Pechmann 1989; Dale and Reiter's order), then the rest.
PREFERENCE: tuple[str, ...] = (
    "part", "category", "shape", "color", "size", "material", "left", "front",
)  # fmt: skip
TYPES: tuple[str, ...] = PREFERENCE[:3]
# Nothing longer is looked for by trying all; there are 41 values and relations in the largest picture made here.
LONGEST = 6


class SameError(ValueError):
    """Another picture shows all that the target shows: nothing can name it."""


def full_brevity(target: Picture, others: Sequence[Picture]) -> Picture:
    """A shortest description that is true of the target and of none of the others.

    Of several as short, the one with the most preferred values. Each value and each relation counts one. Raises
    SameError where there is none; falls back on `shortened` of the incremental one beyond six values.
    """
    refused = _readings(target, others)
    order = _order(target, others)
    for size in range(1, LONGEST + 1):
        for chosen in combinations(order, size):
            bits = sum(1 << k for k in chosen)
            if not any(bits & one == bits for one in refused):
                return part_of(target, bits)
    return shortened(target, others)


def incremental(target: Picture, others: Sequence[Picture]) -> Picture:
    """The description of the incremental algorithm; true of the target and of none of the others, often not shortest.

    Things that are rarest among the others come first, values of each by PREFERENCE; the type of what is spoken of is
    always said. Raises SameError.
    """
    return part_of(target, _typed(target, _incremental(target, others)))


def shortened(target: Picture, others: Sequence[Picture], types: bool = False) -> Picture:
    """The incremental description without what it can do without: values go from its end, each if the rest still names
    the target. types: things keep theirs, and go as a whole or not at all, and none becomes like another: to say which
    of two is meant would take more words than were left out. Raises SameError.
    """
    bits = _incremental(target, others)
    refused = _readings(target, others)
    atoms = target.atoms()

    def less(without: int) -> int:
        rest = bits & ~without
        if not rest or any(rest & one == rest for one in refused):
            return bits
        return bits if types and _alike(part_of(target, rest)) > _alike(part_of(target, bits)) else rest

    if types:
        bits = _typed(target, bits)
    for k in reversed(_order(target, others)):
        if not (types and atoms[k].name in TYPES):
            bits = less(1 << k)
    for thing in range(len(target.things)):
        bits = less(sum(1 << k for k, atom in enumerate(atoms) if thing in (atom.thing, atom.other)))
    return part_of(target, bits)


def _alike(description: Picture) -> int:
    """How many things say no more than another one says."""
    return len(description.things) - len({*description.things})


def _typed(target: Picture, bits: int) -> int:
    """The atoms, with the types of all things that they are about."""
    atoms = target.atoms()
    spoken = {k for j, atom in enumerate(atoms) if bits >> j & 1 for k in (atom.thing, atom.other)}
    for j, atom in enumerate(atoms):
        bits |= (atom.name in TYPES and atom.thing in spoken) << j
    return bits


def _incremental(target: Picture, others: Sequence[Picture]) -> int:
    left, bits = _readings(target, others), 0
    for k in _order(target, others):
        still = [one for one in left if one >> k & 1]
        if len(still) < len(left):
            bits |= 1 << k
            left = still
        if not left:
            return bits
    raise SameError("another picture shows all that this one shows")


def _readings(target: Picture, others: Sequence[Picture]) -> list[int]:
    found = [bits for other in others for bits in readings(target, other)]
    if any(bits.bit_count() == len(target.atoms()) for bits in found):
        raise SameError("another picture shows all that this one shows")
    return found


def _order(target: Picture, others: Sequence[Picture]) -> list[int]:
    """Indices of the target's atoms, in the order in which they are tried."""
    twins = [sum(thing in other.things for other in others) for thing in target.things]

    def place(pair: tuple[int, Atom]) -> tuple[int, int, int, int]:
        _, atom = pair
        # Relations come after all attributes: they are about things that were named.
        rare = min(twins[k] for k in (atom.thing, atom.other) if k >= 0)
        return (int(atom.other >= 0), rare, atom.thing, PREFERENCE.index(atom.name))

    return [k for k, _ in sorted(enumerate(target.atoms()), key=place)]


def length(description: Picture) -> int:
    """How much a description says: values and relations, each one."""
    return len(description.atoms())


def single_names(target: Picture, others: Sequence[Picture]) -> list[str]:
    """Single values that name the target: `color=red` true of it alone, `no color=red` true of all but it.

    Of relations: `left` or `front` of two things with all their attributes named.
    """
    own = {(atom.name, atom.value) for atom in target.atoms() if atom.other < 0}
    theirs = [{(atom.name, atom.value) for atom in other.atoms() if atom.other < 0} for other in others]
    found = [f"{name}={value}" for name, value in sorted(own) if not any((name, value) in one for one in theirs)]
    in_all = set.intersection(*theirs) if theirs else set()
    found += [f"no {name}={value}" for name, value in sorted(in_all - own)]
    attributes = sum(1 << k for k, atom in enumerate(target.atoms()) if atom.other < 0)
    refused = [bits for other in others for bits in readings(target, other)]
    for k, atom in enumerate(target.atoms()):
        bits = attributes | 1 << k
        if atom.other >= 0 and not any(bits & one == bits for one in refused):
            found.append(f"{atom.name} {atom.thing} {atom.other}")
    return found
