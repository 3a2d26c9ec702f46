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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

from tqdm import tqdm

from diorama.render.annotations.image_views import store_views
from diorama.render.store import open_store
from diorama.render.store.selection import iter_valid_records
from diorama.scene_specs.language.vocabulary import SHAPES
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.questions.generate import Question, Questioner
from diorama.scene_specs.questions.grammar import default_grammar
from tools.programs import positive
from tools.third_judge.english import answers
from tools.third_judge.world import kind_of

_T = TypeVar("_T")


def is_judged(question: Question) -> bool:
    """Whether an export has what a question is about: kinds of Diorama's own models, extents of CLEVR's shapes."""
    shapes = {item.truth.shape for item in question.view.objects}
    models = not all(map(kind_of, shapes)) and "_category" in str(question.program)
    upward = any(step.value in ("above", "below", "on") for step in question.program.steps())
    return not (models or (upward and not shapes <= {*SHAPES}))


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--family", action="append", default=[], help="family of questions (default: all except forms)")
    parser.add_argument("--per-image", type=positive, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=positive, default=1, help="each balances its part of the images")


def in_parts(work: Callable[[Namespace, int], _T], options: Namespace) -> list[_T]:
    """Return the results of `work` on each part of the images, in a process each."""
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        return list(pool.map(work, [options] * options.processes, range(options.processes)))


def episodes_in(stores: Sequence[str], first: int, step: int) -> Iterator[EpisodeRecord]:
    """Yield every `step`-th episode of some stores."""
    for url in stores:
        store = open_store(url)
        ids = sorted(key for key, _ in store.ids())[first::step]
        yield from tqdm(iter_valid_records(store, ids, [], lambda _: None), total=len(ids), unit=" episodes")


def main(options: Namespace) -> int:
    """Print what was found; return the exit code."""
    found = sum(in_parts(judge_part, options), Counter[str]())
    for name, number in sorted(found.items()):
        print(f"{name:24} {number:8,}")
    return int(bool(found["different answers"] or found["tampered, not noticed"] or not found["questions"]))


def judge_part(options: Namespace, number: int) -> Counter[str]:
    """Judge the questions about every N-th episode, and tampered ones."""
    rng, found = random.Random(options.seed), Counter[str]()
    asker = Questioner(default_grammar(), options.seed, options.family, options.per_image)
    for record in episodes_in(options.stores, number, options.processes):
        stage = load_stage(record.scene.stage)
        threshold = stage.placement.relation_threshold
        for view, image in zip(store_views([record]), record.images, strict=True):
            annotation = image.annotation.model_dump(mode="json")
            if not stage.ground:
                annotation.setdefault("fronts", {})
            asked = list(asker.ask(view))
            made = [one for one in asked if is_judged(one)]
            found += Counter({"images": 1, "about models, not judged": len(asked) - len(made)})
            for one in made:
                line = one.data()
                read = answers(annotation, threshold, line)
                found["questions"] += 1
                if read != {one.answer}:
                    found["different answers"] += 1
                    print(f"{view.episode}: {one.text} {one.answer!r}: the third judge says {sorted(map(str, read))}")
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
