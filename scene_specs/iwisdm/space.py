"""All tasks that a configuration allows: how many, one at random by its weights, any one by its number. No task is
built to be thrown away: limits on joints, operators and frames are part of the count.

A structure is a tree of operators, a task a structure with a frame for every Select. Trees are counted by what the
limits ask of them (`Measure`), bottom up; sides of a comparison or joint that change places make another tree, as in
the published code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

from scene_specs.iwisdm.config import AutoTaskConfig
from scene_specs.iwisdm.draws import Draws
from scene_specs.iwisdm.operators import GRAMMAR, Grammar
from scene_specs.iwisdm.schedule import GROUPS, Uses, assignment, assignments, delay, delays, group_of, positions
from scene_specs.iwisdm.stimuli import PROPERTIES

# A tree: (operator, child, child, ...).
Structure = tuple[object, ...]


class Measure(NamedTuple):
    """operators: of the largest question in it. uses: Selects a group of properties."""

    operators: int
    joins: int
    switches: int
    uses: Uses


@dataclass
class _Cell:
    """Trees of one measure. parts: the rows of children that they come from, each child (operator, room, measure)."""

    weight: float = 0.0
    count: int = 0
    parts: list[tuple[float, int, tuple[_Child, ...]]] = field(default_factory=list)


class _Room(NamedTuple):
    """What is left for a tree: operators below each other, and Switches."""

    depth: int
    switches: int


_Child = tuple[str, _Room, Measure]
_Table = dict[Measure, _Cell]
_ROOT = "root"


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
        self._tables: dict[tuple[str, _Room], _Table] = {}
        for name in (*config.roots, *config.booleans):
            grammar.operator(name)

    # Trees.

    def _slot(self, word: str, room: _Room) -> list[tuple[float, str]]:
        """Operators that may stand in a slot, with their probabilities. "root" is the question that is asked."""
        config = self.config
        if word == "boolean":
            return [(1 / len(config.booleans), name) for name in config.booleans]
        if word not in (_ROOT, "question"):
            return [(1.0, self.grammar.names(word)[0] if word in PROPERTIES else word)]
        # Below a Switch another one is half as likely: two must be able to stand beside a branch without.
        share = config.switch_probability / (1 if word == _ROOT else 2) if room.switches else 0.0
        found = [((1 - share) / len(config.roots), name) for name in config.roots]
        return [(weight, name) for weight, name in [*found, (share, "Switch")] if weight > 0]

    def _rows(self, name: str) -> list[tuple[float, tuple[str, ...]]]:
        """Rows of slots below an operator, with their probabilities."""
        operator, config = self.grammar.operator(name), self.config
        if operator.equal is None:
            return [(1 / len(operator.arms), arm) for arm in operator.arms]
        rows = []
        for arm in operator.arms:
            (about,) = {word for word in arm if word != "CONST"}
            if about in config.properties:
                share = config.constant if about in config.constant_properties else 0.0
                rows.append((share / 2 if "CONST" in arm else 1 - share, arm))
        return [(weight / len(config.properties), arm) for weight, arm in rows if weight > 0]

    def _table(self, name: str, room: _Room) -> _Table:
        """Trees with an operator at the top that fit into the room."""
        key = (name, room)
        if key not in self._tables:
            self._tables[key] = self._made(name, room)
        return self._tables[key]

    def _made(self, name: str, room: _Room) -> _Table:
        table: _Table = {}
        if room.depth < 1:
            return table
        for weight, row in self._rows(name):
            slots = [self._filled(word, self._below(name, word, room)) for word in row]
            for children in product(*slots):
                measure = self._measure(name, [child for _, _, child in children])
                if measure is None:
                    continue
                share, count = weight, 1
                for chance, cell, _ in children:
                    share *= chance * cell.weight
                    count *= cell.count
                target = table.setdefault(measure, _Cell())
                target.weight += share
                target.count += count
                target.parts.append((share, count, tuple(child for _, _, child in children)))
        return table

    def _below(self, name: str, word: str, room: _Room) -> _Room:
        """Room of a child. Below a Switch stand whole questions."""
        if self.grammar.operator(name).gives != "branch":
            return _Room(room.depth - 1, 0)
        return _Room(self.config.max_depth, 0 if word == "boolean" else room.switches - 1)

    def _filled(self, word: str, room: _Room) -> list[tuple[float, _Cell, _Child]]:
        """What may stand in a slot: (probability of the operator, its trees of one measure, where they are)."""
        found = []
        for chance, name in self._slot(word, room):
            found += [(chance, cell, (name, room, measure)) for measure, cell in self._table(name, room).items()]
        return found

    def _measure(self, name: str, children: Sequence[_Child]) -> Measure | None:
        """Of an operator over such children; None beyond the limits."""
        operator, config = self.grammar.operator(name), self.config
        measures = [measure for _, _, measure in children]
        uses = [sum(column) for column in zip(*(m.uses for m in measures), strict=True)] or [0] * len(GROUPS)
        if operator.gives in PROPERTIES:
            uses[group_of(operator.gives)] += 1
        branch = operator.gives == "branch"
        operators = max(m.operators for m in measures) if branch else 1 + sum(m.operators for m in measures)
        joins = operator.join + sum(m.joins for m in measures)
        switches = branch + sum(m.switches for m in measures)
        if operators > config.max_operators or joins > config.joins[1] or switches > config.max_switches:
            return None
        return Measure(operators, joins, switches, tuple(uses))

    @cached_property
    def _cells(self) -> list[tuple[float, _Cell, _Child, tuple[tuple[float, Plan], ...]]]:
        """Whole questions of every measure for which there are frames, with these."""
        room = _Room(self.config.max_depth, self.config.max_switches)
        found = []
        for chance, cell, child in self._filled(_ROOT, room):
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
        return (self._tree(child, k) for _, cell, child, _ in self._cells for k in range(cell.count))

    # One of them.

    def drawn(self, draws: Draws) -> DrawnTask:
        """A task by the configuration's weights. Raises ValueError for an empty space."""
        weights = [weight for weight, _, _, _ in self._cells]
        _, _, child, plans = self._cells[draws.weighted(weights)]
        return self._scheduled(self._drawn_tree(child, draws), child, plans, draws)

    def task(self, index: int) -> DrawnTask:
        """Task `index` of `tasks`, in a fixed order."""
        for _, cell, child, plans in self._cells:
            if index < cell.count * _ways(plans):
                tree, index = divmod(index, _ways(plans))
                return self._placed(self._tree(child, tree), child, plans, index)
            index -= cell.count * _ways(plans)
        raise IndexError("no task has this number")

    def with_structure(self, index: int, draws: Draws) -> DrawnTask:
        """Structure `index` of `structures`, with frames drawn."""
        for _, cell, child, plans in self._cells:
            if index < cell.count:
                return self._scheduled(self._tree(child, index), child, plans, draws)
            index -= cell.count
        raise IndexError("no structure has this number")

    def _drawn_tree(self, child: _Child, draws: Draws) -> Structure:
        name, room, measure = child
        parts = self._tables[name, room][measure].parts
        _, _, children = parts[draws.weighted([share for share, _, _ in parts])]
        return (name, *(self._drawn_tree(one, draws) for one in children))

    def _tree(self, child: _Child, index: int) -> Structure:
        name, room, measure = child
        for _, count, children in self._tables[name, room][measure].parts:
            if index >= count:
                index -= count
                continue
            trees = []
            for one in children:
                index, at = divmod(index, self._tables[one[0], one[1]][one[2]].count)
                trees.append(self._tree(one, at))
            return (name, *trees)
        raise IndexError("no tree has this number")

    def _scheduled(
        self, tree: Structure, child: _Child, plans: Sequence[tuple[float, Plan]], draws: Draws
    ) -> DrawnTask:
        chosen = draws.weighted([weight for weight, _ in plans])
        before = _ways(plans[:chosen])
        return self._placed(tree, child, plans, before + draws.below(_ways(plans[chosen : chosen + 1])))

    def _placed(self, tree: Structure, child: _Child, plans: Sequence[tuple[float, Plan]], index: int) -> DrawnTask:
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
