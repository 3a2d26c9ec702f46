"""Evaluation items of ICCA: the listener's task without a history, once per image of a context."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.language.answer_rule import LETTERS
from diorama.scene_specs.language.items import Item, Part, prompts
from diorama.scene_specs.language.rendered import EpisodeRecord
from diorama.scene_specs.language.rng import generator, shuffled


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield an item per image: its description by the incremental algorithm, and the four images in random order.

    Each letter is the answer once per context.
    """
    truth, say = Truth.of_record(episode), prompts(__name__)
    names = [image.name for image in episode.images]
    letters = tuple(LETTERS[: len(names)])
    rng = generator(0, episode.episode_id, "evaluation items")
    places = shuffled(rng, range(len(names)))
    groups = {"source": truth.source, "vary": truth.vary}
    for number, (target, place) in enumerate(zip(names, places, strict=True)):
        order = shuffled(rng, [name for name in names if name != target])
        order.insert(place, target)
        parts = [Part(say["start"])]
        for letter, name in zip(letters, order, strict=True):
            parts += [Part(say["picture"].format(letter=letter)), Part(image=name)]
        message = truth.descriptions[number].incremental.text
        parts.append(Part(say["question"].format(message=message)))
        yield Item(
            number, truth.name, tuple(parts), letters, letters[place], int(say["version"]), groups=groups
        )  # fmt: skip
