"""Sessions from tasks: several tasks in one trial, and objects that are there to be ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scene_specs.benchmarks.iwisdm.autotask import AutoTask
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.session import Placed, Session


def alone(task: AutoTask) -> Session:
    """A trial of one task, answered in its last frame."""
    return Session(task.frames, (Placed(task.task, task.frames - 1),))


def chained(tasks: Sequence[AutoTask], draws: Draws) -> Session:
    """Several tasks in one trial, each answered in its own last frame.

    Each but the first begins at or after the frame that its predecessor shares from, itself drawn, and not after the
    trial's end so far. Where it would be answered together with another, it begins a frame later, and so on: with so
    many answers there are at most as many steps. Tasks look at the same object in a frame that they share.
    """
    placed: list[Placed] = []
    due: list[int] = []
    start = length = 0
    previous = 0
    for number, one in enumerate(tasks):
        if number:
            shareable = start + draws.below(previous + 1)
            start = shareable + draws.below(length - shareable + 1) if shareable < length else length
        while start + one.frames - 1 in due:
            start += 1
        due.append(start + one.frames - 1)
        placed.append(Placed(one.task.moved(start), due[-1]))
        length, previous = max(length, due[-1] + 1), one.frames
    return Session(length, tuple(placed))


def with_fillers(session: Session, most: int, draws: Draws) -> Session:
    """At most so many of the empty frames, drawn, show an object that no question is about."""
    return replace(session, fillers=tuple(sorted(draws.sample(session.empty, most))))


def with_described(session: Session, most: int, draws: Draws) -> Session:
    """At most so many frames, drawn, show a second object, to be ignored; what differs is said of the first.

    What is said must not be asked: location, or category where neither category nor identity is asked. Frames without
    such a property, displays of several objects, and frames of which a task picks one, stay as they are.
    """
    described: dict[int, str] = {}
    kept = {*session.objects, *session.picked_out}
    for frame in draws.shuffled([frame for frame in session.looked_at if frame not in kept]):
        asked = {name for one in session.placed for name in one.task.asked.get(frame, ())}
        free = [name for name in ("location",) if name not in asked]
        free += [] if asked & {"category", "identity"} else ["category"]
        if free and len(described) < most:
            described[frame] = draws.pick(free)
    return replace(session, described=dict(sorted(described.items())))
