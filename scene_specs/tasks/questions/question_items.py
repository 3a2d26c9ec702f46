"""Evaluation items of any images: questions with all answers that they could have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

from diorama.scene_specs.tasks.items import Item, Part, read_prompts
from diorama.scene_specs.tasks.questions.generate import Question, Questioner, form_of
from diorama.scene_specs.tasks.questions.program import spoken
from diorama.scene_specs.tasks.questions.view import ImageView

_TEXT = read_prompts(__name__)
# Numbers up to this one, or up to that of the objects, are answers to "how many".
_NUMBERS = 10


def items(asker: Questioner, views: Iterable[ImageView]) -> Iterator[Item]:
    """Yield an item for each question that is asked about some images.

    The number of an item is a checksum of image and question, so that no reply counts as one to another question
    that would have its place if other episodes were selected. A guesser without images knows the form.
    """
    for view in views:
        for question in asker.ask(view):
            options = tuple(map(spoken, question.options)) or _answer_options(question)
            text = _TEXT["question"].format(question=question.text, options=", ".join(options))
            groups = {"objects": str(len(view.objects)), "steps": str(sum(1 for _ in question.program.steps()))}
            pair = ""
            if question.twin is not None:
                groups["change"] = "negation"
                pair = f"{view.episode}#{view.image}-{min(question.identity, question.twin)}"
            yield Item(
                crc32(f"{view.image} {question.text}".encode()), question.family, (Part(image=view.image), Part(text)),
                options, spoken(question.answer), int(_TEXT["version"]), groups=groups,
                key=form_of(question.program), pair=pair,
            )  # fmt: skip


def _answer_options(question: Question) -> tuple[str, ...]:
    kind = question.program.output
    if kind == "integer":
        return tuple(map(str, range(max(_NUMBERS, len(question.view.objects)) + 1)))
    return ("yes", "no") if kind == "boolean" else tuple(question.view.vocabulary[kind])
