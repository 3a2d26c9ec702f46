"""AutoTask: a row of tasks drawn from a configuration, no two the same, and never a search without an end."""

from __future__ import annotations

from typing import NamedTuple

from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.graph import Expression, TaskGraph
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import Grammar
from scene_specs.benchmarks.iwisdm.space import DrawnTask, Space
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from scene_specs.benchmarks.iwisdm.trees import Structure

# What makes two tasks different: their operators; their operators or the frames these look at; nothing.
UNIQUE: tuple[str, ...] = ("structure", "frames", "none")
_TRIES = 100
# Spaces up to here are gone through in a random order when draws only find what was there before.
_LISTED = 2**20


class AutoTask(NamedTuple):
    """A task and the length of its trials; its answer is due in the last frame."""

    task: TaskGraph
    frames: int


class AutoTasks:
    """Tasks 0, 1, 2, ... of a space; a task depends on seed, name and those before it.

    Raises SpecError, at once, for more tasks than the space has.
    """

    def __init__(self, space: Space, seed: int, name: str, unique: str = "frames", needed: int = 1) -> None:
        self.space, self.seed, self.name, self.unique = space, seed, name, unique
        self.size = space.structures if unique == "structure" else space.tasks
        if self.size == 0:
            raise refused(
                "no task fits the configuration", "joints, depth and delays must leave as many frames as a trial has"
            )
        if unique != "none" and needed > self.size:
            different = "operators" if unique == "structure" else "operators or frames"
            raise refused(
                f"asked for {needed} tasks that differ in {different}; there are {self.size}",
                "ask for fewer, for more trials a task, for longer delays, or for tasks that may be alike",
            )
        self._seen: set[Structure | DrawnTask] = set()
        self._tasks: list[DrawnTask] = []
        self._order: list[int] | None = None
        self._next = 0

    def task(self, number: int) -> AutoTask:
        """Task `number`. Raises SpecError beyond the size of the space."""
        if self.unique == "none":
            drawn = self.space.drawn(Draws(self.seed, self.name, f"task {number}"))
        else:
            while len(self._tasks) <= number:
                self._tasks.append(self._another(len(self._tasks)))
            drawn = self._tasks[number]
        return AutoTask(TaskGraph.of(_expression(drawn, self.space.grammar), self.space.grammar), drawn.frames)

    def _another(self, number: int) -> DrawnTask:
        draws = Draws(self.seed, self.name, f"task {number}")
        for _ in range(_TRIES):
            drawn = self.space.drawn(draws)
            if self._is_new(drawn):
                return drawn
        return self._next_new(draws)

    def _next_new(self, draws: Draws) -> DrawnTask:
        """Through all numbers of the space, each once; a large one from a random place on."""
        if self._order is None and self.size <= _LISTED:
            self._order = Draws(self.seed, self.name, "order").shuffled(range(self.size))
        start = draws.below(self.size)
        for step in range(self.size):
            if self._order is not None:
                if self._next == self.size:
                    break
                index, self._next = self._order[self._next], self._next + 1
            else:
                index = (start + step) % self.size
            drawn = self.space.with_structure(index, draws) if self.unique == "structure" else self.space.task(index)
            if self._is_new(drawn):
                return drawn
        raise refused(f"asked for more tasks than the {self.size} that there are")

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
        named = next((word for word in given if word in PROPERTIES), None)
        return Expression(name, tuple(build(child, named) for child in children))

    return build(drawn.structure, None)
