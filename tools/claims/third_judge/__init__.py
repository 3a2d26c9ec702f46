"""Answer questions from their words and annotations.

    python -m tools third-judge STORE... [--family forms] [--per-image 10] [--seed 0] [--processes 1]

Asks questions about all images and compares each answer with that of this judge, which shares no code with the two
executors: it reads the English text with a parser of its own, and computes with masks, camera and positions of the JSON
that `render-export` writes. Then it takes every tenth question and tampers with it: another answer, or the words of its
twin. Exit code 1 if an answer differs, a text has several answers or none, or tampering is not noticed.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from tqdm import tqdm

from diorama.render.store import open_store
from diorama.render.store.selection import iter_valid_records
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.language.vocabulary import SHAPES
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.tasks.questions.generate import Question, Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from tools.claims import check_questions
from tools.claims.third_judge.english import answers
from tools.claims.third_judge.world import kind_of


def is_judged(question: Question) -> bool:
    """Whether an export has what a question is about: kinds of Diorama's own models, extents of CLEVR's shapes."""
    shapes = {item.truth.shape for item in question.view.objects}
    models = not all(map(kind_of, shapes)) and "_category" in str(question.program)
    upward = any(step.value in ("above", "below", "on") for step in question.program.steps())
    return not (models or (upward and not shapes <= {*SHAPES}))


def add_options(parser: ArgumentParser) -> None:
    check_questions.add_options(parser)
    parser.add_argument("--family", action="append", default=[], help="family (default: all but the forms)")


def main(options: Namespace) -> int:
    """Print what was found; return the exit code."""
    parts = [(options, number) for number in range(options.processes)]
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        found = sum(pool.map(judge_part, *zip(*parts, strict=True)), Counter[str]())
    for name, number in sorted(found.items()):
        print(f"{name:24} {number:8,}")
    return int(bool(found["different answers"] or found["tampered, not noticed"] or not found["questions"]))


def judge_part(options: Namespace, number: int) -> Counter[str]:
    """Judge the questions about every N-th episode, and tampered ones."""
    grammar, rng, found = default_grammar(), random.Random(options.seed), Counter[str]()
    asker = Questioner(grammar, options.seed, options.family, options.per_image)
    for url in options.stores:
        store = open_store(url)
        ids = sorted(key for key, _ in store.ids())[number :: options.processes]
        for record in tqdm(iter_valid_records(store, ids, [], lambda _: None), total=len(ids), unit=" episodes"):
            stage = scene_stage(record.scene)
            threshold = stage.placement.relation_threshold
            for view, image in zip(store_views([record]), record.images, strict=True):
                annotation = image.annotation.model_dump(mode="json")
                if not stage.ground:
                    annotation.setdefault("fronts", {})
                asked = list(asker.ask(view))
                made = [one for one in asked if is_judged(one)]
                found["images"] += 1
                found["about models, not judged"] += len(asked) - len(made)
                for one in made:
                    line = one.data()
                    read = answers(annotation, threshold, line)
                    found["questions"] += 1
                    if read != {one.answer}:
                        found["different answers"] += 1
                        print(
                            f"{view.episode}: {one.text} {one.answer!r}: the third judge says {sorted(map(str, read))}"
                        )
                    if rng.random() < 0.1:
                        found["tampered"] += 1
                        found["tampered, not noticed"] += not noticed(annotation, threshold, line, made, rng)
    return found


def noticed(
    annotation: Mapping[str, Any], threshold: float, line: Mapping[str, Any], made: Sequence[Question],
    rng: random.Random,
) -> bool:  # fmt: skip
    """Whether the judge notices another answer, or the words of the question's twin."""
    answer, changed = line["answer"], dict(line)
    twin = next((one.text for one in made if one.identity == line.get("twin")), "")
    if twin and rng.random() < 0.5:
        changed["question"] = twin
    elif isinstance(answer, bool):
        changed["answer"] = not answer
    elif isinstance(answer, int):
        changed["answer"] = answer + rng.choice((-1, 1))
    else:
        others = {one.answer for one in made if isinstance(one.answer, str)} - {answer}
        changed["answer"] = rng.choice(sorted(others | {"other"}))
    return answers(annotation, threshold, changed) != {changed["answer"]}
