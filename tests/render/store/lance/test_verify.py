"""Stores damaged in several ways: opening or verify reports each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import lance
import pytest

from diorama.render.compiler.render_key import render_key_of
from diorama.render.store.lance import verify as looking
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.repair import roll_back
from diorama.render.store.lance.verify import Damage, delete_damaged, verify, write_specs
from diorama.render.store.rows import table_of
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.reading.source import SpecSource
from tests.render.store.rendered import rendered

NAMES = [f"demo/{number}" for number in range(6)]


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered(name, seed=index) for index, name in enumerate(NAMES[:3])])
    made.put([rendered(name, seed=index + 3) for index, name in enumerate(NAMES[3:])])
    return made


def flip(store: LanceStore, content: bytes, at: int = 40) -> None:
    """Flip one bit where the data files first hold `content`."""
    for file in sorted((Path(store.url) / "data").iterdir()):
        data = bytearray(file.read_bytes())
        place = data.find(content)
        if place >= 0:
            data[place + at] ^= 1
            file.write_bytes(data)
            return
    raise AssertionError("not there")


def fresh(store: LanceStore) -> LanceStore:
    return LanceStore.open(store.url)


def test_an_intact_store(store: LanceStore) -> None:
    done: list[int] = []
    verdict = verify(store, progress=done.append)
    assert verdict.intact
    assert verdict.episodes == sum(done) == 6


def test_several_processes_find_the_same(store: LanceStore) -> None:
    flip(store, rendered("demo/4", seed=4).images[1].png)
    alone, together = verify(fresh(store), workers=1), verify(fresh(store), workers=2)
    assert alone == together
    assert [damage.episode_id for damage in together.damaged] == ["demo/4"]


def _dies(*_: object, **__: object) -> None:
    os._exit(9)


@pytest.mark.slow
def test_a_process_that_dies_is_a_clear_error(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "check_unit", _dies)
    with pytest.raises(StoreError, match=r"died, possibly out of memory; .* fewer --workers"):
        verify(store, workers=2)


def test_a_flipped_bit_in_a_picture(store: LanceStore) -> None:
    flip(store, rendered("demo/1", seed=1).images[0].png)
    (damage,) = verify(fresh(store)).damaged
    assert damage.episode_id == "demo/1"
    assert damage.problems == ("its images don't match their SHA-256",)


def test_a_flipped_bit_in_the_truth(store: LanceStore) -> None:
    lance.dataset(store.url).update({"annotations": "replace(annotations, '1', '2')"}, where="episode_id = 'demo/2'")
    (damage,) = verify(fresh(store)).damaged
    assert str(damage) == "episode demo/2: its texts don't match their SHA-256"


def test_a_row_with_holes(store: LanceStore) -> None:
    lance.dataset(store.url).update({"scene": "NULL"}, where="episode_id = 'demo/2'")
    (damage,) = verify(fresh(store)).damaged
    assert damage.episode_id == "demo/2"


def test_a_search_column(store: LanceStore) -> None:
    lance.dataset(store.url).update({"split": "'test'"}, where="episode_id = 'demo/3'")
    (damage,) = verify(fresh(store)).damaged
    assert str(damage) == "episode demo/3: column split: differs from the episode"


def test_a_planted_duplicate_and_its_repair(store: LanceStore) -> None:
    lance.write_dataset(table_of([rendered("demo/1", seed=9)]), store.url, mode="append")
    opened = fresh(store)
    verdict = verify(opened)
    assert [str(damage) for damage in verdict.damaged] == ["episode demo/1: stored more than once"]
    assert delete_damaged(opened, verdict) == 1
    assert verify(fresh(store)).intact
    assert fresh(store).count() == 6


def test_damaged_rows_are_deleted_and_can_be_rendered_again(store: LanceStore, tmp_path: Path) -> None:
    for number in (1, 4):
        flip(store, rendered(f"demo/{number}", seed=number).images[0].png)
    opened = fresh(store)
    verdict = verify(opened)
    ((file, options),) = write_specs(verdict.damaged, tmp_path / "again.jsonl").items()
    assert options == "--profile draft --size 64x48 --renderer fake"
    specs = [json.loads(line) for line in file.read_text().splitlines()]
    assert specs == [rendered("demo/1", seed=1).job.spec, rendered("demo/4", seed=4).job.spec]
    assert delete_damaged(opened, verdict) == 2
    opened.put([rendered(f"demo/{number}", seed=number) for number in (1, 4)])
    assert verify(fresh(store)).intact
    assert fresh(store).count() == 6


def test_a_cut_file_of_an_older_commit(store: LanceStore, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(10):
        store.put([rendered(f"late/{number}", seed=number)])
    file = max((Path(store.url) / "data").iterdir(), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    opened = fresh(store)
    assert "render-store verify" in caplog.text
    verdict = verify(opened)
    assert not verdict.intact
    assert len(verdict.damaged) == 3 or verdict.unreadable
    assert verdict.episodes + 3 >= 16
    with pytest.raises(StoreError, match="so the cause is not a power cut"):
        roll_back(store.url)


@pytest.mark.parametrize("size", [0, 1000])
def test_a_commit_that_a_power_cut_tore(store: LanceStore, size: int) -> None:
    """Only synced commits are acknowledged: the manifest of the newest may exist without its data."""
    before = {path.name for path in (Path(store.url) / "data").iterdir()}
    store.put([rendered("torn/0")])
    (file,) = [path for path in (Path(store.url) / "data").iterdir() if path.name not in before]
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(StoreError, match=r"newest version 4 is incomplete.*render-store repair.*version 3"):
        fresh(store)
    assert roll_back(store.url) == [4]
    opened = fresh(store)
    assert sorted(key for key, _ in opened.ids()) == NAMES
    opened.put([rendered("torn/0")])
    assert verify(fresh(store)).intact
    assert fresh(store).count() == 7
    assert roll_back(store.url) == []


def test_a_torn_manifest(store: LanceStore) -> None:
    newest = min((Path(store.url) / "_versions").glob("*.manifest"))
    newest.write_bytes(b"")
    with pytest.raises(StoreError, match="version 2 is complete"):
        fresh(store)
    assert roll_back(store.url) == [3]
    assert fresh(store).count() == 3


def test_a_missing_file(store: LanceStore) -> None:
    store.compact()
    for number in range(9):
        store.put([rendered(f"late/{number}", seed=number)])
    biggest = max((Path(store.url) / "data").iterdir(), key=lambda path: path.stat().st_size)
    named = {file.path for fragment in lance.dataset(store.url).get_fragments() for file in fragment.metadata.files}
    assert biggest.name in named
    biggest.unlink()
    verdict = verify(fresh(store))
    assert verdict.unreadable or len(verdict.damaged) == 6


def test_verify_reads_one_version(store: LanceStore) -> None:
    reader = fresh(store)
    store.put([rendered("late/0")])
    assert verify(reader).episodes == 6


def test_episodes_rendered_from_a_scene_can_be_rendered_again(store: LanceStore, tmp_path: Path) -> None:
    record = rendered("demo/7", seed=7)
    made = record.model_copy(update={"job": render_key_of(record.scene, record.scene.settings, "fake")})
    store.put([made])
    flip(store, record.images[0].png)
    (damage,) = verify(fresh(store)).damaged
    ((file, _),) = write_specs([damage], tmp_path / "again.jsonl").items()
    (item,) = SpecSource([str(file)])
    assert item.episode == record.scene


def test_episodes_of_each_renderer_are_rendered_again_by_it(tmp_path: Path) -> None:
    damaged = [
        Damage(f"demo/{name}", ("damaged",), spec={"id": name}, renderer=name) for name in ("cycles", "a b:C", "fake")
    ]
    found = write_specs([*damaged, Damage("demo/0", ("damaged",), spec={"id": "0"})], tmp_path / "a.jsonl")
    assert {options: file.read_text().count("\n") for file, options in found.items()} == {
        "": 2,
        "--renderer 'a b:C'": 1,
        "--renderer fake": 1,
    }


def test_only_the_older_row_of_a_duplicate_is_one(store: LanceStore, tmp_path: Path) -> None:
    lance.write_dataset(table_of([rendered("demo/1", seed=9)]), store.url, mode="append")
    (damage,) = verify(fresh(store)).damaged
    assert damage.duplicate is True
    assert write_specs([damage], tmp_path / "again.jsonl") == {}


def test_a_duplicate_stays_if_others_wrote_since(store: LanceStore) -> None:
    """Its row number may belong to another row by now, and deleting by id would take both rows."""
    lance.write_dataset(table_of([rendered("demo/1", seed=9)]), store.url, mode="append")
    verdict = verify(fresh(store))
    fresh(store).put([rendered("demo/9", seed=9)])
    assert delete_damaged(fresh(store), verdict) == 0
    assert fresh(store).count() == 8


def test_rows_before_an_unreadable_one_are_checked_once(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = looking._read_rows, list[int]()

    def breaks_at_the_third(store: LanceStore, fragment: Any, columns: list[str], offset: int, count: int) -> Any:
        for number, row in enumerate(real(store, fragment, columns, offset, count), offset):
            if number == 2 and (count > 1 or len(columns) > 1):
                raise StoreError("a broken page")
            if len(columns) > 1:
                seen.append(number)
            yield row

    monkeypatch.setattr(looking, "_read_rows", breaks_at_the_third)
    made = LanceStore.create(f"{store.url}.other", fsync=False)
    made.put([rendered(name, seed=index) for index, name in enumerate(NAMES)])
    (damage,) = verify(made, workers=1).damaged
    assert seen == [0, 1, 3, 4, 5]
    assert damage.episode_id == "demo/2" and "can't be read" in str(damage)


def test_the_later_attempt_of_a_duplicate_stays_wherever_it_is(store: LanceStore) -> None:
    record = rendered("demo/1", seed=1)
    third = record.model_copy(update={"provenance": record.provenance.model_copy(update={"attempt": 3})})
    store.put([third])
    lance.write_dataset(table_of([rendered("demo/1", seed=9)]), store.url, mode="append")
    opened = fresh(store)
    assert delete_damaged(opened, verify(opened)) == 1
    assert fresh(store).get("demo/1") == third
