"""Answers to aim at: each as likely, or each exactly as often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from scene_specs.benchmarks.iwisdm.backwards import Wanted, domain
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.graph import TaskGraph
from scene_specs.benchmarks.iwisdm.operators import Value
from scene_specs.benchmarks.iwisdm.stimuli import Stimuli

_Item = TypeVar("_Item")


class Chance:
    """Each choice as likely as the others."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def choose(self, _key: str, options: Sequence[_Item]) -> _Item:
        """One of the options."""
        return self._draws.pick(options)


class Balance:
    """Choices of one key go through all options, in a new order each round: counts differ by one at most."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._taken: Counter[str] = Counter()
        self._rounds: dict[str, list[int]] = {}

    def choose(self, key: str, options: Sequence[_Item]) -> _Item:
        """One of the options; a key has the same options always."""
        turn, place = divmod(self._taken[key], len(options))
        self._taken[key] += 1
        if place == 0:
            draws = Draws(self._seed, self._name, f"balance {key} {turn}")
            self._rounds[key] = draws.shuffled(range(len(options)))
        return options[self._rounds[key][place]]


def wanted_for(task: TaskGraph, stimuli: Stimuli, by: Chance | Balance) -> Wanted:
    """An answer to aim at, and the way through the Switches that leads to it.

    Where all branches give answers of one kind, every answer is aimed at through every branch as often; where not, the
    branches come first, and then the answers of what the branch gives.
    """
    leaves = _leaves(task, task.root)
    kinds = [kind for _, kind in leaves]
    if len({*kinds}) == 1:
        value: Value = by.choose(kinds[0], domain(kinds[0], stimuli))
        conditions, _ = by.choose(f"{len(leaves)} ways to {value}", leaves)
    else:
        conditions, kind = by.choose(" ".join(kinds), leaves)
        value = by.choose(kind, domain(kind, stimuli))
    return Wanted(value, conditions)


def _leaves(task: TaskGraph, node: int) -> list[tuple[tuple[bool, ...], str]]:
    """(truth of each condition on the way, kind of the answer) of every question below a Switch."""
    if task.operator(node).gives != "branch":
        return [((), task.operator(node).gives)]
    _, then, other = task.children[node]
    ways = [((True, *way), kind) for way, kind in _leaves(task, then)]
    return ways + [((False, *way), kind) for way, kind in _leaves(task, other)]
