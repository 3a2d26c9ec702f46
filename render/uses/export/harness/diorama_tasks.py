"""Tasks for Inspect AI, written by `render-export --format eval`.

inspect eval diorama_tasks.py@mewl --model openai/gpt-5
"""

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task, task  # noqa: F401 - the exporter appends a function per benchmark
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, grouped, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from diorama_answers import answer_of  # noqa: E402


@scorer(metrics=[grouped(accuracy(), "task", all=False), accuracy(), stderr(cluster="episode")])
def option_scorer() -> Scorer:
    """Score by the rule of diorama_answers.py."""

    async def score(state: TaskState, target: Target) -> Score:
        answer = answer_of(state.output.completion, state.metadata["options"], state.metadata["lettered"])
        value = CORRECT if answer == state.metadata["answer"] else INCORRECT
        return Score(value=value, answer=answer, explanation=state.output.completion)

    return score


def sample(item: dict[str, Any]) -> Sample:
    """Return an item as a message of texts and images in order."""
    content = [
        ContentImage(image=str(HERE / part["image"])) if part["image"] else ContentText(text=part["text"])
        for part in item["parts"]
    ]
    metadata = {"task": item["task"], "episode": item["episode"], **dict(item["groups"])}
    metadata |= {"options": item["options"], "lettered": item["lettered"], "answer": item["answer"]}
    return Sample(id=item["id"], input=[ChatMessageUser(content=content)], target=item["label"], metadata=metadata)


def benchmark(name: str) -> Task:
    """All items of a benchmark."""
    with (HERE / name / "items.jsonl").open(encoding="utf-8") as lines:
        samples = [sample(json.loads(line)) for line in lines]
    return Task(name=f"diorama_{name}", dataset=MemoryDataset(samples), solver=generate(), scorer=option_scorer())
