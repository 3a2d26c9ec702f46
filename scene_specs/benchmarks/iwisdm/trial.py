"""One trial: from wanted answers backward to objects, forward to values, and into words.

An instruction reads `observe object 1, delay, observe object 2, category of object 1 equals category of object 2?`
Objects are numbered by their frames. A run of empty frames is one `delay`. A joint below another joint stands in
brackets, because their order would be ambiguous otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diorama.scene_specs.benchmarks.iwisdm.constraints import (
    PUBLISHED,
    ConstraintBuilder,
    Requirements,
    Solution,
    TargetAnswer,
    answers_of,
    object_variables,
    solve,
)
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import Constraint, FramePlan, Variable, object_term
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import Value
from diorama.scene_specs.benchmarks.iwisdm.stimuli import VARIANTS, Item, Stimuli
from diorama.scene_specs.benchmarks.iwisdm.task_graph import PlacedTask, Shown, TaskGraph
from diorama.scene_specs.errors import spec_error

# Attempts to reach the wanted answers, each with other draws in the backward pass.
TRIES = 40


class Answered(NamedTuple):
    """A task of a trial.

    Attributes:
        constants: CONST node -> value.
    """

    placed: PlacedTask
    constants: Mapping[int, str]
    value: Value


class Trial(NamedTuple):
    """A trial of a task.

    Attributes:
        frames: the objects of each.
        answers: one text per frame, "null" where none is due.
    """

    frames: tuple[tuple[Shown, ...], ...]
    answered: tuple[Answered, ...]
    instruction: str
    answers: tuple[str, ...]


def answer_text(value: Value) -> str:
    """Return `true`, `false`, or the value of a property."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def make_trial(
    plan: FramePlan,
    wanted: Sequence[TargetAnswer | None],
    stimuli: Stimuli,
    rng: KeyedRng,
    required: Requirements = PUBLISHED,
    least: int = 0,
) -> Trial:
    """One trial of a frame plan.

    Objects that several tasks look at are solved for jointly. Where the answers are not possible together, the last
    task's answer is left open, then the last two, and so on, except the first `least`.

    Args:
        wanted: an answer for each task, None for any.

    Raises:
        SpecError: where even these or the plan's own display are impossible (more objects than places).
    """
    plan.check()
    for fulfilled in range(len(wanted), least - 1, -1):
        aims = [*wanted[:fulfilled], *(None for _ in wanted[fulfilled:])]
        for _ in range(TRIES if any(aims) else 1):
            constraints = _plan_constraints(plan, aims, stimuli, rng, required)
            if constraints is None:
                continue
            if (solution := solve(_plan_variables(plan), constraints, stimuli, rng)) is not None:
                return _build_trial(plan, solution, rng)
    problem = "no objects fulfill what the trial shows" + (" with the answer that is due" if least else "")
    raise spec_error(problem, "fewer objects in one frame, fewer fixed values or requirements, or more stimuli")


def attainable(placed: PlacedTask, stimuli: Stimuli, required: Requirements) -> bool:
    """Whether every answer of a task is possible on every way through its Switches.

    A task that asks about the categories of two objects and about their identities may have one answer only.
    """
    frames = [names for names in placed.task.asked.values() if {"category", "identity"} <= {*names}]
    if len(frames) < 2:
        return True
    plan, rng = FramePlan(placed.answer_frame + 1, (placed,)), KeyedRng(0, "attainable", "objects")
    for conditions, kind in placed.task.leaves():
        for value in answers_of(kind, stimuli):
            wanted = TargetAnswer(value, conditions)
            tries = (_plan_constraints(plan, [wanted], stimuli, rng, required) for _ in range(TRIES))
            if not any(c is not None and solve(_plan_variables(plan), c, stimuli, rng) is not None for c in tries):
                return False
    return True


def _plan_variables(plan: FramePlan) -> list[Variable]:
    of_objects = [variable for frame, slot in plan.slots() for variable in object_variables(frame, slot)]
    constants: list[Variable] = []
    for number, placed in enumerate(plan.placed):
        for node in placed.task.constants:
            if placed.task.graph.nodes[node]["value"] is None:
                constants.append((f"constant {placed.task.property_of(node)}", number, node))
    # Constants that depend on each other come first, because few of their values fit.
    return [*constants, *of_objects] if plan.tied else [*of_objects, *constants]


def _plan_constraints(
    plan: FramePlan, aims: Sequence[TargetAnswer | None], stimuli: Stimuli, rng: KeyedRng, required: Requirements
) -> list[Constraint] | None:
    """Return the constraints of the plan and of the wanted answers; None where the draws contradict each other."""
    constraints = [
        Constraint(object_term("location", frame, slot), object_term("location", frame, other), False)
        for frame, slot in plan.slots()
        for other in range(slot)
    ]
    for frame, name in plan.described.items():
        constraints.append(Constraint(object_term(name, frame, 0), object_term(name, frame, 1), False))
    constraints += plan.tied
    for number, aim in enumerate(aims):
        builder = ConstraintBuilder(plan, number, stimuli, rng, required)
        if aim is not None and not builder.propagate(aim):
            return None
        builder.describe_targets()
        constraints += builder.constraints
    return constraints


def _build_trial(plan: FramePlan, solution: Solution, rng: KeyedRng) -> Trial:
    frames: list[list[Shown]] = [[] for _ in range(plan.frames)]
    for frame, slot in plan.slots():
        location, model, side = (solution[variable] for variable in object_variables(frame, slot))
        distractor = frame in plan.fillers or (slot > 0 and frame in plan.described)
        frames[frame].append(Shown(Item(location[0], model[0], model[1], side[0], rng.below(VARIANTS)), distractor))
    numbers = object_numbers(frames)
    answered = []
    for number, placed in enumerate(plan.placed):
        fixed = {node: placed.task.graph.nodes[node]["value"] for node in placed.task.constants}
        drawn = {v[2]: solution[v][0] for v in solution if v[0].startswith("constant ") and v[1] == number}
        constants = {**fixed, **drawn}
        answered.append(Answered(placed, constants, placed.task.evaluate(frames, constants)[placed.task.root]))
    questions = [(placed.answer_frame, question(placed.task, constants, numbers)) for placed, constants, _ in answered]
    due = [(placed.answer_frame, answer_text(value)) for placed, _, value in answered]
    answers = ("; ".join(text for at, text in due if at == frame) or "null" for frame in range(plan.frames))
    text = instruction(frames, plan.described, questions)
    return Trial(tuple(map(tuple, frames)), tuple(answered), text, tuple(answers))


def object_numbers(frames: Sequence[Sequence[Shown]]) -> dict[int, int]:
    """Frame -> number of its object in the instruction, from 1; empty frames have none."""
    filled = [frame for frame, shown in enumerate(frames) if shown]
    return {frame: number for number, frame in enumerate(filled, 1)}


def question(task: TaskGraph, constants: Mapping[int, str], numbers: Mapping[int, int], node: int | None = None) -> str:
    """Return the text of a task's question.

    Args:
        numbers: see `object_numbers`.
        node: the root by default.
    """
    at = task.root if node is None else node
    if task.operator(at).gives != "branch":
        return f"{_node_words(task, constants, numbers, at)}?"
    condition, *branches = task.children[at]
    texts = (question(task, constants, numbers, branch) for branch in branches)
    return task.operator(at).text.format(_node_words(task, constants, numbers, condition), *texts)


def _node_words(task: TaskGraph, constants: Mapping[int, str], numbers: Mapping[int, int], node: int) -> str:
    name = task.graph.nodes[node]["operator"]
    if name == "CONST":
        return constants[node]
    if name == "Select":
        text = f"object {numbers[task.frame(node)]}"
        # A description after "of object 3" would be read as one of object 3, so nested ones come last.
        for child in sorted(task.children[node], key=lambda child: bool(task.children[child])):
            text += description(task.property_of(child), _node_words(task, constants, numbers, child))
        return text
    operator = task.operator(node)
    parts = []
    for child in task.children[node]:
        part = _node_words(task, constants, numbers, child)
        parts.append(f"({part})" if operator.join and task.operator(child).join else part)
    return operator.text.format(*parts)


def description(name: str, value: str) -> str:
    """Return the words after `object <n>` that distinguish an object from others in its frame."""
    return f" at location: {value}" if name == "location" else f" with {name}: {value}"


def instruction(
    frames: Sequence[Sequence[Shown]], described_by: Mapping[int, str], questions: Sequence[tuple[int, str]]
) -> str:
    """Return the text of a trial.

    Args:
        described_by: frame -> property that distinguishes its object from the distractor beside it.
        questions: (frame of the answer, text), by frame.
    """
    numbers = object_numbers(frames)
    words = []
    for frame, shown in enumerate(frames):
        if shown:
            target = next((candidate.item for candidate in shown if not candidate.distractor), None)
            name = described_by.get(frame)
            detail = description(name, target.value(name)) if name and target else ""
            words.append(f"observe object {numbers[frame]}{detail},")
        elif frame == 0 or frames[frame - 1]:
            words.append("delay,")
        words += [text for at, text in questions if at == frame]
    return " ".join(words)
