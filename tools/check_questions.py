"""Ask many questions about a store and try to find one that is wrong, degenerate or skewed.

    python -m tools check-questions STORE [--per-image 10] [--seed 0]

Asks questions about all images, reads them back from JSON, executes them again, and looks for each step of each
question for an image in which leaving it out changes the answer. Then it changes each executor in 20 places, one at a
time, and counts the changes after which the other one disagrees about a question. Expressions are read back from
their words, and all shorter descriptions are tried. Exit code 1 if a question is wrong or degenerate, a change is not
exposed, or an expression fails or is not the shortest.
"""

from __future__ import annotations

import json
import random
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from pathlib import Path
from types import ModuleType
from typing import Any

from tqdm import tqdm

from render.annotations.image_views import store_views
from render.export.protocol import ExportReport, iter_valid_records
from render.store import open_store
from scene_specs.questions import positions_executor, relations_executor
from scene_specs.questions.balance import Guesser
from scene_specs.questions.expressions import expressions
from scene_specs.questions.generate import Question, Questioner
from scene_specs.questions.grammar import SIDES, default_grammar, filtered
from scene_specs.questions.positions_executor import PositionsExecutor
from scene_specs.questions.program import (
    EXTREMES,
    QUERIED,
    SCENE,
    Node,
    PresuppositionError,
    parse_program,
    program_json,
)
from scene_specs.questions.relations_executor import RelationsExecutor
from scene_specs.questions.rules import Judge, shortened
from scene_specs.questions.view import ImageView
from tools.option_types import positive
from tools.programs import ROOT

MUTATIONS, MIN_PIXELS = 20, 20


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")
    parser.add_argument("--per-image", type=positive, default=10)
    parser.add_argument("--expressions", type=positive, default=5000)
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
    ids = sorted(key for key, _ in store.ids())
    images = list(store_views(iter_valid_records(store, ids, ExportReport(), lambda _: None)))
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
    poor = poor_expressions(images, options.expressions, options.seed)
    return int(bool(wrong or useless or survived or poor))


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


def poor_expressions(images: Sequence[ImageView], count: int, seed: int) -> int:
    """Print and return how many expressions a reader misunderstands, or are longer than necessary."""
    grammar, lengths = default_grammar(), Counter[int]()
    found = (one for view in images for one in expressions(view, grammar, seed, MIN_PIXELS))
    wrong = long = described = 0
    for one in tqdm(islice(found, count), total=count, unit=" expressions"):
        lexicon = grammar.lexicon_of(one.view.value_bits)
        run = PositionsExecutor(one.view).run
        for text in one.texts:
            read = grammar.readings(text, lexicon, "named")
            described += 1
            if len(read) != 1 or outcome(run, read[0][1]) != one.target:
                wrong += 1
                print(f"misunderstood: {text}")
        lengths[one.length] += 1
        judge = Judge(one.view, MIN_PIXELS)
        shorter = (node for length in range(one.length) for node in descriptions(one.view, run, length))
        for node in shorter:
            if outcome(run, node) == one.target and judge.is_certain(node, one.target):
                long += 1
                print(f"shorter than {one.texts[0]}: {program_json(node)}")
                break
    print(f"{lengths.total()} objects, lengths {dict(sorted(lengths.items()))}; {described} expressions")
    print(f"{wrong} misunderstood, {long} not the shortest")
    return wrong + long


def descriptions(view: ImageView, run: Any, length: int) -> Iterator[Node]:
    """All descriptions of objects of exactly this length that mean something, by brute force."""
    yield from _unique(view, run, length, True)
    for node in _sets(view, run, length - 1, True):
        yield from (Node("extreme", which, (node,)) for which in EXTREMES)
    for first in range(length):
        for other in _unique(view, run, length - 1 - first, False):
            yield from (Node("nearest", None, (node, other)) for node in _sets(view, run, first, False))


def _unique(view: ImageView, run: Any, length: int, related: bool) -> Iterator[Node]:
    made = (Node("unique", None, (node,)) for node in _sets(view, run, length, related))
    return (node for node in made if outcome(run, node) is not None)


def _sets(view: ImageView, run: Any, length: int, related: bool) -> Iterator[Node]:
    """All sets with members. related: also those of the objects on one side of another."""
    bases = [(SCENE, 0)]
    for before in range(length if related else 0):
        bases += [(Node("relate", s, (n,)), before + 1) for n in _unique(view, run, before, True) for s in SIDES]
    pairs = [(name, value) for name in QUERIED for value in sorted(view.value_bits[name])]
    for base, used in bases:
        for chosen in combinations(pairs, length - used) if length >= used else ():
            node = filtered(base, chosen)
            if len({name for name, _ in chosen}) == len(chosen) and outcome(run, node):
                yield node
