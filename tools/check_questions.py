"""Ask many questions about a store and try to find one that is wrong, degenerate or skewed.

    python -m tools check-questions STORE [--per-image 10] [--seed 0]

Asks questions about all images, reads them back from JSON, executes them again, and looks for each step of each
question for an image in which leaving it out changes the answer. Then it changes each executor in 20 places, one at a
time, and counts the changes after which the other one disagrees about a question. Exit code 1 if a question is wrong
or degenerate, or a change is not exposed.
"""

from __future__ import annotations

import json
import random
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tqdm import tqdm

from render.annotations.image_views import store_views
from render.store import open_store
from scene_specs.questions import positions_executor, relations_executor
from scene_specs.questions.balance import Guesser
from scene_specs.questions.generate import Question, Questioner
from scene_specs.questions.grammar import default_grammar
from scene_specs.questions.positions_executor import PositionsExecutor
from scene_specs.questions.program import Node, PresuppositionError, parse_program
from scene_specs.questions.relations_executor import RelationsExecutor
from scene_specs.questions.rules import shortened
from scene_specs.questions.view import ImageView
from tools.option_types import positive
from tools.programs import ROOT

MUTATIONS = 20


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")
    parser.add_argument("--per-image", type=positive, default=10)
    parser.add_argument("--seed", type=int, default=0)


def outcome(run: Any, program: Node) -> Any:
    """Return the result of an executor, or None if a presupposition fails."""
    try:
        return run(program)
    except PresuppositionError:
        return None


def main(options: Namespace) -> int:
    """Print what was found; return the exit code."""
    store = open_store(options.store)
    images = list(store_views(store.get(key) for key in sorted(key for key, _ in store.ids())))
    asker, guesser, made = (
        Questioner(default_grammar(), options.seed, (), options.per_image),
        Guesser(),
        list[Question](),
    )
    start = time.process_time()
    for view in tqdm(images, unit=" images"):
        made += asker.ask(view)
    seconds = time.process_time() - start
    for one in made:
        guesser.add(one.group, one.text, one.answer)
    print(f"{len(made)} questions about {len(images)} images, {len(made) / seconds:.0f} per second of one core")
    print(guesser.table(asker.balance.counts))
    print(asker.tally.text())
    wrong = sum(1 for one in made if not _holds(one))
    print(f"{wrong} whose executors disagree or whose presuppositions fail, read back from JSON")
    useless = degenerate(made, images)
    survived = sum(mutated(module, made) for module in (relations_executor, positions_executor))
    return int(bool(wrong or useless or survived))


def _holds(question: Question) -> bool:
    """Whether both executors give the answer of a question that was written and read."""
    data = json.loads(json.dumps(question.data()))
    program = parse_program(data["program"])
    kinds = (RelationsExecutor, PositionsExecutor)
    return all(outcome(kind(question.view).run, program) == data["answer"] for kind in kinds)


def degenerate(questions: Sequence[Question], images: Sequence[ImageView]) -> int:
    """Print and return the number of steps that could be left out of a question in every image."""
    executors = [RelationsExecutor(view) for view in random.Random(1).sample(images, len(images))]
    steps: Counter[str] = Counter()
    useless: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for one in tqdm(questions, unit=" questions"):
        asked[one.family] += 1
        own = RelationsExecutor(one.view)
        for other in shortened(one.program):
            steps[one.family] += 1
            if outcome(own.run, other) == one.answer and not any(
                _differ(each, one.program, other) for each in executors
            ):
                useless[one.family] += 1
                print(f"degenerate: {one.text}")
    for family in sorted(asked):
        print(f"{family:16} {asked[family]:6} questions, {steps[family]:6} steps, {useless[family]} without effect")
    return useless.total()


def _differ(executor: RelationsExecutor, program: Node, other: Node) -> bool:
    answer = outcome(executor.run, program)
    return answer is not None and answer != outcome(executor.run, other)


def mutated(module: ModuleType, questions: Sequence[Question]) -> int:
    """Print what exposes each of 20 changes of an executor; return the number of those that nothing exposes."""
    from tools.mutants import mutants_of

    path = Path(str(module.__file__))
    drawn = sorted(mutants_of(ROOT, "questions", path, 1), key=lambda one: one.key)[:MUTATIONS]
    survived = 0
    for mutant in drawn:
        exposed = _exposing(mutant.source(), str(path), questions)
        survived += exposed < 0
        if exposed < 0:
            print(f"not exposed:\n{mutant.diff()}")
    print(f"{path.name}: {MUTATIONS - survived} of {MUTATIONS} changes are exposed")
    return survived


def _exposing(source: str, path: str, questions: Sequence[Question]) -> int:
    """Return the number of the first question on which a changed executor gives another answer; -1 if there is none."""
    changed: dict[str, Any] = {"__name__": "changed"}
    try:
        exec(compile(source, path, "exec"), changed)
        kind = changed["RelationsExecutor" if "RelationsExecutor" in changed else "PositionsExecutor"]
    except Exception:
        return 0
    for number, one in enumerate(questions):
        try:
            if kind(one.view).run(one.program) != one.answer:
                return number
        except Exception:
            return number
    return -1
