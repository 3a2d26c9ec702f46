"""The cameras in exports: their matrices project the center of each object to the stored pixel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pycocotools.coco import COCO

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.benchmarks.mewl.export import scene_file
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.render.uses.export.helpers import projected, run


@pytest.fixture(scope="module")
def record() -> EpisodeRecord:
    frame = {"random_objects": {"count": 6, "shapes": ["cube", "sphere"]}, "passes": ["amodal"]}
    views = [{"name": "a"}, {"name": "b", "location": [-5, -6, 4], "look_at": [0, 0, 0.5]}]
    spec = {"version": 1, "id": "demo/a", "seed": 4, "split": "val", "frames": [{**frame, "views": views}]}
    settings = settings_for("draft", 160, 120)
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), factories.make_job(spec), settings)


@pytest.fixture(scope="module")
def store(record: EpisodeRecord, tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    store = LanceStore.create(str(tmp_path_factory.mktemp("cameras") / "s.lance"), fsync=False)
    store.put([record])
    return store


def files(store: LanceStore, name: str, out: Path) -> Iterator[Any]:
    run(store, name, out)
    yield from (json.loads(path.read_text()) for path in sorted(out.rglob("*.json")) if path.name[0] != ".")


def test_coco(record: EpisodeRecord, store: LanceStore, tmp_path: Path) -> None:
    run(store, "coco", tmp_path)
    coco = COCO(str(tmp_path / "annotations/instances_val.json"))
    cut = 0
    for image, shown in zip(record.images, coco.loadImgs(coco.getImgIds()), strict=True):
        found = {item.name: item for item in image.annotation.objects}
        for one in coco.loadAnns(coco.getAnnIds(imgIds=[shown["id"]])):
            item = found[one["name"]]
            assert projected(shown["camera"], one["location"]) == pytest.approx(item.pixel_center, abs=1e-4)
            mask = coco.annToMask({**one, "segmentation": one["amodal_segm"]})
            assert mask.sum() == item.alone_pixels
            assert not (coco.annToMask(one) & ~mask).any()
            cut += one["visible_fraction"] < 1
            x, y = projected(shown["camera"], one["location"])[:2]
            left, top, width, height = one["amodal_bbox"]
            assert item.truncated or (left < x < left + width and top < y < top + height)
    assert cut, "no object is hidden in part"


def test_clevr_and_mewl(record: EpisodeRecord, store: LanceStore, tmp_path: Path) -> None:
    (clevr,) = files(store, "clevr", tmp_path)
    frame = record.scene.frames[0]
    for scene, image in zip(clevr["scenes"], record.images, strict=True):
        for found in (scene, scene_file(image, frame)):
            for item in found["objects"]:
                x, y, depth = projected(found["camera"], item["3d_coords"])
                assert [x, y] == pytest.approx(item["pixel_coords"][:2], abs=0.501)
                assert depth == pytest.approx(item["pixel_coords"][2], abs=1e-5)


def test_other_formats_have_the_stored_camera(record: EpisodeRecord, store: LanceStore, tmp_path: Path) -> None:
    wanted = [image.annotation.camera.model_dump(mode="json") for image in record.images]
    found = [data["camera"] for data in files(store, "folder", tmp_path) if "camera" in data]
    assert found == wanted
