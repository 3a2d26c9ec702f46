"""Frame plans: which tasks of a trial look at which frames, and what else the frames show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.stimuli import Stimuli
from diorama.scene_specs.benchmarks.iwisdm.task_graph import PlacedTask
from diorama.scene_specs.errors import spec_error

# ("location" | "model" | "view_angle", frame, slot), or ("constant <property>", task, node).
Variable = tuple[str, int, int]
# (category, identity) of a "model", else (value,).
Choice = tuple[str, ...]
# (plan, answer of each task, stimuli, rng) -> plan.
Details = Callable[["FramePlan", Sequence[bool], Stimuli, KeyedRng], "FramePlan"]


class Term(NamedTuple):
    """One property of one variable."""

    variable: Variable
    name: str

    def value(self, choice: Choice) -> str:
        """Return the property's value for a choice of the variable."""
        return choice[1] if self.name == "identity" and len(choice) > 1 else choice[0]


class Constraint(NamedTuple):
    """Two terms, or a term and a fixed value, are equal or not."""

    left: Term
    right: Term | str
    equal: bool


def object_term(name: str, frame: int, slot: int) -> Term:
    """Return a property of one object."""
    return Term(("model" if name in ("category", "identity") else name, frame, slot), name)


@dataclass(frozen=True)
class FramePlan:
    """The frames of a trial: how many, which tasks look at them, and what else is shown.

    Attributes:
        objects: frame -> number of objects, where it is not one (a search display).
        fillers: empty frames that show a distractor.
        described: frame -> property that distinguishes its object from a distractor beside it.
        tied: what every trial fulfills besides.
        details: adds what decides the answers of all tasks, given their wanted answers; see Details.
        aims: task -> its answer, where the definition of the task fixes it.
        shares: task -> probability of true, where it is not 0.5.
    """

    frames: int
    placed: tuple[PlacedTask, ...]
    objects: Mapping[int, int] = field(default_factory=dict)
    fillers: tuple[int, ...] = ()
    described: Mapping[int, str] = field(default_factory=dict)
    tied: tuple[Constraint, ...] = ()
    details: Details | None = None
    aims: Mapping[int, bool] = field(default_factory=dict)
    shares: Mapping[int, float] = field(default_factory=dict)

    @property
    def looked_at(self) -> tuple[int, ...]:
        """Frames that a task looks at, sorted."""
        return tuple(sorted({frame for placed in self.placed for frame in placed.task.frames}))

    @property
    def picked_out(self) -> tuple[int, ...]:
        """Frames in which a task selects an object by its description, sorted."""
        selects = ((placed.task, node) for placed in self.placed for node in placed.task.selects)
        return tuple(sorted({task.frame(node) for task, node in selects if task.children[node]}))

    @property
    def empty(self) -> tuple[int, ...]:
        """Frames that show nothing, sorted."""
        filled = {*self.looked_at, *self.fillers, *self.objects}
        return tuple(frame for frame in range(self.frames) if frame not in filled)

    def slots(self) -> list[tuple[int, int]]:
        """(frame, slot) of every object, by frame."""
        counts = dict.fromkeys((*self.looked_at, *self.fillers), 1) | dict(self.objects)
        counts |= dict.fromkeys(self.described, 2)
        return [(frame, slot) for frame in sorted(counts) for slot in range(counts[frame])]

    def check(self) -> None:
        """Raise SpecError for a plan that an instruction can't express, or that breaks what its tasks expect."""
        empty = {*self.empty}
        problems = []
        if any(frame >= self.frames for frame in (*self.looked_at, *self.fillers, *self.objects)):
            problems.append(f"a task looks at a frame outside the trial's {self.frames}")
        if {*self.fillers} & {*self.looked_at}:
            problems.append("a distractor fills a frame that a task looks at")
        if any(not 1 <= count <= 4 for count in self.objects.values()):
            problems.append("a frame shows more than four objects, or none")
        if any(self.objects.get(frame, 1) != 1 or frame not in self.looked_at for frame in self.described):
            problems.append("a described object is not alone in a frame that a task looks at")
        if {*self.described} & {*self.picked_out}:
            problems.append("an object is described in a frame of which a task picks an object by another description")
        for placed in self.placed:
            at = placed.answer_frame
            if not max(placed.task.frames) <= at < self.frames:
                problems.append(f"an answer is due in frame {at}, before its last object or after the trial's end")
            if at in empty and at + 1 in empty:
                problems.append(f"an answer is due in frame {at}, amid a delay; an instruction can't express that")
        if problems:
            raise spec_error("; ".join(problems))


def chained(tasks: Sequence[PlacedTask], rng: KeyedRng) -> FramePlan:
    """One or more tasks in one trial, each answered in its own last frame.

    Each task after the first starts at a drawn frame: at or after a frame that is itself drawn from the preceding
    task, and not after the trial's present end. It starts later by as many frames as needed for an answer frame of its
    own. Tasks look at the same object in a frame that they share.
    """
    placed: list[PlacedTask] = []
    due: list[int] = []
    start = length = previous = 0
    for number, task in enumerate(tasks):
        if number:
            shareable = start + rng.below(previous + 1)
            start = shareable + rng.below(length - shareable + 1) if shareable < length else length
        while start + task.answer_frame in due:
            start += 1
        due.append(start + task.answer_frame)
        placed.append(PlacedTask(task.task.moved(start) if start else task.task, due[-1]))
        length, previous = max(length, due[-1] + 1), task.answer_frame + 1
    return FramePlan(length, tuple(placed))


def with_fillers(plan: FramePlan, most: int, rng: KeyedRng) -> FramePlan:
    """At most `most` of the empty frames, drawn, show a distractor that no question is about."""
    return replace(plan, fillers=tuple(sorted(rng.sample(plan.empty, most))))


def with_described(plan: FramePlan, most: int, rng: KeyedRng) -> FramePlan:
    """At most `most` frames, drawn, show a distractor as a second object; the first is described by what differs.

    The description uses a property that no task asks about: location, or category where neither category nor identity
    is asked. Frames without such a property, displays of several objects, and frames in which a task selects an object
    are unchanged.
    """
    described: dict[int, str] = {}
    unchanged = {*plan.objects, *plan.picked_out}
    for frame in rng.shuffled([frame for frame in plan.looked_at if frame not in unchanged]):
        asked = {name for placed in plan.placed for name in placed.task.asked.get(frame, ())}
        free = [name for name in ("location",) if name not in asked]
        free += [] if asked & {"category", "identity"} else ["category"]
        if free and len(described) < most:
            described[frame] = rng.pick(free)
    return replace(plan, described=dict(sorted(described.items())))
