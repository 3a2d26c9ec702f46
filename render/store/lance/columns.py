"""The row of the dataset store, as an Arrow schema. Text columns that hold JSON say so here.

episode_id      key                          benchmark, task, split   of the episode's task, null where it has none
attempt         1 for the first              profile, width, height   of the Scene's settings; pixels
spec, scene     JSON, asked for and compiled images                   list<struct<bytes (PNG), path>>, one a view
image_names     in the order of `images`     utterances               one an image, null where its frame has none
extra           .npz bytes, one an image, null where no further pass was asked for
objects         list<struct>: every object of every image, flat, for searching; boxes [x, y, width, height], pixels
annotations     JSON list, one an image: name, frame, view, width, height and the whole FrameAnnotation
relations       list of JSON, one an image: relation -> name -> names that stand so of it (since schema version 2)
options, answer as in the task; what is not text there is JSON text here
provenance, seconds, job                     JSON
job_hash        decides whether an episode is already there (render.model.record.RenderKey)
sha256          over the images and extra (EpisodeRecord.digest)
text_sha256     over episode_id, job, scene, annotations and provenance
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pyarrow as pa

from render.model.errors import StoreError

SCHEMA_VERSION = 2
VERSION_KEY = b"diorama.schema_version"
KEY = "episode_id"
# Lance makes racing upserts of one new id conflict only if the column says that it is the key.
_KEY_METADATA = {"lance-schema:unenforced-primary-key": "true"}

# What a record is rebuilt from; the other columns are for searching.
RECORD_COLUMNS = (
    "episode_id",
    "job",
    "scene",
    "annotations",
    "images",
    "extra",
    "provenance",
    "sha256",
    "text_sha256",
)


def _object_type() -> pa.DataType:
    return pa.struct(
        [
            ("image", pa.int32()),
            ("frame", pa.string()),
            ("view", pa.string()),
            ("name", pa.string()),
            ("index", pa.int32()),
            ("shape", pa.string()),
            ("color", pa.string()),
            ("material", pa.string()),
            ("size", pa.string()),
            ("scale", pa.float64()),
            ("location", pa.list_(pa.float64())),
            ("rotation_deg", pa.list_(pa.float64())),
            ("pixel_center", pa.list_(pa.float64())),
            ("bbox", pa.list_(pa.int32())),
            ("amodal_bbox", pa.list_(pa.int32())),
            ("rle_size", pa.list_(pa.int32())),
            ("rle_counts", pa.string()),
            ("visible_pixels", pa.int64()),
            ("alone_pixels", pa.int64()),
            ("visible_fraction", pa.float64()),
            ("truncated", pa.bool_()),
        ]
    )


@lru_cache(maxsize=1)
def episode_schema() -> pa.Schema:
    """The schema, with Diorama's schema version and the features that Hugging Face `datasets` reads in its metadata."""
    fields = [pa.field(KEY, pa.string(), nullable=False, metadata=_KEY_METADATA)]
    fields += [pa.field(name, pa.string()) for name in ("benchmark", "task", "split")]
    fields += [
        pa.field("attempt", pa.int32()),
        pa.field("profile", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("spec", pa.string()),
        pa.field("scene", pa.string()),
        pa.field("images", pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))),
        pa.field("image_names", pa.list_(pa.string())),
        pa.field("objects", pa.list_(_object_type())),
        pa.field("annotations", pa.string()),
        pa.field("relations", pa.list_(pa.string())),
        pa.field("utterances", pa.list_(pa.string())),
        pa.field("options", pa.list_(pa.string())),
    ]
    texts = ("answer", "provenance", "seconds", "job", "job_hash", "sha256", "text_sha256")
    fields += [pa.field(name, pa.string()) for name in texts]
    fields.append(pa.field("extra", pa.list_(pa.binary())))
    features = {"info": {"features": {field.name: _feature(field) for field in fields}}}
    return pa.schema(fields, metadata={VERSION_KEY: str(SCHEMA_VERSION), b"huggingface": json.dumps(features)})


def _feature(field: pa.Field) -> dict[str, Any]:
    """A field as `datasets` describes it."""
    if field.name == "images":
        return {"feature": {"_type": "Image"}, "_type": "List"}
    return _feature_of(field.type)


def _feature_of(type_: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(type_):
        return {"feature": _feature_of(type_.value_type), "_type": "List"}
    if pa.types.is_struct(type_):
        return {field.name: _feature_of(field.type) for field in type_}
    names = {"double": "float64"}
    return {"dtype": names.get(str(type_), str(type_)), "_type": "Value"}


def schema_version(url: str, schema: pa.Schema) -> int:
    """The schema version of a store. Raises StoreError for a dataset that is none."""
    found = (schema.metadata or {}).get(VERSION_KEY)
    if found is None:
        names = ", ".join(schema.names[:6])
        raise StoreError(f"{url}: is a Lance dataset, but not a Diorama store (columns: {names}); name another place")
    try:
        return int(found)
    except ValueError:
        raise StoreError(f"{url}: its schema version is {found!r}, which is no number: the store is damaged") from None


def check_schema(url: str, schema: pa.Schema) -> None:
    """Raises StoreError if a dataset's schema is not that of a store this version can read, saying what it is."""
    found = schema_version(url, schema)
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"{url}: has schema version {found}, this Diorama reads version {SCHEMA_VERSION}; "
            "use the version of Diorama that made it, or another store"
        )
    if found < SCHEMA_VERSION:
        raise StoreError(
            f"{url}: has schema version {found} of an older Diorama, this one needs version {SCHEMA_VERSION}; "
            f"`render-store migrate {url}` brings it up to date (seconds; nothing is rendered again)"
        )
    for field in episode_schema():
        index = schema.get_field_index(field.name)
        if index < 0 or schema.field(index).type != field.type:
            is_now = "is missing" if index < 0 else f"is {schema.field(index).type}, not {field.type}"
            raise StoreError(f"{url}: says schema version {SCHEMA_VERSION}, but its column {field.name} {is_now}")
