"""Classic tasks of the literature: each function draws the frame plan of one trial.

Keyword arguments are the settings of `render-specs iwisdm --task NAME --set KEY=VALUE`: integers, spans (minimum,
maximum), and names of properties; users write `n=3`, `delay=1-4`, `property=category`. Each docstring has the task's
definition and source.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

from diorama.scene_specs.benchmarks.iwisdm.frame_plan import Constraint, FramePlan, Term, object_term
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import GRAMMAR
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES, Stimuli
from diorama.scene_specs.benchmarks.iwisdm.task_graph import (
    Expression,
    PlacedTask,
    TaskGraph,
    both,
    const,
    different,
    either,
    exists,
    get,
    same,
    select,
    switch,
)
from diorama.scene_specs.errors import check_choice, spec_error

Span = tuple[int, int]


def _draw_between(rng: KeyedRng, span: Span) -> int:
    return span[0] + rng.below(span[1] - span[0] + 1)


def _one_task_plan(question: Expression, frames: int, **more: Any) -> FramePlan:
    return FramePlan(frames, (PlacedTask(TaskGraph.of(question), frames - 1),), **more)


def _tie_property(name: str, pairs: Iterable[tuple[int, int]], equal: bool) -> tuple[Constraint, ...]:
    """Whether a property is equal in both frames of each pair."""
    return tuple(Constraint(object_term(name, a, 0), object_term(name, b, 0), equal) for a, b in pairs)


def _sample_and_test(rng: KeyedRng, delay: Span, property: str, equal: bool, distinct: bool = False) -> FramePlan:
    """Return a sample, a delay, a test. distinct: the two objects always differ in identity."""
    last = _draw_between(rng, delay) + 1
    compare = same if equal else different
    tied = _tie_property("identity", [(0, last)], False) if distinct else ()
    return _one_task_plan(compare(get(property, 0), get(property, last)), last + 1, tied=tied)


def delayed_match_to_sample(rng: KeyedRng, delay: Span = (1, 4), property: str = "identity") -> FramePlan:
    """Return a sample, a delay, a test: are they the same?

    Blough (1959), Delayed matching in the pigeon, J. Exp. Anal. Behav. 2, 151-160.
    """
    return _sample_and_test(rng, delay, property, equal=True)


def delayed_nonmatch_to_sample(rng: KeyedRng, delay: Span = (1, 4), property: str = "identity") -> FramePlan:
    """Return a sample, a delay, a test: are they different?

    Mishkin and Delacour (1975), An analysis of short-term visual memory in the monkey, J. Exp. Psychol.: Anim. Behav.
    Process. 1, 326-334.
    """
    return _sample_and_test(rng, delay, property, equal=False)


def delayed_match_to_category(rng: KeyedRng, delay: Span = (1, 4)) -> FramePlan:
    """Return a sample, a delay, a test: are they of one category? The two objects are never identical.

    Freedman, Riesenhuber, Poggio and Miller (2001), Categorical representation of visual stimuli in the primate
    prefrontal cortex, Science 291, 312-316.
    """
    return _sample_and_test(rng, delay, "category", equal=True, distinct=True)


def delayed_nonmatch_to_category(rng: KeyedRng, delay: Span = (1, 4)) -> FramePlan:
    """Return a sample, a delay, a test: are they of different categories? The two objects are never identical.

    Task DNMC of Yang, Joglekar, Song, Newsome and Wang (2019), Task representations in neural networks trained to
    perform many cognitive tasks, Nat. Neurosci. 22, 297-306.
    """
    return _sample_and_test(rng, delay, "category", equal=False, distinct=True)


def delayed_response(rng: KeyedRng, delay: Span = (1, 4)) -> FramePlan:
    """Return a cue and a delay; in an empty frame the fixation cross goes out: where was the cue?

    The oculomotor delayed-response task of Funahashi, Bruce and Goldman-Rakic (1989), Mnemonic coding of visual space
    in the monkey's dorsolateral prefrontal cortex, J. Neurophysiol. 61, 331-349; with four places instead of eight.
    """
    return _one_task_plan(get("location", 0), _draw_between(rng, delay) + 2)


def abba(rng: KeyedRng, tests: Span = (2, 4), delay: Span = (0, 1)) -> FramePlan:
    """Return a sample and tests up to the match, with an answer to each test. All nonmatching tests show one
    object, so that repetition alone does not indicate the match.

    Miller and Desimone (1994), Parallel neuronal mechanisms for short-term memory, Science 263, 520-522 ("ABBA").
    """
    gap, count = _draw_between(rng, delay), _draw_between(rng, tests)
    frames = [test * (gap + 1) for test in range(count + 1)]
    placed = [PlacedTask(TaskGraph.of(same(get("identity", 0), get("identity", at))), at) for at in frames[1:]]
    aims = {test: test == count - 1 for test in range(count)}
    repeated = _tie_property("identity", ((frames[1], at) for at in frames[2:-1]), True)
    return FramePlan(frames[-1] + 1, tuple(placed), aims=aims, tied=repeated)


def n_back(
    rng: KeyedRng, n: int = 2, length: int = 8, property: str = "identity", targets: int = 33, lures: int = 0
) -> FramePlan:
    """Return a row of objects: from the n-th on, does each match the one n before?

    Args:
        targets: percent that match.
        lures: percent of the others that match the object n - 1 or n + 1 before instead, as far as those differ.

    Kirchner (1958), Age differences in short-term retention of rapidly changing information, J. Exp. Psychol. 55,
    352-358; lures after Gray, Chabris and Braver (2003), Neural mechanisms of general fluid intelligence, Nat.
    Neurosci. 6, 316-322.
    """
    return _n_back(n, length, [property], targets, lures)


def dual_n_back(
    rng: KeyedRng, n: int = 2, length: int = 8, property: str = "category", targets: int = 30, lures: int = 0
) -> FramePlan:
    """n-back on two properties, the location and another one: two answers per frame, location first.

    Jaeggi, Buschkuehl, Jonides and Perrig (2008), Improving fluid intelligence with training on working memory, PNAS
    105, 6829-6833; a property of the object replaces their second stream, spoken letters.
    """
    return _n_back(n, length, ["location", property], targets, lures)


def _n_back(n: int, length: int, names: Sequence[str], targets: int, lures: int) -> FramePlan:
    pairs = [(same(get(name, at), get(name, at - n)), at) for at in range(n, length) for name in names]
    shares = dict.fromkeys(range(len(pairs)), targets / 100)
    placed = tuple(PlacedTask(TaskGraph.of(question), at) for question, at in pairs)
    return FramePlan(length, placed, shares=shares, details=partial(_with_lures, lures / 100))


def _with_lures(share: float, plan: FramePlan, answers: Sequence[bool], stimuli: Stimuli, rng: KeyedRng) -> FramePlan:
    """Which objects match the one n before, and which of the others match a neighbor of that one instead."""
    rows: dict[str, dict[int, str]] = {}
    tied: list[Constraint] = []
    for placed, answer in zip(plan.placed, answers, strict=True):
        first, at = placed.task.frames
        (name,) = placed.task.asked[at]
        values, row = stimuli.values(name), rows.setdefault(name, {})
        for early in range(at):
            row.setdefault(early, rng.pick(values))
        near = [frame for frame in (first - 1, first + 1) if 0 <= frame < at]
        lures = [frame for frame in near if row[frame] != row[first]]
        if answer:
            row[at] = row[first]
        elif lures and rng.chance(share):
            row[at] = row[rng.pick(lures)]
        else:
            avoided = {row[first], *(row[frame] for frame in near)}
            other = [value for value in values if value not in avoided]
            row[at] = rng.pick(other or [value for value in values if value != row[first]])
        tied += _tie_property(name, [(at, first)], answer)
        # A match may be one of a neighbor, too.
        for frame in near if not answer else ():
            tied += _tie_property(name, [(at, frame)], row[at] == row[frame])
            tied += _tie_property(name, [(frame, first)], row[frame] == row[first])
    if share:
        # A search may not find objects that fulfill so many relations.
        tied += [
            Constraint(object_term(name, at, 0), value, True) for name, row in rows.items() for at, value in row.items()
        ]
    return replace(plan, tied=tuple(tied))


def _is(name: str, frame: int, value: str | None = None) -> Expression:
    """Whether a property of an object has a value; without a value, each trial draws its own."""
    return same(get(name, frame), const(name, value))


def _by_row(cue: int, frame: int) -> Expression:
    """Judge an object by category if the cue is in an upper location, else by visible side."""
    upper = either(_is("location", cue, "top left"), _is("location", cue, "top right"))
    return switch(upper, _is("category", frame), _is("view_angle", frame))


def go_no_go(rng: KeyedRng, property: str = "category") -> FramePlan:
    """One object: go (true) if it is of the target category, withhold (false) if not.

    Donders (1868), On the speed of mental processes, type c reaction; transl. Acta Psychol. 30 (1969), 412-431.
    """
    return _one_task_plan(_is(property, 0), 1)


def contextual_decision(rng: KeyedRng, delay: Span = (0, 2)) -> FramePlan:
    """Let the location of a cue determine which of two properties of a later object is judged.

    Mante, Sussillo, Shenoy and Newsome (2013), Context-dependent computation by recurrent dynamics in prefrontal
    cortex, Nature 503, 78-84; category and visible side replace motion and color.
    """
    last = _draw_between(rng, delay) + 1
    return _one_task_plan(_by_row(0, last), last + 1)


def ax_cpt(rng: KeyedRng, delay: Span = (1, 3), ax: int = 70, ay: int = 10, bx: int = 10, by: int = 10) -> FramePlan:
    """Return a cue, a delay, a probe: true for the probe X after the cue A, else false. A and X are two categories.

    ax, ay, bx, by: how often each kind of trial comes, as weights; B is any cue but A, Y any probe but X. No cue is X,
    and no probe is A.

    Servan-Schreiber, Cohen and Steingard (1996), Schizophrenic deficits in the processing of context, Arch. Gen.
    Psychiatry 53, 1105-1112; 70, 10, 10 and 10 percent in Braver, Barch and Cohen (1999), Cognition and control in
    schizophrenia, Biol. Psychiatry 46, 312-328.
    """
    if not ay + bx + by:
        raise spec_error("task ax-cpt: ay, bx and by are 0", "set one of them to 1 or more")
    last = _draw_between(rng, delay) + 1

    def sides(wanted: bool, rng: KeyedRng) -> tuple[bool, bool]:
        return (True, True) if wanted else ((True, False), (False, True), (False, False))[rng.weighted((ay, bx, by))]

    grammar = GRAMMAR.with_operator(replace(GRAMMAR.operators["And"], backward=sides))
    task = TaskGraph.of(both(_is("category", 0), _is("category", last)), grammar)
    cue, probe = _constant(task, 0, 0), _constant(task, 0, 1)
    other = [Constraint(object_term("category", at, 0), letter, False) for at, letter in ((0, probe), (last, cue))]
    placed = (PlacedTask(task, last),)
    return FramePlan(
        last + 1, placed, tied=(Constraint(cue, probe, False), *other), shares={0: ax / (ax + ay + bx + by)}
    )


def _constant(task: TaskGraph, number: int, index: int) -> Term:
    """Constant `index` of task `number`."""
    node = task.constants[index]
    name = task.property_of(node)
    return Term((f"constant {name}", number, node), name)


def twelve_ax(rng: KeyedRng, delay: Span = (0, 1), pairs: Span = (1, 4)) -> FramePlan:
    """Return a context, then pairs of cue and probe with an answer to each: true for A then X after context 1, for B
    then Y after any other. A, B, X and Y are four categories; no cue is X or Y, and no probe is A or B.

    1-2-AX of Frank, Loughry and O'Reilly (2001), Interactions between frontal cortex and basal ganglia in working
    memory, Cogn. Affect. Behav. Neurosci. 1, 137-160: one outer loop of one to four inner ones; the context is a
    location, cues and probes are categories.
    """
    placed: list[PlacedTask] = []
    at = 0
    for _ in range(_draw_between(rng, pairs)):
        cue = at + _draw_between(rng, delay) + 1
        at = cue + _draw_between(rng, delay) + 1
        branches = (both(_is("category", cue), _is("category", at)) for _ in range(2))
        placed.append(PlacedTask(TaskGraph.of(switch(_is("location", 0), *branches)), at))
    return FramePlan(at + 1, tuple(placed), details=_with_letters)


def _with_letters(plan: FramePlan, answers: Sequence[bool], stimuli: Stimuli, rng: KeyedRng) -> FramePlan:
    """Context, cues and probes of 12-AX. Pairs that are not the target are equally frequent."""
    # In the order of their nodes: context, A, X, B, Y.
    context, *letters = (_constant(plan.placed[0].task, 0, index) for index in range(5))
    first = rng.chance(0.5)
    tied: list[Constraint] = [Constraint(object_term("location", 0, 0), context, first)]
    tied += [Constraint(term, other, False) for term, other in combinations(letters, 2)]
    for number, (placed, answer) in enumerate(zip(plan.placed, answers, strict=True)):
        for index in range(5) if number else ():
            tied.append(Constraint(_constant(placed.task, number, index), (context, *letters)[index], True))
        target = (0, 0) if first else (1, 1)
        # A, B or another cue; X, Y or another probe.
        others = [pair for pair in product(range(3), repeat=2) if pair != target]
        chosen = target if answer else rng.pick(others)
        _, *frames = placed.task.frames
        for frame, own, options in zip(frames, chosen, (letters[::2], letters[1::2]), strict=True):
            tied += [
                Constraint(object_term("category", frame, 0), term, term in options[own : own + 1]) for term in letters
            ]
    return replace(plan, tied=tuple(tied))


def task_switching(rng: KeyedRng, length: int = 4) -> FramePlan:
    """Return a row of objects: those in upper places are judged by category, those in lower places by visible side.

    One category and one side count in the whole trial.

    Rogers and Monsell (1995), Costs of a predictable switch between simple cognitive tasks, J. Exp. Psychol.: Gen. 124,
    207-231, where the place in a 2 x 2 grid determines the task, too; places come in any order here.
    """
    placed = tuple(PlacedTask(TaskGraph.of(_by_row(at, at)), at) for at in range(length))
    # The last two constants are the category and the side.
    tied = tuple(
        Constraint(_constant(task.task, number, index), _constant(placed[0].task, 0, index), True)
        for number, task in enumerate(placed)
        for index in (-2, -1)
        if number
    )
    return FramePlan(length, placed, tied=tied)


def memory_scanning(rng: KeyedRng, items: Span = (2, 5), delay: Span = (1, 2)) -> FramePlan:
    """Return a row of different objects, a delay, a probe: was it among them?

    Sternberg (1966), High-speed scanning in human memory, Science 153, 652-654.
    """
    count = _draw_between(rng, items)
    last = count + _draw_between(rng, delay)
    question = same(get("identity", 0), get("identity", last))
    for item in range(1, count):
        question = either(question, same(get("identity", item), get("identity", last)))
    # The items differ, so the probe matches one at most.
    sides = ((True, False), (False, True))
    once = replace(GRAMMAR.operators["Or"], backward=lambda true, rng: rng.pick(sides) if true else (False, False))
    task = TaskGraph.of(question, GRAMMAR.with_operator(once))
    apart = _tie_property("identity", combinations(range(count), 2), False)
    return FramePlan(last + 1, (PlacedTask(task, last),), tied=apart)


def visual_search(rng: KeyedRng, objects: Span = (2, 4), property: str = "category") -> FramePlan:
    """Return a display of several objects: is one of the named category among them?

    Treisman and Gelade (1980), A feature-integration theory of attention, Cogn. Psychol. 12, 97-136.
    """
    return _one_task_plan(exists(select(0, const(property))), 1, objects={0: _draw_between(rng, objects)})


def search_and_report(rng: KeyedRng, objects: Span = (2, 4), delay: Span = (1, 3)) -> FramePlan:
    """Return a display of several objects, a delay: where was the one of the named category?

    Partial report after Sperling (1960), The information available in brief visual presentations, Psychol. Monogr. 74
    (11), 1-29; the question names a category instead of a row.
    """
    question = get("location", select(0, const("category")))
    return _one_task_plan(question, _draw_between(rng, delay) + 2, objects={0: _draw_between(rng, objects)})


# Names on the command line.
TASKS: Mapping[str, Callable[..., FramePlan]] = {
    "dms": delayed_match_to_sample,
    "dnms": delayed_nonmatch_to_sample,
    "dmc": delayed_match_to_category,
    "dnmc": delayed_nonmatch_to_category,
    "odr": delayed_response,
    "abba": abba,
    "n-back": n_back,
    "dual-n-back": dual_n_back,
    "go-no-go": go_no_go,
    "contextual-decision": contextual_decision,
    "ax-cpt": ax_cpt,
    "12-ax": twelve_ax,
    "task-switching": task_switching,
    "memory-scanning": memory_scanning,
    "visual-search": visual_search,
    "search-and-report": search_and_report,
}
# Integer settings: (minimum, maximum).
_LIMITS: Mapping[str, Span] = {
        "delay": (0, 30), "n": (1, 20), "length": (1, 60), "targets": (0, 100), "tests": (1, 20), "items": (1, 12),
        "objects": (1, 4), "pairs": (1, 8), "lures": (0, 100), "ax": (0, 100), "ay": (0, 100), "bx": (0, 100),
        "by": (0, 100),
    }  # fmt: skip


def read_settings(task: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a task from texts (`3`, `1-4`, `category`). Raises SpecError."""
    check_choice("task", task, TASKS)
    defaults = {setting.name: setting.default for setting in [*inspect.signature(TASKS[task]).parameters.values()][1:]}
    settings: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in defaults:
            raise spec_error(f"task {task} has no setting {name!r}; it has: {', '.join(defaults) or 'none'}")
        settings[name] = _setting_field(name, text, defaults[name])
    if settings.get("length", defaults.get("length", 1)) <= settings.get("n", defaults.get("n", 0)):
        raise spec_error(f"task {task}: length must be greater than n", "set a greater length")
    if task == "dual-n-back" and settings.get("property") == "location":
        raise spec_error("task dual-n-back: property is location, which the other stream is", "set another property")
    return settings


def _setting_field(name: str, text: str, default: Any) -> Any:
    if name == "property":
        check_choice("property", text, PROPERTIES)
        return text
    least, most = _LIMITS[name]
    span = re.fullmatch("([0-9]{1,3})(?:-([0-9]{1,3}))?", text)
    values = [int(part) for part in span.groups() if part] if span else [-1]
    if values != sorted(values) or not all(least <= value <= most for value in values):
        raise spec_error(f"{name}: found {text!r}; expected integers from {least} to {most}, a span as 1-4")
    if isinstance(default, tuple):
        return (values[0], values[-1])
    if len(values) > 1:
        raise spec_error(f"{name}: found {text!r}; expected one number")
    return values[0]
