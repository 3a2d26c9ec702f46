"""What every format that reads a store promises: complete files, the same bytes, nothing written over."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import lance
import pytest
from PIL import Image

from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.export import _layouts, format_of, protocol
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.errors import ConflictError, StoreError, UsageError
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.record import EpisodeRecord
from tests.contracts.formats import EACH, PLAIN, records, store_of
from tests.render.store.rendered import rendered
from tests.render.uses.export.helpers import contents, exported, run, unfinished

ROOT = Path(__file__).parents[2]


def another(record: EpisodeRecord, others: Sequence[EpisodeRecord]) -> EpisodeRecord:
    """The episode with another first pixel in each quadrant of the images that no other episode shows."""
    shown = {image.png for other in others if other is not record for image in other.images}
    images = list(record.images)
    for number, image in enumerate(images):
        if image.png not in shown:
            pixels = Image.open(io.BytesIO(image.png)).convert("RGB")
            for x, y in product((0, pixels.width // 2), (0, pixels.height // 2)):
                pixels.putpixel((x, y), (1, 2, 3))
            stream = io.BytesIO()
            pixels.save(stream, "PNG")
            images[number] = image.model_copy(update={"png": stream.getvalue()})
    return record.model_copy(update={"images": tuple(images)})


def test_the_formats_that_are_promised() -> None:
    assert {"folder", "clevr", "coco", "webdataset", "huggingface", "clevr-masks"} <= set(plugins("exports"))


@EACH
def test_twice_gives_the_same_bytes(store: LanceStore, tmp_path: Path, name: str) -> None:
    assert run(store, name, tmp_path / "one").exported == 5
    store.compact()
    run(store, name, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert unfinished(tmp_path / "one") == []


@EACH
def test_again_writes_nothing(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "out")
    before = contents(tmp_path / "out")
    report = run(store, name, tmp_path / "out")
    assert (report.exported, report.skipped) == (0, 5)
    assert contents(tmp_path / "out") == before


@pytest.mark.alike
@EACH
def test_another_episode_in_its_place_is_refused_and_replaced_when_asked(
    store: LanceStore, tmp_path: Path, name: str
) -> None:
    run(store, name, tmp_path / "out")
    before = contents(tmp_path / "out")
    store.replace([another(records(name)[2], records(name))])
    report = run(store, name, tmp_path / "out")
    error = report.error()
    assert isinstance(error, ConflictError)
    assert "--overwrite" in str(error)
    # Lists too: one that lacks the refused episode would be no list of the pictures that are there.
    assert contents(tmp_path / "out") == before
    assert unfinished(tmp_path / "out") == []
    assert run(store, name, tmp_path / "out", ExportOptions(overwrite=True)).error() is None
    run(store, name, tmp_path / "fresh")
    assert exported(tmp_path / "out") == exported(tmp_path / "fresh")


@EACH
def test_damaged_episodes_are_named_and_the_others_exported(store: LanceStore, tmp_path: Path, name: str) -> None:
    damaged = records(name)[2].episode_id
    lance.dataset(store.url).update({"sha256": "'00'"}, where=f"episode_id = '{damaged}'")
    store.refresh()
    report = run(store, name, tmp_path / "out")
    assert report.exported == 4
    assert isinstance(report.error(), StoreError)
    assert damaged in str(report.error())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["folder", "webdataset"])
def test_several_processes_write_the_same(
    store: LanceStore, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = records(name)[2].episode_id
    lance.dataset(store.url).update({"sha256": "'00'"}, where=f"episode_id = '{damaged}'")
    store.refresh()
    sharded = ExportOptions(shard_size=2) if name == "webdataset" else ExportOptions()
    one = run(store, name, tmp_path / "one", sharded)
    monkeypatch.setattr(protocol, "MIN_PARALLEL", 1)
    monkeypatch.setattr(_layouts, "_PART", 2)
    assert run(store, name, tmp_path / "two", sharded) == one
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert unfinished(tmp_path / "two") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["folder"])
def test_a_script_without_a_guard_exports_in_several_processes(store: LanceStore, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import diorama\nfrom diorama.render.uses.export import protocol\nprotocol.MIN_PARALLEL = 1\n"
        f"diorama.export({store.url!r}, 'folder', {str(tmp_path / 'out')!r})\nprint('done')\n"
    )
    done = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@EACH
def test_a_choice(store: LanceStore, tmp_path: Path, name: str) -> None:
    chosen = records(name)
    report = run(store, name, tmp_path / "out", ExportOptions(where=f"episode_id != '{chosen[1].episode_id}'", limit=2))
    assert report.exported == 2
    run(store_of(tmp_path / "other.lance", [chosen[0], chosen[2]]), name, tmp_path / "two")
    if name == "coco":  # Its numbers are those of the store.
        for folder in ("out", "two"):
            for path in (tmp_path / folder / "annotations").iterdir():
                path.write_text(re.sub(r'"(image_)?id": ?\d+', "", path.read_text()))
    named = {path: digest for path, digest in exported(tmp_path / "out").items() if path != "README.md"}
    assert named == {path: digest for path, digest in exported(tmp_path / "two").items() if path != "README.md"}


@pytest.mark.alike
@EACH
def test_a_shard_size_decides_on_files_where_the_format_says_so(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "one", ExportOptions(shard_size=1))
    run(store, name, tmp_path / "many", ExportOptions(shard_size=4))
    assert (contents(tmp_path / "one") != contents(tmp_path / "many")) == format_of(name).sharded
    assert format_of(name).sharded == (name in {"webdataset", "huggingface"})


@pytest.mark.parametrize(("number", "said"), [(errno.EWOULDBLOCK, "another export"), (errno.ENOLCK, "can't be locked")])
def test_why_a_folder_is_not_locked(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UsageError, match=said):
        run(store, "folder", tmp_path / "out")


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "folder"], indirect=True)
def test_temporary_files_of_a_killed_export_are_removed(store: LanceStore, tmp_path: Path, name: str) -> None:
    leftover = tmp_path / "out/images/.0.png.k3_x91ab.part"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    run(store, name, tmp_path / "out")
    assert unfinished(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("name", "blocked", "expected"), [("clevr", "images/train", 2), ("coco", "images/demo/a", 4)], indirect=["name"]
)
def test_a_file_in_the_place_of_an_image_folder_is_named_and_the_others_exported(
    store: LanceStore, tmp_path: Path, name: str, blocked: str, expected: int
) -> None:
    path = tmp_path / "out" / blocked
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    report = run(store, name, tmp_path / "out")
    assert (report.exported, len(report.differing)) == (expected, 5 - expected)
    assert all("in the way" in line for line in report.differing)
    assert isinstance(report.error(), ConflictError)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["clevr", "coco"], indirect=True)
def test_lists_that_cannot_be_written_are_an_error_of_the_export(
    store: LanceStore, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # Images are not waited for.
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="writing the lists below"):
        run(store, name, tmp_path / "out")
    assert unfinished(tmp_path / "out") == []


@EACH
def test_an_empty_store(tmp_path: Path, name: str) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    assert run(store, name, tmp_path / "out").error() is None


@pytest.mark.slow
def test_killed_exports_go_on(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered(f"demo/{number:03d}", seed=number % 8) for number in range(120)])
    for name in ("webdataset", "coco"):
        run(store, name, tmp_path / f"{name}-whole", ExportOptions(shard_size=10))
        out = tmp_path / name
        command = [sys.executable, "-m", "tests.render.uses.export.slow_export", store.url, name, str(out)]
        for number in ("30", "60"):
            with subprocess.Popen([*command, number], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "waiting\n"
                process.kill()
            assert process.returncode == -9
        report = run(store, name, out, ExportOptions(shard_size=10))
        assert report.skipped > 0
        assert contents(out) == contents(tmp_path / f"{name}-whole")
        assert unfinished(out) == []


CONTRACT: tuple[Callable[[LanceStore, Path, str], None], ...] = (
    test_twice_gives_the_same_bytes,
    test_again_writes_nothing,
    test_another_episode_in_its_place_is_refused_and_replaced_when_asked,
)


def _writes_unfinished(
    store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]
) -> ExportReport:
    """Break what the suite holds formats to: a file under its final name, written over without being asked."""
    report = ExportReport()
    out.mkdir(exist_ok=True)
    for key in chosen_ids(store, options):
        (out / f"{key.replace('/', '-')}.png").write_bytes(store.get(key).images[0].png + os.urandom(4))
        report.exported += 1
        progress(1)
    return report


def test_a_broken_export_is_caught(store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(format_of("folder"), export=_writes_unfinished)
    monkeypatch.setattr("tests.render.uses.export.helpers.format_of", lambda name: broken)
    for number, contract in enumerate(CONTRACT):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(AssertionError):
            contract(store_of(tmp_path / f"{number}.lance", records("folder")), tmp_path / str(number), "folder")
