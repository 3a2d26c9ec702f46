"""Evaluation items of MALeViC: an image, and whether a sentence is true of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diorama.scene_specs.benchmarks.malevic.verify import task_of
from diorama.scene_specs.language.benchmark import Asked
from diorama.scene_specs.language.items import Item, Part, prompts
from diorama.scene_specs.language.rendered import RenderedEpisode


def items(episode: RenderedEpisode) -> Iterator[Item]:
    """Yield the item of an episode. A guesser without images knows the adjective."""
    task, say = task_of(episode), prompts(__name__)
    parts = (Part(image=episode.images[0].name), Part(say["question"].format(sentence=task["question"])))
    groups = {"adjective": task["adjective"], "vagueness": task["vagueness"], "objects": str(len(task["objects"]))}
    yield Item(
        0, task["name"], parts, tuple(task["options"]), task["answer"], int(say["version"]),
        groups=groups, key=task["adjective"],
    )  # fmt: skip


def asked(spec: Mapping[str, Any]) -> Asked:
    """Return the group of a spec, its sentence, and its answer; scenes without a question are a group."""
    task = spec["task"]
    group = f"{task['name']} {task['split']}: {task.get('question', 'scene')}"
    return Asked(group, task.get("answer", ""), tuple(task.get("options", ("",))))
