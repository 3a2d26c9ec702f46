"""Captions and prompts for models that only read text (MEWL paper, appendix B)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from diorama.scene_specs.benchmarks.mewl import Captions, TaskName
from diorama.scene_specs.benchmarks.mewl.lexicons import possible
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.benchmarks.mewl.view import SeenImage, learner_view
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.language.invented import is_invented
from diorama.scene_specs.model.spec import EpisodeData

INSTRUCTION = "Please name the target object according to the above context."
CHOOSE = "Which name fits the last context? Answer with its letter."
# Name of the hand in the published captions.
POINTER = "small yellow rubber arrow"
_WORDING = {"front": "in front of", "behind": "behind", "left": "on the left of", "right": "on the right of"}


def caption(image: SeenImage, task: TaskName) -> str:
    """Return the caption of an image of a learner's view: relations in relation and bootstrap, else attributes."""
    names = [" ".join((size, color, material, shape)) for shape, color, material, size in image.objects]
    if task in ("relation", "bootstrap"):
        return _spatial_caption(image, names)
    if image.pointed is None:
        return f"A {' and a '.join(names)}."
    return f"A {' and a '.join([*names, POINTER])}. And a finger is pointing to the {names[image.pointed]}."


def _spatial_caption(image: SeenImage, names: list[str]) -> str:
    """Say as published where the middle objects are, from front to back and from left to right.

    An axis along which the view leaves an order open is left out.
    """
    sentences = []
    for first, last in (("front", "behind"), ("left", "right")):
        # How many stand behind each, or to its right.
        after = [sum(possible(image, last, b, a) is True for b in range(len(names))) for a in range(len(names))]
        if sorted(after) != [*range(len(names))]:
            continue
        order = [names[k] for k in sorted(range(len(names)), key=lambda k: -after[k])]
        sentences += [
            f"The {middle} is {_WORDING[first]} the {right} and {_WORDING[last]} the {left}."
            for left, middle, right in zip(order, order[1:], order[2:], strict=False)
        ]
    return " ".join(sentences)


def questions(data: EpisodeData) -> dict[str, Any]:
    """Return the text version of an episode, both as JSON data.

    captions: of the seven images. names: utterances of the contexts. prompts: one per option, which it ends with, for
    scoring by likelihood. prompt: lists the options by letter, for models that answer. label: index of the answer.
    Raises SpecError as learner_view does, and for invented shapes.
    """
    truth = Truth.of_spec(data)
    view = learner_view(data, truth)
    if any(is_invented(shape) for image in view.images for shape, *_ in image.objects):
        problem = "invented shapes have no words, so no caption describes these images"
        raise spec_error(
            problem, "use episodes of `render-specs mewl --objects clevr`", episode=str(data.get("id", ""))
        )
    captions = [caption(image, view.task) for image in view.images]
    names = [image.utterance for image in view.images[:-1]]
    blocks = [f"Context: {text}\nName: {name}\n\n" for text, name in zip(captions, names, strict=False)]
    start = f"{INSTRUCTION}\n\n{''.join(blocks)}Context: {captions[-1]}\n"
    listed = "\n".join(f"{chr(65 + k)}. {option}" for k, option in enumerate(view.options))
    return {
        "id": data["id"],
        "task": view.task,
        "captions": captions,
        "names": names,
        "options": list(view.options),
        "answer": truth.answer,
        "label": view.options.index(truth.answer) if truth.answer in view.options else None,
        "prompts": [f"{start}Name: {option}" for option in view.options],
        "prompt": f"{start}\n{CHOOSE}\n{listed}\nAnswer:",
    }


def generate(options: Captions, episodes: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Text versions by the options of `render-specs mewl captions`."""
    return map(questions, episodes)
