"""The evaluation items of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader
from scene_specs.language.items import Item, item_id, items_of


def iter_items(
    store: EpisodeReader, options: ExportOptions, progress: Callable[[int], None]
) -> Iterator[tuple[str, Item, EpisodeRecord]]:
    """Yield id, item and episode, by episode id. Memory: a chunk of 32 episodes.

    options: which episodes, as in an export. progress: receives numbers of episodes. Raises SpecError for an episode
    without items, StoreError for a damaged one.
    """
    report = ExportReport()
    for record in iter_valid_records(store, chosen_ids(store, options), report, progress):
        for item in items_of(record):
            yield item_id(record.episode_id, item), item, record
        progress(1)
    if error := report.error():
        raise error
