"""Conversion of EpisodeRecord to a row and back: lossless, and a damaged row never passes for a valid one."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from diorama.render.store.columns import COMPLETE_VERSION, OBJECT_TYPE, SCHEMA_VERSION, TEXT_COLUMNS, episode_schema
from diorama.render.store.episode_store import DamagedError
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation, Provenance, RenderKey
from diorama.scene_specs.model.scene import Scene

# Fields of a stored object that ObjectAnnotation has under the same name.
_OBJECT_FIELDS = [field.name for field in OBJECT_TYPE if field.name in ObjectAnnotation.model_fields]
# Decoded, an image of that many takes 12 MB.
_HARMLESS_PIXELS = 1 << 22
_ADVICE = "the store is damaged there: delete the episode and render it again"
# How a `job` with a spec begins, and what `annotations` have in place of relations. Strings can't have it: JSON escapes
# their quotes.
_SPEC, _NO_RELATIONS = '{"spec":', '"relations":null'


def table_of(records: Sequence[EpisodeRecord], version: int = SCHEMA_VERSION) -> pa.Table:
    """Return the rows of records, in their order, in the form of a schema version.

    Raises:
        StoreError: a record can't be written as text.
    """
    form = complete_row if version == COMPLETE_VERSION else dict
    return pa.Table.from_pylist([form(row_of(record)) for record in records], schema=episode_schema(version))


def encode(record: EpisodeRecord) -> bytes:
    """Encode a record as bytes for `decode`, so that workers do this work and not the committer.

    Raises StoreError for a record that can't be written as text.
    """
    (batch,) = table_of([record]).to_batches()
    return bytes(batch.serialize())


def decode(parts: Sequence[bytes]) -> pa.Table:
    """Return the rows of encoded records, in their order. Raises StoreError for bytes not made by `encode`."""
    schema = episode_schema()
    try:
        batches = [pa.ipc.read_record_batch(pa.py_buffer(part), schema) for part in parts]
        return pa.Table.from_batches(batches, schema=schema)
    except (pa.ArrowInvalid, OSError) as error:
        raise StoreError(f"an encoded episode can't be read; did another Diorama encode it? {error}") from error


def row_of(record: EpisodeRecord) -> dict[str, Any]:
    """Return the row of a record, by column. Raises StoreError for a record that can't be written as text."""
    try:
        row = {**_identity(record), **_task(record.scene.task), **_images(record), **_texts(record)}
        row["text_sha256"] = text_digest(row)
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"episode {record.episode_id}: can't be stored: {error}; no episode of its batch was stored"
        ) from error
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


def _images(record: EpisodeRecord) -> dict[str, Any]:
    return {
        "images": [{"bytes": image.png, "path": f"{image.name}.png"} for image in record.images],
        "image_names": [image.name for image in record.images],
        "extra": [image.extra for image in record.images],
        "utterances": record.utterances(),
        "objects": [row for number, image in enumerate(record.images) for row in _object_rows(number, image)],
    }


def _object_rows(number: int, image: ImageRecord) -> list[dict[str, Any]]:
    where = {"image": number, "frame": image.frame, "view": image.view}
    return [
        {field: getattr(item, field) for field in _OBJECT_FIELDS}
        | {**where, "rle_size": item.rle.size, "rle_counts": item.rle.counts}
        for item in image.annotation.objects
    ]


def _texts(record: EpisodeRecord) -> dict[str, Any]:
    annotations = [image.model_dump(mode="json", exclude={"png", "extra"}) for image in record.images]
    for image in annotations:
        image["annotation"]["relations"] = None
    provenance = record.provenance.model_dump(mode="json")
    return {
        "spec": to_json(record.job.spec),
        "job": to_json(record.job.model_dump(exclude={"spec"})),
        "scene": to_json(record.scene.model_dump(mode="json")),
        "annotations": finite_json(annotations),
        "relations": [to_json(image.annotation.relations) for image in record.images],
        "provenance": finite_json(provenance),
        "seconds": finite_json(provenance["seconds"]),
    }


def to_json(value: Any) -> str:
    """Return the JSON text of a column. Raises ValueError for NaN and infinity."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def finite_json(value: Any) -> str:
    """Return the JSON text of a typed model's data.

    JSON has no NaN or infinity: they become strings, which pydantic reads back as floats.
    """
    try:
        return to_json(value)
    except ValueError:
        return to_json(_nonfinite_as_text(value))


def _text_or_json(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else to_json(value)


def _nonfinite_as_text(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {key: _nonfinite_as_text(item) for key, item in value.items()}
        case list() | tuple():
            return [_nonfinite_as_text(item) for item in value]
    return value


def complete_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the spec in `job` and, if it has this column, the relations in `annotations`.

    A damaged row raises an error that `record_of` turns into a DamagedError.
    """
    if row["job"].startswith(_SPEC):
        return row
    texts = {"job": f"{_SPEC}{row['spec']},{row['job'][1:]}"}
    if "annotations" in row:
        first, *others = row["annotations"].split(_NO_RELATIONS)
        parts = zip(row["relations"], others, strict=True)
        texts["annotations"] = first + "".join(f'"relations":{relations}{other}' for relations, other in parts)
    return {**row, **texts}


def text_digest(row: Mapping[str, Any]) -> str:
    """Return the SHA-256 over the texts that a record is rebuilt from, hexadecimal: those of the complete row."""
    row, digest = complete_row(row), hashlib.sha256()
    for column in TEXT_COLUMNS:
        part = row[column].encode()
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def job_of_row(row: Mapping[str, Any]) -> RenderKey:
    """Return the RenderKey of a row that has JOB_COLUMNS. Raises DamagedError."""
    try:
        return RenderKey.model_validate_json(complete_row(row)["job"])
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedError(f"episode {row.get('episode_id')}: its job can't be read: {error}") from error


def record_of(row: Mapping[str, Any]) -> EpisodeRecord:
    """Return the record of a row that has RECORD_COLUMNS. Raises DamagedError if it differs from what was put."""
    episode = row.get("episode_id")
    try:
        row = complete_row(row)
        if text_digest(row) != row["text_sha256"]:
            raise DamagedError(f"episode {episode}: its texts don't match their SHA-256; {_ADVICE}")
        record = _rebuild_record(row)
        problem = _too_large(record)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, struct.error) as error:
        raise DamagedError(f"episode {episode}: its row can't be read: {error}; {_ADVICE}") from error
    if record.digest() != row["sha256"]:
        raise DamagedError(f"episode {episode}: its images don't match their SHA-256; {_ADVICE}")
    if problem:
        raise DamagedError(f"episode {episode}: {problem}; {_ADVICE}")
    return record


def _too_large(record: EpisodeRecord) -> str:
    """Return which image or mask would take much more memory decoded than its Scene says; "" if none would.

    The row may come from a stranger. Smaller deviations are found by `row_checks`, which names them one by one.
    """
    settings = record.scene.settings
    most = max(settings.width * settings.height, _HARMLESS_PIXELS)
    for image in record.images:
        # A PNG begins with 8 bytes of signature and its IHDR chunk: length, name, width, height.
        header = struct.unpack(">II", image.png[16:24]) if image.png[12:16] == b"IHDR" else (0, 0)
        masks = [rle for item in image.annotation.objects for rle in (item.rle, item.amodal_rle) if rle is not None]
        for width, height in (header, *(rle.size[::-1] for rle in masks)):
            if width * height > most:
                return f"image {image.name}: found {width}x{height}; its Scene has {settings.width}x{settings.height}"
    return ""


def _rebuild_record(row: Mapping[str, Any]) -> EpisodeRecord:
    images = [
        ImageRecord.model_validate({**fields, "png": image["bytes"], "extra": extra})
        for fields, image, extra in zip(json.loads(row["annotations"]), row["images"], row["extra"], strict=True)
    ]
    return EpisodeRecord(
        episode_id=row["episode_id"],
        job=job_of_row(row),
        scene=Scene.model_validate_json(row["scene"]),
        images=images,
        provenance=Provenance.model_validate_json(row["provenance"]),
    )
