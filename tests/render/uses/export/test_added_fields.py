"""Tasks, contrasts and extents are in every format for any episodes (docs/store.md, "Fields in each format")."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from diorama.render.geometry.solid import world_vertices
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.formats.folder import write_tables
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered
from tests.render.uses.contrast.test_pairs import pair
from tests.render.uses.export.helpers import run

# episode id, frame, object -> extent; and episode id -> (task, contrast).
Extents = dict[tuple[str, str, str], list[float]]
Facts = dict[str, tuple[Any, Any]]


def read_folder(out: Path) -> Iterator[tuple[str, Any, Any, str, list[Any]]]:
    for path in out.rglob("episode.json"):
        data = json.loads(path.read_text())
        for name in data["images"]:
            image = json.loads((path.parent / f"{name}.json").read_text())
            yield data["id"], data["task"], data["scene"].get("contrast"), image["frame"], image["objects"]


def read_coco(out: Path) -> Iterator[tuple[str, Any, Any, str, list[Any]]]:
    for path in (out / "annotations").iterdir():
        data = json.loads(path.read_text())
        for image in data["images"]:
            items = [one for one in data["annotations"] if one["image_id"] == image["id"]]
            yield image["episode_id"], image["task"], image["contrast"], image["frame"], items


def read_webdataset(out: Path) -> Iterator[tuple[str, Any, Any, str, list[Any]]]:
    for path in out.glob("*.tar"):
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
            for member in archive.getmembers():
                if member.name.endswith(".json"):
                    data = json.load(archive.extractfile(member))  # type: ignore[arg-type]
                    texts = [json.loads(data[name] or "null") for name in ("task", "contrast")]
                    for image in data["images"]:
                        yield data["id"], texts[0], texts[1], image["frame"], image["objects"]


def read_huggingface(out: Path) -> Iterator[tuple[str, Any, Any, str, list[Any]]]:
    for path in (out / "data").iterdir():
        for row in pq.read_table(path).to_pylist():
            texts = [json.loads(row[name] or "null") for name in ("task_data", "contrast")]
            for item in row["objects"]:
                yield row["episode_id"], texts[0], texts[1], item["frame"], [item]


READERS = {"folder": read_folder, "coco": read_coco, "webdataset": read_webdataset, "huggingface": read_huggingface}


def measured(records: list[EpisodeRecord]) -> Extents:
    found: Extents = {}
    for record in records:
        for frame in record.scene.frames:
            for item in frame.objects:
                points = world_vertices(item)
                sides = (points.max(axis=0) - points.min(axis=0)).tolist()
                found[record.episode_id, frame.name, item.name] = sides
    return found


def test_the_page_has_the_table_of_fields_and_formats() -> None:
    page = (Path(__file__).parents[4] / "docs/store.md").read_text().partition("### Fields in each format")[2]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.partition("\n### ")[0].splitlines()
        if "|" in line
    ]
    assert [cell.strip("`") for cell in rows[0][1:]] == [*READERS]
    for what, key in (("task", "task"), ("contrast", "contrast"), ("extent", "extent")):
        (cells,) = [cells for head, *cells in rows if what in head.split(":")[0]]
        assert all(key in cell for cell in cells), cells


@pytest.mark.parametrize("name", READERS)
def test_task_contrast_and_extents(name: str, tmp_path: Path) -> None:
    records = [*pair(0, "count"), rendered("demo/a")]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(records)
    run(store, name, tmp_path / "out")
    expected, seen = measured(records), set()
    facts: Facts = {}
    for record in records:
        contrast = record.scene.contrast
        facts[record.episode_id] = record.scene.task, contrast and contrast.model_dump(mode="json")
    assert facts["demo/a"][0] is not None and facts[records[1].episode_id][1]["member"] == 1
    for key, task, contrast, frame, items in READERS[name](tmp_path / "out"):
        assert (task, contrast) == facts[key]
        for item in items:
            assert item["extent"] == pytest.approx(expected[key, frame, item["name"]], abs=1e-6)
            seen.add((key, frame, item["name"]))
    assert len(seen) > len(expected) // 2
    assert {key for key, _, _ in seen} == set(facts)


def test_the_table_of_a_folder(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(pair(0, "count"))
    run(store, "folder", tmp_path / "out")
    write_tables(tmp_path / "out", WrittenFiles(tmp_path / "out", store, overwrite=False))
    rows = pq.read_table(tmp_path / "out/metadata-unsplit.parquet").to_pylist()
    assert sorted({json.loads(row["contrast"])["member"] for row in rows}) == [0, 1]
    assert all(len(item["extent"]) == 3 for row in rows for item in row["objects"])
