"""Full and read-only disks: a clear error, no lost data, and writing continues once there is room."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.verify import verify
from diorama.scene_specs.errors import StoreError
from tests.factories import make_record
from tests.render.store.rendered import rendered


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.root
def test_a_full_disk(small_disk: Path) -> None:
    store = LanceStore.create(str(small_disk / "s.lance"))
    acknowledged: list[str] = []
    with pytest.raises(StoreError, match=r"committing 1 episode,.*No space left on device"):
        for number in range(200):
            store.put([make_record(f"demo/{number}", seed=number % 50, size=(160, 128))])
            acknowledged.append(f"demo/{number}")
    assert acknowledged
    opened = LanceStore.open(store.url)
    assert sorted(key for key, _ in opened.ids()) == sorted(acknowledged)
    assert [record.episode_id for record in opened.get_many(acknowledged)] == acknowledged
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    # The same object continues, as in a run that waited.
    name = f"demo/{len(acknowledged)}"
    store.put([make_record(name)])
    assert LanceStore.open(store.url).exists(name)


@pytest.mark.root
def test_a_disk_that_can_only_be_read(small_disk: Path) -> None:
    store = LanceStore.create(str(small_disk / "s.lance"))
    store.put([rendered("demo/0")])
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    opened = LanceStore.open(store.url)
    assert opened.get("demo/0") == rendered("demo/0")
    assert verify(opened).intact
    for change in (lambda: opened.put([rendered("demo/1")]), lambda: opened.delete(["demo/0"]), opened.compact):
        with pytest.raises(StoreError, match="Read-only file system"):
            change()
    with pytest.raises(StoreError, match=r"can.t be written: .*Read-only file system"):
        LanceStore.open_or_create(store.url)
    with pytest.raises(StoreError, match="creating a store failed"):
        LanceStore.create(str(small_disk / "other.lance"))


def test_a_store_that_can_not_be_written_is_refused_when_a_run_opens_it(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"))
    store.put([rendered("demo/0")])
    (tmp_path / "s.lance/_transactions").rename(tmp_path / "elsewhere")
    (tmp_path / "s.lance/_transactions").touch()
    with pytest.raises(StoreError, match=r"s\.lance: can't be written: .*_transactions: "):
        LanceStore.open_or_create(store.url)
    assert LanceStore.open(store.url).exists("demo/0")
