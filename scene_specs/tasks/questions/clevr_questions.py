"""Questions in the form of CLEVR's question files, and the numbers of images in its export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from diorama.scene_specs.language.vocabulary import MEWL_MATERIALS
from diorama.scene_specs.tasks.questions.generate import Question
from diorama.scene_specs.tasks.questions.program import CLEVR_FAMILIES, clevr_json, spoken
from diorama.scene_specs.tasks.questions.view import CLEVR_VALUES, ImageView


def clevr_numbers(
    views: Iterable[ImageView], first: Mapping[str, int] | None = None
) -> Iterator[tuple[ImageView, int | None]]:
    """Images with their number in their split, as `render-export --format clevr` numbers them.

    It leaves out, and does not count, the images of an episode that CLEVR's words can't describe; their number is None.

    Args:
        first: episode -> number of its first image, of all that have one. None: numbers are counted here.
    """
    counts: Counter[str] = Counter()
    for episode, group in groupby(views, key=lambda view: view.episode):
        images = list(group)
        split = images[0].split or "new"
        start = first.get(episode) if first is not None else counts[split] if all(map(_is_clevr, images)) else None
        counts[split] += 0 if start is None else len(images)
        for place, view in enumerate(images):
            yield view, None if start is None else start + place


def _is_clevr(view: ImageView) -> bool:
    words = {**CLEVR_VALUES, "material": MEWL_MATERIALS}
    named = all(item.values[name] in allowed for item in view.objects for name, allowed in words.items())
    return named and not view.pointer


def clevr_question(question: Question, number: int, index: int) -> dict[str, Any]:
    """Return a question as in CLEVR's question file.

    Its family index is the place in CLEVR_FAMILIES; all other families share the next number.

    Args:
        number: number of its image in the split.
        index: index of the question.
    """
    split = question.view.split or "new"
    image = f"CLEVR_{split}_{number:06d}"
    return {
        "split": split,
        "image_filename": f"{image}.png",
        "image_index": number,
        "image": image,
        "question_index": index,
        "question": question.text,
        "answer": spoken(question.answer),
        "program": clevr_json(question.program),
        "question_family_index": [*CLEVR_FAMILIES, question.family].index(question.family),
    }
