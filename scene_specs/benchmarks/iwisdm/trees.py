"""Trees of operators that a configuration allows, counted by what its limits ask of them (`Measure`), bottom up.

Sides of a comparison or a joint that change places make another tree, as in the published code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import NamedTuple

from scene_specs.benchmarks.iwisdm.config import AutoTaskConfig
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import Grammar
from scene_specs.benchmarks.iwisdm.schedule import GROUPS, Uses, group_of
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES

# A tree: (operator, child, child, ...).
Structure = tuple[object, ...]


class Measure(NamedTuple):
    """operators: of the largest question in it. uses: Selects a group of properties."""

    operators: int
    joins: int
    switches: int
    uses: Uses


@dataclass
class Cell:
    """Trees of one measure. parts: the rows of children that they come from, each child (operator, room, measure)."""

    weight: float = 0.0
    count: int = 0
    parts: list[tuple[float, int, tuple[Child, ...]]] = field(default_factory=list)


class Room(NamedTuple):
    """What is left for a tree: operators below each other, and Switches."""

    depth: int
    switches: int


Child = tuple[str, Room, Measure]
_ROOT = "root"
# Rows of children that are gone through, a few seconds' work; the largest benchmark has 26,000.
MOST_ROWS = 500_000


class Trees:
    """Tables of trees, filled as they are asked for.

    Raises SpecError for operators that the grammar lacks or that can't stand where they are asked for, and, while
    counting, for a configuration with more than MOST_ROWS rows of children.
    """

    def __init__(self, config: AutoTaskConfig, grammar: Grammar) -> None:
        self.config, self.grammar = config, grammar
        self._tables: dict[tuple[str, Room], dict[Measure, Cell]] = {}
        self._rows_seen = 0
        for word, names, allowed in (
            ("roots", config.roots, ("boolean", *PROPERTIES)),
            ("booleans", config.booleans, ("boolean",)),
        ):
            for name in names:
                if grammar.operator(name).gives not in allowed:
                    hint = (
                        "switch_probability asks for those"
                        if name == "Switch"
                        else f"expected one that gives {', '.join(allowed)}"
                    )
                    raise refused(f"{word}: found operator {name!r}", hint)

    def questions(self) -> list[tuple[float, Cell, Child]]:
        """Whole questions: (probability of the operator, its trees of one measure, where they are)."""
        return self._filled(_ROOT, Room(self.config.max_depth, self.config.max_switches))

    def _slot(self, word: str, room: Room) -> list[tuple[float, str]]:
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

    def _table(self, name: str, room: Room) -> dict[Measure, Cell]:
        """Trees with an operator at the top that fit into the room."""
        key = (name, room)
        if key not in self._tables:
            self._tables[key] = self._made(name, room)
        return self._tables[key]

    def _made(self, name: str, room: Room) -> dict[Measure, Cell]:
        table: dict[Measure, Cell] = {}
        if room.depth < 1:
            return table
        for weight, row in self._rows(name):
            slots = [self._filled(word, self._below(name, word, room)) for word in row]
            self._rows_seen += prod(map(len, slots))
            if self._rows_seen > MOST_ROWS:
                raise refused(
                    "the configuration allows more kinds of tasks than can be counted",
                    "lower max_depth, max_operators, joins or max_switches",
                )
            for children in product(*slots):
                measure = self._measure(name, [child for _, _, child in children])
                if measure is None:
                    continue
                share, count = weight, 1
                for chance, cell, _ in children:
                    share *= chance * cell.weight
                    count *= cell.count
                target = table.setdefault(measure, Cell())
                target.weight += share
                target.count += count
                target.parts.append((share, count, tuple(child for _, _, child in children)))
        return table

    def _below(self, name: str, word: str, room: Room) -> Room:
        """Room of a child. Below a Switch stand whole questions."""
        if self.grammar.operator(name).gives != "branch":
            return Room(room.depth - 1, 0)
        return Room(self.config.max_depth, 0 if word == "boolean" else room.switches - 1)

    def _filled(self, word: str, room: Room) -> list[tuple[float, Cell, Child]]:
        """What may stand in a slot: (probability of the operator, its trees of one measure, where they are)."""
        found = []
        for chance, name in self._slot(word, room):
            found += [(chance, cell, (name, room, measure)) for measure, cell in self._table(name, room).items()]
        return found

    def _measure(self, name: str, children: Sequence[Child]) -> Measure | None:
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

    def drawn(self, child: Child, draws: Draws) -> Structure:
        """A tree of those at a place, by the configuration's weights."""
        name, room, measure = child
        parts = self._tables[name, room][measure].parts
        _, _, children = parts[draws.weighted([share for share, _, _ in parts])]
        return (name, *(self.drawn(one, draws) for one in children))

    def tree(self, child: Child, index: int) -> Structure:
        """Tree `index` of those at a place. Raises IndexError beyond their count."""
        name, room, measure = child
        for _, count, children in self._tables[name, room][measure].parts:
            if index >= count:
                index -= count
                continue
            trees = []
            for one in children:
                index, at = divmod(index, self._tables[one[0], one[1]][one[2]].count)
                trees.append(self.tree(one, at))
            return (name, *trees)
        raise IndexError("no tree has this number")
