"""Splits of tasks: structures or compositions that only one split has. They depend on neither seed nor settings."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.iwisdm.autotask import Structure, get_properties, without_values
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng

# Shares of the splits.
_SHARES = {"train": 0.6, "val": 0.2, "test": 0.2}
# With this number, each split of each packaged benchmark has tasks, and train has every comparison, `and` and `or`.
_NUMBER = 30


def split_has(tree: Structure, split: str, hold_out: str) -> bool:
    """Whether a split may have a task with these operators.

    hold_out: "structures": each tree, without its constants, belongs to one split. "compositions": each pair of
    comparisons that stand below one operator does; train has tasks of its own pairs only, another split those with at
    least one pair of its own and none of the third split.
    """
    if hold_out == "structures":
        return _split_of(without_values(tree)) == split
    found = {_split_of(pair) for pair in _compositions(tree)} or {"train"}
    return found <= {"train", split} and split in found


def _split_of(key: object) -> str:
    return [*_SHARES][KeyedRng(_NUMBER, str(key), "hold out").weighted([*_SHARES.values()])]


def _compositions(tree: Structure) -> Iterator[tuple[object, ...]]:
    """(operator, comparison, comparison) for each pair below an operator; the order of the two does not matter."""
    children = [child for child in tree[1:] if isinstance(child, tuple)]
    kinds = sorted((str(one[0]), next(get_properties(one))) for one in children if one[0] in ("IsSame", "NotSame"))
    if tree[0] in ("And", "Or") and len(kinds) == 2:
        yield (tree[0], *kinds)
    for child in children:
        yield from _compositions(child)
