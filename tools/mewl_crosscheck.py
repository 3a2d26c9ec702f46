"""Compare two independent solvers on MEWL episodes.

    python -m tools mewl-crosscheck                      # 230 episodes per task, as generated and damaged in six ways
    python -m tools mewl-crosscheck --count 600 --split train --seed 3 --intact

Compares mewl.verify with the brute force of the tests, which share no code. The first solver accepted every generated
episode, so intact episodes show only what it accepts wrongly. Damaged episodes also show what it rejects wrongly, and
they are rejected for many reasons. Prints a table, and each disagreement with both reasons; exit code 1 if there is
one. One difference is known and counts separately (the last column): brute force lets mutual exclusivity determine the
last word in tasks without dummies, while for the first solver a word that no context used may always mean something
else. A few `relation` episodes with another attribute do disagree: where two objects fit one phrase, which MEWL
excludes, an utterance is false for the first solver, while brute force accepts it if it is true of one of them.
"""

from __future__ import annotations

import copy
import random
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from scene_specs.benchmarks.mewl.verify import verify_view
from scene_specs.benchmarks.mewl.view import learner_view
from scene_specs.language.errors import SpecError
from scene_specs.language.tables import text_table
from tests.scene_specs.benchmarks.mewl.brute_force import VALUES, brute_force

Spec = dict[str, Any]
Judgment = tuple[bool, str]
OUTCOMES = ("both accept", "both reject", "only the first accepts", "only brute force accepts", "by exclusion only")


def _contexts(spec: Spec) -> list[Spec]:
    return [frame for frame in spec["frames"] if frame.get("utterance")]


def _copy_contexts(spec: Spec, dice: random.Random, count: int) -> None:
    """Replace contexts by a copy of another one: there are still six, but they teach less."""
    kept, *lost = dice.sample(_contexts(spec), count + 1)
    for frame in lost:
        frame.update(copy.deepcopy({key: value for key, value in kept.items() if key != "name"}))


def _other_attribute(spec: Spec, dice: random.Random) -> None:
    kind = dice.choice(list(VALUES))
    dice.choice(dice.choice(spec["frames"])["objects"])[kind] = dice.choice(VALUES[kind])


def _two_words_exchanged(spec: Spec, dice: random.Random) -> None:
    """Exchange two words in one utterance; in tasks of one word, replace one by the other."""
    one, other = dice.sample(sorted(spec["task"]["words"]), 2)
    frame = dice.choice(_contexts(spec))
    exchanged = {one: other, other: one}
    frame["utterance"] = " ".join(exchanged.get(word, word) for word in frame["utterance"].split(" "))


def _seen_in_a_mirror(spec: Spec, dice: random.Random) -> None:
    """In one image, exchange left and right, or front and behind, or let the hand point at any object."""
    frame = dice.choice(spec["frames"])
    axis = dice.choice(("left", "front"))
    for item in frame.get("constraints", ()):
        if item.get("relation") == axis:
            item["subject"], item["of"] = item["of"], item["subject"]
    if "pointer" in frame:
        frame["pointer"]["target"] = dice.choice([item["name"] for item in frame["objects"]])


def _other_query(spec: Spec, dice: random.Random) -> None:
    """Make a context's image the query, and its utterance the answer."""
    context = dice.choice(_contexts(spec))
    task = spec["task"]
    query = next(frame for frame in spec["frames"] if not frame.get("utterance"))
    query.update(copy.deepcopy({key: value for key, value in context.items() if key not in ("name", "utterance")}))
    rest = [option for option in task["options"] if option not in (task["answer"], context["utterance"])]
    task.update(answer=context["utterance"], options=[context["utterance"], *rest])


DAMAGES: Mapping[str, Callable[[Spec, random.Random], None]] = {
    "intact": lambda spec, dice: None,
    "one context lost": lambda spec, dice: _copy_contexts(spec, dice, 1),
    "three contexts lost": lambda spec, dice: _copy_contexts(spec, dice, 3),
    "another attribute": _other_attribute,
    "two words exchanged": _two_words_exchanged,
    "seen in a mirror": _seen_in_a_mirror,
    "another query": _other_query,
}


def first_solver(spec: Spec) -> Judgment:
    """Return whether mewl.verify accepts an episode, and why not."""
    try:
        reason = verify_view(learner_view(spec), spec["task"]["answer"])
    except SpecError as error:
        return False, str(error)
    return not reason, reason or "accepted"


def second_solver(spec: Spec) -> Judgment:
    """Return whether brute force accepts an episode, and the reason."""
    try:
        verdict = brute_force(spec)
    except ValueError as error:
        return False, str(error)
    return verdict.accepted, verdict.reason


def compare(spec: Spec, damage: str) -> str:
    """Return one of OUTCOMES and print a disagreement. `spec` doesn't change."""
    damaged = copy.deepcopy(spec)
    DAMAGES[damage](damaged, random.Random(f"{spec['seed']} {spec['id']} {damage}"))
    (first, why), (second, why_second) = first_solver(damaged), second_solver(damaged)
    if first == second:
        return OUTCOMES[0] if first else OUTCOMES[1]
    if second and not brute_force(damaged, exclusion=False).accepted:
        return OUTCOMES[4]
    outcome = OUTCOMES[2] if first else OUTCOMES[3]
    print(f"{spec['id']}, seed {spec['seed']}, {damage}: {outcome}")
    print(f"    first solver: {why}\n    brute force:  {why_second}")
    return outcome


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=230, help="episodes per task")
    parser.add_argument("--split", default="test", choices=("train", "val", "test"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--intact", action="store_true", help="no damaged episodes")


def main(options: Namespace) -> int:
    """Compare all episodes; 1 if the solvers disagree."""
    table: dict[tuple[str, str], Counter[str]] = {}
    for task in TASKS:
        for number in range(options.count):
            spec = mewl_spec(options.seed, options.split, task, number)
            for damage in ["intact"] if options.intact else DAMAGES:
                table.setdefault((task, damage), Counter())[compare(spec, damage)] += 1
    total = sum(table.values(), Counter())
    table["in all", ""] = total
    rows = [[*names, *(str(row[outcome]) for outcome in OUTCOMES)] for names, row in table.items()]
    print("\n".join(text_table(["task", "episodes", *OUTCOMES], rows)))
    return 1 if total[OUTCOMES[2]] or total[OUTCOMES[3]] else 0
