"""The evaluation items of a store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from diorama.render.annotations.image_views import store_views
from diorama.render.model.errors import StoreError, UsageError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import Selection, chosen_ids, iter_valid_records, listed
from diorama.scene_specs.language.items import Item, item_id, items_of
from diorama.scene_specs.language.tables import counted
from diorama.scene_specs.questions.generate import Questioner
from diorama.scene_specs.questions.grammar import default_grammar
from diorama.scene_specs.questions.question_items import items

_log = logging.getLogger(__name__)


def no_items(options: Selection) -> UsageError:
    """The error for a selection without items."""
    more = "" if options.questions else ", or pass --questions N"
    return UsageError(f"no episode has evaluation items; check STORE, --split and --where{more}")


def items_maker(options: Selection) -> Callable[[EpisodeRecord], Iterator[Item]]:
    """What makes the items of one episode after the other: those of its benchmark, or questions."""
    if options.questions is None:
        return items_of
    asker = Questioner(default_grammar(), per_image=options.questions)
    return lambda record: items_of(record, lambda _: items(asker, store_views([record])))


def iter_items(
    store: EpisodeReader, options: Selection, progress: Callable[[int], None]
) -> Iterator[tuple[str, Item, EpisodeRecord]]:
    """Yield id, item and episode, by episode id. Memory: a chunk of 32 episodes.

    options: which episodes, as in an export. progress: receives numbers of episodes. The number of episodes
    without items is logged. Raises StoreError for damaged ones.
    """
    damaged: list[str] = []
    without, make = 0, items_maker(options)
    for record in iter_valid_records(store, chosen_ids(store, options), damaged, progress):
        without += not (found := list(make(record)))
        for item in found:
            yield item_id(record.episode_id, item), item, record
        progress(1)
    if damaged:
        raise StoreError(listed("not read", damaged))
    if without:
        _log.warning("%s without evaluation items skipped", counted(without, "episode"))
