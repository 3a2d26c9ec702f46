"""Folders that hold one episode each: what is there is looked at before anything is written, and never lost unasked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export._layouts import FolderExport
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import EpisodeFolders
from tests.factories import make_record
from tests.render.uses.export.helpers import contents, unfinished


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([make_record("set/train/1", seed=1), make_record("set/train/2", seed=2), make_record("set/val/3", seed=3)])
    return made


def folder_of(episode_id: str) -> Path:
    _, split, number = episode_id.split("/")
    return Path(split, str(int(number)))


def files_of(record: EpisodeRecord, identity: Mapping[str, Any]) -> dict[str, bytes]:
    pictures = {f"frames/{image.name}.png": image.png for image in record.images}
    return {**pictures, "info.json": json.dumps({"diorama": dict(identity)}).encode()}


LAYOUT = EpisodeFolders(1, "info.json", folder_of, files_of)


def run(store: LanceStore, out: Path, **options: Any) -> ExportReport:
    done: list[int] = []
    report = FolderExport.export(LAYOUT, store, out, ExportOptions(**options), done.append)
    assert sum(done) == store.count()
    return report


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "frames/other.png"])
def test_a_folder_with_somebody_elses_files_is_left(store: LanceStore, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "out/train/1" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    report = run(store, tmp_path / "out")
    assert (report.exported, len(report.differing)) == (2, 1)
    assert report.differing[0].startswith(f"episode set/train/1: {tmp_path / 'out/train/1'} holds something else")
    assert [path for path in (tmp_path / "out/train/1").rglob("*") if path.is_file()] == [mine]
    assert run(store, tmp_path / "out", overwrite=True).exported == 1
    assert not mine.exists()
    run(store, tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_an_empty_folder_is_taken(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "out/train/1").mkdir(parents=True)
    assert run(store, tmp_path / "out").exported == 3


def test_two_episodes_of_one_folder(store: LanceStore, tmp_path: Path) -> None:
    run(store, tmp_path / "alone")
    store.put([make_record("set/val/0003", seed=8)])
    report = run(store, tmp_path / "out")
    assert (report.exported, len(report.failed)) == (3, 1)
    assert f"episode set/val/3: {tmp_path / 'out/val/3'} is the folder of episode set/val/0003" in report.failed[0]
    # Nor does asking for replacement let one take the other's place.
    report = run(store, tmp_path / "out", overwrite=True)
    assert (report.exported, report.skipped, len(report.failed)) == (0, 3, 1)
    assert isinstance(report.error(), StoreError)
    kept = run(store, tmp_path / "alone")
    assert (kept.skipped, len(kept.differing), len(kept.failed)) == (2, 1, 1)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["val", "val/3"])
def test_a_file_in_a_folders_place_is_named_and_the_others_written(
    store: LanceStore, tmp_path: Path, name: str, overwrite: bool
) -> None:
    file = tmp_path / "out" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    report = run(store, tmp_path / "out", overwrite=overwrite)
    assert report.differing == [f"episode set/val/3: {file} is in the way"]
    assert report.exported == 2
    assert file.read_text() == "mine"
    assert unfinished(tmp_path / "out") == []


def test_a_folder_called_as_the_file_with_the_marks(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "out/val/3/info.json").mkdir(parents=True)
    report = run(store, tmp_path / "out")
    assert report.differing == [f"episode set/val/3: {tmp_path / 'out/val/3/info.json'} can't be read: Is a directory"]
    assert report.exported == 2


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_export_that_was_stopped_goes_on(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    """At the moment it hurts most: all is written and the episode about to take its name."""
    run(store, tmp_path / "fresh")
    if overwrite:
        run(store, tmp_path / "out")
        (tmp_path / "out/train/2/info.json").write_text("{}")

    def stop(self: Path, _: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stop)
        with pytest.raises(KeyboardInterrupt):
            run(store, tmp_path / "out", overwrite=overwrite)
    assert len(unfinished(tmp_path / "out")) == 1
    report = run(store, tmp_path / "out", overwrite=overwrite)
    assert (report.exported + report.skipped, report.differing, report.failed) == (3, [], [])
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert unfinished(tmp_path / "out") == []


def test_a_replacement_stopped_while_the_old_folder_goes_is_done_again(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, tmp_path / "out")
    before = contents(tmp_path / "out")
    (tmp_path / "out/train/2/info.json").write_text("{}")
    remove = shutil.rmtree

    def half(path: Path | str, **options: Any) -> None:
        if path == "2":
            (tmp_path / "out/train/2/info.json").unlink()
            raise KeyboardInterrupt
        remove(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", half)
        with pytest.raises(KeyboardInterrupt):
            run(store, tmp_path / "out", overwrite=True)
    assert run(store, tmp_path / "out", overwrite=True).exported == 1
    assert contents(tmp_path / "out") == before
    assert unfinished(tmp_path / "out") == []
