from __future__ import annotations

import json
import math
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.store.columns import COMPLETE_VERSION, JOB_COLUMNS, RECORD_COLUMNS, SCHEMA_VERSION, episode_schema
from diorama.render.store.episode_store import DamagedError
from diorama.render.store.rows import complete_row, job_of_row, record_of, row_of, table_of, text_digest
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord
from tests.factories import make_job, make_record, records
from tests.render.store.rendered import rendered


def same(a: Any, b: Any) -> bool:
    """Equal, where NaN equals NaN, 1 is not 1.0, and dictionaries have one order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@given(records(), st.sampled_from([COMPLETE_VERSION, SCHEMA_VERSION]))
def test_reading_back_loses_nothing(record: EpisodeRecord, version: int) -> None:
    row = table_of([record], version).select(RECORD_COLUMNS).to_pylist()[0]
    back = record_of(row)
    assert same(back.model_dump(), record.model_dump())
    assert back.job.hash() == record.job.hash()
    assert back.digest() == record.digest()


def same_json(text: str, value: Any) -> bool:
    """Whether a text is the compact JSON of a value, with words for NaN and infinity."""
    numbers = {"NaN": '"nan"', "-Infinity": '"-inf"', "Infinity": '"inf"'}
    expected = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text == re.sub(r"(?<=[\[:,])(NaN|-?Infinity)(?=[\],}])", lambda found: numbers[found[0]], expected)


@given(records())
def test_a_row_holds_spec_and_relations_once_and_its_digest_is_that_of_the_complete_texts(
    record: EpisodeRecord,
) -> None:
    row, complete = row_of(record), complete_row(row_of(record))
    assert json.loads(row["spec"]) == json.loads(json.dumps(record.job.spec))
    assert "spec" not in json.loads(row["job"])
    assert [image["annotation"]["relations"] for image in json.loads(row["annotations"])] == [None] * len(record.images)
    # As version 0.1.0 wrote them.
    images = [image.model_dump(mode="json", exclude={"png", "extra"}) for image in record.images]
    assert same_json(complete["job"], record.job.model_dump())
    assert same_json(complete["annotations"], images)
    assert complete_row(complete) is complete
    assert text_digest(complete) == text_digest(row) == row["text_sha256"]
    assert job_of_row({name: row[name] for name in JOB_COLUMNS}) == record.job


def test_columns_for_searching() -> None:
    (row,) = table_of([make_record(images=3, objects=2)]).to_pylist()
    assert (row["benchmark"], row["task"], row["split"]) == ("demo", "colour", "train")
    assert (row["options"], row["answer"]) == (["supri", "ecle"], "ecle")
    assert row["utterances"] == ["word-0", None, "word-2"]
    assert [image["path"] for image in row["images"]] == ["frame-0.png", "frame-1.png", "frame-2.png"]
    assert [(o["image"], o["index"], o["bbox"]) for o in row["objects"]] == [
        (image, index, [2 + index, 3, 4, 4]) for image in range(3) for index in (1, 2)
    ]


def test_answers_that_are_no_text_are_json() -> None:
    scene = make_record().scene.model_copy(update={"task": {"answer": {"objects": ["a"]}, "options": [1, "two"]}})
    row = row_of(make_record(scene=scene))
    assert row["answer"] == '{"objects":["a"]}'
    assert row["options"] == ["1", "two"]
    assert row["benchmark"] is None


def test_every_column_is_written() -> None:
    assert set(row_of(make_record())) == set(episode_schema().names)


@pytest.mark.parametrize("spec", [{"x": math.nan}, {"x": "\ud800"}])
def test_what_is_no_json_is_refused_by_name(spec: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="episode demo/0009: can't be stored"):
        table_of([make_record("demo/0009", job=make_job(spec))])


def _flip(row: dict[str, Any], column: str) -> None:
    value = row[column]
    if column == "images":
        value[0]["bytes"] = value[0]["bytes"][:-1] + bytes([value[0]["bytes"][-1] ^ 1])
    elif column == "extra":
        value[0] = b"now there is one"
    elif column == "relations":
        value[0] = value[0].replace("}", " }", 1)
    else:
        row[column] = value.replace("0", "1", 1) if "0" in value else value + " "


_COPIED = ("spec", "relations")
_DIGESTED = [name for name in RECORD_COLUMNS if name not in ("sha256", "text_sha256")]


@pytest.mark.parametrize(
    ("column", "version"),
    [
        *((name, SCHEMA_VERSION) for name in _DIGESTED),
        *((name, COMPLETE_VERSION) for name in _DIGESTED if name not in _COPIED),
    ],
)
def test_a_damaged_row_is_named(column: str, version: int) -> None:
    row = table_of([make_record("demo/0001")], version).to_pylist()[0]
    assert record_of(row) == make_record("demo/0001")
    _flip(row, column)
    with pytest.raises(DamagedError, match="episode demo/"):
        record_of(row)


@pytest.mark.parametrize("column", RECORD_COLUMNS)
def test_a_row_with_a_hole_is_named(column: str) -> None:
    row = table_of([make_record("demo/0001")]).to_pylist()[0]
    row[column] = None
    with pytest.raises(DamagedError):
        record_of(row)


def test_the_features_for_hugging_face_name_every_column() -> None:
    schema: pa.Schema = episode_schema()
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == schema.names
    assert features["images"] == {"_type": "Sequence", "feature": {"_type": "Image"}}
    assert features["objects"][0]["bbox"] == {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}}


def test_a_png_that_ends_in_its_header_is_damage_of_one_episode() -> None:
    """Its maker also wrote the digest, so nothing else would name it."""
    record = make_record(images=1, objects=1)
    cut = record.images[0].model_copy(update={"png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"})
    (row,) = table_of([record.model_copy(update={"images": [cut]})]).to_pylist()
    with pytest.raises(DamagedError):
        record_of(row)


def test_columns_for_searches_hold_every_object_of_every_image() -> None:
    record = rendered("demo/1", seed=1)
    row = table_of([record]).to_pylist()[0]
    items = [(number, image, item) for number, image in enumerate(record.images) for item in image.annotation.objects]
    assert len(row["objects"]) == len(items) == 4
    for found, (number, image, item) in zip(row["objects"], items, strict=True):
        assert (found.pop("image"), found.pop("frame"), found.pop("view")) == (number, image.frame, image.view)
        assert (tuple(found.pop("rle_size")), found.pop("rle_counts")) == (item.rle.size, item.rle.counts)
        assert list(found) == [
            *("name", "index", "shape", "color", "material", "size", "scale", "location", "rotation_deg"),
            *("pixel_center", "bbox", "amodal_bbox", "visible_pixels", "alone_pixels", "visible_fraction", "truncated"),
        ]
        assert {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()} == {
            name: getattr(item, name) for name in found
        }
