"""Evaluation items: questions about rendered episodes for models that read text and images.

A benchmark makes them in its file `items`: `items(episode)` yields the items of an EpisodeRecord. The wording comes
from `prompts.json` of the benchmark's folder: {"version": 1, "<name>": "<text with {fields}>", ...}. A new wording
needs a new version, because results with different prompts can't be compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from diorama.scene_specs.errors import INCOMPLETE, incomplete, spec_error
from diorama.scene_specs.model.look import PLAIN
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.tasks.answer_rule import LETTERS, answer_of
from diorama.scene_specs.tasks.benchmark import benchmark, benchmark_of


def source_of_id(episode_id: str, look: str) -> str:
    """Return the id of the episode that one in a look was made of; "" for another id."""
    source, _, suffix = episode_id.rpartition("+")
    return source if suffix == look else ""


def look_of(scene: Scene) -> str:
    """Return the look of a Scene; of plain ones `plain` if other looks were made beside it, otherwise ""."""
    if scene.look is not None:
        return scene.look.name
    return PLAIN if source_of_id(scene.id, PLAIN) else ""


class Part(NamedTuple):
    """A part of a message: a text, or the name of an image of the episode."""

    text: str = ""
    image: str = ""


@dataclass(frozen=True)
class Item:
    """A question with one right answer.

    Attributes:
        number: number of the item within its episode.
        task: what accuracy is reported by.
        parts: the message, texts and images in order.
        options: all valid answers.
        prompts: version of the wording.
        lettered: whether the message lists the options as `A. first`.
        groups: more keys for analysis, such as {"objects": "7"}; any names are allowed. `items_of` adds "split" and
            "look".
        key: for guessers that read the text but see no image: a guesser learns one answer per key.
        rules: for guessers that need no learning: name -> options that the rule can't tell apart.
        pair: of an episode in a contrast, the same in the items that belong together.
        together: the same in episodes that show one thing under several conditions, such as a game in several colors.
            Their items are not independent, so guessers don't learn from one about another. By default the episode, or
            what it is a member or a look of.
        benchmark: its name, filled in by `items_of`.
    """

    number: int
    task: str
    parts: tuple[Part, ...]
    options: tuple[str, ...]
    answer: str
    prompts: int
    lettered: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pair: str = ""
    together: str = ""
    benchmark: str = ""

    @property
    def label(self) -> str:
        """What a model should answer: the letter of the right option if options are lettered, otherwise its text."""
        return LETTERS[self.options.index(self.answer)] if self.lettered else self.answer

    def score(self, reply: object) -> float:
        """Return 1.0 for a reply that gives the right answer, 0.0 for any other, also for one that is not a text.

        `render-eval score` finds the answer of a reply by the same rule, diorama.scene_specs.tasks.answer_rule.
        """
        return float(isinstance(reply, str) and answer_of(reply, self.options, self.lettered) == self.answer)


@lru_cache(maxsize=32)
def read_prompts(module: str) -> Mapping[str, str]:
    """Return the texts of `prompts.json` beside a module; `version` is among them, as text."""
    data = json.loads((resources.files(module.rpartition(".")[0]) / "prompts.json").read_text("utf-8"))
    return {name: str(text) for name, text in data.items()}


def listed(options: Sequence[str]) -> str:
    """Return options as lines `A. first`."""
    return "\n".join(f"{LETTERS[k]}. {option}" for k, option in enumerate(options))


def item_id(episode_id: str, item: Item) -> str:
    """Return the id of an item in exports and predictions: `<episode id>#<number>`."""
    return f"{episode_id}#{item.number}"


def items_of(episode: EpisodeRecord, make: Callable[[EpisodeRecord], Iterable[Item]] | None = None) -> Iterator[Item]:
    """Yield the items of an episode; none if it has no benchmark, or one without items.

    Args:
        make: makes the items of `questions` in place of those of the episode's benchmark; they belong to no pair.

    Raises:
        SpecError: the episode is incomplete.
    """
    own, name = make is None, benchmark_of(episode.scene.task) if make is None else "questions"
    if own and name is not None:
        make = benchmark(name).items
    if make is None:
        return
    images = {image.name for image in episode.images}
    try:
        for item in make(episode):
            # What a model can't be asked, no model can be scored by.
            if missing := [part.image for part in item.parts if part.image and part.image not in images]:
                raise ValueError(f"found no image {missing[0]!r}")
            if any(answer_of(option, item.options, item.lettered) != option for option in item.options):
                raise ValueError(f"options can't be told apart: {', '.join(item.options)}")
            if answer_of(item.label, item.options, item.lettered) != item.answer:
                raise ValueError(f"found answer {item.answer!r}; expected one of {', '.join(item.options)}")
            found = {"split": episode.scene.split, "look": look_of(episode.scene)}
            groups = {name: value for name, value in found.items() if value} | {**item.groups}
            together = _contrast_group(episode, item.together or episode.episode_id)
            item = replace(item, benchmark=str(name), groups=groups, together=together)
            if own and (contrast := episode.scene.contrast) is not None:
                groups = {**item.groups, "change": contrast.change}
                item = replace(item, pair=item_id(contrast.pair, item), groups=groups)
            yield item
    except INCOMPLETE as error:
        raise spec_error(incomplete(name, error), episode=episode.episode_id, path="task") from error


def _contrast_group(episode: EpisodeRecord, own: str) -> str:
    if episode.scene.contrast is not None:
        return episode.scene.contrast.source
    return source_of_id(own, look_of(episode.scene)) or own
