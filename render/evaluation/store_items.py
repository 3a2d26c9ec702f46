"""The evaluation items of a store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader
from scene_specs.language.items import Item, item_id, items_of
from scene_specs.language.tables import counted

_log = logging.getLogger(__name__)


def iter_items(
    store: EpisodeReader, options: ExportOptions, progress: Callable[[int], None]
) -> Iterator[tuple[str, Item, EpisodeRecord]]:
    """Yield id, item and episode, by episode id. Memory: a chunk of 32 episodes.

    options: which episodes, as in an export. progress: receives numbers of episodes. The number of episodes
    without items is logged. Raises StoreError for damaged ones.
    """
    report, without = ExportReport(), 0
    for record in iter_valid_records(store, chosen_ids(store, options), report, progress):
        items = list(items_of(record))
        without += not items
        for item in items:
            yield item_id(record.episode_id, item), item, record
        progress(1)
    if error := report.error():
        raise error
    if without:
        _log.warning("%s without evaluation items skipped", counted(without, "episode"))
