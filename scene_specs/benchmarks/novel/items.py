"""Evaluation items: exemplars of new words, then a question about other images."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.novel.concepts import Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.items import Item, Part, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield the item of an episode."""
    truth = Truth.of_record(episode)
    images = {image.frame: image.name for image in episode.images}
    parts = [Part(_TEXT["start"])]
    for exemplar in truth.exemplars:
        parts += [Part(_TEXT["exemplar"].format(word=exemplar.word)), Part(image=images[exemplar.frame])]
    for choice in truth.choices:
        text = _TEXT["query"] if truth.asked is None else _TEXT["choice"].format(letter=choice.frame[-1].upper())
        parts += [Part(text), Part(image=images[choice.frame])]
    options = ", ".join(truth.options)
    question = _TEXT["which_word" if truth.asked is None else "which_image"]
    parts.append(Part(question.format(word=truth.asked, options=options)))
    groups = {"exemplars": str(len(truth.exemplars))}
    if truth.step is not None:
        groups["step"] = f"{truth.step:g}"
    if truth.name == "mutual-exclusivity":
        groups["asked"] = "known" if truth.asked == truth.exemplars[0].word else "new"
    yield Item(0, truth.name, tuple(parts), truth.options, truth.answer, int(_TEXT["version"]), groups=groups,
               key=truth.name)  # fmt: skip
