"""Each export read back by the tool that it is for, or by a reader written from that format's description."""

from __future__ import annotations

import gc
import io
import json
import math
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools.coco import COCO

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.model.pictures import decode_png
from tests.render.store.rendered import rendered
from tests.render.uses.export.helpers import SPLITS, make_store, run


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return make_store(tmp_path)


def test_pycocotools(store: LanceStore, tmp_path: Path) -> None:
    run(store, "coco", tmp_path / "out")
    images = 0
    for split in ("train", "val", "unsplit"):
        coco = COCO(str(tmp_path / f"out/annotations/instances_{split}.json"))
        assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["cube", "sphere"]
        for image in coco.loadImgs(coco.getImgIds()):
            images += 1
            record = store.get(image["episode_id"])
            assert (record.scene.split or "unsplit") == split
            (truth,) = [one for one in record.images if one.name == image["name"]]
            stored = {item.name: item for item in truth.annotation.objects if item.bbox is not None}
            found = {one["name"]: one for one in coco.loadAnns(coco.getAnnIds(imgIds=[image["id"]]))}
            assert found.keys() == stored.keys()
            with Image.open(tmp_path / "out/images" / image["file_name"]) as picture:
                assert np.array_equal(np.asarray(picture), decode_png(truth.png))
            for name, one in found.items():
                mask = coco.annToMask(one)
                assert mask.sum() == one["area"] == stored[name].visible_pixels
                rows, columns = np.nonzero(mask)
                size = [columns.max() - columns.min() + 1, rows.max() - rows.min() + 1]
                assert one["bbox"] == [columns.min(), rows.min(), *size] == list(stored[name].bbox or ())
                assert one["amodal_bbox"] == list(stored[name].amodal_bbox or ())
    assert images == 10


def test_the_splits_of_coco_have_the_same_categories(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    cone = rendered("demo/b", split="val").model_copy(deep=True)
    for image in cone.images:
        image.annotation.objects.pop(0)
    store.put([rendered("demo/a"), cone])
    run(store, "coco", tmp_path / "out", ExportOptions(where="split = 'val'"))
    data = json.loads((tmp_path / "out/annotations/instances_val.json").read_text())
    assert {one["name"]: one["id"] for one in data["categories"]} == {"cube": 1, "sphere": 2}


def test_clevr_as_its_tools_read_it(store: LanceStore, tmp_path: Path) -> None:
    run(store, "clevr", tmp_path / "out")
    for split, count in (("train", 6), ("val", 2), ("new", 2)):
        data = json.loads((tmp_path / f"out/scenes/CLEVR_{split}_scenes.json").read_text())
        assert set(data["info"]) == {"split", "version", "license", "date"}
        assert [scene["image_index"] for scene in data["scenes"]] == list(range(count))
        for scene in data["scenes"]:
            assert scene["image_filename"] == f"CLEVR_{split}_{scene['image_index']:06d}.png"
            record = store.get(scene["episode_id"])
            (image,) = [one for one in record.images if one.name == scene["image_name"]]
            assert (tmp_path / "out/images" / split / scene["image_filename"]).read_bytes() == image.png
            check_scene(scene, image.annotation.model_dump(mode="json"))


def check_scene(scene: dict[str, Any], truth: dict[str, Any]) -> None:
    """CLEVR's own rule of relations, and the fields its tools look at."""
    assert set(scene["directions"]) == {"left", "right", "front", "behind", "above", "below"}
    places = [np.array(item["3d_coords"]) for item in scene["objects"]]
    for name, direction in scene["directions"].items():
        if name in ("above", "below"):
            continue
        for one, here in enumerate(places):
            expected = [
                other
                for other, there in enumerate(places)
                if other != one and float(np.dot(there - here, direction)) > 0.2
            ]
            assert scene["relationships"][name][one] == expected
    for item, stored in zip(scene["objects"], truth["objects"], strict=True):
        assert {item["shape"], item["size"]} <= {"cube", "sphere", "cylinder", "large", "small"}
        assert [item["color"], item["material"]] == [stored["color"], stored["material"]]
        assert item["pixel_coords"][2] == stored["pixel_center"][2]
        assert abs(item["pixel_coords"][0] - stored["pixel_center"][0]) <= 0.5
        assert math.isclose(math.degrees(item["rotation"]), stored["rotation_deg"][2])
        assert item["bbox"] == stored["bbox"]


def test_what_clevr_has_no_word_for_is_named(store: LanceStore, tmp_path: Path) -> None:
    record = rendered("demo/x")
    truth = record.images[1].annotation
    objects = [truth.objects[0], truth.objects[1].model_copy(update={"size": None})]
    image = record.images[1].model_copy(update={"annotation": truth.model_copy(update={"objects": objects})})
    store.put([record.model_copy(update={"images": [record.images[0], image]})])
    report = run(store, "clevr", tmp_path / "out")
    assert report.exported == 5
    assert report.failed == ["episode demo/x: image f1: object b: CLEVR has no size None"]


def test_tar_shards(store: LanceStore, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run(store, "webdataset", tmp_path / "out", ExportOptions(shard_size=2))
    other = ExportOptions(shard_size=2, where="split = 'val'", overwrite=True)
    run(store, "webdataset", tmp_path / "out", other)
    assert "train-000001.tar removed: it comes from an earlier export" in caplog.text
    assert [path.name for path in (tmp_path / "out").glob("*.tar")] == ["val-000000.tar"]
    run(store, "webdataset", tmp_path / "out", ExportOptions(shard_size=2))
    index = json.loads((tmp_path / "out/shardindex.json").read_text())["shardlist"]
    names = {one["url"]: one["nsamples"] for one in index}
    assert names == {"train-000000.tar": 2, "train-000001.tar": 1, "unsplit-000000.tar": 1, "val-000000.tar": 1}
    found = {}
    for one in index:
        path = tmp_path / "out" / one["url"]
        assert path.stat().st_size == one["filesize"]
        with tarfile.open(path) as archive:
            members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
        for name, content in members.items():
            if name.endswith(".json"):
                found[json.loads(content)["id"]] = (name.removesuffix(".json"), members, json.loads(content))
    assert found.keys() == SPLITS.keys()
    for episode, (key, members, truth) in found.items():
        record = store.get(episode)
        for number, image in enumerate(record.images):
            assert members[f"{key}.{number}.png"] == image.png
            assert members.get(f"{key}.{number}.npz") == image.extra
            assert truth["images"][number]["name"] == image.name
            assert truth["images"][number]["objects"][0]["rle"]["counts"] == image.annotation.objects[0].rle.counts


@pytest.mark.readers
# webdataset leaves its shards to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset(store: LanceStore, tmp_path: Path) -> None:
    import webdataset

    run(store, "webdataset", tmp_path / "out", ExportOptions(shard_size=2))
    shards = sorted(str(path) for path in (tmp_path / "out").glob("train-*.tar"))
    samples = list(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    assert [sample["json"]["id"] for sample in samples] == ["demo/a", "demo/c", "demo/e"]
    for sample in samples:
        record = store.get(sample["json"]["id"])
        assert np.array_equal(sample["1.png"], decode_png(record.images[1].png))
    gc.collect()


def test_parquet(store: LanceStore, tmp_path: Path) -> None:
    run(store, "huggingface", tmp_path / "out", ExportOptions(shard_size=2))
    names = sorted(path.name for path in (tmp_path / "out/data").iterdir())
    assert names[:2] == ["train-00000-of-00002.parquet", "train-00001-of-00002.parquet"]
    rows = pq.read_table(tmp_path / "out/data" / names[0]).to_pylist()
    assert [row["episode_id"] for row in rows] == ["demo/a", "demo/c"]
    assert rows[1]["images"][0]["bytes"] == store.get("demo/c").images[0].png
    card = (tmp_path / "out/README.md").read_text()
    assert "  - split: train\n    path: data/train-*.parquet" in card
    assert "| train | 3 | 2 |" in card
    assert "| demo/colour | 5 |" in card
    assert "| cube | 10 |" in card
    run(store, "huggingface", tmp_path / "two", ExportOptions(limit=2))
    card = (tmp_path / "two/README.md").read_text()
    assert "| demo/colour | 2 |" in card and "| cube | 4 |" in card


@pytest.mark.readers
def test_datasets(store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    run(store, "huggingface", tmp_path / "out", ExportOptions(shard_size=2))
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in loaded.items()} == {"train": 3, "val": 1, "unsplit": 1}
    row = loaded["train"][1]
    record = store.get("demo/c")
    assert np.array_equal(np.asarray(row["images"][1]), decode_png(record.images[1].png))
    assert row["objects"][0]["bbox"] == list(record.images[0].annotation.objects[0].bbox or ())
    assert io.BytesIO(record.images[0].png).getbuffer().nbytes > 0
