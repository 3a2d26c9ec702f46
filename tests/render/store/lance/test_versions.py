from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.store import open_at
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.history import Change, changes, history
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.reader import Version
from diorama.render.store.rows import encode
from diorama.scene_specs.errors import StoreError, UsageError
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
    came, replaced, went = history(store, "demo/0")
    assert (came.attempt, replaced.attempt, went.present) == (1, 2, False)
    assert came.version < replaced.version < went.version
    assert came.committed <= replaced.committed <= went.committed <= datetime.now(UTC)
    assert open_at(store.url, came.version).get("demo/0") == first
    assert open_at(store.url, replaced.version - 1).get("demo/0") == first
    assert open_at(store.url, replaced.version).get("demo/0") == second
    assert history(store, "never/0") == []


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


def test_a_tag_is_no_number_and_can_be_listed(store: LanceStore) -> None:
    for name in ("3", "2024", "été", "a b", "", "../x", "v1\n", ".a", "a.", "a..b", "a.lock"):
        with pytest.raises(UsageError, match="expected letters"):
            store.tag(name)
    assert store.tags() == {}


def test_versions_are_read_in_spite_of_tags_of_older_releases(store: LanceStore) -> None:
    store.put([make_record("demo/0")])
    store._dataset.tags.create("2", 1)
    assert (open_at(store.url, 2).version, open_at(store.url, "2").version) == (2, 1)
    assert pickle.loads(pickle.dumps(open_at(store.url, 2))).version == 2
    # Lance can't list this one.
    store._dataset.tags.create("été", 1)
    assert open_at(store.url, 2).version == 2
    store.untag("été")
    assert store.tags() == {"2": 1}


def test_a_closed_store_says_so(store: LanceStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match=r"s\.lance: the store is closed"):
        store.get("demo/0")


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
