"""Evaluation items of KiloGram's reference games: a text and ten images, and an image and ten texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diorama.scene_specs.benchmarks.kilogram.truth import Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.answer_rule import LETTERS
from diorama.scene_specs.tasks.items import Item, Part, listed, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield both items of a game; none for single images (`render-specs kilogram --pictures`).

    Distractor texts are those of the other images.
    """
    truth = Truth.of_record(episode)
    if not truth.answer:
        return
    names = [image.name for image in episode.images]
    target, letters = names.index(truth.answer), tuple(LETTERS[: len(names)])
    # All conditions, and all numbers of shown parts, have the same games, with the target in the same place.
    together = re.sub("/[0-9]+of[0-9]+/", "/", episode.episode_id.replace(f"/{truth.name}/", "/", 1))
    groups = {"condition": truth.name, "parts": str(truth.part_count), "shown_parts": str(truth.shown_parts)}
    shown = [
        part
        for letter, name in zip(letters, names, strict=True)
        for part in (Part(_TEXT["picture"].format(letter=letter)), Part(image=name))
    ]
    asked, version = Part(_TEXT["to_images"].format(text=truth.text)), int(_TEXT["version"])
    yield Item(0, "text to image", (*shown, asked), letters, letters[target], version, groups=groups,
               together=together)  # fmt: skip
    utterances = {frame.name: frame.utterance or "" for frame in episode.scene.frames}
    texts = tuple(utterances[image.frame] for image in episode.images)
    parts = (Part(image=names[target]), Part(_TEXT["to_texts"].format(options=listed(texts))))
    yield Item(1, "image to text", parts, texts, texts[target], version, lettered=True, groups=groups,
               together=together)  # fmt: skip
