"""Stores that an older Diorama made, brought to this version's schema; nothing is rendered again."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from render.store.columns import SCHEMA_VERSION, VERSION_KEY, check_schema, episode_schema, schema_version
from render.store.lance.errors import translate_errors

log = logging.getLogger(__name__)


def migrate(url: str) -> int:
    """Bring a store up to date, version by version; returns the version it had.

    Safe to stop at any time and to run again: the new number is written last. Run it while nobody writes. Old versions
    of the dataset stay, so nothing is lost. Raises StoreError for what is no store, or one of a newer Diorama.
    """
    import lance

    with translate_errors(url, "opening"):
        dataset = lance.dataset(url)
    found = schema_version(url, dataset.schema)
    for number in range(found, SCHEMA_VERSION):
        with translate_errors(url, f"migration from schema version {number}"):
            _STEPS[number](dataset)
            written: dict[str, str | None] = {VERSION_KEY.decode(): str(number + 1)}
            if number + 1 == SCHEMA_VERSION:
                written["huggingface"] = episode_schema().metadata[b"huggingface"].decode()
            dataset.update_schema_metadata(written)
        log.info("%s: schema version %d is now %d", url, number, number + 1)
    check_schema(url, dataset.schema)
    return found


def _from_1(dataset: Any) -> None:
    """Version 2 has `relations` as a column of its own."""
    if "relations" in dataset.schema.names:
        return
    schema = pa.schema([pa.field("relations", pa.list_(pa.string()))])

    def relations(batch: pa.RecordBatch) -> pa.RecordBatch:
        lists = [_relations_of(text) for text in batch.column("annotations").to_pylist()]
        return pa.record_batch([pa.array(lists, schema.field(0).type)], schema=schema)

    import lance

    add = lance.batch_udf(output_schema=schema)(relations)
    dataset.add_columns(add, read_columns=["annotations"], batch_size=256)


def _relations_of(annotations: str) -> list[str] | None:
    try:
        images = json.loads(annotations)
        return [
            json.dumps(image["annotation"]["relations"], separators=(",", ":"), ensure_ascii=False) for image in images
        ]
    except (ValueError, TypeError, KeyError):
        # A damaged row; `verify` names it, and it should not keep the others from being migrated.
        return None


_STEPS: dict[int, Callable[[Any], None]] = {1: _from_1}
