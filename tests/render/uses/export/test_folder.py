from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from diorama.render.store.episode_store import DamagedError
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.formats.folder import write_tables
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.io.atomic_output import output_lock
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import ConflictError, StoreError, UsageError
from diorama.scene_specs.model.record import EpisodeRecord
from tests.factories import make_record


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return LanceStore.create(str(tmp_path / "s.lance"), fsync=False)


def run(store: LanceStore, out: Path, overwrite: bool = False, limit: int | None = None) -> ExportReport:
    done: list[int] = []
    report = format_of("folder").export(store, out, ExportOptions(overwrite=overwrite, limit=limit), done.append)
    chosen = store.count() if limit is None else min(limit, store.count())
    said = report.exported + report.skipped + len(report.damaged + report.differing + report.failed + report.nested)
    assert said == chosen
    return report


def contents(out: Path) -> dict[str, str]:
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_files_hold_what_was_stored(store: LanceStore, tmp_path: Path) -> None:
    record = make_record("demo/a/0001", images=2)
    images = [record.images[0], record.images[1].model_copy(update={"extra": b"npz bytes"})]
    record = record.model_copy(update={"images": images})
    store.put([record])
    assert run(store, tmp_path / "out").exported == 1
    folder = tmp_path / "out/demo/a/0001"
    names = {path.name for path in folder.iterdir()}
    assert names == {"frame-0.png", "frame-0.json", "frame-1.png", "frame-1.json", "frame-1.npz", "episode.json"}
    assert (folder / "frame-1.png").read_bytes() == record.images[1].png
    assert (folder / "frame-1.npz").read_bytes() == b"npz bytes"
    truth = json.loads((folder / "frame-0.json").read_text())
    assert truth["objects"][1]["bbox"] == list(record.images[0].annotation.objects[1].bbox or ())
    assert (truth["name"], truth["width"]) == ("frame-0", 32)
    episode = json.loads((folder / "episode.json").read_text())
    assert episode["scene"] == record.scene.model_dump(mode="json")
    assert episode["job"]["spec"] == record.job.spec
    assert episode["task"] == record.scene.task
    assert episode["provenance"]["device"] == "CPU"
    assert set(episode["files"]) == names


def test_two_exports_give_the_same_bytes(store: LanceStore, tmp_path: Path) -> None:
    records = [make_record(f"demo/{number}", seed=number) for number in range(6)]
    store.put(records[3:])
    store.put(records[:3])
    run(store, tmp_path / "one")
    store.compact()
    run(store, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 6 * 5


def test_again_writes_only_what_is_missing(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("demo/0"), make_record("demo/1")])
    out = tmp_path / "out"
    run(store, out)
    before = contents(out)
    times = {path: path.stat().st_mtime_ns for path in (out / "demo/0").iterdir()}
    (out / "demo/1/episode.json").unlink()
    (out / "demo/1/frame-0.png").unlink()
    store.put([make_record("demo/2")])
    report = run(store, out)
    assert (report.exported, report.skipped) == (2, 1)
    assert {path: path.stat().st_mtime_ns for path in (out / "demo/0").iterdir()} == times
    after = contents(out)
    assert before.items() <= after.items()


def test_what_an_export_that_was_killed_left_is_cleared(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("demo/0")])
    left = tmp_path / "out/demo/.0.partial"
    left.mkdir(parents=True)
    (left / "frame-0.png").write_bytes(b"half")
    (left / "other").write_bytes(b"half")
    run(store, tmp_path / "out")
    assert not left.exists()
    assert {path.name for path in (tmp_path / "out/demo").iterdir()} == {"0"}
    assert not (tmp_path / "out/demo/0/other").exists()


def test_ids_inside_each_other_in_any_order(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("a/b", seed=2)])
    run(store, tmp_path / "out")
    store.put([make_record("a", seed=1)])
    assert run(store, tmp_path / "out").exported == 1
    run(store, tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_an_id_that_is_the_file_of_another_is_named_and_the_rest_exported(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("a"), make_record("a/frame-0.png"), make_record("b")])
    report = run(store, tmp_path / "out")
    assert report.exported == 2
    assert report.nested == [
        "episode a/frame-0.png: its id is the name of a file of episode a; export the two into two folders"
    ]
    error = report.error()
    assert error is not None and error.exit_code == 1


def test_another_version_is_replaced_only_when_asked(store: LanceStore, tmp_path: Path) -> None:
    out = tmp_path / "out"
    store.put([make_record("demo/0", images=3), make_record("demo/0/inner")])
    run(store, out)
    store.put([make_record("demo/0", images=2, attempt=2, seed=5)])
    before = contents(out)
    report = run(store, out)
    assert contents(out) == before
    error = report.error()
    assert isinstance(error, ConflictError)
    assert "demo/0" in str(error)
    assert "--overwrite" in str(error)
    assert run(store, out, overwrite=True).exported == 1
    run(store, tmp_path / "fresh")
    assert contents(out) == contents(tmp_path / "fresh")


def test_limit_takes_the_first_by_id(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record(f"demo/{number}") for number in (3, 1, 2, 0)])
    assert run(store, tmp_path / "out", limit=2).exported == 2
    assert sorted(path.name for path in (tmp_path / "out/demo").iterdir()) == ["0", "1"]


class Odd:
    """A store with damaged rows and ids that no spec can have."""

    def __init__(self, inner: LanceStore, damaged: Sequence[str] = (), extra_ids: Sequence[str] = ()) -> None:
        self._inner, self._damaged, self._extra = inner, set(damaged), list(extra_ids)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def count(self) -> int:
        return self._inner.count() + len(self._extra)

    def scan(self, columns: Sequence[str], where: str | None = None, batch_size: int = 32) -> list[dict[str, object]]:
        rows = list(self._inner.scan(columns))
        return rows + [{**rows[0], "episode_id": name} for name in self._extra]

    def get_many(self, names: Sequence[str]) -> list[EpisodeRecord]:
        return [self.get(name) for name in names]

    def get(self, name: str) -> EpisodeRecord:
        if name in self._damaged:
            raise DamagedError(f"episode {name}: its images don't match")
        return self._inner.get(name)


def test_damaged_episodes_are_named_and_the_others_exported(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record(f"demo/{number}") for number in range(5)])
    odd = Odd(store, damaged=["demo/1", "demo/3"])
    report = run(odd, tmp_path / "out")  # type: ignore[arg-type]
    assert report.exported == 3
    error = report.error()
    assert isinstance(error, StoreError)
    assert error.exit_code == 4
    assert "demo/1" in str(error)
    assert "demo/3" in str(error)
    assert not (tmp_path / "out/demo/1").exists()


EVIL = ["../x", "a/../../x", "/tmp/x", "", ".", "..", ".hidden", "a//b", "a/", "a\\..\\x", "a\0b", "a\n", "~/x"]


def test_ids_cant_leave_the_folder(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("demo/0")])
    out = tmp_path / "deep" / "out"
    report = run(Odd(store, extra_ids=EVIL), out)  # type: ignore[arg-type]
    assert len(report.failed) == len(EVIL)
    assert report.exported == 1
    assert {path.name for path in out.iterdir()} == {"demo"}
    assert {path.name for path in tmp_path.iterdir()} == {"deep", "s.lance"}
    assert {path.name for path in out.parent.iterdir()} == {"out"}


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "episode", "a\nb"])
def test_image_names_cant_leave_the_folder(store: LanceStore, tmp_path: Path, name: str) -> None:
    record = make_record("demo/0", images=1)
    store.put([record.model_copy(update={"images": [record.images[0].model_copy(update={"name": name})]})])
    report = run(store, tmp_path / "out")
    assert len(report.failed) == 1
    assert repr(name) in report.failed[0]
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_one_export_at_a_time(store: LanceStore, tmp_path: Path) -> None:
    with output_lock(tmp_path / "out"), pytest.raises(UsageError, match="another export"):
        run(store, tmp_path / "out")
    assert run(store, tmp_path / "out").exported == 0


def test_a_file_where_the_folder_should_be(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="can't be a folder"):
        run(store, tmp_path / "out")


def test_tables_of_gone_splits_are_removed_and_named_and_those_of_users_are_kept(
    store: LanceStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.put([make_record("demo/a")])
    run(store, tmp_path)
    write_tables(tmp_path, WrittenFiles(tmp_path, store, overwrite=False))
    (table,) = tmp_path.glob("metadata-*.parquet")
    gone, own = tmp_path / "metadata-gone.parquet", tmp_path / "metadata-mine.parquet"
    WrittenFiles(tmp_path, store, overwrite=False).put({gone.name: b"rows"})
    write_tables(tmp_path, WrittenFiles(tmp_path, store, overwrite=False))
    assert not gone.exists() and f"{gone} removed" in caplog.text
    own.write_text("mine")
    with pytest.raises(ConflictError, match=r"metadata-mine\.parquet was not written by Diorama"):
        write_tables(tmp_path, WrittenFiles(tmp_path, store, overwrite=False))
    assert own.read_text() == "mine" and table.exists()
