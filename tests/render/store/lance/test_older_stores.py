"""Stores of schema version 2, as version 0.1.0 wrote them: rows hold the spec and the relations twice."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lance
import pytest

from diorama.render.store import open_store
from diorama.render.store.columns import COMPLETE_VERSION, SCHEMA_VERSION, VERSION_KEY
from diorama.render.store.copying import copy
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.verify import verify
from diorama.render.store.rows import table_of
from diorama.scene_specs.errors import StoreError
from tests.render.store.rendered import rendered


@pytest.fixture
def older(tmp_path: Path) -> str:
    url = str(tmp_path / "older.lance")
    table = table_of([rendered("demo/0", seed=1), rendered("demo/1", seed=2)], COMPLETE_VERSION)
    assert all("spec" in json.loads(text) for text in table["job"].to_pylist())
    lance.write_dataset(table, url)
    return url


def test_it_is_read_as_it_is(older: str) -> None:
    store = open_store(older)
    assert (store.schema_version, store.version) == (2, 1)
    assert store.get("demo/1") == rendered("demo/1", seed=2)
    assert store.job("demo/0") == rendered("demo/0", seed=1).job
    assert verify(store).intact
    assert store.version == 1


def test_a_commit_of_episodes_migrates_it(older: str) -> None:
    store = open_store(older)
    assert store.put([rendered("demo/1", seed=2), rendered("demo/2")]) == PutResult(1, 0, 1)
    assert store.schema_version == LanceStore.open(older).schema_version == SCHEMA_VERSION
    kept = {row["episode_id"]: "spec" in json.loads(row["job"]) for row in store.scan(["episode_id", "job"])}
    assert kept == {"demo/0": True, "demo/1": True, "demo/2": False}
    store.compact()
    assert verify(store).intact
    assert store.get_many(["demo/0", "demo/2"]) == [rendered("demo/0", seed=1), rendered("demo/2")]
    assert store.migrate() == SCHEMA_VERSION


def test_several_writers_migrate_it_at_once(older: str) -> None:
    def put(number: int) -> PutResult:
        return open_store(older).put([rendered(f"demo/{number}")])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(put, range(2, 6))) == [PutResult(1, 0, 0)] * 4
    store = open_store(older)
    assert (store.count(), store.schema_version) == (6, SCHEMA_VERSION)
    assert verify(store).intact


def test_a_copy_of_it_has_equal_episodes(older: str, tmp_path: Path) -> None:
    source, target = open_store(older), LanceStore.create(str(tmp_path / "new.lance"), fsync=False)
    assert copy(source, target).copied == 2
    assert {"spec" in json.loads(row["job"]) for row in target.scan(["job"])} == {False}
    again = copy(source, target)
    assert (again.copied, again.same) == (0, 2)


def test_verify_finds_a_copy_that_says_something_else(older: str) -> None:
    lance.dataset(older).update({"spec": "'{}'"}, where="episode_id = 'demo/0'")
    lance.dataset(older).update({"relations": "make_array('{}')"}, where="episode_id = 'demo/1'")
    found = verify(open_store(older))
    assert [str(damage) for damage in found.damaged] == [
        "episode demo/0: column spec: differs from the episode",
        "episode demo/1: column relations: differs from the episode",
    ]


def test_a_store_of_a_newer_version_is_not_migrated(older: str) -> None:
    lance.dataset(older).update_schema_metadata({VERSION_KEY.decode(): "99"})
    with pytest.raises(StoreError, match="has schema version 99, this Diorama reads version"):
        open_store(older)
