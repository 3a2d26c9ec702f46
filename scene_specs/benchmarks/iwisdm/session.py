"""The frame plan of a trial: which tasks look at which frames, and what else is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scene_specs.benchmarks.iwisdm.graph import TaskGraph
from scene_specs.benchmarks.iwisdm.input_errors import refused


@dataclass(frozen=True)
class Placed:
    """A task whose frames are those of the trial, and the frame in which its answer is due."""

    task: TaskGraph
    answer_frame: int


@dataclass(frozen=True)
class Session:
    """The frame plan of a trial: how many frames, which tasks, and what is shown beside what they look at.

    objects: frame -> how many objects stand there, where it is not one (a search display).
    fillers: empty frames that show an object to be ignored.
    described: frame -> property by which its object is told from a second one, to be ignored.
    related: (frame, other frame, property, whether equal), which the trial's display fulfills in any case.
    aims: task -> its answer, where the task's definition says it. shares: task -> probability of true, where not 0.5.
    """

    frames: int
    placed: tuple[Placed, ...]
    objects: Mapping[int, int] = field(default_factory=dict)
    fillers: tuple[int, ...] = ()
    described: Mapping[int, str] = field(default_factory=dict)
    related: tuple[tuple[int, int, str, bool], ...] = ()
    aims: Mapping[int, bool] = field(default_factory=dict)
    shares: Mapping[int, float] = field(default_factory=dict)

    @property
    def looked_at(self) -> tuple[int, ...]:
        """Frames that a task looks at, sorted."""
        return tuple(sorted({frame for one in self.placed for frame in one.task.frames}))

    @property
    def picked_out(self) -> tuple[int, ...]:
        """Frames of which a task picks an object by its description, sorted."""
        selects = ((one.task, node) for one in self.placed for node in one.task.selects)
        return tuple(sorted({task.frame(node) for task, node in selects if task.children[node]}))

    @property
    def empty(self) -> tuple[int, ...]:
        """Frames that show nothing, sorted."""
        filled = {*self.looked_at, *self.fillers, *self.objects}
        return tuple(frame for frame in range(self.frames) if frame not in filled)


def check_session(session: Session) -> None:
    """Raises SpecError for a plan that can't be said in words, or shows a task something else than it expects."""
    empty = {*session.empty}
    problems = []
    if any(frame >= session.frames for frame in (*session.looked_at, *session.fillers, *session.objects)):
        problems.append(f"a task looks at a frame outside the trial's {session.frames}")
    if {*session.fillers} & {*session.looked_at}:
        problems.append("an object to be ignored stands in a frame that a task looks at")
    if any(not 1 <= count <= 4 for count in session.objects.values()):
        problems.append("a frame shows more than four objects, or none")
    if any(session.objects.get(frame, 1) != 1 or frame not in session.looked_at for frame in session.described):
        problems.append("an object is described that does not stand alone in a frame that a task looks at")
    if {*session.described} & {*session.picked_out}:
        problems.append("an object is described in a frame of which a task picks an object by another description")
    for one in session.placed:
        at = one.answer_frame
        if not max(one.task.frames) <= at < session.frames:
            problems.append(f"an answer is due in frame {at}, before all was seen or after the trial's end")
        if at in empty and at + 1 in empty:
            problems.append(f"an answer is due in frame {at}, amid a delay; an instruction can't say so")
    if problems:
        raise refused("; ".join(problems))


def slots(session: Session) -> list[tuple[int, int]]:
    """(frame, slot) of every object, by frame."""
    counts = dict.fromkeys((*session.looked_at, *session.fillers), 1) | dict(session.objects)
    counts |= dict.fromkeys(session.described, 2)
    return [(frame, slot) for frame in sorted(counts) for slot in range(counts[frame])]
