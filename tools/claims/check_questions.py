"""Look for questions about stores that are wrong or degenerate.

    python -m tools check-questions STORE... [--per-image 10] [--seed 0] [--processes 1]

Asks questions about all images, reads them back from JSON, executes them again, also without each of their steps, and
looks for an image in which leaving out the step changes the answer. Expressions are read back from their words, and all
shorter descriptions are tried. Exit code 1 if executors disagree, a question is degenerate, or an expression fails or
is not the shortest. `python -m tools mutants` changes the executors.
"""

from __future__ import annotations

import json
import random
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, groupby, islice
from multiprocessing import get_context
from typing import Any, NamedTuple

from tqdm import tqdm

from diorama.render.store import open_store
from diorama.render.store.selection import iter_valid_records
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.tasks.questions.balance import answer_table
from diorama.scene_specs.tasks.questions.expressions import expressions
from diorama.scene_specs.tasks.questions.generate import Question, Questioner, Tally
from diorama.scene_specs.tasks.questions.grammar import default_grammar, filtered
from diorama.scene_specs.tasks.questions.lexicon import SIDES
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import EXTREMES, QUERIED, SCENE, Answer, Node, parse_program
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor, attempt
from diorama.scene_specs.tasks.questions.rules import Judge, shortened
from diorama.scene_specs.tasks.questions.view import ImageView
from tools.programs import positive

# Expressions to read back, at most.
EXPRESSIONS = 5000


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--per-image", type=positive, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=positive, default=1, help="each balances its part of the images")


class Part(NamedTuple):
    """What was found about a part of the images.

    counts: of images, questions, programs that both executors ran, with steps and without, and wrong results of these.
    steps: by family. same: questions, and programs without a step that have the same answer in all these images.
    """

    counts: Counter[str]
    seconds: float
    answers: Mapping[str, Counter[Answer]]
    tally: Tally
    steps: Counter[str]
    same: list[tuple[Question, Node]]


def main(options: Namespace) -> int:
    """Print what was found; return the exit code."""
    parts = [(options, number) for number in range(options.processes)]
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        found = list(pool.map(check_part, *zip(*parts, strict=True)))
    counts, answers = sum((part.counts for part in found), Counter[str]()), defaultdict[str, Counter[Answer]](Counter)
    for group, some in (one for part in found for one in part.answers.items()):
        answers[group] += some
    total, rate = counts["questions"], counts["questions"] / sum(part.seconds for part in found)
    print(f"{total} questions about {counts['images']} images, {rate:.0f} per second of computing time of one core")
    print(answer_table(answers))
    for part in found:
        print(part.tally.text())
    print(f"{counts['programs']} programs, with all steps and without each; executors disagree about {counts['wrong']}")
    steps, views = sum((part.steps for part in found), Counter[str]()), list(views_in(options.stores, 0, 1))
    useless = [one for part in found for one in unchanged(part.same, views)]
    for one, other in useless:
        print(f"degenerate: {one.text} {other}")
    for family, number in sorted(steps.items()):
        print(f"{family:16} {number:6} steps, {sum(one.family == family for one, _ in useless)} without effect")
    poor = poor_expressions(views, options.seed)
    return int(bool(counts["wrong"] or useless or poor))


def views_in(stores: Sequence[str], first: int, step: int) -> Iterator[ImageView]:
    """Yield the images of every `step`-th episode of some stores."""
    for url in stores:
        store = open_store(url)
        ids = sorted(key for key, _ in store.ids())[first::step]
        yield from store_views(iter_valid_records(store, ids, [], lambda _: None))


def check_part(options: Namespace, number: int) -> Part:
    """Ask questions about a part of the images and check them."""
    images = list(views_in(options.stores, number, options.processes))
    asker = Questioner(default_grammar(), options.seed, (), options.per_image)
    made: list[Question] = []
    start = time.process_time()
    for view in tqdm(images, unit=" images"):
        made += asker.ask(view)
    seconds = time.process_time() - start
    pairs = [(one, other) for one in made for other in (read_back(one), *shortened(one.program))]
    programs = [(one.view, program) for one, program in pairs]
    found = list(results(RelationsExecutor, programs))
    others = list(results(PositionsExecutor, programs))
    # Of two objects that are nearly as near as each other, only the stricter executor may refuse to speak.
    wrong = sum(read_back(one) != one.program for one in made)
    wrong += sum(a not in (b, None) for a, b in zip(found, others, strict=True))
    print(f"{sum(a is None is not b for a, b in zip(found, others, strict=True))} programs that one executor refuses")
    wrong += sum(a != one.answer for (one, program), a in zip(pairs, found, strict=True) if program == one.program)
    less = [(pair, a == pair[0].answer) for pair, a in zip(pairs, found, strict=True) if pair[1] != pair[0].program]
    same = unchanged([pair for pair, is_same in less if is_same], random.Random(1).sample(images, len(images)))
    steps = Counter(one.family for (one, _), _ in less)
    counts = Counter(images=len(images), questions=len(made), programs=len(pairs), wrong=wrong)
    return Part(counts, seconds, asker.balance.counts, asker.tally, steps, same)


def results(kind: Any, programs: Iterable[tuple[ImageView, Node]]) -> Iterator[Any]:
    """Yield the results of an executor. Programs about one image stand together."""
    for _, group in groupby(programs, key=lambda one: id(one[0])):
        asked = list(group)
        run = kind(asked[0][0]).run
        yield from (attempt(run, program) for _, program in asked)


def read_back(question: Question) -> Node:
    """Return the program of a question that was written and read."""
    return parse_program(json.loads(json.dumps(question.data()))["program"])


def unchanged(pairs: Sequence[tuple[Question, Node]], images: Sequence[ImageView]) -> list[tuple[Question, Node]]:
    """Return the questions that have the answer of another program in all images, or none."""
    left = list(pairs)
    for view in images:
        run = RelationsExecutor(view).run
        answers = [attempt(run, one.program) for one, _ in left]
        left = [
            (one, other)
            for (one, other), answer in zip(left, answers, strict=True)
            if answer in (None, attempt(run, other))
        ]
    return left


def poor_expressions(images: Sequence[ImageView], seed: int) -> int:
    """Print and return how many expressions a reader misunderstands, or are longer than necessary."""
    grammar, lengths = default_grammar(), Counter[int]()
    found = (one for view in images for one in expressions(view, grammar, seed))
    wrong = long = described = 0
    for one in tqdm(islice(found, EXPRESSIONS), total=EXPRESSIONS, unit=" expressions"):
        lexicon = grammar.lexicon_of(one.view.value_bits)
        run = PositionsExecutor(one.view).run
        for text in one.texts:
            read = grammar.readings(text, lexicon, "named")
            described += 1
            if len(read) != 1 or attempt(run, read[0][1]) != one.target:
                wrong += 1
                print(f"misunderstood: {text}")
        lengths[one.length] += 1
        judge = Judge(one.view)
        shorter = (node for length in range(one.length) for node in descriptions(one.view, run, length))
        for node in shorter:
            if attempt(run, node) == one.target and judge.is_certain(node, one.target):
                long += 1
                print(f"shorter than {one.texts[0]}: {node}")
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
    return (node for node in made if attempt(run, node) is not None)


def _sets(view: ImageView, run: Any, length: int, related: bool) -> Iterator[Node]:
    """All sets with members. related: also those of the objects on one side of another."""
    bases = [(SCENE, 0)]
    for before in range(length if related else 0):
        bases += [(Node("relate", s, (n,)), before + 1) for n in _unique(view, run, before, True) for s in SIDES]
    pairs = [(name, value) for name in QUERIED for value in sorted(view.value_bits[name])]
    for base, used in bases:
        for chosen in combinations(pairs, length - used) if length >= used else ():
            node = filtered(base, chosen)
            if len({name for name, _ in chosen}) == len(chosen) and attempt(run, node):
                yield node
