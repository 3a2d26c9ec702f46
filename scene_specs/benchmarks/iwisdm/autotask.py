"""AutoTask: draws tasks, rejects those beyond the limits, and draws again until they differ from earlier tasks.

A structure is a tree of operators; a task is a structure with a frame for every Select. `published_tasks` has the
published procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import GRAMMAR
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from diorama.scene_specs.benchmarks.iwisdm.task_graph import Expression, PlacedTask, TaskGraph
from diorama.scene_specs.errors import spec_error

# A tree: (operator, child, child, ...). ("CONST", value) is a constant, ("CONST",) one that each trial draws.
Structure = tuple[object, ...]
# Draws of one task. The rarest tasks of the published benchmarks, medium ones about identities, take 340 on average.
MAX_DRAWS = 20_000


class DrawnTask(NamedTuple):
    """A structure, the frame of every Select in depth-first order, and the number of frames."""

    structure: Structure
    looks: tuple[int, ...]
    frames: int

    def key(self, unique: str) -> tuple[object, ...]:
        """Return what distinguishes this task from others: see AutoTasks.

        As in the published code, a single comparison differs by its constant, but not by the order of its sides, and
        other tasks differ by the order of sides, but not by constants.
        """
        if unique == "frames":
            return self
        name, *children = self.structure
        return (name, *sorted(children, key=str)) if name in ("IsSame", "NotSame") else without_values(self.structure)


def children_of(tree: Structure) -> list[Structure]:
    """Return what an operator works on; a constant has a value instead."""
    return [child for child in tree[1:] if isinstance(child, tuple)]


def without_values(tree: Structure) -> Structure:
    """Return the tree with constants that each trial draws."""
    return (tree[0], *map(without_values, children_of(tree)))


class AutoTasks:
    """Tasks 0, 1, 2, ... of a way to draw; each depends on seed, name and the tasks before it.

    Args:
        draw: gives a random task; None if it is beyond the limits, to be drawn again.
        unique: what distinguishes two tasks: their operators ("structure"), their operators or the frames that these
            look at ("frames"), or nothing ("none").
        accepts: whether a task may be used.
    """

    def __init__(
        self, draw: Callable[[KeyedRng], DrawnTask | None], seed: int, name: str, unique: str = "frames",
        accepts: Callable[[DrawnTask, PlacedTask], bool] = lambda drawn, placed: True,
    ) -> None:  # fmt: skip
        self._draw, self._seed, self._name, self._unique, self._accepts = draw, seed, name, unique, accepts
        self._seen: set[tuple[object, ...]] = set()
        self._tasks: list[PlacedTask] = []

    def task(self, number: int) -> PlacedTask:
        """Task `number`; its answer is due in the last frame. Raises SpecError if draws only repeat earlier tasks."""
        if self._unique == "none":
            return self._draw_new(number)
        while len(self._tasks) <= number:
            self._tasks.append(self._draw_new(len(self._tasks)))
        return self._tasks[number]

    def _draw_new(self, number: int) -> PlacedTask:
        rng = KeyedRng(self._seed, self._name, f"task {number}")
        repeated = 0
        for _ in range(MAX_DRAWS):
            drawn = self._draw(rng)
            if placed := self._new_task(drawn):
                return placed
            repeated += drawn is not None and drawn.key(self._unique) in self._seen
        if repeated:
            different = "operators" if self._unique == "structure" else "operators or frames"
            problem = f"found {number} tasks that differ in {different}; {repeated} more draws repeated them"
            raise spec_error(problem, "ask for fewer tasks, more trials per task, or tasks that need not differ")
        hint = "joins, depth and delays must leave as many frames as a trial has, and --hold-out tasks to the split"
        raise spec_error(f"no task fits the configuration, in {MAX_DRAWS} draws", hint)

    def _new_task(self, drawn: DrawnTask | None) -> PlacedTask | None:
        """Return the task, if it is a new one that may be used."""
        if drawn is None or drawn.key(self._unique) in self._seen:
            return None
        placed = PlacedTask(TaskGraph.of(_expression_of(drawn)), drawn.frames - 1)
        if not self._accepts(drawn, placed):
            return None
        if self._unique != "none":
            self._seen.add(drawn.key(self._unique))
        return placed


def get_properties(tree: Structure) -> Iterator[str]:
    """Yield the property that each Select is asked for, depth first."""
    for child in children_of(tree):
        if child[0] == "Select":
            yield GRAMMAR.operators[str(tree[0])].gives
        else:
            yield from get_properties(child)


def _expression_of(drawn: DrawnTask) -> Expression:
    looks = iter(drawn.looks)

    def build(tree: Structure, about: str | None) -> Expression:
        name = str(tree[0])
        if name == "Select":
            return Expression(name, frame=next(looks))
        if name == "CONST":
            return Expression(name, property=about, value=str(tree[1]) if tree[1:] else None)
        children = children_of(tree)
        given = [GRAMMAR.operators[str(child[0])].gives for child in children]
        compared = next((word for word in given if word in PROPERTIES), None)
        return Expression(name, tuple(build(child, compared) for child in children))

    return build(drawn.structure, None)
