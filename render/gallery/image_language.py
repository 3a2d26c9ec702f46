"""Questions about the images of an episode and expressions for their objects, as examples for its page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from diorama.render.annotations.image_views import store_views
from diorama.render.model.record import EpisodeRecord
from diorama.scene_specs.questions.expressions import expressions
from diorama.scene_specs.questions.generate import DisagreementError, Question, Questioner
from diorama.scene_specs.questions.grammar import default_grammar

_QUESTIONS = 8


def language_of(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    """For each image, `questions` with their answers, and `expressions`: name of an object -> text."""
    grammar = default_grammar()
    for view in store_views([record]):
        asked: list[Question] = []
        # The checks of the gallery report annotations that contradict themselves.
        with suppress(DisagreementError):
            asked += Questioner(grammar, per_image=_QUESTIONS).ask(view)
        named = expressions(view, grammar, 0)
        yield {
            "questions": [{"question": one.text, "answer": one.answer} for one in asked],
            "expressions": {view.objects[one.target].truth.name: one.texts[0] for one in named},
        }
