"""The store on Lance. tests/contracts/test_stores.py has what every store promises."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from diorama.render.store import open_or_create, open_store, peek
from diorama.render.store.columns import VERSION_KEY, episode_schema
from diorama.render.store.episode_store import DamagedError
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.location import probe_location
from diorama.render.store.rows import table_of
from diorama.scene_specs.errors import StoreError
from tests.factories import make_record


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return LanceStore.create(str(tmp_path / "s.lance"), fsync=False)


def test_an_error_while_counting_everything_names_no_filter(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> int:
        raise OSError("disk on fire")

    monkeypatch.setattr(store._dataset, "count_rows", fails)
    with pytest.raises(StoreError, match=r"s\.lance: counting failed: disk on fire$"):
        store.count()
    with pytest.raises(StoreError, match=r"s\.lance: counting where split = 'x' failed"):
        store.count("split = 'x'")


def test_compaction_keeps_everything(store: LanceStore, tmp_path: Path) -> None:
    for number in range(12):
        store.put([make_record(f"demo/{number % 9}", attempt=1 + number // 9, seed=number)])
    fragments = len(lance.dataset(store.url).get_fragments())
    store.compact()
    assert len(lance.dataset(store.url).get_fragments()) < fragments
    for number in range(12)[3:]:
        assert store.get(f"demo/{number % 9}") == make_record(
            f"demo/{number % 9}", attempt=1 + number // 9, seed=number
        )
    store.put([make_record("demo/0", attempt=3, seed=99), make_record("demo/new")])
    store.compact()
    assert store.get("demo/0") == make_record("demo/0", attempt=3, seed=99)
    assert store.count() == 10


def test_compaction_happens_by_itself_only_after_many_commits(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diorama.render.store.lance.lance_store._COMMITS_BEFORE_COMPACTION", 4)
    done = []
    for number in range(9):
        store.put([make_record(f"demo/{number}")])
        before = store.version
        store.maybe_compact()
        done.append(store.version > before)
    assert done == [False, False, False, True, False, False, False, True, False]
    assert store.count() == 9


def test_compaction_finds_a_planted_duplicate(store: LanceStore) -> None:
    store.put([make_record("demo/0"), make_record("demo/1")])
    lance.write_dataset(table_of([make_record("demo/1")]), store.url, mode="append")
    with pytest.raises(StoreError, match="1 episode is stored twice, demo/1 the first"):
        store.compact()


def test_pickling_opens_it_anew(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    assert pickle.loads(pickle.dumps(store)).get("demo/0") == make_record("demo/0")


def test_damage_is_named(store: LanceStore) -> None:
    store.put([make_record("demo/0"), make_record("demo/1")])
    lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    store.refresh()
    assert store.get("demo/0")
    with pytest.raises(DamagedError, match="episode demo/1: its images don't match"):
        store.get("demo/1")


def test_a_flipped_bit_in_a_picture_is_found(store: LanceStore) -> None:
    record = make_record("demo/1", seed=3)
    store.put([make_record("demo/0"), record])
    (file,) = (Path(store.url) / "data").iterdir()
    content = bytearray(file.read_bytes())
    content[content.index(record.images[1].png) + 50] ^= 1
    file.write_bytes(content)
    fresh = LanceStore.open(store.url)
    assert fresh.get("demo/0") == make_record("demo/0")
    with pytest.raises(DamagedError, match="episode demo/1: its images don't match"):
        fresh.get("demo/1")


def test_cut_files_are_store_errors_and_no_crash(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    for file in [*Path(store.url).glob("data/*"), *Path(store.url).glob("_versions/*.manifest")]:
        content = file.read_bytes()
        for length in (0, 1, 17, len(content) // 2, len(content) - 1):
            file.write_bytes(content[:length])
            try:
                assert LanceStore.open(store.url).get("demo/0") == make_record("demo/0")
            except StoreError:
                continue
        file.write_bytes(content)
    assert LanceStore.open(store.url).get("demo/0") == make_record("demo/0")


def test_conflicts_are_tried_again_and_then_given_up(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("diorama.render.store.lance.lance_store.time.sleep", waits.append)
    left = 3

    def busy() -> str:
        nonlocal left
        left -= 1
        if left >= 0:
            raise OSError("Retryable commit conflict for version 5: preempted by concurrent transaction")
        return "done"

    assert store._commit(busy, "busy") == "done"
    assert len(waits) == 3
    left = 10**6
    waits.clear()
    with pytest.raises(StoreError, match="busy failed: Retryable commit conflict"):
        store._commit(busy, "busy")
    assert 5 < sum(waits) < 30


def test_other_failures_are_not_tried_again(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.store.lance.lance_store.time.sleep", lambda _: pytest.fail("waited"))

    def full() -> None:
        raise OSError("No space left on device (os error 28)")

    with pytest.raises(StoreError, match="No space left"):
        store._commit(full, "writing")


def test_every_file_of_a_commit_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[Path] = set()
    monkeypatch.setattr(os, "fsync", lambda handle: synced.add(Path(f"/proc/self/fd/{handle}").readlink()))
    root = tmp_path / "s.lance"

    def new_files(before: set[Path]) -> set[Path]:
        # The hint only makes opening faster.
        return {path for path in root.rglob("*") if path.is_file() and "hint" not in path.name} - before

    store = LanceStore.create(str(root))
    assert new_files(set()) <= synced
    steps: list[Callable[[], object]] = [
        lambda: store.put([make_record("demo/0"), make_record("demo/1")]),
        lambda: store.put([make_record("demo/1", attempt=2), make_record("demo/2")]),
        lambda: store.delete(["demo/0"]),
        store.compact,
    ]
    for step in steps:
        before = new_files(set())
        synced.clear()
        step()
        created = new_files(before)
        assert created
        assert created <= synced
        assert {path.parent for path in created} <= synced


class TestWrongPlaces:
    def test_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="there is no store"):
            open_store(str(tmp_path / "no.lance"))
        assert peek(str(tmp_path / "no.lance")) is None
        assert not (tmp_path / "no.lance").exists()

    def test_a_file(self, tmp_path: Path) -> None:
        place = tmp_path / "file"
        place.write_text("hello")
        for call in (open_store, open_or_create, peek):
            with pytest.raises(StoreError, match="is a file"):
                call(str(place))
        assert place.read_text() == "hello"

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="empty folder"):
            open_store(str(tmp_path))
        open_or_create(str(tmp_path)).put([make_record()])
        assert open_store(str(tmp_path)).count() == 1

    def test_a_folder_of_somebody_else(self, tmp_path: Path) -> None:
        (tmp_path / "holiday.jpg").write_bytes(b"")
        for call in (open_store, open_or_create, peek):
            with pytest.raises(StoreError, match=r"without a store, with holiday\.jpg in it"):
                call(str(tmp_path))
        assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]

    def test_a_foreign_dataset(self, tmp_path: Path) -> None:
        place = str(tmp_path / "foreign.lance")
        lance.write_dataset(pa.table({"vector": [1.0], "label": ["x"]}), place)
        for call in (open_store, open_or_create, peek):
            with pytest.raises(StoreError, match="not a Diorama store \\(columns: vector, label\\)"):
                call(place)

    def test_another_schema_version(self, tmp_path: Path) -> None:
        place = str(tmp_path / "later.lance")
        schema = episode_schema().with_metadata({VERSION_KEY: b"99"})
        lance.write_dataset(schema.empty_table(), place)
        with pytest.raises(StoreError, match="schema version 99, this Diorama reads version"):
            open_store(place)

    def test_an_unreleased_schema_version(self, tmp_path: Path) -> None:
        place = str(tmp_path / "earlier.lance")
        lance.write_dataset(episode_schema().with_metadata({VERSION_KEY: b"1"}).empty_table(), place)
        with pytest.raises(StoreError, match="has schema version 1, this Diorama reads versions 2 to 3; render"):
            open_store(place)

    def test_a_column_that_is_not_as_it_says(self, tmp_path: Path) -> None:
        place = str(tmp_path / "odd.lance")
        schema = episode_schema()
        wrong = schema.set(schema.get_field_index("attempt"), pa.field("attempt", pa.string()))
        lance.write_dataset(wrong.empty_table(), place)
        with pytest.raises(StoreError, match="column attempt is string, not int32"):
            open_store(place)

    def test_a_store_without_its_manifest(self, store: LanceStore) -> None:
        store.put([make_record()])
        for manifest in (Path(store.url) / "_versions").iterdir():
            manifest.unlink()
        for call in (open_store, open_or_create, peek):
            with pytest.raises(StoreError, match="damaged store"):
                call(store.url)

    def test_a_broken_manifest(self, store: LanceStore) -> None:
        for manifest in (Path(store.url) / "_versions").glob("*.manifest"):
            manifest.write_bytes(b"no manifest")
        with pytest.raises(StoreError, match="opening failed"):
            open_store(store.url)

    def test_another_kind_of_url(self) -> None:
        with pytest.raises(StoreError, match="not gopher://"):
            open_store("gopher://host/store")

    def test_create_over_a_store(self, store: LanceStore) -> None:
        with pytest.raises(StoreError, match="there is a store already"):
            LanceStore.create(store.url)


def test_fsync_is_done_if_and_only_if_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    LanceStore.create(str(tmp_path / "fast.lance"), fsync=False).put([make_record("demo/0")])
    assert synced == []
    LanceStore.create(str(tmp_path / "safe.lance")).put([make_record("demo/0")])
    assert synced


def test_the_size_on_disk_is_that_of_all_files(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    root = Path(store.url)
    assert store.bytes_on_disk() == sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) > 1000
    root.rename(root.with_name("elsewhere"))
    assert store.bytes_on_disk() is None


def test_row_numbers_come_with_the_requested_columns_alone(store: LanceStore) -> None:
    store.put([make_record("demo/0"), make_record("demo/1")])
    (batch,) = store.row_numbers(["episode_id", "attempt"], 10)
    assert batch.schema.names == ["episode_id", "attempt", "_rowid"]
    assert len(set(batch.column("_rowid").to_pylist())) == 2


def test_the_schema_describes_its_columns_to_datasets() -> None:
    features = json.loads(episode_schema().metadata[b"huggingface"])["info"]["features"]
    assert list(features) == episode_schema().names
    assert features["episode_id"] == {"dtype": "string", "_type": "Value"}
    assert features["image_names"] == {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"}
    assert features["images"] == {"feature": {"_type": "Image"}, "_type": "Sequence"}
    assert features["objects"][0]["visible_fraction"] == {"dtype": "float64", "_type": "Value"}


def test_what_is_at_an_address_is_told(store: LanceStore, tmp_path: Path) -> None:
    assert probe_location(store.url) == "dataset"
    assert probe_location(str(tmp_path / "other.lance")) == "nothing"
    assert probe_location("s3://bucket/s.lance") == "remote"


def test_many_episodes_are_read_by_their_places(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"demo/{number}" for number in range(90)]
    records = {name: make_record(name, seed=number % 3) for number, name in enumerate(names)}
    for start in range(0, 90, 30):
        store.put([records[name] for name in names[start : start + 30]])
    store.delete([names[7]])
    del records[names[7]]
    wanted = sorted(records, key=lambda name: name[::-1])
    reading, filters = store.batches, []

    def batches(columns: Sequence[str], where: str | None = None, *rest: int) -> Iterator[Any]:
        filters.append(where)
        return reading(columns, where, *rest)

    monkeypatch.setattr(store, "batches", batches)
    for _ in range(3):
        for start in range(0, len(wanted), 16):
            part = wanted[start : start + 16]
            assert store.get_many(part) == [records[name] for name in part]
    assert len([where for where in filters if where]) == 4, "the first 64 ids, 16 a call"
    assert filters.count(None) == 1
    # Another version, an id that is gone, and places that are wrong.
    changed = make_record(wanted[0], attempt=2, seed=8)
    store.replace([changed])
    assert store.get_many(wanted)[0] == store.get(wanted[0]) == changed
    with pytest.raises(StoreError, match="demo/7"):
        store.get_many([*wanted[:3], names[7]])
    assert store._places is not None
    store._places[1][:] = store._places[1][::-1].copy()
    assert store.get_many(wanted[1:]) == [records[name] for name in wanted[1:]]
