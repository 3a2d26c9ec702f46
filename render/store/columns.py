"""The row of the dataset store as an Arrow schema.

episode_id      key                         benchmark, task, split   of the episode's task, null without one
attempt         1 for the first             profile, width, height   of the Scene's settings; pixels
spec, scene     JSON, requested, compiled   images                   list<struct<bytes (PNG), path>>, one per view
image_names     in the order of `images`    utterances               one per image, null if its frame has none
extra           .npz bytes, one per image, null without optional passes
objects         list<struct>: every object of every image, flat, for searching; boxes [x, y, width, height], pixels
annotations     JSON list, one item per image: name, frame, view, width, height and the FrameAnnotation; its `relations`
                are null, because the next column has them
relations       list of JSON, one item per image: relation -> name -> related names
options, answer as in the task; values other than text are JSON text here
provenance, seconds                         JSON
job             JSON: the RenderKey (diorama.scene_specs.model.record) without the spec, which is in `spec`
job_hash        decides whether an episode is already stored: of the complete RenderKey
sha256          over the images and extra (EpisodeRecord.digest)
text_sha256     over episode_id, and over job, scene, annotations and provenance with everything that they leave out

Rows of schema version 2 hold the spec in `job`, too, and the relations in `annotations`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from diorama.render.store.episode_store import KEY
from diorama.scene_specs.errors import StoreError

SCHEMA_VERSION = 3
# Of rows with copies of the spec and the relations, the oldest that are read. Parquet exports have these, too.
COMPLETE_VERSION = 2
VERSION_KEY = b"diorama.schema_version"
# Lance makes racing upserts of one new id conflict only if this metadata marks the column as the key.
_KEY_METADATA = {"lance-schema:unenforced-primary-key": "true"}

# text_sha256 covers TEXT_COLUMNS. A record is rebuilt from RECORD_COLUMNS, its RenderKey from JOB_COLUMNS; the other
# columns are for searching.
TEXT_COLUMNS = (KEY, "job", "scene", "annotations", "provenance")
RECORD_COLUMNS = (*TEXT_COLUMNS, "spec", "relations", "images", "extra", "sha256", "text_sha256")
JOB_COLUMNS = (KEY, "job", "spec")


def _fields(type_: pa.DataType, *names: str) -> Iterator[pa.Field]:
    return (pa.field(name, type_) for name in names)


# The order of columns and fields is part of the schema.
OBJECT_TYPE = pa.struct(
    [
        *_fields(pa.int32(), "image"),
        *_fields(pa.string(), "frame", "view", "name"),
        *_fields(pa.int32(), "index"),
        *_fields(pa.string(), "shape", "color", "material", "size"),
        *_fields(pa.float64(), "scale"),
        *_fields(pa.list_(pa.float64()), "location", "rotation_deg", "pixel_center"),
        *_fields(pa.list_(pa.int32()), "bbox", "amodal_bbox", "rle_size"),
        *_fields(pa.string(), "rle_counts"),
        *_fields(pa.int64(), "visible_pixels", "alone_pixels"),
        *_fields(pa.float64(), "visible_fraction"),
        *_fields(pa.bool_(), "truncated"),
    ]
)


@lru_cache(maxsize=2)
def episode_schema(version: int = SCHEMA_VERSION) -> pa.Schema:
    """Return the schema; its metadata holds the schema version and the features for Hugging Face `datasets`."""
    text, texts = pa.string(), pa.list_(pa.string())
    fields = [
        pa.field(KEY, text, nullable=False, metadata=_KEY_METADATA),
        *_fields(text, "benchmark", "task", "split"),
        *_fields(pa.int32(), "attempt"),
        *_fields(text, "profile"),
        *_fields(pa.int32(), "width", "height"),
        *_fields(text, "spec", "scene"),
        *_fields(pa.list_(pa.struct([("bytes", pa.binary()), ("path", text)])), "images"),
        *_fields(texts, "image_names"),
        *_fields(pa.list_(OBJECT_TYPE), "objects"),
        *_fields(text, "annotations"),
        *_fields(texts, "relations", "utterances", "options"),
        *_fields(text, "answer", "provenance", "seconds", "job", "job_hash", "sha256", "text_sha256"),
        *_fields(pa.list_(pa.binary()), "extra"),
    ]
    features = {field.name: feature_of(field.type) for field in fields}
    features["images"] = {"feature": {"_type": "Image"}, "_type": "Sequence"}
    metadata = {VERSION_KEY: str(version), b"huggingface": json.dumps({"info": {"features": features}})}
    return pa.schema(fields, metadata=metadata)


def feature_of(type_: pa.DataType) -> Any:
    """Return the description of a type in the form that all versions of `datasets` read; 2 and 3 have no `List`."""
    if pa.types.is_list(type_):
        inner = feature_of(type_.value_type)
        # A `Sequence` of structs would be a struct of lists.
        return [inner] if pa.types.is_struct(type_.value_type) else {"feature": inner, "_type": "Sequence"}
    if pa.types.is_struct(type_):
        return {field.name: feature_of(field.type) for field in type_}
    return {"dtype": {"double": "float64"}.get(str(type_), str(type_)), "_type": "Value"}


def schema_version(url: str, schema: pa.Schema) -> int:
    """Return the schema version of a store. Raises StoreError for a dataset that isn't a store."""
    version = (schema.metadata or {}).get(VERSION_KEY)
    if version is None:
        names = ", ".join(schema.names[:6])
        raise StoreError(f"{url}: is a Lance dataset, but not a Diorama store (columns: {names}); use another path")
    try:
        return int(version)
    except ValueError:
        raise StoreError(f"{url}: schema version {version!r} is not a number: the store is damaged") from None


def check_schema(url: str, schema: pa.Schema) -> None:
    """Raise StoreError unless this Diorama can read a dataset of this schema."""
    version = schema_version(url, schema)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{url}: has schema version {version}, this Diorama reads version {SCHEMA_VERSION}; "
            "use the version of Diorama that wrote it, or another store"
        )
    if version < COMPLETE_VERSION:
        raise StoreError(
            f"{url}: has schema version {version}, this Diorama reads versions {COMPLETE_VERSION} to {SCHEMA_VERSION}; "
            "render its specs again into another store"
        )
    for field in episode_schema():
        index = schema.get_field_index(field.name)
        if index < 0 or schema.field(index).type != field.type:
            problem = "is missing" if index < 0 else f"is {schema.field(index).type}, not {field.type}"
            raise StoreError(f"{url}: has schema version {version}, but its column {field.name} {problem}")
