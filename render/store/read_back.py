"""Reads episodes back from a `--format huggingface` export, without the store."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from diorama.render.model.errors import StoreError, UsageError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.columns import RECORD_COLUMNS
from diorama.render.store.episode_store import KEY
from diorama.render.store.rows import record_of


def exported_record(folder: Path, episode_id: str) -> EpisodeRecord:
    """Return an episode of an exported or downloaded folder; only the row groups that may have its id are read.

    Raises UsageError for an unknown id, StoreError for files of another origin, DamagedError as the store does.
    """
    files = sorted(map(str, (folder / "data").glob("*.parquet")))
    if not files:
        raise UsageError(f"{folder}: found no data/*.parquet; name a folder of `render-export --format huggingface`")
    try:
        found = ds.dataset(files, format="parquet").to_table([*RECORD_COLUMNS], ds.field(KEY) == episode_id).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{folder}: can't be read as an export: {error}") from error
    if not found:
        raise UsageError(f"{folder}: episode {episode_id} is not in the export")
    return record_of(found[0])
