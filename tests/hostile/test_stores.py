"""Stores of strangers: opening one touches nothing outside its folder, and its texts stay texts."""

from __future__ import annotations

import os
import shutil
from html.parser import HTMLParser
from pathlib import Path

import lance
import pytest

from diorama.render.store import open_or_create
from diorama.render.uses.draw.notebook import record_html, scene_html
from diorama.render.uses.gallery.gallery_files import script_call
from diorama.scene_specs.benchmarks.icca.players import factory
from diorama.scene_specs.errors import UsageError
from tests.hostile.fuzz_inputs import store_with_rows
from tests.hostile.traps import changed, make_store, make_victim, run_bounded
from tests.marks import slow
from tests.render.store.rendered import rendered

MARKUP = "</script><img src=x onerror=alert(1)>'\"`-->"
COMMANDS = [("ls", "STORE"), ("verify", "STORE"), ("history", "STORE"), ("compact", "STORE", "--drop-older-than", "1")]


@pytest.mark.slow
@pytest.mark.parametrize("newest", [True, False], ids=["newest", "older"])
def test_a_version_with_files_in_another_folder_is_refused(tmp_path: Path, newest: bool) -> None:
    """Lance's shallow clones name absolute base paths, which it reads without asking."""
    (tmp_path / "private").mkdir()
    private = lance.dataset(make_store(tmp_path / "private"))
    clone = Path(private.shallow_clone(str(tmp_path / "s.lance"), private.version).uri)
    arguments = ["ls", str(clone)]
    if not newest:
        # Its newest version is a harmless one.
        (manifest,) = (clone / "_versions").glob("*.manifest")
        content = manifest.read_bytes()
        shutil.rmtree(clone)
        open_or_create(make_store(tmp_path)).put([rendered("demo/d", 4)])
        (clone / "_versions" / manifest.name).write_bytes(content)
        assert run_bounded("render-store", *arguments).code == 0
        arguments += ["--at", str(private.version)]
    done = run_bounded("render-store", *arguments)
    assert done.code == 4, (done.out, done.err)
    assert f"version {private.version} has files in another folder" in done.err
    assert "demo/a" not in done.out


@pytest.mark.alike
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize("place", ["data", *slow("data/nested", "_versions", "_indices", "_transactions")])
def test_a_store_with_linked_folders_is_refused(tmp_path: Path, arguments: tuple[str, ...], place: str) -> None:
    """`compact` deleted every unknown *.lance file below a linked data folder, and commits wrote there."""
    victim = make_victim(tmp_path / "victim")
    for name in ("old.lance", "old.manifest", "old.txn"):
        (victim.folder / name).write_text("mine")
    path = Path(make_store(tmp_path)) / place
    if path.exists():
        shutil.copytree(path, victim.folder, dirs_exist_ok=True)
        shutil.rmtree(path)
    for file in victim.folder.iterdir():
        os.utime(file, (1e9, 1e9))
    path.symlink_to(victim.folder)
    before = victim.files()
    done = run_bounded("render-store", *(word.replace("STORE", str(tmp_path / "s.lance")) for word in arguments))
    assert victim.files() == before
    assert done.code == 4, (done.out, done.err)
    assert "symbolic link" in done.err


@pytest.mark.alike
@pytest.mark.parametrize("name", ["_versions/*.manifest", "_refs/tags/*", "data/*", "_versions/*hint.json"])
def test_a_store_with_a_pipe_is_refused(tmp_path: Path, name: str) -> None:
    """Opening a pipe for reading waits for somebody who writes."""
    url = make_store(tmp_path)
    lance.dataset(url).tags.create("first", 1)
    path = min(Path(url).glob(name))
    path.unlink()
    os.mkfifo(path)
    done = [run_bounded("render-store", *words) for words in (["ls", url, "--at", "first"], ["compact", url])]
    assert [one.code for one in done] == [4, 4]
    assert f"{path} is not a regular file" in done[0].err


def test_a_store_with_folders_in_folders_is_refused(tmp_path: Path) -> None:
    """1,100 of them ended in a RecursionError."""
    url = make_store(tmp_path)
    (Path(url) / "data" / "/".join("d" * 40)).mkdir(parents=True)
    done = run_bounded("render-store", "ls", url)
    assert (done.code, "lies too deep to belong to a store" in done.err) == (4, True)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2**31 - 1, 2])
def test_the_number_of_rows_in_a_manifest_is_compared_with_the_file(tmp_path: Path, rows: int) -> None:
    store_with_rows(tmp_path / "s.lance", rows)
    done = run_bounded("render-store", "verify", tmp_path / "s.lance")
    assert done.code == 4 and done.peak < 600
    assert f"incorrect physical_rows. Actual: 1 Metadata: {rows}" in done.err


def test_a_store_of_linked_files_is_read_as_from_the_cache_of_the_hub(tmp_path: Path) -> None:
    store, blobs = Path(make_store(tmp_path)), tmp_path / "blobs"
    blobs.mkdir()
    for number, path in enumerate(path for path in list(store.rglob("*")) if path.is_file()):
        path.rename(blobs / str(number))
        path.symlink_to(blobs / str(number))
    done = run_bounded("render-store", "ls", str(store))
    assert (done.code, "demo/a" in done.out) == (0, True), done.err


def hostile_markup() -> list[str]:
    """Notebook HTML of a record and a Scene whose texts are markup."""
    record = rendered("demo/a")
    frames = tuple(frame.model_copy(update={"name": MARKUP, "utterance": MARKUP}) for frame in record.scene.frames)
    task = {"benchmark": MARKUP, "name": MARKUP, "options": [MARKUP], MARKUP: MARKUP}
    scene = record.scene.model_copy(update={"id": MARKUP, "frames": frames, "task": task})
    images = [image.model_copy(update={"name": MARKUP, "frame": MARKUP}) for image in record.images]
    provenance = record.provenance.model_copy(update={"device": MARKUP})
    record = changed(record, episode_id=MARKUP, scene=scene, images=images, provenance=provenance)
    return [record_html(record), scene_html(scene)]


class Tags(HTMLParser):
    """Collects the tags of a page and the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect them."""
        self.found |= {tag, *(name for name, _ in attrs)}


def test_notebooks_show_markup_as_text() -> None:
    for text in hostile_markup():
        assert not [name for name in Tags(text).found if name == "script" or name.startswith("on")]
        assert "onerror=alert(1)&gt;" in text


def test_pages_hold_markup_as_data(tmp_path: Path) -> None:
    record = rendered("demo/a")
    frames = tuple(frame.model_copy(update={"utterance": MARKUP}) for frame in record.scene.frames)
    scene = record.scene.model_copy(update={"frames": frames, "split": MARKUP, "task": {"benchmark": MARKUP}})
    free = scene.model_copy(update={"split": "train"})
    store = make_store(
        tmp_path, [changed(record, episode_id=f"demo/{MARKUP}", scene=scene), changed(record, scene=free)]
    )
    folder = Path(store).rename(tmp_path / "<img src=x onerror=alert(1)>")
    done = run_bounded("render-gallery", str(folder), "--out", tmp_path / "out")
    assert (done.code, len(list((tmp_path / "out/episodes").glob("*/*")))) == (0, 2), done.err
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix == ".html" or (path.suffix == ".js" and path.parent.name != "static"):
            assert b"<img" not in path.read_bytes(), path
            assert b"</script><img" not in path.read_bytes(), path
    assert "<" not in script_call("f", MARKUP)


@pytest.mark.alike
@pytest.mark.parametrize("episode", ["../../up", *slow("/abs", "a/../../up", "..", "a\0b", ".")])
@pytest.mark.parametrize("format_name", ["folder", "coco", "clevr", "webdataset", "huggingface", "gallery"])
def test_ids_do_not_become_other_paths(tmp_path: Path, episode: str, format_name: str) -> None:
    (tmp_path / "in").mkdir()
    record = rendered("demo/bad", 7)
    scene = record.scene.model_copy(update={"id": episode})
    store = make_store(tmp_path / "in", [rendered("demo/a", 1), changed(record, episode_id=episode, scene=scene)])
    out = tmp_path / "deep" / "deep" / "out"
    words = [store, "--out", str(out)]
    words += [] if format_name == "gallery" else ["--format", format_name]
    done = run_bounded("render-gallery" if format_name == "gallery" else "render-export", *words)
    assert "Traceback" not in done.err
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(out)]
    assert [path for path in outside if not path.is_relative_to(tmp_path / "in")] == []
    assert not Path("/abs").exists()


@pytest.mark.slow
def test_stored_names_of_code_are_not_imported(tmp_path: Path) -> None:
    """A record's renderer and a transcript's player are names; only rendering a record again imports the former."""
    (tmp_path / "stranger.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\nclass Renderer: pass\n")
    record = rendered("demo/a")
    job = record.job.model_copy(update={"renderer": "stranger:Renderer"})
    task = {"benchmark": "demo", "name": "x", "listener": "stranger:Renderer"}
    scene = record.scene.model_copy(update={"task": task})
    store = make_store(tmp_path, [changed(record, job=job, scene=scene)])
    env = {"PYTHONPATH": f"{Path(__file__).resolve().parents[2]}:{tmp_path}"}
    for program, *arguments in (
        ("render-store", "ls", store),
        ("render-store", "show", store, "demo/a"),
        ("render-store", "verify", store),
        ("render-store", "stats", store),
        ("render-store", "copy", store, str(tmp_path / "copy.lance")),
        ("render-export", store, "--out", str(tmp_path / "export")),
        ("render-gallery", store, "--out", str(tmp_path / "gallery")),
        ("render-specs", "check", "--prove", "--store", store),
    ):
        done = run_bounded(program, *arguments, env=env)
        assert "Traceback" not in done.err, done.err
        assert not (tmp_path / "owned").exists(), program


@pytest.mark.parametrize("role", ["speaker", "listener"])
def test_players_are_built_in_or_installed(role: str) -> None:
    """The names in a transcript are not of modules, also not of importable ones."""
    with pytest.raises(UsageError, match=r"tests\.hostile\.traps:Victim"):
        factory(role, "tests.hostile.traps:Victim")
