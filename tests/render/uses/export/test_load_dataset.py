"""`datasets.load_dataset("FOLDER")` without another argument, for every kind of store, read back value by value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from diorama.render.cli.export import main as export
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord
from tests.render.store.rendered import rendered
from tests.render.uses.contrast.test_pairs import pair
from tests.render.uses.export.helpers import run
from tests.render.uses.export.test_publish import ABOUT
from tests.render.uses.items.eval_stores import OPTIONS, episodes

KINDS = (*OPTIONS, "clevr", "pairs", "passes")
pytestmark = pytest.mark.readers


@pytest.fixture
def about(tmp_path: Path) -> Path:
    path = tmp_path / "about.toml"
    path.write_text(ABOUT)
    return path


def records_of(kind: str) -> list[EpisodeRecord]:
    if kind == "pairs":
        return pair(0, "color") + pair(1, "color")
    if kind == "passes":
        return [rendered("a"), rendered("b", split="a+b"), rendered("c", split="test")]
    return episodes(kind, 9 if kind in ("clevr", "mewl") else 6)


def load(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    return datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))


def same_truth(found: dict[str, Any], image: ImageRecord) -> None:
    """An image of `webdataset` or `folder`."""
    stored = image.annotation.model_dump(mode="json")
    objects = [{**one, "amodal_rle": one.get("amodal_rle")} for one in stored["objects"]]
    assert [
        {key: value for key, value in one.items() if key not in ("extent", "category")} for one in found["objects"]
    ] == objects
    assert all(len(one["extent"]) == 3 for one in found["objects"])
    assert found["camera"] == stored["camera"]
    assert found["directions"] == stored["directions"] and found["pointer"] == stored["pointer"]
    relations: dict[str, dict[str, list[str]]] = {}
    for one in found["relations"]:
        relations.setdefault(one["relation"], {})[one["of"]] = one["objects"]
    assert relations == {name: some for name, some in stored["relations"].items() if some}
    assert [found[name] for name in ("name", "frame", "view", "width")] == [
        image.name, image.frame, image.view, image.width,
    ]  # fmt: skip


def same_picture(found: Image.Image, image: ImageRecord) -> None:
    assert np.array_equal(np.asarray(found), decode_png(image.png))


def rows_of(loaded: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for split, rows in loaded.items():
        for row in rows:
            yield split, row


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["huggingface", "webdataset", "folder"])
def test_every_value(name: str, kind: str, tmp_path: Path, about: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(records_of(kind))
    options = ("--shard-size", "4") if name != "folder" else ()
    arguments = [store.url, "--format", name, *options, "--out", str(tmp_path / "out"), "--about", str(about)]
    done = CliRunner().invoke(export, arguments)
    assert done.exit_code == 0, done.output
    loaded = load(tmp_path / "out", tmp_path, monkeypatch)
    records = {record.episode_id: record for record in records_of(kind)}
    images = {(key, image.name): image for key, record in records.items() for image in record.images}
    splits = {key: (record.scene.split or "unsplit").replace("+", "_") for key, record in records.items()}
    for split, row in rows_of(loaded):
        facts = row["json"] if name == "webdataset" else row
        key = facts["id"] if name == "webdataset" else facts["episode_id"]
        record = records[key]
        assert splits[key] == split
        if name != "huggingface":
            assert json.loads(facts["task"] or "null") == record.scene.task
        if name == "folder":
            image = images.pop((key, row["name"]))
            same_truth(row, image)
            same_picture(row["image"], image)
            assert row["utterance"] == record.utterances()[record.images.index(image)]
            continue
        for number, image in enumerate(record.images):
            del images[key, image.name]
            same_picture(row[f"{number}.png"] if name == "webdataset" else row["images"][number], image)
            if name == "webdataset":
                same_truth(facts["images"][number], image)
                assert facts["images"][number]["utterance"] == record.utterances()[number]
    assert not images


@pytest.mark.parametrize("kind", ["mewl", "pairs"])
@pytest.mark.parametrize("name", ["huggingface", "webdataset"])
def test_without_a_description(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(records_of(kind))
    run(store, name, tmp_path / "out")
    rows = [row for _, row in rows_of(load(tmp_path / "out", tmp_path, monkeypatch))]
    assert len(rows) == len(records_of(kind))


@pytest.mark.parametrize("name", ["huggingface", "webdataset"])
def test_questions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same if the export is interrupted after its first shard."""
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(episodes("clevr", 6))
    options = ExportOptions(questions=3, shard_size=2)
    run(store, name, tmp_path / "out", options)
    loaded = load(tmp_path / "out", tmp_path, monkeypatch)
    asked = [one for _, row in rows_of(loaded) for one in (row.get("json") or row)["questions"]]
    assert len({one["id"] for one in asked}) == len(asked) > 9
    for one in asked:
        assert one["answer"] in one["options"] and one["question"].startswith("<image>") and len(one["images"]) == 1
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.[pt]a*")}
    last = max((path for path in (tmp_path / "out").rglob("*.[pt]a*")), key=lambda path: path.name)
    last.unlink()
    run(store, name, tmp_path / "out", options)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.[pt]a*")} == files
