"""A gallery is made whole, brought up to date with no more work than needed, and never takes a folder over."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.gallery.build_gallery import GalleryOptions, GalleryReport, build
from diorama.render.uses.gallery.gallery_files import folder_of, read_rows
from diorama.render.uses.io.written_files import RECORD
from diorama.scene_specs.errors import ConflictError, StoreError, UsageError
from tests import factories
from tests.render.store.rendered import rendered
from tests.render.uses.gallery.stores import HOSTILE, hostile, odd_store

ONE = GalleryOptions(workers=1)
ASKED = GalleryOptions(workers=1, overwrite=True)


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered("demo/0"), rendered("demo/1", seed=4, split="val"), rendered("demo/2", seed=5)])
    return made


def files(out: Path) -> dict[str, tuple[int, int]]:
    """Path -> inode and time of change, of everything in a gallery."""
    return {
        str(path.relative_to(out)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in out.rglob("*")
        if path.is_file()
    }


def _unescaped(found: re.Match[str]) -> str:
    return found[1] if len(found[1]) == 1 else chr(int(found[1][1:], 16))


def script_data(text: str) -> list[Any]:
    """What a script file of one call hands over."""
    literals = re.findall(r"JSON\.parse\('((?:[^'\\]|\\.)*)'\)", text)
    plain = [re.sub(r"\\(u[0-9a-f]{4}|.)", _unescaped, one) for one in literals]
    return [json.loads(one) for one in plain]


def listed(out: Path) -> list[str]:
    """Ids in the index that the page loads, in its order."""
    page = (out / "index.html").read_text()
    names = re.findall(r'src="(data/[^"]+/index-[^"]+)"', page)
    return [episode for name in names for episode in script_data((out / name).read_text())[1]["id"]]


def test_pictures_are_the_stored_bytes_and_pages_the_stored_truth(store: LanceStore, tmp_path: Path) -> None:
    report = build(store, tmp_path / "g", ONE)
    assert (report.episodes, report.built, report.kept, report.failed) == (3, 3, 0, 0)
    assert listed(tmp_path / "g") == ["demo/0", "demo/1", "demo/2"]
    keys = {json.loads(row)["id"]: key for key, row in read_rows(tmp_path / "g").items()}
    record = store.get("demo/1")
    folder = tmp_path / "g" / folder_of(keys["demo/1"])
    for number, image in enumerate(record.images):
        assert (folder / f"{number}.png").read_bytes() == image.png
    key, page = script_data((folder / "page.js").read_text())
    assert key == keys["demo/1"]
    assert page["scene"] == json.loads(record.scene.to_json())
    assert [image["annotation"] for image in page["images"]] == [
        image.annotation.model_dump(mode="json") for image in record.images
    ]


def test_made_again_it_touches_nothing(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", ONE)
    before = files(tmp_path / "g")
    report = build(store, tmp_path / "g", ONE)
    assert (report.built, report.kept, report.removed) == (0, 3, 0)
    assert files(tmp_path / "g") == before


def test_made_again_it_repairs_files_that_are_missing_or_empty(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", ONE)
    before = files(tmp_path / "g")
    pages, thumbnails, pictures = (
        sorted((tmp_path / "g").glob(f"episodes/*/*/{name}")) for name in ("page.js", "thumbnail.webp", "0.png")
    )
    pages[0].unlink()
    # What a power failure leaves.
    thumbnails[1].write_bytes(b"")
    pictures[2].write_bytes(b"")
    report = build(store, tmp_path / "g", ONE)
    assert (report.built, report.kept, report.removed) == (3, 0, 0)
    assert files(tmp_path / "g").keys() == before.keys()
    assert all(path.stat().st_size for path in (pages[0], thumbnails[1], pictures[2]))
    assert build(store, tmp_path / "g", ONE).kept == 3


def test_only_what_changed_is_made_and_what_is_gone_is_taken_away(store: LanceStore, tmp_path: Path) -> None:
    out = tmp_path / "g"
    build(store, out, ONE)
    before = files(out)
    store.replace([rendered("demo/0", seed=9)])
    store.delete(["demo/2"])
    store.put([rendered("demo/3", seed=6)])
    report = build(store, out, ONE)
    assert (report.episodes, report.built, report.kept, report.removed) == (3, 2, 1, 2)
    assert listed(out) == ["demo/0", "demo/1", "demo/3"]
    kept = {name for name, state in files(out).items() if before.get(name) == state and name.endswith(".png")}
    assert len(kept) == len(store.get("demo/1").images)
    assert len(list(out.glob("episodes/*/*"))) == 3
    assert len([path for path in (out / "data").iterdir() if path.is_dir()]) == 1


def test_stopped_half_way_it_goes_on(store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "g"
    build(store, out, ONE)
    page = (out / "index.html").read_bytes()
    store.replace([rendered(f"demo/{number}", seed=20 + number) for number in range(3)])
    monkeypatch.setattr("diorama.render.uses.gallery.build_gallery._BATCH", 1)
    made = []

    def stopped(done: int) -> None:
        made.append(done)
        if len(made) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(store, out, ONE, stopped)
    assert (out / "index.html").read_bytes() == page
    # What a kill in the middle of writing leaves.
    with (out / "data/rows.jsonl").open("a") as journal:
        journal.write('{"key":"0123')
    (out / "episodes/abc").mkdir(exist_ok=True)
    (out / "episodes/abc/.abc00000000000000000.partial").mkdir()
    report = build(store, out, ONE)
    assert (report.built, report.kept) == (1, 2)
    assert listed(out) == ["demo/0", "demo/1", "demo/2"]
    assert len(list(out.glob("episodes/*/*"))) == 3
    assert not list(out.rglob("*.partial"))


def test_a_folder_of_something_else_is_left_alone(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years")
    with pytest.raises(UsageError, match=r"holds something else than a gallery \(thesis.tex\)"):
        build(store, tmp_path / "mine", ONE)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    with pytest.raises(UsageError, match="can't be"):
        build(store, tmp_path / "mine/thesis.tex", ONE)


def test_a_folder_that_cannot_be_written_is_a_clear_error(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("diorama.render.uses.gallery.build_gallery.put_folder", full)
    with pytest.raises(StoreError, match=r"writing the gallery below .*g failed: .*No space left"):
        build(store, tmp_path / "g", ONE)


def test_part_of_a_store(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", GalleryOptions(where="split = 'train'", workers=1))
    assert listed(tmp_path / "g") == ["demo/0", "demo/2"]
    build(store, tmp_path / "g", GalleryOptions(limit=1, workers=1))
    assert listed(tmp_path / "g") == ["demo/0"]
    build(store, tmp_path / "g", GalleryOptions(limit=0, workers=1))
    assert listed(tmp_path / "g") == []


def test_a_limit_leaves_contrasts_whole(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "pairs.lance"), fsync=False)
    store.put([rendered(episode) for episode in ("a", "b+color-0", "b+color-1")])
    build(store, tmp_path / "g", GalleryOptions(limit=2, workers=1))
    assert listed(tmp_path / "g") == ["a"]


def test_a_folder_inside_a_store_is_refused(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.url)
    with pytest.raises(UsageError, match=r"--out g/h: is inside the store .*s.lance; pass a folder outside it"):
        build(store, Path("g/h"), ONE)
    assert not Path("g").exists()


def test_another_store_takes_a_gallery_over_when_asked_and_says_so(
    store: LanceStore, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(store, tmp_path / "g", ONE)
    monkeypatch.chdir(tmp_path)
    build(LanceStore.open("s.lance"), tmp_path / "g", ONE)
    assert not caplog.records
    other = LanceStore.create(str(tmp_path / "other.lance"), fsync=False)
    other.put([rendered("demo/7")])
    before = files(tmp_path / "g")
    with pytest.raises(ConflictError, match=r"index\.html was not written by Diorama for this store"):
        build(other, tmp_path / "g", ONE)
    assert files(tmp_path / "g") == before
    build(other, tmp_path / "g", ASKED)
    assert "was the gallery of" in caplog.text
    assert listed(tmp_path / "g") == ["demo/7"]


@pytest.mark.parametrize("name", ["index.html", "static/main.js", "data/*/gallery.js"])
def test_a_page_that_the_user_changed_is_replaced_only_when_asked(store: LanceStore, tmp_path: Path, name: str) -> None:
    build(store, tmp_path / "g", ONE)
    (page,) = (tmp_path / "g").glob(name)
    before = page.read_bytes()
    page.write_bytes(before + b"mine")
    with pytest.raises(ConflictError, match=f"{page.name} was not written by Diorama for this store"):
        build(store, tmp_path / "g", ONE)
    assert page.read_bytes() == before + b"mine"
    build(store, tmp_path / "g", ASKED)
    assert page.read_bytes() == before


def test_files_of_the_user_in_folders_of_episodes_stay(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", ONE)
    notes = [path / "notes.txt" for path in (*(tmp_path / "g").glob("episodes/*/*"), *(tmp_path / "g").glob("data/*/"))]
    for path in notes:
        path.write_text("mine")
    (broken, *_) = (tmp_path / "g").glob("episodes/*/*/page.js")
    broken.write_bytes(b"")
    store.delete(["demo/2"])
    report = build(store, tmp_path / "g", ONE)
    # The folder stays for the notes.
    assert (report.episodes, report.removed) == (2, 0)
    assert all(path.read_text() == "mine" for path in notes)
    assert {path.name for path in notes[-1].parent.iterdir()} == {"notes.txt"}


def test_a_gallery_of_an_older_version_is_known_by_its_marker(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", ONE)
    (tmp_path / "g" / RECORD).unlink()
    (tmp_path / "g/static/main.js").write_text("older")
    build(store, tmp_path / "g", ONE)
    assert (tmp_path / "g/static/main.js").read_text() != "older"


def test_a_gallery_that_was_killed_at_its_first_file_goes_on(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    (tmp_path / "g/.gallery.json.k3_x91ab.part").write_bytes(b"{")
    assert build(store, tmp_path / "g", ONE).built == 3


def test_a_file_called_as_the_marker_makes_no_gallery(store: LanceStore, tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    (tmp_path / "g/gallery.json").write_text('{"pictures": []}')
    (tmp_path / "g/index.html").write_text("mine")
    with pytest.raises(UsageError, match="holds something else than a gallery"):
        build(store, tmp_path / "g", ASKED)
    assert (tmp_path / "g/index.html").read_text() == "mine"


def test_an_episode_whose_stage_is_gone_is_listed_with_the_reason(store: LanceStore, tmp_path: Path) -> None:
    record = rendered("demo/3", seed=6)
    store.put([record.model_copy(update={"scene": record.scene.model_copy(update={"stage": "moonbase"})})])
    report = build(store, tmp_path / "g", ONE)
    assert (report.episodes, report.built, report.failed) == (4, 3, 1)
    assert report.damaged[0].startswith("episode demo/3: can't be shown: StageError: unknown stage 'moonbase'")
    assert isinstance(report.error(), StoreError)
    assert listed(tmp_path / "g")[-1] == "demo/3"
    # Tried again: the stage may be there now.
    assert (build(store, tmp_path / "g", ONE).kept, report.failed) == (3, 1)


def test_damage_is_named_listed_and_no_obstacle(tmp_path: Path) -> None:
    store = odd_store(tmp_path / "odd.lance", many=0)
    report = build(store, tmp_path / "g", ONE)
    assert report.damaged == ["episode demo/damaged: its images don't match their SHA-256"]
    error = report.error()
    assert isinstance(error, StoreError)
    assert "demo/damaged" in str(error)
    assert "demo/damaged" in listed(tmp_path / "g")
    assert len(list((tmp_path / "g").glob("episodes/*/*"))) == 4
    again = build(store, tmp_path / "g", ONE)
    assert (again.built, again.kept, again.damaged) == (0, 4, report.damaged)
    assert GalleryReport("g", "s", 1).error() is None


@pytest.mark.slow
def test_several_processes_make_the_same(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "many.lance"), fsync=False)
    store.put([factories.make_record(f"many/{number:03}", images=1, seed=number) for number in range(40)])
    one = build(store, tmp_path / "one", ONE)
    two = build(store, tmp_path / "two", GalleryOptions(workers=2))
    assert (one.built, two.built) == (40, 40)
    contents = [
        {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*") if path.is_file()}
        for out in (tmp_path / "one", tmp_path / "two")
    ]
    assert contents[0] == contents[1]


def _dies(*_: object) -> None:
    os._exit(9)


@pytest.mark.slow
def test_a_process_that_dies_is_a_clear_error(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diorama.render.uses.gallery.build_gallery._write_batch", _dies)
    with pytest.raises(StoreError, match=r"died, possibly for lack of memory; .* fewer --workers"):
        build(store, tmp_path / "g", GalleryOptions(workers=2))
    monkeypatch.undo()
    assert build(store, tmp_path / "g", ONE).built == 3


def test_hostile_texts_stay_inside_their_strings(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "h.lance"), fsync=False)
    store.put([hostile()])
    build(store, tmp_path / "g", ONE)
    for path in (tmp_path / "g").rglob("*"):
        if path.suffix in (".js", ".html") and path.parent.name != "static":
            text = path.read_text()
            assert "</script>]" not in text
            assert not set("\u2028\u2029") & set(text)
            if path.suffix == ".js":
                assert "<" not in text
                assert script_data(text)
    (page,) = (tmp_path / "g").glob("episodes/*/*/page.js")
    assert script_data(page.read_text())[1]["task"]["__proto__"]["x"] == HOSTILE


def test_a_picture_of_a_gallery_needs_nothing_from_elsewhere(store: LanceStore, tmp_path: Path) -> None:
    build(store, tmp_path / "g", ONE)
    page = (tmp_path / "g/index.html").read_text()
    assert "default-src 'none'" in page
    assert "unsafe" not in page
    for name in re.findall(r'(?:src|href)="([^"#?]+)', page):
        assert (tmp_path / "g" / name).is_file(), name
    for path in (tmp_path / "g/static").iterdir():
        links = set(re.findall(r"https?://[^\s\"')]+", path.read_text()))
        assert links <= {"http://www.w3.org/2000/svg"}, path
