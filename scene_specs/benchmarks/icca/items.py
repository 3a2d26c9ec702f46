"""Evaluation items of ICCA: the listener's task without a history, once per image of a context."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.language.rng import generator, shuffled
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.answer_rule import LETTERS
from diorama.scene_specs.tasks.items import Item, Part, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield an item per image: its description by the incremental algorithm, and the four images in random order.

    Each letter is the answer once per context.
    """
    truth = Truth.of_record(episode)
    names = [image.name for image in episode.images]
    letters = tuple(LETTERS[: len(names)])
    rng = generator(0, episode.episode_id, "evaluation items")
    places = shuffled(rng, range(len(names)))
    groups = {"source": truth.source, "vary": truth.vary}
    for number, (target, place) in enumerate(zip(names, places, strict=True)):
        order = shuffled(rng, [name for name in names if name != target])
        order.insert(place, target)
        parts = [Part(_TEXT["start"])]
        for letter, name in zip(letters, order, strict=True):
            parts += [Part(_TEXT["picture"].format(letter=letter)), Part(image=name)]
        parts.append(Part(_TEXT["question"].format(message=truth.descriptions[number].incremental.text)))
        yield Item(
            number, truth.name, tuple(parts), letters, letters[place], int(_TEXT["version"]), groups=groups
        )  # fmt: skip
