"""AutoTask: all tasks that a configuration allows, counted, numbered, and drawn without repetition.

A structure is a tree of operators (`operator_trees`). A task is a structure with a frame for every Select. Limits on
joints, operators and frames are part of the count, so no task is built and then rejected.

Selects come in groups of properties; a question uses each object at most once per group. The frames that a task looks
at are numbered 0 ... m - 1 here; delays are inserted between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from math import comb, factorial, perm
from typing import NamedTuple

from scene_specs.benchmarks.iwisdm.autotask_config import AutoTaskConfig
from scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from scene_specs.benchmarks.iwisdm.operator_trees import Cell, Child, Structure, Trees, Uses, group_of, locate
from scene_specs.benchmarks.iwisdm.operators import GRAMMAR, Grammar
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from scene_specs.benchmarks.iwisdm.task_graph import Expression, PlacedTask, TaskGraph
from scene_specs.language.errors import spec_error

_TRIES = 100
# Largest space that is enumerated in a random order when draws only repeat earlier tasks.
_MAX_ENUMERATED = 2**20


@lru_cache(maxsize=100_000)
def count_assignments(uses: Uses, objects: int, covered: int = 0) -> int:
    """Number of ways to assign a frame to every Select: different ones within a group, all `objects` frames used.

    covered: frames that earlier groups use already.
    """
    if not uses:
        return int(covered == objects)
    return sum(
        ways * count_assignments(uses[1:], objects, covered + new)
        for new, ways in _group_ways(uses[0], objects, covered)
        if ways
    )


def _group_ways(use: int, objects: int, covered: int) -> list[tuple[int, int]]:
    """(number of newly used frames, ways) for one group."""
    return [
        (new, comb(covered, use - new) * comb(objects - covered, new) * factorial(use))
        for new in range(max(0, use - covered), min(use, objects - covered) + 1)
    ]


def assignment(uses: Uses, objects: int, index: int) -> tuple[tuple[int, ...], ...]:
    """Way `index` of count_assignments: a tuple of frames per group."""
    seen: list[int] = []
    found = []
    for position, use in enumerate(uses):
        options = _group_ways(use, objects, len(seen))
        rests = [count_assignments(uses[position + 1 :], objects, len(seen) + new) for new, _ in options]
        chosen, index = locate(index, (ways * rest for (_, ways), rest in zip(options, rests, strict=True)))
        new = options[chosen][0]
        here, index = divmod(index, rests[chosen])
        fresh = [frame for frame in range(objects) if frame not in seen]
        here, order = divmod(here, factorial(use))
        which_old, which_new = divmod(here, comb(len(fresh), new))
        frames = [*_combination(sorted(seen), use - new, which_old), *_combination(fresh, new, which_new)]
        found.append(_permutation(frames, order))
        seen += [frame for frame in frames if frame not in seen]
    return tuple(found)


def _combination(items: Sequence[int], count: int, index: int) -> list[int]:
    """Combination number `index` of `count` items, in lexicographic order."""
    if count == 0:
        return []
    first, index = locate(index, (comb(left, count - 1) for left in reversed(range(len(items)))))
    return [items[first], *_combination(items[first + 1 :], count - 1, index)]


def _permutation(items: Sequence[int], index: int) -> tuple[int, ...]:
    left, found = list(items), []
    for size in range(len(left), 0, -1):
        at, index = divmod(index, perm(size - 1))
        found.append(left.pop(at))
    return tuple(found)


@lru_cache(maxsize=10_000)
def count_delays(gaps: int, count: int, longest: int | None) -> int:
    """Number of ways to put `count` empty frames into gaps, at most `longest` into each."""
    if gaps == 0:
        return int(count == 0)
    most = count if longest is None else min(count, longest)
    return sum(count_delays(gaps - 1, count - here, longest) for here in range(most + 1))


def delay_lengths(gaps: int, count: int, longest: int | None, index: int) -> tuple[int, ...]:
    """Way `index` of count_delays: number of empty frames in each gap."""
    found: list[int] = []
    for gap in range(gaps, 0, -1):
        most = count if longest is None else min(count, longest)
        here, index = locate(index, (count_delays(gap - 1, count - k, longest) for k in range(most + 1)))
        found.append(here)
        count -= here
    return tuple(found)


def frame_positions(gaps: Sequence[int]) -> tuple[int, ...]:
    """The trial's frame of each object, given the delays between them."""
    at, found = 0, [0]
    for gap in gaps:
        at += gap + 1
        found.append(at)
    return tuple(found)


class FrameCounts(NamedTuple):
    """frames: length of a trial. shown: frames that are looked at. assignments, delays: ways to arrange each."""

    frames: int
    shown: int
    assignments: int
    delays: int

    @property
    def ways(self) -> int:
        """Number of arrangements."""
        return self.assignments * self.delays


_Options = Sequence[tuple[float, FrameCounts]]


class DrawnTask(NamedTuple):
    """A structure, the frame of every Select in depth-first order, and the number of frames."""

    structure: Structure
    looks: tuple[int, ...]
    frames: int


class TaskSpace:
    """The tasks of a configuration. Raises SpecError for a configuration with operators that the grammar lacks."""

    def __init__(self, config: AutoTaskConfig, grammar: Grammar = GRAMMAR) -> None:
        self.config, self.grammar = config, grammar
        self._trees = Trees(config, grammar)

    @cached_property
    def _cells(self) -> list[tuple[float, Cell, Child, _Options]]:
        """Complete questions of each measure that fits into some number of frames: (weight, trees, key, options)."""
        found = []
        for chance, cell, child in self._trees.questions():
            options = self._frame_options(child[2].uses)
            if child[2].joins >= self.config.joins[0] and options and chance * cell.weight > 0:
                found.append((chance * cell.weight, cell, child, options))
        return found

    def _frame_options(self, uses: Uses) -> _Options:
        """The numbers of frames that are possible for these Selects, with weights."""
        config, total, fewest = self.config, sum(uses), max(uses)
        found = []
        for shown in range(max(fewest, 1), total + 1):
            reused = config.reuse ** (total - shown) * (1 - config.reuse) ** (shown - fewest)
            ways = count_assignments(uses, shown)
            for frames in range(max(shown, config.frames[0]), config.frames[1] + 1):
                empty = frames - shown
                if config.max_delays is not None and empty > config.max_delays:
                    continue
                gaps = count_delays(shown - 1, empty, config.longest_delay)
                weight = reused * config.delay**empty * (1 - config.delay) ** max(0, shown - 1 - empty)
                if weight * ways * gaps > 0:
                    found.append((weight, FrameCounts(frames, shown, ways, gaps)))
        return tuple(found)

    @cached_property
    def structures(self) -> int:
        """Number of structures."""
        return sum(cell.count for _, cell, _, _ in self._cells)

    @cached_property
    def tasks(self) -> int:
        """Number of tasks: structures with their frames."""
        return sum(cell.count * _ways(options) for _, cell, _, options in self._cells)

    def draw(self, rng: KeyedRng) -> DrawnTask:
        """A task by the configuration's weights. Raises ValueError for an empty space."""
        weights = [weight for weight, _, _, _ in self._cells]
        _, _, child, options = self._cells[rng.weighted(weights)]
        return self._draw_frames(self._trees.draw(child, rng), child, options, rng)

    def task(self, index: int) -> DrawnTask:
        """Task `index` of `tasks`, in a fixed order. Raises IndexError."""
        at, index = locate(index, (cell.count * _ways(options) for _, cell, _, options in self._cells))
        _, _, child, options = self._cells[at]
        tree, index = divmod(index, _ways(options))
        return self._place(self._trees.tree(child, tree), child, options, index)

    def draw_with_structure(self, index: int, rng: KeyedRng) -> DrawnTask:
        """Structure `index` of `structures`, with drawn frames. Raises IndexError."""
        at, index = locate(index, (cell.count for _, cell, _, _ in self._cells))
        _, _, child, options = self._cells[at]
        return self._draw_frames(self._trees.tree(child, index), child, options, rng)

    def _draw_frames(self, tree: Structure, child: Child, options: _Options, rng: KeyedRng) -> DrawnTask:
        chosen = rng.weighted([weight for weight, _ in options])
        before = _ways(options[:chosen])
        return self._place(tree, child, options, before + rng.below(options[chosen][1].ways))

    def _place(self, tree: Structure, child: Child, options: _Options, index: int) -> DrawnTask:
        """A structure with arrangement `index` of all options."""
        at, index = locate(index, (counts.ways for _, counts in options))
        counts = options[at][1]
        way, gap = divmod(index, counts.delays)
        groups = [iter(frames) for frames in assignment(child[2].uses, counts.shown, way)]
        empty = counts.frames - counts.shown
        frames = frame_positions(delay_lengths(counts.shown - 1, empty, self.config.longest_delay, gap))
        looks = tuple(frames[next(groups[group])] for group in _select_groups(tree, self.grammar))
        return DrawnTask(tree, looks, counts.frames)


def _ways(options: _Options) -> int:
    return sum(counts.ways for _, counts in options)


def _select_groups(tree: Structure, grammar: Grammar) -> Iterator[int]:
    """The group of the property that each Select is asked for, depth first."""
    gives = grammar.operators[str(tree[0])].gives
    for child in tree[1:]:
        assert isinstance(child, tuple)
        if child[0] == "Select":
            yield group_of(gives)
        else:
            yield from _select_groups(child, grammar)


class AutoTasks:
    """Tasks 0, 1, 2, ... of a space; each depends on seed, name and the tasks before it.

    unique: what distinguishes two tasks: their operators ("structure"), their operators or the frames that these look
    at ("frames"), or nothing ("none"). Raises SpecError where `needed` exceeds the size of the space.
    """

    def __init__(self, space: TaskSpace, seed: int, name: str, unique: str = "frames", needed: int = 1) -> None:
        self.space, self.seed, self.name, self.unique = space, seed, name, unique
        self.size = space.structures if unique == "structure" else space.tasks
        if self.size == 0:
            hint = "joints, depth and delays must leave as many frames as a trial has"
            raise spec_error("no task fits the configuration", hint)
        if unique != "none" and needed > self.size:
            different = "operators" if unique == "structure" else "operators or frames"
            hint = "ask for fewer tasks, more trials per task, longer delays, or tasks that need not differ"
            raise spec_error(f"asked for {needed} tasks that differ in {different}; there are {self.size}", hint)
        self._seen: set[Structure | DrawnTask] = set()
        self._tasks: list[DrawnTask] = []
        self._rest: Iterator[int] | None = None

    def task(self, number: int) -> PlacedTask:
        """Task `number`; its answer is due in the last frame. Raises SpecError beyond the size of the space."""
        if self.unique == "none":
            drawn = self.space.draw(self._rng(number))
        else:
            while len(self._tasks) <= number:
                self._tasks.append(self._draw_new(self._rng(len(self._tasks))))
            drawn = self._tasks[number]
        task = TaskGraph.of(_expression(drawn, self.space.grammar), self.space.grammar)
        return PlacedTask(task, drawn.frames - 1)

    def _rng(self, number: int) -> KeyedRng:
        return KeyedRng(self.seed, self.name, f"task {number}")

    def _draw_new(self, rng: KeyedRng) -> DrawnTask:
        for _ in range(_TRIES):
            drawn = self.space.draw(rng)
            if self._is_new(drawn):
                return drawn
        return self._enumerate_new(rng)

    def _enumerate_new(self, rng: KeyedRng) -> DrawnTask:
        """The next new task by number: in a random order, or in a large space from a random number on."""
        if self._rest is None and self.size <= _MAX_ENUMERATED:
            self._rest = iter(KeyedRng(self.seed, self.name, "order").shuffled(range(self.size)))
        start = rng.below(self.size)
        for index in self._rest or ((start + step) % self.size for step in range(self.size)):
            by_structure = self.unique == "structure"
            drawn = self.space.draw_with_structure(index, rng) if by_structure else self.space.task(index)
            if self._is_new(drawn):
                return drawn
        raise spec_error(f"asked for more tasks than the {self.size} that there are")

    def _is_new(self, drawn: DrawnTask) -> bool:
        key = drawn.structure if self.unique == "structure" else drawn
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _expression(drawn: DrawnTask, grammar: Grammar) -> Expression:
    looks = iter(drawn.looks)

    def build(tree: Structure, about: str | None) -> Expression:
        name = str(tree[0])
        if name == "Select":
            return Expression(name, frame=next(looks))
        if name == "CONST":
            return Expression(name, property=about)
        children = [child for child in tree[1:] if isinstance(child, tuple)]
        given = [grammar.operators[str(child[0])].gives for child in children]
        compared = next((word for word in given if word in PROPERTIES), None)
        return Expression(name, tuple(build(child, compared) for child in children))

    return build(drawn.structure, None)
