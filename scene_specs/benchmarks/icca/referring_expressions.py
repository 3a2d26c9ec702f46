"""Referring expressions for one of several images: which attributes to mention, and how they read in English.

Full brevity (Dale, Cooking up referring expressions, ACL 1989): no shorter expression identifies the target.
Incremental (Dale and Reiter, Computational interpretations of the Gricean maxims in the generation of referring
expressions, Cognitive Science 19(2), 1995): attributes in an order of preference, each kept if it rules out something.
The published algorithm rules out objects. Here an expression can be about several objects, so the algorithm rules out
readings: mappings to the objects of another image (`diorama.scene_specs.benchmarks.icca.layout`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from diorama.scene_specs.benchmarks.icca.layout import MAX_OBJECTS, Atom, SceneGraph, graph_of, readings, subgraph

# People name the type first, then the color (Pechmann 1989; the order of Dale and Reiter), then the rest.
PREFERENCE: tuple[str, ...] = (
    "part", "category", "shape", "color", "size", "material", "left", "front",
)  # fmt: skip
TYPES: tuple[str, ...] = PREFERENCE[:3]
# Longest expression that exhaustive search tries.
MAX_SEARCHED = 6

# Adjectives in English order, then nouns, which are the types.
ORDER: tuple[str, ...] = ("size", "color", "material", "shape", "category", "part")
RELATION_WORDS: Mapping[str, str] = {"left": "left of", "front": "in front of"}
# All relation words that a listener understands.
_HEARD = {"left of": "left", "right of": "right", "in front of": "front", "front of": "front", "behind": "behind"}
_ORDINALS: tuple[str, ...] = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_RELATION = re.compile(rf"\b({'|'.join(_HEARD)})\b")
NO_NOUN = "thing"
_AGAIN = re.compile(rf"\bthe\b(?: ({'|'.join(_ORDINALS)})\b)?")


class IndistinguishableError(ValueError):
    """Another image shows everything that the target shows, so no expression identifies the target."""

    def __init__(self) -> None:
        super().__init__("another image shows everything that this one shows")


def full_brevity(target: SceneGraph, others: Sequence[SceneGraph]) -> SceneGraph:
    """Return a shortest description that is true of the target and of none of the others.

    Among equally short ones, the one with the most preferred attributes. Each attribute and each relation counts one.
    Falls back to `pruned_incremental` beyond six. Raises IndistinguishableError.
    """
    ruled_out = _distractor_readings(target, others)
    order = _search_order(target, others)
    for size in range(1, MAX_SEARCHED + 1):
        for chosen in combinations(order, size):
            bits = sum(1 << k for k in chosen)
            if not any(bits & reading == bits for reading in ruled_out):
                return subgraph(target, bits)
    return pruned_incremental(target, others)


def incremental(target: SceneGraph, others: Sequence[SceneGraph]) -> SceneGraph:
    """Return the incremental algorithm's description: true of the target and of no other, often not the shortest.

    Objects that are rarest among the others come first, attributes of each by PREFERENCE. The type of every mentioned
    object is included. Raises IndistinguishableError.
    """
    return subgraph(target, _with_types(target, _incremental_bits(target, others)))


def pruned_incremental(target: SceneGraph, others: Sequence[SceneGraph], types: bool = False) -> SceneGraph:
    """Return the incremental description without its redundant parts, dropped from its end.

    Args:
        types: objects keep their types or go completely, and no object becomes identical to another: telling those two
            apart would take more words than were dropped. Raises IndistinguishableError.
    """
    bits = _incremental_bits(target, others)
    ruled_out = _distractor_readings(target, others)
    atoms = target.atoms()

    def dropped(without: int) -> int:
        rest = bits & ~without
        if not rest or any(rest & reading == rest for reading in ruled_out):
            return bits
        return bits if types and _doubles(subgraph(target, rest)) > _doubles(subgraph(target, bits)) else rest

    if types:
        bits = _with_types(target, bits)
    for k in reversed(_search_order(target, others)):
        if not (types and atoms[k].name in TYPES):
            bits = dropped(1 << k)
    for item in range(len(target.objects)):
        bits = dropped(sum(1 << k for k, atom in enumerate(atoms) if item in (atom.owner, atom.other)))
    return subgraph(target, bits)


def _doubles(description: SceneGraph) -> int:
    """Return the number of objects that are described exactly as another one."""
    return len(description.objects) - len({*description.objects})


def _with_types(target: SceneGraph, bits: int) -> int:
    """Return the atoms, and the types of all objects that they are about."""
    atoms = target.atoms()
    mentioned = {k for j, atom in enumerate(atoms) if bits >> j & 1 for k in (atom.owner, atom.other)}
    for j, atom in enumerate(atoms):
        bits |= (atom.name in TYPES and atom.owner in mentioned) << j
    return bits


def _incremental_bits(target: SceneGraph, others: Sequence[SceneGraph]) -> int:
    left, bits = _distractor_readings(target, others), 0
    for k in _search_order(target, others):
        still = [reading for reading in left if reading >> k & 1]
        if len(still) < len(left):
            bits |= 1 << k
            left = still
        if not left:
            return bits
    raise IndistinguishableError


def _distractor_readings(target: SceneGraph, others: Sequence[SceneGraph]) -> list[int]:
    distractor_readings = [bits for other in others for bits in readings(target, other)]
    if any(bits.bit_count() == len(target.atoms()) for bits in distractor_readings):
        raise IndistinguishableError
    return distractor_readings


def _search_order(target: SceneGraph, others: Sequence[SceneGraph]) -> list[int]:
    """Return indices of the target's atoms, in the order in which the algorithms try them."""
    occurrences = [sum(item in other.objects for other in others) for item in target.objects]

    def rank(pair: tuple[int, Atom]) -> tuple[int, int, int, int]:
        _, atom = pair
        # Relations come after all attributes: they are about objects that are named already.
        rarest = min(occurrences[k] for k in (atom.owner, atom.other) if k >= 0)
        return (int(atom.other >= 0), rarest, atom.owner, PREFERENCE.index(atom.name))

    return [k for k, _ in sorted(enumerate(target.atoms()), key=rank)]


def single_names(target: SceneGraph, others: Sequence[SceneGraph]) -> list[str]:
    """Single values that identify the target: `color=red` true of it alone, `no color=red` true of all except it.

    Also `left` or `front` between two objects whose attributes are all given.
    """
    own = {(atom.name, atom.value) for atom in target.atoms() if atom.other < 0}
    theirs = [{(atom.name, atom.value) for atom in other.atoms() if atom.other < 0} for other in others]
    singles = [f"{name}={value}" for name, value in sorted(own) if not any((name, value) in other for other in theirs)]
    in_all = set.intersection(*theirs) if theirs else set()
    singles += [f"no {name}={value}" for name, value in sorted(in_all - own)]
    attributes = sum(1 << k for k, atom in enumerate(target.atoms()) if atom.other < 0)
    ruled_out = [bits for other in others for bits in readings(target, other)]
    for k, atom in enumerate(target.atoms()):
        bits = attributes | 1 << k
        if atom.other >= 0 and not any(bits & reading == bits for reading in ruled_out):
            singles.append(f"{atom.name} {atom.owner} {atom.other}")
    return singles


def noun_phrase(item: Iterable[tuple[str, str]], article: str = "a") -> str:
    """Return `a small red metal cube`; without a noun `a red thing`."""
    values = dict(item)
    words = [values[name] for name in ORDER if name in values]
    if not any(name in values for name in TYPES):
        words.append(NO_NOUN)
    if article == "a":
        article = "" if words[-1].endswith("s") and words[-1][-2:] not in ("ss", "us") else article
    if article == "a" and words[0][0] in "aeiou":
        article = "an"
    return " ".join([article, *words] if article else words)


def text_of(description: SceneGraph) -> str:
    """Return `a red cube and a sphere left of a small cylinder`: a clause per relation, unrelated objects alone.

    Objects with equal descriptions read `a cube`, `another cube`, `a third cube`, and later `the first cube`, ...
    """
    mentioned: list[int] = []

    def phrase(k: int) -> str:
        item, first = description.objects[k], k not in mentioned
        if first:
            mentioned.append(k)
        rank = [j for j in mentioned if description.objects[j] == item].index(k)
        if description.objects.count(item) == 1:
            article = "a" if first else "the"
        elif first:
            article = ("a", "another", *(f"a {word}" for word in _ORDINALS[2:]))[rank]
        else:
            article = f"the {_ORDINALS[rank]}"
        return noun_phrase(item, article)

    related = {k for _, *pair in description.relations for k in pair}
    clauses = [phrase(k) for k in range(len(description.objects)) if k not in related]
    clauses += [f"{phrase(a)} {RELATION_WORDS[name]} {phrase(b)}" for name, a, b in description.relations]
    return " and ".join([", ".join(clauses[:-1]), clauses[-1]] if len(clauses) > 1 else clauses)


class Lexicon:
    """The attribute values of some images, word by word, and a parser of messages that use them."""

    def __init__(self, graphs: Sequence[SceneGraph]) -> None:
        self._names: dict[str, str] = {}
        for atom in (atom for graph in graphs for atom in graph.atoms() if atom.other < 0):
            self._names.setdefault(atom.value, atom.name)
        longest = sorted(self._names, key=lambda value: (-len(value), value))
        # Without any values the pattern must match nothing; an empty alternative would match everywhere.
        words = "|".join(map(re.escape, longest)) or r"(?!)"
        self._pattern = re.compile(rf"(?<![\w-])({words})(?![\w-])")

    def parse(self, message: str) -> SceneGraph:
        """Return the description that a message gives; unknown words are skipped.

        Values belong to one object up to the next value of the same kind, comma, `and` or relation. `the` refers to an
        object that was mentioned with the same values, `the first` or `the second` to one of several. A `thing` without
        values counts as one side of a relation only. Objects beyond MAX_OBJECTS are ignored.
        """
        objects: list[dict[str, str]] = []
        relations: list[tuple[str, int, int]] = []
        for clause in re.split(r"[,;.]|\band\b", message.lower()):
            sides = _RELATION.split(clause)
            at = [self._parse_part(side, objects, len(sides) > 1) for side in sides[::2]]
            for k, heard in enumerate(sides[1::2]):
                if at[k] and at[k + 1]:
                    relations.append((_HEARD[heard], at[k][-1], at[k + 1][0]))
        return graph_of(objects, relations)

    def _parse_part(self, text: str, objects: list[dict[str, str]], related: bool) -> list[int]:
        """Return indices of the objects that a part of a clause mentions; new ones are appended to `objects`.

        related: the part is one side of a relation.
        """
        mentioned: list[dict[str, str]] = []
        for value in self._pattern.findall(text):
            name = self._names[value]
            if not mentioned or name in mentioned[-1]:
                mentioned.append({})
            mentioned[-1][name] = value
        if related and not mentioned and re.search(rf"\b{NO_NOUN}\b", text):
            mentioned.append({})
        again = _AGAIN.search(text)
        indices = []
        for item in mentioned:
            equal = [k for k, known in enumerate(objects) if known == item]
            if again and equal:
                which = _ORDINALS.index(again[1]) if again[1] else 0
                indices.append(equal[min(which, len(equal) - 1)])
            elif len(objects) < MAX_OBJECTS:
                objects.append(item)
                indices.append(len(objects) - 1)
        return indices
