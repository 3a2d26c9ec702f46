from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import lance
import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.model.errors import ConflictError, StoreError, UsageError
from render.store import open_at
from render.store.analysis.stats import tally
from render.store.columns import VERSION_KEY, episode_schema
from render.store.copying import copy
from render.store.episode_store import PutResult, condition
from render.store.lance.lance_store import LanceStore
from render.store.lance.migrate import migrate
from render.store.lance.versions import Change, Version, changes
from render.store.rows import encode, table_of
from tests.factories import make_record


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return LanceStore.create(str(tmp_path / "s.lance"), fsync=False)


def test_history_and_the_old_pictures(store: LanceStore) -> None:
    first, second = make_record("demo/0", seed=1), make_record("demo/0", attempt=2, seed=2)
    store.put([make_record("other/0")])
    store.put([first])
    for number in range(1, 5):
        store.put([make_record(f"other/{number}")])
    store.put([second])
    store.compact()
    store.delete(["demo/0"])
    came, replaced, went = store.history("demo/0")
    assert (came.attempt, replaced.attempt, went.present) == (1, 2, False)
    assert came.version < replaced.version < went.version
    assert came.committed <= replaced.committed <= went.committed <= datetime.now(UTC)
    assert open_at(store.url, came.version).get("demo/0") == first
    assert open_at(store.url, replaced.version - 1).get("demo/0") == first
    assert open_at(store.url, replaced.version).get("demo/0") == second
    assert store.history("never/0") == []


@given(st.lists(st.sampled_from(["", "put", "put", "delete", "other"]), min_size=1, max_size=60))
def test_history_by_halves_finds_what_looking_at_each_version_finds(steps: list[str]) -> None:
    now, count, attempt = datetime.now(UTC), 0, 0
    present = False
    states: list[Change] = []
    numbered: list[Version] = []
    for number, step in enumerate(["", *steps], start=1):
        if step == "put":
            count, attempt, present = count + (not present), attempt + 1, True
        elif step == "delete":
            count, present = count - present, False
        elif step == "other":
            count += 1
        numbered.append(Version(number, now, count, 1))
        states.append(Change(number, now, present, attempt if present else None))
    found = changes(numbered, lambda version: states[version.number - 1])
    assert found == [new for old, new in pairwise(states) if new.state != old.state]


def test_history_looks_at_few_versions() -> None:
    now = datetime.now(UTC)
    numbered = [Version(number, now, number, 1) for number in range(1, 10_001)]
    looks: list[int] = []

    def state_at(version: Version) -> Change:
        looks.append(version.number)
        return Change(version.number, now, version.number >= 7777)

    assert [change.version for change in changes(numbered, state_at)] == [7777]
    assert len(looks) < 20


def test_replace_takes_whatever_attempt(store: LanceStore) -> None:
    store.put([make_record("demo/0", attempt=5, seed=1)])
    other = make_record("demo/0", attempt=1, seed=2)
    assert store.put([other]) == PutResult(0, 0, 1)
    assert store.replace([other]) == PutResult(0, 1, 0)
    assert store.get("demo/0") == other
    assert store.count() == 1


def test_encoded_records_are_put_as_records_are(store: LanceStore) -> None:
    records = [make_record("demo/0", attempt=attempt, seed=attempt) for attempt in (1, 3, 2)]
    assert store.put_encoded([encode(record) for record in records]) == PutResult(1, 0, 0)
    assert store.get("demo/0") == records[1]
    assert store.put_encoded([]) == PutResult(0, 0, 0)
    with pytest.raises(StoreError, match="encoded episode can't be read"):
        store.put_encoded([b"nonsense"])


def test_tags(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    number = store.tag("v1.0")
    store.put([make_record("demo/1")])
    assert store.tags() == {"v1.0": number}
    tagged = open_at(store.url, "v1.0")
    assert [key for key, _ in tagged.ids()] == ["demo/0"]
    assert pickle.loads(pickle.dumps(tagged)).count() == 1
    with pytest.raises(StoreError, match=r"v1\.0"):
        store.tag("v1.0")
    with pytest.raises(StoreError, match=r"no tag 'v2'; its tags: v1\.0"):
        open_at(store.url, "v2")
    with pytest.raises(StoreError, match="opening version 999"):
        open_at(store.url, 999)
    for beyond in (2**63, 2**64 - 1, 2**64, 10**23, "9" * 5000):
        with pytest.raises(StoreError, match=f"version.* '?{str(beyond)[:10]}"):
            open_at(store.url, beyond)
        if isinstance(beyond, int):
            with pytest.raises(StoreError, match="tagging 'far'"):
                store.tag("far", beyond)
    store.untag("v1.0")
    assert store.tags() == {}
    with pytest.raises(StoreError):
        store.untag("v1.0")


def test_clean_up_keeps_a_day_and_what_is_tagged(store: LanceStore) -> None:
    for number in range(4):
        store.put([make_record("demo/0", attempt=number + 1, seed=number)])
    store.tag("release", 3)
    for hours in (0, 23):
        with pytest.raises(UsageError, match="younger than 1 day"):
            store.clean_up(timedelta(hours=hours))
    assert store.clean_up(timedelta(days=1)) == 0
    assert len(store.versions()) == 5
    # As if a day had passed; the only writer is this test.
    freed = store.clean_up(timedelta(0), least_age=timedelta(0))
    assert freed > 0
    assert {version.number for version in store.versions()} == {3, store.version}
    assert open_at(store.url, "release").get("demo/0") == make_record("demo/0", attempt=2, seed=1)
    assert store.get("demo/0") == make_record("demo/0", attempt=4, seed=3)


def older_store(place: Path) -> str:
    """As schema version 1 was: no column `relations`."""
    table = table_of([make_record("demo/0"), make_record("demo/1", seed=1)]).drop_columns(["relations"])
    features = {VERSION_KEY: b"1", b"huggingface": b"{}"}
    lance.write_dataset(table.replace_schema_metadata(features), str(place))
    return str(place)


def test_an_older_store_says_what_to_do_and_is_migrated(tmp_path: Path) -> None:
    url = older_store(tmp_path / "old.lance")
    with pytest.raises(StoreError, match=rf"schema version 1 of an older Diorama.*render-store migrate {url}"):
        LanceStore.open(url)
    assert migrate(url) == 1
    store = LanceStore.open(url)
    # Its new column is the last one.
    assert {field.name: field for field in store._dataset.schema} == {field.name: field for field in episode_schema()}
    assert store.get("demo/1") == make_record("demo/1", seed=1)
    (row,) = store.scan(["relations"], "episode_id = 'demo/0'")
    (fresh,) = table_of([make_record("demo/0")]).select(["relations"]).to_pylist()
    assert row == fresh
    assert store._dataset.schema.metadata[b"huggingface"] == episode_schema().metadata[b"huggingface"]
    assert store.put([make_record("demo/0", attempt=2), make_record("demo/2")]) == PutResult(1, 1, 0)
    store.compact()
    assert store.count() == 3
    assert migrate(url) == 2


def test_a_migration_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = older_store(tmp_path / "old.lance")
    with monkeypatch.context() as patch:
        patch.setattr("render.store.lance.migrate.VERSION_KEY", b"another.key")
        with pytest.raises(StoreError):
            migrate(url)
    assert migrate(url) == 1
    assert LanceStore.open(url).count() == 2


class TestCopy:
    def test_filters(self, store: LanceStore, tmp_path: Path) -> None:
        store.put([make_record(f"demo/{number}", images=number + 1) for number in range(4)])
        target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
        done = copy(store, target, condition(where="array_length(image_names) > 1", ids=["demo/0", "demo/1", "demo/2"]))
        assert (done.copied, done.same) == (2, 0)
        assert sorted(key for key, _ in target.ids()) == ["demo/1", "demo/2"]
        assert target.get("demo/2") == store.get("demo/2")
        again = copy(store, target, condition(benchmark="demo", splits=["train"]))
        assert (again.copied, again.same) == (2, 2)
        assert copy(store, target, condition(benchmark="o'hara")).copied == 0

    def test_differing(self, store: LanceStore, tmp_path: Path) -> None:
        target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
        mine, theirs = make_record("demo/0", attempt=1, seed=1), make_record("demo/0", attempt=2, seed=2)
        store.put([mine, make_record("demo/1")])
        target.put([theirs])
        with pytest.raises(ConflictError, match=r"1 episode is .* with other contents; nothing was copied:\n  demo/0"):
            copy(store, target)
        assert target.count() == 1
        assert copy(store, target, differing="keep").kept == 1
        assert target.get("demo/0") == theirs
        assert copy(store, target, differing="newest").kept == 1
        assert copy(store, target, differing="replace").replaced == 1
        assert target.get("demo/0") == mine
        target.replace([theirs])
        assert copy(target, store, differing="newest").replaced == 1
        assert store.get("demo/0") == theirs

    def test_damaged_episodes_stay_behind(self, store: LanceStore, tmp_path: Path) -> None:
        store.put([make_record("demo/0"), make_record("demo/1")])
        lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
        store.refresh()
        done = copy(store, LanceStore.create(str(tmp_path / "t.lance"), fsync=False))
        assert done.copied == 1
        assert len(done.damaged) == 1


def test_tally(store: LanceStore) -> None:
    store.put([make_record("demo/0"), make_record("demo/1", images=3)])
    facts = tally(store)
    assert (facts["episodes"], facts["images"], facts["split"]) == (2, 5, {"train": 2})
    assert facts["size"] == {"32x24": 2}
