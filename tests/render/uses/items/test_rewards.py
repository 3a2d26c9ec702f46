"""Rewards against the provers of the benchmarks and both executors of questions; replies that game them get nothing.

`python -m tests.render.uses.items.test_rewards 100000` tries so many rewards.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.answer_rule import LETTERS
from diorama.scene_specs.tasks.benchmark import verifier_of
from diorama.scene_specs.tasks.blocks import Blocks, sources_of
from diorama.scene_specs.tasks.items import Item, items_of
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import spoken
from diorama.scene_specs.tasks.questions.question_items import items
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor
from tests.factories import make_job

MIXTURE: Any = {
    "clevr": {"weight": 6, "objects": (3, 6)},
    "mewl": {"weight": 3, "split": "train"},
    "malevic": {"weight": 1, "name": "pos1", "split": "train"},
}


def proved() -> Iterator[tuple[Item, str]]:
    """Items, and the answers that follow without them: of a verified truth, or of two executors."""
    asker, other = (Questioner(default_grammar(), per_image=10) for _ in range(2))
    blocks, number = Blocks(sources_of(MIXTURE, {}), 5), 0
    while True:
        for spec in blocks.block(number):
            task = spec["task"]
            size = (96, 72)
            episode = EpisodeSpec.model_validate(spec)
            record = make_record(FakeRenderer(), episode, make_job(spec), settings_for("draft", *size))
            if task["benchmark"] != "clevr":
                verifier = verifier_of(task)
                assert verifier is not None
                assert not (why := verifier.verify_record(record)), why
                yield from ((item, truth_of(task)) for item in items_of(record))
                continue
            views = list(store_views([record]))
            questions = [question for view in views for question in other.ask(view)]
            for item, question in zip(items(asker, views), questions, strict=True):
                one = PositionsExecutor(question.view).run(question.program)
                two = RelationsExecutor(question.view).run(question.program)
                assert one == two
                yield item, spoken(one)
        number += 1


def truth_of(task: Any) -> str:
    """The answer in the truth of an episode, which its prover has verified."""
    if "options" in task:
        return str(task["options"][task["answer"]] if isinstance(task["answer"], int) else task["answer"])
    return "true" if task["truth"] else "false"


def honest(item: Item, option: str) -> list[str]:
    """Ways to give an option."""
    found = [option, f"Answer: {option}", f"**{option.upper()}**", f"I looked. The answer is: {option}."]
    return [*found, f"({LETTERS[item.options.index(option)]})"] if item.lettered else found


def gaming(item: Item) -> list[Any]:
    """Replies that know nothing."""
    every, text = list(item.options), "\n".join(part.text for part in item.parts)
    right = item.answer
    return [
        "", " ", "?", text, f"{text}\nAnswer:", " ".join(every), ", ".join(every), "\n".join(every), json.dumps(every),
        " or ".join(every), json.dumps({"answer": every}), "Answer: " + " / ".join(every), "".join(LETTERS),
        json.dumps({"score": 1.0, "reward": 1}), '{"answer": true, "correct": true}', f"not {right}",
        f"{right} " * 2, (right + " ") * (10_000_000 // (len(right) + 1)), None, every, {"answer": right}, 1, True,
        f"Answer: {right}\nAnswer: none of them", "\x00" + right, "item.answer", "{answer}", "%s", "Answer: *",
    ]  # fmt: skip


def check(number: int) -> Counter[str]:
    """Try so many rewards, and 1,000 of gaming replies; how often each kind was wrong, and how many were tried."""
    counts: Counter[str] = Counter(wrong=0, gamed=0)
    for item, truth in proved():
        for option in item.options:
            for reply in honest(item, option):
                counts["rewards"] += 1
                counts["right"] += option == truth
                counts["wrong"] += item.score(reply) != float(option == truth)
        if counts["gaming"] < 1000:
            for reply in gaming(item):
                start = time.thread_time()
                counts["gamed"] += item.score(reply) != 0.0
                counts["slow"] += time.thread_time() - start > 1e-3
                counts["gaming"] += 1
        counts["items"] += 1
        if counts["rewards"] >= number:
            return counts
    raise AssertionError


@pytest.mark.slow
def test_rewards_are_those_of_the_provers_and_gaming_gets_nothing() -> None:
    counts = check(1500)
    assert (counts["wrong"], counts["gamed"]) == (0, 0)
    assert counts["gaming"] >= 200 and counts["right"] > 100


if __name__ == "__main__":
    sys.stdout.write(f"{check(int(sys.argv[1]))}\n")
