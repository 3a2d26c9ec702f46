"""All tasks that a configuration allows: how many, one at random by its weights, any one by its number. No task is
built to be thrown away: limits on joints, operators and frames are part of the count.

A structure is a tree of operators (see iwisdm.trees). A task is a structure with a frame for every Select.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from scene_specs.benchmarks.iwisdm.config import AutoTaskConfig
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.operators import GRAMMAR, Grammar
from scene_specs.benchmarks.iwisdm.schedule import Uses, assignment, assignments, delay, delays, group_of, positions
from scene_specs.benchmarks.iwisdm.trees import Cell, Child, Structure, Trees


class Plan(NamedTuple):
    """Numbers of a trial's frames. shown: frames that are looked at. ways: arrangements of Selects, then of delays."""

    frames: int
    shown: int
    ways: tuple[int, int]


@dataclass(frozen=True)
class DrawnTask:
    """A structure, the frame of every Select in depth-first order, and how many frames there are."""

    structure: Structure
    looks: tuple[int, ...]
    frames: int


class Space:
    """The tasks of a configuration. Raises SpecError for a configuration with operators that the grammar lacks."""

    def __init__(self, config: AutoTaskConfig, grammar: Grammar = GRAMMAR) -> None:
        self.config, self.grammar = config, grammar
        self._trees = Trees(config, grammar)

    @cached_property
    def _cells(self) -> list[tuple[float, Cell, Child, tuple[tuple[float, Plan], ...]]]:
        """Whole questions of every measure for which there are frames, with these."""
        found = []
        for chance, cell, child in self._trees.questions():
            plans = self._plans(child[2].uses)
            if child[2].joins >= self.config.joins[0] and plans and chance * cell.weight > 0:
                found.append((chance * cell.weight, cell, child, plans))
        return found

    # Frames.

    def _plans(self, uses: Uses) -> tuple[tuple[float, Plan], ...]:
        """The numbers of frames that so many Selects can have, with weights."""
        config, total, fewest = self.config, sum(uses), max(uses)
        found = []
        for shown in range(max(fewest, 1), total + 1):
            reused = config.reuse ** (total - shown) * (1 - config.reuse) ** (shown - fewest)
            ways = assignments(uses, shown)
            for frames in range(max(shown, config.frames[0]), config.frames[1] + 1):
                empty = frames - shown
                if config.max_delays is not None and empty > config.max_delays:
                    continue
                gaps = delays(shown - 1, empty, config.longest_delay)
                weight = reused * config.delay**empty * (1 - config.delay) ** max(0, shown - 1 - empty)
                if weight * ways * gaps > 0:
                    found.append((weight, Plan(frames, shown, (ways, gaps))))
        return tuple(found)

    # Counts.

    @cached_property
    def structures(self) -> int:
        """How many structures there are that have frames."""
        return sum(cell.count for _, cell, _, _ in self._cells)

    @cached_property
    def tasks(self) -> int:
        """How many tasks: structures with their frames."""
        return sum(cell.count * _ways(plans) for _, cell, _, plans in self._cells)

    def all_structures(self) -> Iterator[Structure]:
        """Each structure once. Of benchmarks with a Switch there are hundreds of thousands."""
        return (self._trees.tree(child, k) for _, cell, child, _ in self._cells for k in range(cell.count))

    # One of them.

    def drawn(self, draws: Draws) -> DrawnTask:
        """A task by the configuration's weights. Raises ValueError for an empty space."""
        weights = [weight for weight, _, _, _ in self._cells]
        _, _, child, plans = self._cells[draws.weighted(weights)]
        return self._scheduled(self._trees.drawn(child, draws), child, plans, draws)

    def task(self, index: int) -> DrawnTask:
        """Task `index` of `tasks`, in a fixed order."""
        for _, cell, child, plans in self._cells:
            if index < cell.count * _ways(plans):
                tree, index = divmod(index, _ways(plans))
                return self._placed(self._trees.tree(child, tree), child, plans, index)
            index -= cell.count * _ways(plans)
        raise IndexError("no task has this number")

    def with_structure(self, index: int, draws: Draws) -> DrawnTask:
        """Structure `index` of `structures`, with frames drawn."""
        for _, cell, child, plans in self._cells:
            if index < cell.count:
                return self._scheduled(self._trees.tree(child, index), child, plans, draws)
            index -= cell.count
        raise IndexError("no structure has this number")

    def _scheduled(self, tree: Structure, child: Child, plans: Sequence[tuple[float, Plan]], draws: Draws) -> DrawnTask:
        chosen = draws.weighted([weight for weight, _ in plans])
        before = _ways(plans[:chosen])
        return self._placed(tree, child, plans, before + draws.below(_ways(plans[chosen : chosen + 1])))

    def _placed(self, tree: Structure, child: Child, plans: Sequence[tuple[float, Plan]], index: int) -> DrawnTask:
        for _, plan in plans:
            if index < plan.ways[0] * plan.ways[1]:
                break
            index -= plan.ways[0] * plan.ways[1]
        way, gap = divmod(index, plan.ways[1])
        uses = child[2].uses
        groups = [iter(frames) for frames in assignment(uses, plan.shown, way)]
        empty = plan.frames - plan.shown
        at = positions(delay(plan.shown - 1, empty, self.config.longest_delay, gap))
        looks = tuple(at[next(groups[group])] for group in _groups(tree, self.grammar))
        return DrawnTask(tree, looks, plan.frames)


def _ways(plans: Sequence[tuple[float, Plan]]) -> int:
    return sum(plan.ways[0] * plan.ways[1] for _, plan in plans)


def _groups(tree: Structure, grammar: Grammar) -> Iterator[int]:
    """The group of the property that each Select is asked for, depth first."""
    gives = grammar.operators[str(tree[0])].gives
    for child in tree[1:]:
        assert isinstance(child, tuple)
        if child[0] == "Select":
            yield group_of(gives)
        else:
            yield from _groups(child, grammar)
