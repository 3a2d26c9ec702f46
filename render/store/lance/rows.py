"""EpisodeRecord to row and back; reading back loses nothing, and a damaged row is never taken for a whole one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from render.model.errors import StoreError
from render.model.record import EpisodeRecord, ImageRecord, Provenance, RenderKey
from render.model.scene import Scene
from render.store.episode_store import DamagedError
from render.store.lance.columns import episode_schema

_OBJECT_FIELDS = (
    "name",
    "index",
    "shape",
    "color",
    "material",
    "size",
    "scale",
    "location",
    "rotation_deg",
    "pixel_center",
    "bbox",
    "amodal_bbox",
    "visible_pixels",
    "alone_pixels",
    "visible_fraction",
    "truncated",
)
_TEXT_DIGEST_COLUMNS = ("episode_id", "job", "scene", "annotations", "provenance")


def table_of(records: Sequence[EpisodeRecord]) -> pa.Table:
    """Rows in the order given. Raises StoreError for a record that can't be written as text."""
    return pa.Table.from_pylist([row_of(record) for record in records], schema=episode_schema())


def encode(record: EpisodeRecord) -> bytes:
    """A record as bytes that `decode` makes a row of: whoever made it bears that work, not the one who commits.

    Raises StoreError for a record that can't be written as text.
    """
    batch = pa.RecordBatch.from_pylist([row_of(record)], schema=episode_schema())
    return bytes(batch.serialize())


def decode(parts: Sequence[bytes]) -> pa.Table:
    """The rows of encoded records, in the order given. Raises StoreError for bytes that `encode` did not make."""
    schema = episode_schema()
    try:
        batches = [pa.ipc.read_record_batch(pa.py_buffer(part), schema) for part in parts]
        return pa.Table.from_batches(batches, schema=schema)
    except (pa.ArrowInvalid, OSError) as error:
        raise StoreError(f"an encoded episode can't be read; was it made by another Diorama? {error}") from error


def row_of(record: EpisodeRecord) -> dict[str, Any]:
    """One row, by column. Raises StoreError for a record that can't be written as text."""
    try:
        row = {**_identity(record), **_task(record.scene.task), **_pictures(record), **_texts(record)}
        row["text_sha256"] = text_digest(row)
    except (ValueError, TypeError) as error:
        raise StoreError(f"episode {record.episode_id}: can't be stored: {error}; nothing of its batch was") from error
    return row


def _identity(record: EpisodeRecord) -> dict[str, Any]:
    settings = record.scene.settings
    return {
        "episode_id": record.episode_id,
        "split": record.scene.split,
        "attempt": record.provenance.attempt,
        "profile": settings.profile,
        "width": settings.width,
        "height": settings.height,
        "job_hash": record.job.hash(),
        "sha256": record.digest(),
    }


def _task(task: Mapping[str, Any] | None) -> dict[str, Any]:
    task = task or {}
    options = task.get("options")
    return {
        "benchmark": _text_or_json(task.get("benchmark")),
        "task": _text_or_json(task.get("name")),
        "options": [_text_or_json(option) for option in options] if isinstance(options, list | tuple) else None,
        "answer": _text_or_json(task.get("answer")),
    }


def _pictures(record: EpisodeRecord) -> dict[str, Any]:
    utterances = {frame.name: frame.utterance for frame in record.scene.frames}
    return {
        "images": [{"bytes": image.png, "path": f"{image.name}.png"} for image in record.images],
        "image_names": [image.name for image in record.images],
        "extra": [image.extra for image in record.images],
        "utterances": [utterances.get(image.frame) for image in record.images],
        "objects": [row for number, image in enumerate(record.images) for row in _object_rows(number, image)],
    }


def _object_rows(number: int, image: ImageRecord) -> list[dict[str, Any]]:
    rows = []
    for item in image.annotation.objects:
        row = {field: getattr(item, field) for field in _OBJECT_FIELDS}
        row |= {"image": number, "frame": image.frame, "view": image.view}
        row |= {"rle_size": item.rle.size, "rle_counts": item.rle.counts}
        rows.append(row)
    return rows


def _texts(record: EpisodeRecord) -> dict[str, Any]:
    annotations = [image.model_dump(mode="json", exclude={"png", "extra"}) for image in record.images]
    provenance = record.provenance.model_dump(mode="json")
    return {
        "spec": _json(record.job.spec),
        "job": _json(record.job.model_dump()),
        "scene": _json(record.scene.model_dump(mode="json")),
        "annotations": _json_of_floats(annotations),
        "relations": [_json(image.annotation.relations) for image in record.images],
        "provenance": _json_of_floats(provenance),
        "seconds": _json_of_floats(provenance["seconds"]),
    }


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _json_of_floats(value: Any) -> str:
    """Of typed models only: JSON has no infinity, so it becomes a string, which pydantic reads back as a float."""
    try:
        return _json(value)
    except ValueError:
        return _json(_finite(value))


def _text_or_json(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def text_digest(row: Mapping[str, Any]) -> str:
    """SHA-256 over the texts that a record is rebuilt from, hexadecimal."""
    whole = hashlib.sha256()
    for column in _TEXT_DIGEST_COLUMNS:
        part = row[column].encode()
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()


def job_of_row(row: Mapping[str, Any]) -> RenderKey:
    """The RenderKey of a row that has the column `job`. Raises DamagedError."""
    try:
        return RenderKey.model_validate(json.loads(row["job"]))
    except (ValueError, TypeError) as error:
        raise DamagedError(f"episode {row.get('episode_id')}: its job can't be read: {error}") from error


def record_of(row: Mapping[str, Any]) -> EpisodeRecord:
    """The record of a row that has RECORD_COLUMNS. Raises DamagedError if it is not what was put."""
    episode = row.get("episode_id")
    try:
        if text_digest(row) != row["text_sha256"]:
            raise DamagedError(f"episode {episode}: its texts don't match their SHA-256; {_ADVICE}")
        record = _rebuilt(row)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise DamagedError(f"episode {episode}: its row can't be read: {error}; {_ADVICE}") from error
    if record.digest() != row["sha256"]:
        raise DamagedError(f"episode {episode}: its pictures don't match their SHA-256; {_ADVICE}")
    return record


_ADVICE = "the store is damaged there: delete the episode and render it again"


def _rebuilt(row: Mapping[str, Any]) -> EpisodeRecord:
    annotations = json.loads(row["annotations"])
    images = [
        ImageRecord.model_validate({**facts, "png": picture["bytes"], "extra": extra})
        for facts, picture, extra in zip(annotations, row["images"], row["extra"], strict=True)
    ]
    return EpisodeRecord(
        episode_id=row["episode_id"],
        job=job_of_row(row),
        scene=Scene.model_validate(json.loads(row["scene"])),
        images=images,
        provenance=Provenance.model_validate(json.loads(row["provenance"])),
    )
