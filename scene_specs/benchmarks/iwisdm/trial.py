"""From tasks to one trial: wanted answers go backwards through the graphs, objects are found, values come forwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scene_specs.benchmarks.iwisdm.backwards import Options, Wanted, Way
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.graph import Shown
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import Value
from scene_specs.benchmarks.iwisdm.session import Placed, Session, check_session, slots
from scene_specs.benchmarks.iwisdm.solve import Relation, Solution, Variable, object_variables, side_of, solve
from scene_specs.benchmarks.iwisdm.stimuli import VARIANTS, Item, Stimuli
from scene_specs.benchmarks.iwisdm.wording import instruction, numbers, question

# Tries to fulfill what is wanted, each with other ways backwards through the joints.
TRIES = 40


@dataclass(frozen=True)
class Answered:
    """A task of a trial. constants: CONST node -> value. met: whether the answer is the one that was wanted."""

    placed: Placed
    constants: Mapping[int, str]
    value: Value
    met: bool


@dataclass(frozen=True)
class Trial:
    """frames: what each shows. described: see Session. answers: a text a frame, "null" where none is due."""

    session: Session
    frames: tuple[tuple[Shown, ...], ...]
    answered: tuple[Answered, ...]
    instruction: str
    answers: tuple[str, ...]


def answer_text(value: Value) -> str:
    """`true`, `false`, or the value of a property."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def make_trial(
    session: Session, wanted: Sequence[Wanted | None], stimuli: Stimuli, draws: Draws, options: Options | None = None
) -> Trial:
    """One trial of a session. wanted: an answer for each task, None for any.

    Objects that several tasks look at are found for all together. Where their answers can't all be had, the last
    task's is left open, then the last two, and so on: what was shown first decides. Raises SpecError where not even the
    session's own display can be had (more objects than places).
    """
    check_session(session)
    for fulfilled in range(len(wanted), -1, -1):
        open_ended = [*wanted[:fulfilled], *(None for _ in wanted[fulfilled:])]
        for _ in range(TRIES if any(open_ended) else 1):
            relations = _relations(session, open_ended, stimuli, draws, options or Options())
            if relations is None:
                continue
            solution = solve(_variables(session), relations, stimuli, draws)
            if solution is not None:
                return _trial(session, wanted, solution, draws)
    raise refused("no objects fulfill what the trial shows", "fewer objects in one frame, or fewer fixed values")


def _variables(session: Session) -> list[Variable]:
    found = [variable for frame, slot in slots(session) for variable in object_variables(frame, slot)]
    for number, one in enumerate(session.placed):
        for node in one.task.constants:
            if one.task.graph.nodes[node]["value"] is None:
                found.append((f"constant {one.task.property_of(node)}", number, node))
    return found


def _relations(
    session: Session, wanted: Sequence[Wanted | None], stimuli: Stimuli, draws: Draws, options: Options
) -> list[Relation] | None:
    """What objects must fulfill; None where this draw contradicts itself."""
    objects = slots(session)
    relations = [
        Relation(side_of("location", frame, slot), side_of("location", frame, other), False)
        for frame, slot in objects
        for other in range(slot)
    ]
    for frame, name in session.described.items():
        relations.append(Relation(side_of(name, frame, 0), side_of(name, frame, 1), False))
    for frame, other, name, equal in session.related:
        relations.append(Relation(side_of(name, frame, 0), side_of(name, other, 0), equal))
    for number, (one, aim) in enumerate(zip(session.placed, wanted, strict=True)):
        way = Way(one.task, number, session, stimuli, draws, options)
        if aim is not None and not way.backwards(aim):
            return None
        way.descriptions()
        relations += way.relations
    return relations


def _trial(session: Session, wanted: Sequence[Wanted | None], solution: Solution, draws: Draws) -> Trial:
    frames: list[list[Shown]] = [[] for _ in range(session.frames)]
    for frame, slot in slots(session):
        place, model, side = (solution[variable] for variable in object_variables(frame, slot))
        ignored = frame in session.fillers or (slot > 0 and frame in session.described)
        item = Item(place[0], model[0], model[1], side[0], draws.below(VARIANTS))
        frames[frame].append(Shown(item, ignored))
    answered = []
    for number, (one, aim) in enumerate(zip(session.placed, wanted, strict=True)):
        fixed = {node: one.task.graph.nodes[node]["value"] for node in one.task.constants}
        drawn = {v[2]: solution[v][0] for v in solution if v[0].startswith("constant ") and v[1] == number}
        constants = {**fixed, **drawn}
        value = one.task.evaluate(frames, constants)[one.task.root]
        answered.append(Answered(one, constants, value, aim is not None and aim.value == value))
    return _worded(session, frames, answered)


def _worded(session: Session, frames: Sequence[Sequence[Shown]], answered: Sequence[Answered]) -> Trial:
    number = numbers(frames)
    due: dict[int, list[str]] = {}
    questions = []
    for one in answered:
        at = one.placed.answer_frame
        due.setdefault(at, []).append(answer_text(one.value))
        questions.append((at, question(one.placed.task, one.constants, number)))
    answers = tuple("; ".join(due.get(frame, ["null"])) for frame in range(session.frames))
    text = instruction(frames, session.described, questions)
    return Trial(session, tuple(map(tuple, frames)), tuple(answered), text, answers)
