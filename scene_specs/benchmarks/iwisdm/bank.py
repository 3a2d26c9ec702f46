"""The classic tasks of the literature, by their names: each function draws the frame plan of one trial.

Keyword arguments are what `render-specs iwisdm --task NAME --set KEY=VALUE` takes: whole numbers, spans (fewest, most),
and names of properties. The definition and its source stand in each docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.expressions import both, const, different, either, exists, get, same, select, switch
from scene_specs.benchmarks.iwisdm.graph import Expression, TaskGraph
from scene_specs.benchmarks.iwisdm.operators import GRAMMAR
from scene_specs.benchmarks.iwisdm.session import Placed, Session

Span = tuple[int, int]
Build = Callable[..., Session]


def _between(draws: Draws, span: Span) -> int:
    return span[0] + draws.below(span[1] - span[0] + 1)


def _session(question: Expression, frames: int, **more: Any) -> Session:
    return Session(frames, (Placed(TaskGraph.of(question), frames - 1),), **more)


def delayed_match_to_sample(draws: Draws, delay: Span = (1, 4), property: str = "identity") -> Session:
    """A sample, a delay, a test: are they the same?

    Blough (1959), Delayed matching in the pigeon, J. Exp. Anal. Behav. 2, 151-160.
    """
    last = _between(draws, delay) + 1
    return _session(same(get(property, 0), get(property, last)), last + 1)


def delayed_nonmatch_to_sample(draws: Draws, delay: Span = (1, 4), property: str = "identity") -> Session:
    """A sample, a delay, a test: are they different?

    Mishkin and Delacour (1975), An analysis of short-term visual memory in the monkey, J. Exp. Psychol.: Anim. Behav.
    Process. 1, 326-334.
    """
    last = _between(draws, delay) + 1
    return _session(different(get(property, 0), get(property, last)), last + 1)


def delayed_match_to_category(draws: Draws, delay: Span = (1, 4)) -> Session:
    """A sample, a delay, a test: are they of one category? The objects themselves are never the same one.

    Freedman, Riesenhuber, Poggio and Miller (2001), Categorical representation of visual stimuli in the primate
    prefrontal cortex, Science 291, 312-316.
    """
    last = _between(draws, delay) + 1
    apart = ((0, last, "identity", False),)
    return _session(same(get("category", 0), get("category", last)), last + 1, related=apart)


def delayed_nonmatch_to_category(draws: Draws, delay: Span = (1, 4)) -> Session:
    """A sample, a delay, a test: are they of different categories? The objects themselves are never the same one.

    Task DNMC of Yang, Joglekar, Song, Newsome and Wang (2019), Task representations in neural networks trained to
    perform many cognitive tasks, Nat. Neurosci. 22, 297-306.
    """
    last = _between(draws, delay) + 1
    apart = ((0, last, "identity", False),)
    return _session(different(get("category", 0), get("category", last)), last + 1, related=apart)


def delayed_response(draws: Draws, delay: Span = (1, 4)) -> Session:
    """A cue, a delay, and when the fixation cross goes out, in an empty frame: where was the cue?

    The oculomotor delayed-response task of Funahashi, Bruce and Goldman-Rakic (1989), Mnemonic coding of visual space
    in the monkey's dorsolateral prefrontal cortex, J. Neurophysiol. 61, 331-349; four places instead of eight.
    """
    return _session(get("location", 0), _between(draws, delay) + 2)


def abba(draws: Draws, tests: Span = (2, 4), delay: Span = (0, 1)) -> Session:
    """A sample and a row of tests that ends with the match; each test is to be answered. All others are one object,
    shown again and again: what was repeated last is not what is remembered.

    Miller and Desimone (1994), Parallel neuronal mechanisms for short-term memory, Science 263, 520-522 ("ABBA").
    """
    gap, count = _between(draws, delay), _between(draws, tests)
    frames = [test * (gap + 1) for test in range(count + 1)]
    placed = [Placed(TaskGraph.of(same(get("identity", 0), get("identity", at))), at) for at in frames[1:]]
    aims = {test: test == count - 1 for test in range(count)}
    repeated = tuple((frames[1], at, "identity", True) for at in frames[2:-1])
    return Session(frames[-1] + 1, tuple(placed), aims=aims, related=repeated)


def n_back(draws: Draws, n: int = 2, length: int = 8, property: str = "identity", targets: int = 33) -> Session:
    """A row of objects: from the n-th on, is each the same as that n before? targets: percent that are.

    Kirchner (1958), Age differences in short-term retention of rapidly changing information, J. Exp. Psychol. 55,
    352-358.
    """
    placed = [_back(at, n, property) for at in range(n, length)]
    return Session(length, tuple(placed), shares=dict.fromkeys(range(len(placed)), targets / 100))


def dual_n_back(draws: Draws, n: int = 2, length: int = 8, property: str = "category", targets: int = 30) -> Session:
    """n-back on two things at once, the place and another property: two answers a frame, place first.

    Jaeggi, Buschkuehl, Jonides and Perrig (2008), Improving fluid intelligence with training on working memory, PNAS
    105, 6829-6833; the second stream, spoken letters there, is a property of the object here.
    """
    placed = [_back(at, n, name) for at in range(n, length) for name in ("location", property)]
    return Session(length, tuple(placed), shares=dict.fromkeys(range(len(placed)), targets / 100))


def _back(at: int, n: int, name: str) -> Placed:
    return Placed(TaskGraph.of(same(get(name, at), get(name, at - n))), at)


def go_no_go(draws: Draws, property: str = "category") -> Session:
    """One object: go (true) if it is of the target category, withhold (false) if not.

    Donders (1868), On the speed of mental processes, type c reaction; transl. Acta Psychol. 30 (1969), 412-431.
    """
    return _session(same(get(property, 0), const(property)), 1)


def contextual_decision(draws: Draws, delay: Span = (0, 2)) -> Session:
    """The place of a cue says which of two properties of a later object is judged.

    Mante, Sussillo, Shenoy and Newsome (2013), Context-dependent computation by recurrent dynamics in prefrontal
    cortex, Nature 503, 78-84; category and side seen in place of motion and color.
    """
    last = _between(draws, delay) + 1
    cue = either(
        same(get("location", 0), const("location", "top left")),
        same(get("location", 0), const("location", "top right")),
    )
    judged = (same(get(name, last), const(name)) for name in ("category", "view_angle"))
    return _session(switch(cue, *judged), last + 1)


def ax_cpt(draws: Draws, delay: Span = (1, 3)) -> Session:
    """A cue, a delay, a probe: true for the probe X after the cue A, false for all others. A and X are categories.

    Servan-Schreiber, Cohen and Steingard (1996), Schizophrenic deficits in the processing of context, Arch. Gen.
    Psychiatry 53, 1105-1112.
    """
    last = _between(draws, delay) + 1
    pair = both(same(get("category", 0), const("category")), same(get("category", last), const("category")))
    return _session(pair, last + 1)


def twelve_ax(draws: Draws, delay: Span = (0, 1)) -> Session:
    """After the context 1, true for A then X; after any other, for B then Y. One outer loop: context, cue, probe.

    1-2-AX of Frank, Loughry and O'Reilly (2001), Interactions between frontal cortex and basal ganglia in working
    memory, Cogn. Affect. Behav. Neurosci. 1, 137-160; the context is a place, cues and probes are categories.
    """
    cue = _between(draws, delay) + 1
    last = cue + _between(draws, delay) + 1
    pairs = (
        both(same(get("category", cue), const("category")), same(get("category", last), const("category")))
        for _ in range(2)
    )
    return _session(switch(same(get("location", 0), const("location")), *pairs), last + 1)


def task_switching(draws: Draws, length: int = 4) -> Session:
    """A row of objects, each judged by where it stands: in the upper places by its category, in the lower by its side.

    Rogers and Monsell (1995), Costs of a predictable switch between simple cognitive tasks, J. Exp. Psychol.: Gen. 124,
    207-231, where the place in a 2 x 2 grid says the task as here; places come in any order here.
    """
    placed = []
    for at in range(length):
        upper = [same(get("location", at), const("location", name)) for name in ("top left", "top right")]
        judged = (same(get(name, at), const(name)) for name in ("category", "view_angle"))
        placed.append(Placed(TaskGraph.of(switch(either(*upper), *judged)), at))
    return Session(length, tuple(placed))


def memory_scanning(draws: Draws, items: Span = (2, 5), delay: Span = (1, 2)) -> Session:
    """A row of different objects, a delay, a probe: was it among them?

    Sternberg (1966), High-speed scanning in human memory, Science 153, 652-654.
    """
    count = _between(draws, items)
    last = count + _between(draws, delay)
    question = same(get("identity", 0), get("identity", last))
    for item in range(1, count):
        question = either(question, same(get("identity", item), get("identity", last)))
    # The items differ, so one at most is the probe.
    once = replace(GRAMMAR.operators["Or"], backward=_one_of_all)
    task = TaskGraph.of(question, GRAMMAR.with_operator(once))
    apart = tuple((a, b, "identity", False) for a, b in combinations(range(count), 2))
    return Session(last + 1, (Placed(task, last),), related=apart)


def _one_of_all(wanted: bool, draws: Draws) -> tuple[bool, bool]:
    if not wanted:
        return (False, False)
    return draws.pick(((True, False), (False, True)))


def visual_search(draws: Draws, objects: Span = (2, 4), property: str = "category") -> Session:
    """A display of several objects: is one of the named category among them?

    Treisman and Gelade (1980), A feature-integration theory of attention, Cogn. Psychol. 12, 97-136.
    """
    question = exists(select(0, const(property)))
    return _session(question, 1, objects={0: _between(draws, objects)})


def search_and_report(draws: Draws, objects: Span = (2, 4), delay: Span = (1, 3)) -> Session:
    """A display of several objects, a delay: where was the one of the named category?

    Partial report after Sperling (1960), The information available in brief visual presentations, Psychol. Monogr. 74
    (11), 1-29; the question names a category instead of a row.
    """
    question = get("location", select(0, const("category")))
    return _session(question, _between(draws, delay) + 2, objects={0: _between(draws, objects)})


# Names on the command line.
TASKS: Mapping[str, Build] = MappingProxyType(
    {
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
)
