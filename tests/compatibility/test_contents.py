"""Archives are packed reproducibly, and the comparisons of their files find what differs."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.compatibility import contents
from tests.compatibility.contents import (
    FIRST,
    close,
    differing,
    differing_export,
    differing_exports,
    differing_gallery,
    files_of,
    pack,
    unpack,
)


def folder(path: Path, time: int) -> Path:
    """Two files, hidden and not, with a modification time."""
    (path / "b").mkdir(parents=True)
    for name in (".a", "b/c"):
        (path / name).write_text(name)
        os.utime(path / name, (time, time))
    return path


def webp(level: int) -> bytes:
    """A plain gray image."""
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), (level, level, level)).save(stream, format="WEBP", lossless=True)
    return stream.getvalue()


def parquet(numbers: list[int], compression: str) -> bytes:
    """A table with one column."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": numbers}), stream, compression=compression)
    return stream.getvalue()


def test_an_archive_depends_on_names_and_contents_only(tmp_path: Path) -> None:
    for number, time in ((1, 1_000_000_000), (2, 1_500_000_000)):
        pack(folder(tmp_path / str(number), time), tmp_path / f"{number}.tar.xz")
    assert (tmp_path / "1.tar.xz").read_bytes() == (tmp_path / "2.tar.xz").read_bytes()
    unpack(tmp_path / "1.tar.xz", tmp_path / "again")
    assert files_of(tmp_path / "again") == {".a": b".a", "b/c": b"b/c"}


def test_files_that_differ_or_are_on_one_side_are_named() -> None:
    assert differing({"a": b"1", "b": b"2", "c": b"3"}, {"a": b"1", "b": b"0", "d": b"4"}) == ["b", "c", "d"]


def test_thumbnails_may_differ_by_an_encoder_and_no_more() -> None:
    old = {"a.webp": webp(100), "a.png": b"1"}
    assert differing_gallery(old, {"a.webp": webp(101), "a.png": b"1"}) == []
    assert differing_gallery(old, {"a.webp": webp(110), "a.png": b"2"}) == ["a.png", "a.webp"]


def test_data_is_close_when_only_floats_differ_a_little() -> None:
    old = {"a": [1, 0.5, "x"]}
    assert close(old, {"a": [1, 0.5 + 1e-9, "x"]}, 1e-6)
    for other in ({"a": [1, 0.6, "x"]}, {"a": [2, 0.5, "x"]}, {"a": [1, 0.5]}, {"b": old["a"]}, [1, 0.5, "x"]):
        assert not close(old, other, 1e-6)


def test_the_camera_of_clevr_masks_may_differ_in_its_last_digits_and_other_formats_may_not() -> None:
    old, near, far = ({"a.json": json.dumps({"bbox": [1, 2], "x": x}).encode()} for x in (7.5, 7.5 + 1e-10, 7.6))
    assert differing_export(FIRST, "clevr-masks", old, near) == []
    assert differing_export(FIRST, "clevr-masks", old, far) == ["a.json"]
    assert differing_export(FIRST, "coco", old, near) == ["a.json"]


def test_an_added_camera_may_be_in_a_file_and_nothing_else_may_change() -> None:
    camera = {"location": [1.5, 2.0], "intrinsics": [[1.0, 0.0], [0.0, 1.0]], "extrinsics": [[1.0, -2.5e-9]]}
    image = {"id": 1, "name": "a"}
    for indent in (None, 1):
        old, new = (
            {"a.json": json.dumps({"images": [one, image], "x": 1}, indent=indent).encode()}
            for one in (image, {**image, "camera": camera})
        )
        assert differing_export(FIRST, "coco", old, new) == []
        assert differing_export(FIRST, "folder", old, new) == ["a.json"]


def test_trials_may_have_moved_and_their_contents_may_not_change() -> None:
    info, names = {"epochs": 2, "answers": ["null", "true"]}, {"models": ["cars/#1"]}
    old = {
        "low/trial1/frames/epoch0.png": b"1",
        "low/trial1/task0.json": b"{}",
        "low/trial1/task_info.json": json.dumps({**info, "diorama": {"version": 1}}).encode(),
        "low/trial1/annotations.json": json.dumps(names).encode(),
    }
    new = {
        "low/trials/trial1/frames/epoch0.png": b"1",
        "low/tasks/1.json": b"{...}",
        "low/trials/trial1/frames/task_info.json": json.dumps(info).encode(),
        "low/trials/trial1/annotations.json": json.dumps({**names, "cameras": [], "diorama": {"version": 2}}).encode(),
    }
    assert differing_export(FIRST, "iwisdm", old, new) == []
    for name, changed in (("frames/epoch0.png", b"2"), ("frames/task_info.json", b"{}")):
        assert len(differing_export(FIRST, "iwisdm", old, {**new, f"low/trials/trial1/{name}": changed})) == 1


def test_the_record_of_what_was_written_may_be_new_and_shards_are_compared() -> None:
    record = {"version": 1, "files": {"a.tar": {"sha256": "1"}}}
    old, new, other = (
        {".diorama-export.json": (json.dumps(one, indent=1) + "\n").encode()}
        for one in (record, {**record, "lists": {"a": {}}}, {"version": 1, "files": {}, "lists": {}})
    )
    assert differing_export(FIRST, "coco", old, new) == []
    assert differing_export(FIRST, "coco", old, other) == [".diorama-export.json"]
    assert differing_export(FIRST, "coco", {}, {".diorama-export.json": b'{"lists": {}}'}) == []


def test_parquet_of_the_same_library_is_compared_by_its_bytes() -> None:
    old, new = ({"a.parquet": parquet([1, 2], one), ".diorama-export.json": one.encode()} for one in ("zstd", "snappy"))
    assert differing_exports(old, new) == [".diorama-export.json", "a.parquet"]


def test_parquet_of_another_library_is_compared_by_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_other_writer", lambda old, new: True)
    old, new = ({"a.parquet": parquet([1, 2], one), ".diorama-export.json": one.encode()} for one in ("zstd", "snappy"))
    assert differing_exports(old, new) == []
    assert differing_exports(old, {**new, "a.parquet": parquet([1, 3], "zstd")}) == ["a.parquet"]
