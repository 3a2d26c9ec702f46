"""Migration of stores from an older Diorama to this version's schema; nothing is rendered again."""

from __future__ import annotations

import json
import logging
from typing import Any

import pyarrow as pa

from diorama.render.store.columns import SCHEMA_VERSION, check_schema, episode_schema, schema_version
from diorama.render.store.lance.errors import translate_errors
from diorama.render.store.lance.reader import open_dataset
from diorama.render.store.rows import to_json

log = logging.getLogger(__name__)


def migrate(url: str) -> int:
    """Migrate a store; return the schema version it had.

    Safe to interrupt and to repeat: the new number is written last. Run it while nobody writes. Old versions of the
    dataset stay, so nothing is lost. Raises StoreError if there is no store, or one of a newer Diorama.
    """
    dataset = open_dataset(url, any_schema=True)
    found = schema_version(url, dataset.schema)
    if found < SCHEMA_VERSION:
        with translate_errors(url, f"migration from schema version {found}"):
            _add_relations(dataset)
            metadata = episode_schema().metadata
            dataset.update_schema_metadata({key.decode(): value.decode() for key, value in metadata.items()})
        log.info("%s: schema version %d is now %d", url, found, SCHEMA_VERSION)
    check_schema(url, dataset.schema)
    return found


def _add_relations(dataset: Any) -> None:
    """Add the column `relations` of version 2."""
    if "relations" in dataset.schema.names:
        return
    import lance

    schema = pa.schema([pa.field("relations", pa.list_(pa.string()))])

    def relations(batch: pa.RecordBatch) -> pa.RecordBatch:
        lists = [_relations_of(text) for text in batch.column("annotations").to_pylist()]
        return pa.record_batch([pa.array(lists, schema.field(0).type)], schema=schema)

    add = lance.batch_udf(output_schema=schema)(relations)
    dataset.add_columns(add, read_columns=["annotations"], batch_size=256)


def _relations_of(annotations: str) -> list[str] | None:
    try:
        return [to_json(image["annotation"]["relations"]) for image in json.loads(annotations)]
    except (ValueError, TypeError, KeyError):
        # A damaged row: `verify` lists it, and the other rows can be migrated.
        return None
