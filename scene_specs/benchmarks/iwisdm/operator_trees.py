"""Trees of operators that a configuration allows, counted bottom up by what its limits restrict (`Measure`).

Swapping the sides of a comparison or of And and Or gives another tree, as in the published code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import NamedTuple

from scene_specs.benchmarks.iwisdm.autotask_config import AutoTaskConfig
from scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from scene_specs.benchmarks.iwisdm.operators import Grammar
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from scene_specs.language.errors import spec_error

# A tree: (operator, child, child, ...).
Structure = tuple[object, ...]
# Groups of properties, in the order of `Uses`. Category and identity are one group, because an identity reveals its
# category.
GROUPS: tuple[tuple[str, ...], ...] = (("location",), ("category", "identity"), ("view_angle",))
# Number of Selects per group.
Uses = tuple[int, ...]
_ROOT = "root"
# Most rows of children to enumerate, a few seconds' work; the largest benchmark has 26,000.
MAX_ROWS = 500_000


def group_of(name: str) -> int:
    """Index of a property's group."""
    return next(index for index, names in enumerate(GROUPS) if name in names)


def locate(index: int, sizes: Iterable[int]) -> tuple[int, int]:
    """The segment that contains an index, and the index within it, for consecutive segments of these sizes.

    Raises IndexError beyond the last segment.
    """
    for segment, size in enumerate(sizes):
        if index < size:
            return segment, index
        index -= size
    raise IndexError("the number is beyond the last one")


class Measure(NamedTuple):
    """operators: of the largest question in a tree. uses: Selects per group of properties."""

    operators: int
    joins: int
    switches: int
    uses: Uses


class Room(NamedTuple):
    """The limits that remain for a tree: levels of operators, and Switches."""

    depth: int
    switches: int


# Trees of one measure: (operator at the top, room, measure).
Child = tuple[str, Room, Measure]


@dataclass
class Cell:
    """Trees of one measure. parts: (weight, count, rows of children) that they are made of."""

    weight: float = 0.0
    count: int = 0
    parts: list[tuple[float, int, tuple[Child, ...]]] = field(default_factory=list)


class Trees:
    """Tables of trees, filled on demand.

    Raises SpecError for operators that the grammar lacks or that are not allowed in their place, and, while counting,
    for a configuration with more than MAX_ROWS rows of children.
    """

    def __init__(self, config: AutoTaskConfig, grammar: Grammar) -> None:
        self.config, self.grammar = config, grammar
        self._tables: dict[tuple[str, Room], dict[Measure, Cell]] = {}
        self._row_count = 0
        for key, names, allowed in (
            ("roots", config.roots, ("boolean", *PROPERTIES)),
            ("booleans", config.booleans, ("boolean",)),
        ):
            for name in names:
                if grammar.operator(name).gives not in allowed:
                    hint = f"expected one that gives {', '.join(allowed)}"
                    hint = "use switch_probability instead" if name == "Switch" else hint
                    raise spec_error(f"{key}: found operator {name!r}", hint)

    def questions(self) -> list[tuple[float, Cell, Child]]:
        """Complete questions: (probability of the operator, its trees of one measure, their key)."""
        return self._slot_trees(_ROOT, Room(self.config.max_depth, self.config.max_switches))

    def _slot_operators(self, word: str, room: Room) -> list[tuple[float, str]]:
        """Operators that are allowed in a slot, with their probabilities. "root" is the slot of a complete question."""
        config = self.config
        if word == "boolean":
            return [(1 / len(config.booleans), name) for name in config.booleans]
        if word not in (_ROOT, "question"):
            return [(1.0, self.grammar.names(word)[0] if word in PROPERTIES else word)]
        # A Switch inside a branch is half as likely as one at the root.
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
        if (name, room) in self._tables:
            return self._tables[name, room]
        table = self._tables[name, room] = {}
        if room.depth < 1:
            return table
        for weight, row in self._rows(name):
            slots = [self._slot_trees(word, self._room_below(name, word, room)) for word in row]
            self._row_count += prod(map(len, slots))
            if self._row_count > MAX_ROWS:
                problem = "the configuration allows more kinds of tasks than can be counted"
                raise spec_error(problem, "lower max_depth, max_operators, joins or max_switches")
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

    def _room_below(self, name: str, word: str, room: Room) -> Room:
        """Room of a child. The children of a Switch are complete questions."""
        if self.grammar.operator(name).gives != "branch":
            return Room(room.depth - 1, 0)
        return Room(self.config.max_depth, 0 if word == "boolean" else room.switches - 1)

    def _slot_trees(self, word: str, room: Room) -> list[tuple[float, Cell, Child]]:
        """The trees of a slot: (probability of the operator, its trees of one measure, their key)."""
        found = []
        for chance, name in self._slot_operators(word, room):
            found += [(chance, cell, (name, room, measure)) for measure, cell in self._table(name, room).items()]
        return found

    def _measure(self, name: str, children: Sequence[Child]) -> Measure | None:
        """The measure of an operator over such children; None beyond the limits."""
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

    def draw(self, child: Child, rng: KeyedRng) -> Structure:
        """A random tree of a cell, by the configuration's weights."""
        name, room, measure = child
        parts = self._tables[name, room][measure].parts
        _, _, children = parts[rng.weighted([share for share, _, _ in parts])]
        return (name, *(self.draw(one, rng) for one in children))

    def tree(self, child: Child, index: int) -> Structure:
        """Tree `index` of a cell. Raises IndexError beyond their count."""
        name, room, measure = child
        parts = self._tables[name, room][measure].parts
        part, index = locate(index, (count for _, count, _ in parts))
        trees = []
        for one in parts[part][2]:
            index, at = divmod(index, self._tables[one[0], one[1]][one[2]].count)
            trees.append(self.tree(one, at))
        return (name, *trees)
