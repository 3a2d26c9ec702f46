"""What every dataset store promises: complete episodes with unique ids, of which the latest attempt stays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store import open_at, open_or_create, open_store
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.rows import encode
from diorama.scene_specs.errors import StoreError, UsageError
from tests.factories import make_record


def create(url: str) -> LanceStore:
    """A new store of the only kind there is."""
    return LanceStore.create(url, fsync=False)


def open_again(url: str) -> LanceStore:
    """A store that was there already."""
    create(url).close()
    return open_or_create(url)


def check_put_and_get(store: LanceStore) -> None:
    records = [make_record(f"demo/{number}", seed=number) for number in range(3)]
    assert store.put(records) == PutResult(inserted=3, updated=0, unchanged=0)
    assert store.get("demo/1") == records[1]
    assert store.get_many(["demo/2", "demo/0"]) == [records[2], records[0]]
    assert dict(store.ids()) == {record.episode_id: record.job.hash() for record in records}
    assert store.job("demo/2") == records[2].job
    assert (store.count(), store.exists("demo/0"), store.exists("demo/9")) == (3, True, False)


def check_an_id_that_is_not_there_is_named(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    for call in (store.get, store.job, lambda key: store.get_many(["demo/0", key])):
        with pytest.raises(StoreError, match="demo/9 is not in the store"):
            call("demo/9")
    assert store.get_many([]) == []


def check_ids_are_no_conditions(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    assert not store.exists("x' OR 'a' = 'a")
    assert store.delete(["x' OR 'a' = 'a"]) == 0
    assert store.count() == 1


def check_the_latest_attempt_stays(store: LanceStore) -> None:
    first, second = make_record("demo/0", attempt=1, seed=1), make_record("demo/0", attempt=2, seed=2)
    store.put([first])
    assert store.put([make_record("demo/0", attempt=1, seed=9)]) == PutResult(0, 0, 1)
    assert store.get("demo/0") == first
    assert store.put([second]) == PutResult(0, 1, 0)
    assert store.put([first]) == PutResult(0, 0, 1)
    assert store.get("demo/0") == second
    assert store.count() == 1


def check_the_same_id_twice_in_one_batch_is_one_episode(store: LanceStore) -> None:
    batch = [make_record("demo/0", attempt=attempt, seed=attempt) for attempt in (1, 3, 2)]
    assert store.put(batch) == PutResult(1, 0, 0)
    assert store.get("demo/0") == batch[1]


def check_an_empty_put_commits_nothing(store: LanceStore) -> None:
    assert store.put([]) == PutResult(0, 0, 0)
    assert store.delete([]) == 0


def check_scan_chooses_columns_and_rows(store: LanceStore) -> None:
    store.put([make_record(f"demo/{number}", images=number + 1) for number in range(4)])
    rows = list(store.scan(["episode_id", "image_names"], "array_length(image_names) > 2"))
    assert {row["episode_id"]: len(row["image_names"]) for row in rows} == {"demo/2": 3, "demo/3": 4}
    assert store.count("split = 'train'") == 4


def check_a_wrong_condition_is_named(store: LanceStore) -> None:
    for call in (lambda: list(store.scan(["episode_id"], "nix = 3")), lambda: store.count("nix = 3")):
        with pytest.raises(UsageError, match=r"nix = 3.*No field named nix"):
            call()


def check_delete(store: LanceStore) -> None:
    store.put([make_record(f"demo/{number}") for number in range(4)])
    assert store.delete(["demo/1", "demo/3", "demo/7"]) == 2
    assert sorted(key for key, _ in store.ids()) == ["demo/0", "demo/2"]
    store.put([make_record("demo/1", seed=4)])
    assert store.get("demo/1") == make_record("demo/1", seed=4)


def check_a_reader_sees_more_after_refresh(store: LanceStore) -> None:
    reader = open_store(store.url)
    store.put([make_record("demo/0")])
    reader.refresh()
    assert reader.exists("demo/0")


def check_replace(store: LanceStore) -> None:
    late, early = make_record("demo/0", attempt=3, seed=1), make_record("demo/0", attempt=1, seed=2)
    store.put([late])
    assert store.replace([early, make_record("demo/1")]) == PutResult(1, 1, 0)
    assert store.get("demo/0") == early


def check_encoded(store: LanceStore) -> None:
    record = make_record("demo/0")
    assert store.put_encoded([encode(record), encode(make_record("demo/1"))]) == PutResult(2, 0, 0)
    assert store.get("demo/0") == record


def check_versions(store: LanceStore) -> None:
    """A reader at a version sees the store as it was, whatever is committed later."""
    first = make_record("demo/0", seed=1)
    store.put([first])
    before = store.version
    store.put([make_record("demo/0", attempt=2, seed=2), make_record("demo/1")])
    store.compact()
    with closing(open_at(store.url, before)) as reader:
        assert (reader.get("demo/0"), reader.count()) == (first, 1)
    assert store.version > before and store.count() == 2


def check_batches(store: LanceStore) -> None:
    store.put([make_record(f"demo/{number}") for number in range(5)])
    sizes = [len(batch) for batch in store.batches(["episode_id"], "episode_id != 'demo/0'", batch_size=3)]
    assert sum(sizes) == 4 and max(sizes) <= 3


CHECKS = {name.removeprefix("check_"): check for name, check in sorted(globals().items()) if name.startswith("check_")}


@pytest.mark.parametrize("make", [create, open_again])
@pytest.mark.parametrize("name", CHECKS)
def test_a_store_keeps_its_contract(name: str, make: Callable[[str], LanceStore], tmp_path: Path) -> None:
    with closing(make(str(tmp_path / "s.lance"))) as store:
        CHECKS[name](store)


class Broken:
    """A right store, except for the methods in `changes`."""

    def __init__(self, store: LanceStore, changes: dict[str, Callable[..., Any]]) -> None:
        self._store, self._changes = store, changes

    def __getattr__(self, name: str) -> Any:
        if name in self._changes:
            return lambda *given, **named: self._changes[name](self._store, *given, **named)
        return getattr(self._store, name)


BROKEN: dict[str, tuple[str, Callable[..., Any]]] = {
    "put_and_get": ("get_many", lambda store, ids: store.get_many(sorted(ids))),
    "an_id_that_is_not_there_is_named": ("job", lambda store, key: next(iter(store.ids()))),
    "ids_are_no_conditions": ("exists", lambda store, key: store.count(f"episode_id = '{key}'") > 0),
    "the_latest_attempt_stays": ("put", lambda store, records: store.replace(records)),
    "the_same_id_twice_in_one_batch_is_one_episode": ("put", lambda store, records: store.put(records[-1:])),
    "an_empty_put_commits_nothing": ("delete", lambda store, ids: len(ids) + 1),
    "scan_chooses_columns_and_rows": ("scan", lambda store, columns, where=None: store.scan(columns)),
    "a_wrong_condition_is_named": ("count", lambda store, where=None: 0),
    "delete": ("delete", lambda store, ids: len(ids)),
    "replace": ("replace", lambda store, records: store.put(records)),
    "encoded": ("put_encoded", lambda store, parts: store.put_encoded(parts[:1])),
    "versions": ("compact", lambda store: store.delete(["demo/1"])),
    "batches": ("batches", lambda store, columns, where, batch_size: store.batches(columns, where)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_store_is_caught(name: str, tmp_path: Path) -> None:
    broken: Any = Broken(create(str(tmp_path / "s.lance")), dict([BROKEN[name]]))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        CHECKS[name](broken)
