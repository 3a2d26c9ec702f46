from __future__ import annotations

from pathlib import Path

import lance
import pytest

from diorama.render.store.copying import States, check_together, copy
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.selection import condition
from diorama.scene_specs.errors import ConflictError, MissingError
from tests.factories import make_job, make_record


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return LanceStore.create(str(tmp_path / "s.lance"), fsync=False)


def test_filters(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record(f"demo/{number}", images=number + 1) for number in range(4)])
    target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    where = condition(where="array_length(image_names) > 1", ids=["demo/0", "demo/1", "demo/2"])
    # What the check has read is not read again.
    (found,) = check_together([store], None, where)
    done = copy(store, target, wanted=found)
    assert (done.copied, done.same) == (2, 0)
    assert sorted(key for key, _ in target.ids()) == ["demo/1", "demo/2"]
    assert target.get("demo/2") == store.get("demo/2")
    again = copy(store, target, condition(benchmark="demo", splits=["train"]))
    assert (again.copied, again.same) == (2, 2)
    assert copy(store, target, condition(benchmark="o'hara")).copied == 0


def test_images_of_two_series_of_blender_meet_only_where_told(store: LanceStore, tmp_path: Path) -> None:
    jobs = [make_job(renderer="cycles", version=version) for version in ("0.1.0", "0.1.0+blender5.2")]
    target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    store.put([make_record("demo/0", job=jobs[0])])
    target.put([make_record("demo/1", job=jobs[1])])
    with pytest.raises(ConflictError, match=r"t\.lance holds images of Blender 5\.2, and these are of Blender 4\.5"):
        check_together([store], target)
    # Before the first of several is copied.
    with pytest.raises(ConflictError, match=r"s\.lance holds images of Blender 4\.5, and these are of Blender 5\.2"):
        check_together([store, target], None)
    check_together([store, target], None, "episode_id = 'demo/0'")
    check_together([store], target, mix_series=True)
    # Another copy or run began the target since.
    with pytest.raises(ConflictError, match=r"t\.lance holds images of Blender 5\.2"):
        copy(store, target)
    assert copy(store, target, mix_series=True).copied == 1


def test_differing(store: LanceStore, tmp_path: Path) -> None:
    target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    mine, theirs = make_record("demo/0", attempt=1, seed=1), make_record("demo/0", attempt=2, seed=2)
    store.put([mine, make_record("demo/1")])
    target.put([theirs])
    with pytest.raises(ConflictError, match=r"1 episode .*nothing was copied:\n  demo/0\n"):
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


def test_damaged_episodes_stay_behind(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record("demo/0"), make_record("demo/1")])
    lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    store.refresh()
    done = copy(store, LanceStore.create(str(tmp_path / "t.lance"), fsync=False))
    assert done.copied == 1
    assert len(done.damaged) == 1


def test_an_episode_damaged_in_one_store_comes_from_the_next(store: LanceStore, tmp_path: Path) -> None:
    backup, target = (LanceStore.create(str(tmp_path / name), fsync=False) for name in ("b.lance", "t.lance"))
    for one in (store, backup):
        one.put([make_record("demo/0"), make_record("demo/1")])
    stored: States = {}
    # A digest that differs only after the states were read: as if the bytes of the images had changed.
    first, second = check_together([store, backup], target)
    lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    store.refresh()
    done = copy(store, target, stored=stored, wanted=first)
    assert (done.copied, len(done.damaged)) == (1, 1)
    done = copy(backup, target, stored=stored, wanted=second)
    assert (done.copied, done.same, done.damaged) == (1, 1, [])


def test_progress_counts_every_episode(store: LanceStore, tmp_path: Path) -> None:
    store.put([make_record(f"demo/{number}") for number in range(3)])
    target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    target.put([make_record("demo/0")])
    done: list[int] = []
    copy(store, target, progress=done.append)
    assert done == [1, 2]


def test_parts_are_copied_complete_or_not_at_all(store: LanceStore, tmp_path: Path) -> None:
    other = LanceStore.create(str(tmp_path / "o.lance"), fsync=False)
    store.put([make_record("demo/0"), make_record("demo/1")])
    other.put([make_record("demo/1"), make_record("demo/2")])
    check_together([store, other], None, wanted=["demo/0", "demo/1", "demo/2"])
    names = [f"demo/{number}" for number in range(200)]
    with pytest.raises(MissingError, match=r"197 episodes missing .*nothing was copied:\n  demo/3\n") as raised:
        check_together([store], other, wanted=names)
    assert "  demo/102\n  and 97 more\n" in str(raised.value)
    # What a filter leaves out is missing.
    with pytest.raises(MissingError, match="demo/0"):
        check_together([store], other, "episode_id <> 'demo/0'", wanted=names[:3])
    third = LanceStore.create(str(tmp_path / "third.lance"), fsync=False)
    third.put([make_record("demo/2", seed=9)])
    with pytest.raises(ConflictError, match=r"o\.lance or .*third\.lance with other contents.*\n  demo/2\n"):
        check_together([other, third], None)
    check_together([other, third], None, differing="keep")


def test_what_is_replaced_in_a_store_of_both_series_stays(store: LanceStore, tmp_path: Path) -> None:
    """Replaced rows become the last ones, so that the first row is then one of the other series."""
    old, new = (make_job(renderer="cycles", version=version) for version in ("0.1.0", "0.1.0+blender5.2"))
    target = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    target.put([make_record("demo/0", attempt=1, job=old)])
    target.put([make_record("demo/1", job=new)])
    store.put([make_record("demo/0", attempt=2, job=old)])
    assert copy(store, target, differing="replace").replaced == 1
    assert sorted(key for key, _ in target.ids()) == ["demo/0", "demo/1"]
