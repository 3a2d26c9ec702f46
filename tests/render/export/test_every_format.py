"""What holds for every format that reads a store."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import lance
import pytest

from render.export import reads_files, takes_shard_size
from render.export.protocol import ExportOptions
from render.model.errors import ConflictError, StoreError, UsageError
from render.store.lance.lance_store import LanceStore
from scene_specs.language.registry import plugins
from tests.render.export.helpers import contents, make_store, run, unfinished
from tests.render.store.rendered import rendered

# These take their own episodes only, and have tests of their own.
OF_BENCHMARKS = {"mewl", "iwisdm", "kilogram", "malevic"}
FORMATS = [name for name in plugins("exports") if not reads_files(name) and name not in OF_BENCHMARKS]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return make_store(tmp_path)


def test_the_formats_that_are_promised() -> None:
    assert {"folder", "clevr", "coco", "webdataset", "huggingface", "clevr-masks"} <= set(plugins("exports"))


@pytest.mark.parametrize("name", FORMATS)
def test_twice_gives_the_same_bytes(store: LanceStore, tmp_path: Path, name: str) -> None:
    assert run(store, name, tmp_path / "one").exported == 5
    store.compact()
    run(store, name, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert unfinished(tmp_path / "one") == []


@pytest.mark.parametrize("name", FORMATS)
def test_again_writes_nothing(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "out")
    before = contents(tmp_path / "out")
    report = run(store, name, tmp_path / "out")
    assert (report.exported, report.skipped) == (0, 5)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("name", FORMATS)
def test_another_episode_in_its_place_is_refused_and_replaced_when_asked(
    store: LanceStore, tmp_path: Path, name: str
) -> None:
    run(store, name, tmp_path / "out")
    before = contents(tmp_path / "out")
    store.replace([rendered("demo/c", seed=77)])
    report = run(store, name, tmp_path / "out")
    error = report.error()
    assert isinstance(error, ConflictError)
    assert "--overwrite" in str(error)
    # Lists too: one that lacks the refused episode would be no list of the pictures that are there.
    assert contents(tmp_path / "out") == before
    assert unfinished(tmp_path / "out") == []
    assert run(store, name, tmp_path / "out", ExportOptions(overwrite=True)).error() is None
    run(store, name, tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_episodes_are_named_and_the_others_exported(store: LanceStore, tmp_path: Path, name: str) -> None:
    lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/c'")
    store.refresh()
    report = run(store, name, tmp_path / "out")
    assert report.exported == 4
    assert isinstance(report.error(), StoreError)
    assert "demo/c" in str(report.error())


@pytest.mark.parametrize("name", FORMATS)
def test_a_choice(store: LanceStore, tmp_path: Path, name: str) -> None:
    report = run(store, name, tmp_path / "out", ExportOptions(where="split = 'train'", limit=2))
    assert report.exported == 2
    other = LanceStore.create(str(tmp_path / "other.lance"), fsync=False)
    other.put([store.get("demo/a"), store.get("demo/c")])
    run(other, name, tmp_path / "two")
    named = {path: digest for path, digest in contents(tmp_path / "out").items() if path != "README.md"}
    assert named == {path: digest for path, digest in contents(tmp_path / "two").items() if path != "README.md"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_shard_size_decides_on_files_where_the_format_says_so(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "one", ExportOptions(shard_size=1))
    run(store, name, tmp_path / "many", ExportOptions(shard_size=4))
    assert (contents(tmp_path / "one") != contents(tmp_path / "many")) == takes_shard_size(name)
    assert takes_shard_size(name) == (name in {"webdataset", "huggingface"})


@pytest.mark.parametrize(("number", "said"), [(errno.EWOULDBLOCK, "another export"), (errno.ENOLCK, "can't be locked")])
def test_why_a_folder_is_not_locked(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UsageError, match=said):
        run(store, "folder", tmp_path / "out")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
def test_temporary_files_of_a_killed_export_are_removed(store: LanceStore, tmp_path: Path, name: str) -> None:
    leftover = tmp_path / "out/images/.0.png.k3_x91ab.part"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    run(store, name, tmp_path / "out")
    assert unfinished(tmp_path / "out") == []


@pytest.mark.parametrize(("name", "blocked", "exported"), [("clevr", "images/train", 2), ("coco", "images/demo/a", 4)])
def test_a_file_in_the_place_of_an_image_folder_is_named_and_the_others_exported(
    store: LanceStore, tmp_path: Path, name: str, blocked: str, exported: int
) -> None:
    path = tmp_path / "out" / blocked
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    report = run(store, name, tmp_path / "out")
    assert (report.exported, len(report.failed)) == (exported, 5 - exported)
    assert all("in the way" in line for line in report.failed)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(("name", "lists"), [("clevr", "scenes"), ("coco", "annotations")])
def test_lists_that_cannot_be_written_are_an_error_of_the_export(
    store: LanceStore, tmp_path: Path, name: str, lists: str
) -> None:
    run(store, name, tmp_path / "one")
    (blocked, *_) = contents(tmp_path / "one" / lists)
    (tmp_path / "out" / lists / blocked).mkdir(parents=True)
    with pytest.raises(StoreError, match="writing the lists below"):
        run(store, name, tmp_path / "out")
    assert unfinished(tmp_path / "out") == []


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_store(tmp_path: Path, name: str) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    assert run(store, name, tmp_path / "out").error() is None


def test_killed_exports_go_on(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered(f"demo/{number:03d}", seed=number % 8) for number in range(120)])
    for name in ("webdataset", "coco"):
        run(store, name, tmp_path / f"{name}-whole", ExportOptions(shard_size=10))
        out = tmp_path / name
        command = [sys.executable, "-m", "tests.render.export.slow_export", store.url, name, str(out)]
        for wait in (0.5, 0.9):
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                time.sleep(wait)
                process.kill()
            assert process.returncode == -9
        report = run(store, name, out, ExportOptions(shard_size=10))
        assert report.skipped > 0
        assert contents(out) == contents(tmp_path / f"{name}-whole")
        assert unfinished(out) == []
