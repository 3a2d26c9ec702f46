"""Symbolic links in output folders: nothing outside the folder that the user named is deleted or written."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from diorama.render.run.last_status import read_status
from diorama.render.run.status import Status, path_of
from diorama.render.uses.gallery import serve
from diorama.render.uses.gallery.serve import server_of
from tests.compatibility.commands import run
from tests.compatibility.contents import ABOUT, export_arguments, unpack
from tests.compatibility.test_archive import ARCHIVES
from tests.hostile.traps import Victim, make_store, make_victim, run_bounded
from tests.marks import slow
from tests.render.store.rendered import rendered


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    return make_victim(tmp_path / "victim")


def replace_by_link(path: Path, target: Path) -> None:
    """Put a link in the place of a file or folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", ["episodes/PREFIX", *slow("episodes", "episodes/PREFIX/KEY", "episodes/abc", "data", "static")]
)
def test_a_gallery_neither_deletes_nor_writes_through_links(tmp_path: Path, victim: Victim, place: str) -> None:
    store, out, before = make_store(tmp_path), tmp_path / "gallery", victim.files()
    assert run_bounded("render-gallery", store, "--out", out).code == 0
    episode = next((out / "episodes").glob("*/*"))
    path = out / place.replace("PREFIX", episode.parent.name).replace("KEY", episode.name)
    replace_by_link(path, victim.folder)
    # Another version of the store, so that something is removed and something is written.
    assert run_bounded("render-store", "delete", store, "demo/a").code in (0, 2)
    done = run_bounded("render-gallery", store, "--out", out, "--where", "episode_id = 'demo/b'")
    assert victim.files() == before
    assert done.code == 2, done.err
    assert "link" in done.err


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    unpack(ARCHIVES[-1], folder)
    return folder


@pytest.mark.slow
def test_no_export_writes_through_linked_folders(archive: Path, tmp_path: Path, victim: Victim) -> None:
    """Each folder that an export makes is a link in turn; at most four of each format.

    A link below an episode's own folder makes that folder one of something else.
    """
    before = victim.files()
    for name, arguments in export_arguments(json.loads((archive / ABOUT).read_text()), archive):
        run("render-export", *arguments, "--out", tmp_path / name)
        made = sorted({path.parent for path in (tmp_path / name).rglob("*") if path.is_file()} - {tmp_path / name})
        for number, folder in enumerate(made[:: max(1, len(made) // 4)]):
            out = tmp_path / f"{name}-{number}"
            replace_by_link(out / folder.relative_to(tmp_path / name), victim.folder)
            with pytest.raises(AssertionError, match=r"link|holds something else"):
                run("render-export", *arguments, "--out", out)
            assert victim.files() == before, folder


def test_the_status_of_a_remote_store_is_private(
    tmp_path: Path, victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user prepares the folder in the shared temporary directory, and a link under the name that will come."""
    before = victim.files()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = path_of("s3://bucket/store")
    if path.is_relative_to(tmp_path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o777)
        for name in (path.name, f"{path.name}.1"):
            (path.parent / name).symlink_to(victim.folder / "precious.txt")
        (path.parent / f"{path.name}.{os.getpid()}").symlink_to(victim.folder / "precious.txt")
    Status.here("s3://bucket/store").write()
    assert victim.files() == before
    for made in tmp_path.rglob("*"):
        if not made.is_relative_to(victim.folder) and not made.is_symlink() and made.is_file():
            assert made.stat().st_mode & 0o077 == 0, made


@pytest.mark.parametrize("kind", ["link", "linked pipe", "pipe"])
def test_the_status_of_a_local_store_replaces_what_is_not_a_file(tmp_path: Path, victim: Victim, kind: str) -> None:
    before, store = victim.files(), str(tmp_path / "s.lance")
    os.mkfifo(tmp_path / "pipe")
    if kind == "pipe":
        os.mkfifo(path_of(store))
    else:
        path_of(store).symlink_to(tmp_path / "pipe" if kind == "linked pipe" else victim.folder / "precious.txt")
    Status.here(store, total=7).write()
    found = read_status(store)
    assert found is not None and found.total == 7
    assert victim.files() == before


def test_a_status_in_a_folder_of_somebody_else_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    Status.here("s3://bucket/store").write()
    assert read_status("s3://bucket/store") is not None
    (tmp_path / "runtime").chmod(0o777)
    assert read_status("s3://bucket/store") is None


def test_the_page_server_stays_inside_its_folder(tmp_path: Path, victim: Victim) -> None:
    folder = tmp_path / "gallery"
    folder.mkdir()
    (folder / "index.html").write_text("page")
    (folder / "outside").symlink_to(victim.folder)
    (folder / "file").symlink_to(victim.folder / "precious.txt")
    (folder / "data").mkdir()
    (folder / "data" / "index.html").symlink_to(victim.folder / "precious.txt")
    tried = {"/": 200, "/index.html": 200}
    tried |= dict.fromkeys(("/outside/precious.txt", "/file", "/data/", "/../victim/precious.txt", "/%2e%2e/x"), 404)
    with server_of(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for path, expected in tried.items():
                asking = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=240)
                asking.request("GET", path, headers={"Host": "localhost"})
                assert asking.getresponse().status == expected, path
        finally:
            server.shutdown()


def test_connections_that_send_nothing_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each had a thread for ever: 900."""
    (tmp_path / "index.html").write_text("page")
    monkeypatch.setattr(serve, "_MOST_CONNECTIONS", 5)
    monkeypatch.setattr(serve._Handler, "timeout", 2)
    before = threading.active_count()
    with server_of(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        idle = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(30)]
        # Those beyond the bound are closed at once, the others after the time.
        assert [one.recv(1) for one in idle[5:]] == [b""] * 25
        assert threading.active_count() <= before + 6
        assert [one.recv(1) for one in idle[:5]] == [b""] * 5
        for one in idle:
            one.close()
        while threading.active_count() > before + 1:
            time.sleep(0.05)
        asking = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=240)
        asking.request("GET", "/", headers={"Host": "localhost"})
        assert asking.getresponse().read() == b"page"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index.html", *slow("gallery.json", "data/rows.jsonl", "static/main.js")])
def test_a_gallery_does_not_write_through_linked_files(tmp_path: Path, victim: Victim, name: str) -> None:
    store, out, before = make_store(tmp_path), tmp_path / "gallery", victim.files()
    assert run_bounded("render-gallery", store, "--out", out).code == 0
    (victim.folder / "precious.txt").write_bytes((out / name).read_bytes())
    before = victim.files()
    replace_by_link(out / name, victim.folder / "precious.txt")
    done = run_bounded("render-gallery", store, "--out", out)
    assert victim.files() == before
    assert done.code == 2, done.err
    assert f"{name} is a symbolic link" in done.err


@pytest.mark.slow
def test_a_gallery_deletes_only_what_it_has_made(tmp_path: Path) -> None:
    """Its own folder may be a link, and files that others put into it stay."""
    store, out = make_store(tmp_path), tmp_path / "gallery"
    (tmp_path / "real").mkdir()
    out.symlink_to(tmp_path / "real")
    assert run_bounded("render-gallery", store, "--out", out).code == 0
    mine = [out / "episodes/notes/a.txt", out / "episodes/abc/notes/a.txt", out / "data/notes/a.txt", out / "b/a.txt"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    done = run_bounded("render-gallery", store, "--out", out, "--where", "episode_id = 'demo/b'")
    assert done.code == 0, done.err
    assert "2 removed" in done.out
    assert all(path.read_text() == "mine" for path in mine)


def test_a_folder_that_is_itself_a_link_is_exported_into_again(tmp_path: Path) -> None:
    """The user named the link; what lies behind it is replaced when asked."""
    store, real = make_store(tmp_path), tmp_path / "real"
    real.mkdir()
    (tmp_path / "out").symlink_to(real)
    run("render-export", store, "--format", "folder", "--out", tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "again").mkdir()
    other = make_store(tmp_path / "other", [rendered("a", 1), rendered("demo/b", 9)])
    run("render-export", other, "--format", "folder", "--out", tmp_path / "out", "--overwrite")
    again = make_store(tmp_path / "again", [rendered("a", 5), rendered("demo/b", 9)])
    run("render-export", again, "--format", "folder", "--out", tmp_path / "out", "--overwrite")
    assert (tmp_path / "out").is_symlink()
    assert not list(real.rglob("*.partial"))
