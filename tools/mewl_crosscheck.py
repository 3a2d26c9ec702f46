"""Two solvers that share no code judge the same MEWL episodes: mewl.verify and the tests' brute force.

    python -m tools.mewl_crosscheck                      # 230 episodes a task, as made and damaged in six ways
    python -m tools.mewl_crosscheck --count 600 --split train --seed 3 --intact

Every episode that is made was accepted by the first prover, so intact ones show only what it lets pass wrongly. Damaged
ones show what it refuses wrongly too, and they are refused for all sorts of reasons. Prints a table, and each
disagreement with both reasons; exit code 1 if there is one. Known, and no disagreement: brute force lets mutual
exclusivity tell the last word in tasks without dummies, while for the first prover a word that no context used may
always mean something else. It's the last column. A few `relation` episodes with another attribute do disagree: where
two objects fit one phrase, which MEWL rules out, an utterance is false for the first prover, and for brute force it is
enough that it is true of one of them.
"""

from __future__ import annotations

import argparse
import copy
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from scene_specs.benchmarks.mewl.verify import verify_view
from scene_specs.benchmarks.mewl.view import learner_view
from scene_specs.language.errors import SpecError
from tests.scene_specs.benchmarks.mewl.brute_force import VALUES, brute_force

Spec = dict[str, Any]
Judgment = tuple[bool, str]
OUTCOMES = (
    "both accept",
    "both refuse",
    "only the first accepts",
    "only brute force accepts",
    "so, but by exclusion only",
)
log = logging.getLogger("mewl_crosscheck")


def _contexts(spec: Spec) -> list[Spec]:
    return [frame for frame in spec["frames"] if frame.get("utterance")]


def _copy_contexts(spec: Spec, dice: random.Random, count: int) -> None:
    """Put a copy of one context in the place of others: there are still six, and they teach less."""
    kept, *lost = dice.sample(_contexts(spec), count + 1)
    for frame in lost:
        frame.update(copy.deepcopy({key: value for key, value in kept.items() if key != "name"}))


def _other_attribute(spec: Spec, dice: random.Random) -> None:
    kind = dice.choice(list(VALUES))
    dice.choice(dice.choice(spec["frames"])["objects"])[kind] = dice.choice(VALUES[kind])


def _two_words_exchanged(spec: Spec, dice: random.Random) -> None:
    """In one utterance; in tasks of one word, one word takes the other's place."""
    one, other = dice.sample(sorted(spec["task"]["words"]), 2)
    frame = dice.choice(_contexts(spec))
    exchanged = {one: other, other: one}
    frame["utterance"] = " ".join(exchanged.get(word, word) for word in frame["utterance"].split(" "))


def _seen_in_a_mirror(spec: Spec, dice: random.Random) -> None:
    """One image: left and right, or front and behind, are exchanged; or the hand points at any object."""
    frame = dice.choice(spec["frames"])
    axis = dice.choice(("left", "front"))
    for item in frame.get("constraints", ()):
        if item.get("relation") == axis:
            item["subject"], item["of"] = item["of"], item["subject"]
    if "pointer" in frame:
        frame["pointer"]["target"] = dice.choice([item["name"] for item in frame["objects"]])


def _other_query(spec: Spec, dice: random.Random) -> None:
    """A context's image is the query, and what was said of it is the answer."""
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


def first_prover(spec: Spec) -> Judgment:
    """Accepted, and why not."""
    try:
        verdict = verify_view(learner_view(spec), spec["task"]["answer"])
    except SpecError as error:
        return False, str(error)
    return verdict.ok, verdict.reason or "accepted"


def second_prover(spec: Spec) -> Judgment:
    """Accepted, and why or why not."""
    try:
        verdict = brute_force(spec)
    except ValueError as error:
        return False, str(error)
    return verdict.accepted, verdict.reason


def compare(spec: Spec, damage: str) -> str:
    """One of OUTCOMES; a disagreement is logged. `spec` is left as it is."""
    damaged = copy.deepcopy(spec)
    DAMAGES[damage](damaged, random.Random(f"{spec['seed']} {spec['id']} {damage}"))
    (first, why), (second, why_second) = first_prover(damaged), second_prover(damaged)
    if first == second:
        return OUTCOMES[0] if first else OUTCOMES[1]
    if second and not brute_force(damaged, exclusion=False).accepted:
        return OUTCOMES[4]
    outcome = OUTCOMES[2] if first else OUTCOMES[3]
    log.info("%s, seed %d, %s: %s", spec["id"], spec["seed"], damage, outcome)
    log.info("    first prover: %s", why)
    log.info("    brute force:  %s", why_second)
    return outcome


def main() -> int:
    """Run the comparison; exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=230, help="episodes a task")
    parser.add_argument("--split", default="test", choices=("train", "val", "test"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--intact", action="store_true", help="no damaged episodes")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    table: dict[tuple[str, str], Counter[str]] = {}
    for task in TASKS:
        for number in range(options.count):
            spec = mewl_spec(options.seed, options.split, task, number)
            for damage in ["intact"] if options.intact else DAMAGES:
                table.setdefault((task, damage), Counter())[compare(spec, damage)] += 1
    log.info("%-10s %-20s" + " %24s" * 5, "task", "episodes", *OUTCOMES)
    for (task, damage), row in table.items():
        log.info("%-10s %-20s" + " %24d" * 5, task, damage, *(row[outcome] for outcome in OUTCOMES))
    total = sum(table.values(), Counter())
    log.info("%-31s" + " %24d" * 5, "in all", *(total[outcome] for outcome in OUTCOMES))
    return 1 if total[OUTCOMES[2]] or total[OUTCOMES[3]] else 0


if __name__ == "__main__":
    sys.exit(main())
