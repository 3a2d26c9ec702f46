"""Which file systems can hold a store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diorama.render.run.doctor import check_disk
from diorama.render.store.lance import file_system
from diorama.scene_specs.errors import StoreError


@pytest.mark.slow
def test_a_local_disk_holds_commits_of_several_processes(tmp_path: Path) -> None:
    file_system.check_file_system(tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_a_file_system_lacks_is_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    store = str(tmp_path / "s.lance")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        check = check_disk(store, thorough=True)
    assert check.ok is False and "fsync failed: Operation not permitted" in check.found and "S3" in check.todo
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", lambda *_: None)
        with pytest.raises(StoreError, match="refusing a second file of one name failed: it was not refused"):
            file_system.check_file_system(tmp_path)
        patch.setattr(os, "link", refuse)
        with pytest.raises(StoreError, match="a hard link failed: Operation not permitted"):
            file_system.check_file_system(tmp_path)
    # A commit that another process has overwritten.
    monkeypatch.setattr(file_system, "_WRITER", "print()")
    with pytest.raises(StoreError, match="processes at once failed: 12 rows were committed, and 0 are there"):
        file_system.check_file_system(tmp_path)
    with monkeypatch.context() as patch, pytest.raises(StoreError, match=r"processes at once failed: .*was not found"):
        patch.setattr("lance.write_dataset", lambda *_: None)
        file_system.check_file_system(tmp_path)
    monkeypatch.setattr(file_system, "_WRITER", "raise SystemExit('no more space')")
    with pytest.raises(StoreError, match="processes at once failed: no more space"):
        file_system.check_file_system(tmp_path)
    monkeypatch.setattr(file_system, "_WRITER", "import time; time.sleep(600)")
    monkeypatch.setattr(file_system, "_RACE_SECONDS", 0.1)
    with pytest.raises(StoreError, match="processes at once failed: no answer within 0 s"):
        file_system.check_file_system(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert check_disk(str(tmp_path / "loop" / "s.lance")).name == "disk"


def test_a_shared_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\ntmpfs {tmp_path}x tmpfs rw 0 0\n")
    assert file_system.kind_of(tmp_path / "a", mounts) == ("nfs4", True)
    mounts.write_text(mounts.read_text() + "tag /a\\011b\\040\\134c virtiofs rw 0 0\n")
    assert file_system.kind_of(Path("/a\tb \\c/d"), mounts) == ("virtiofs", True)
    assert file_system.kind_of(Path("/home"), mounts) == ("ext4", False)
    assert file_system.kind_of(Path("/"), tmp_path / "none") == ("", False)
    for kind, shared, words in (("lustre", True, "give each a store of its own"), ("tmpfs", False, "in memory")):
        monkeypatch.setattr(file_system, "kind_of", lambda _, kind=kind, shared=shared: (kind, shared))
        check = check_disk(str(tmp_path / "s.lance"))
        assert check.ok is None and words in check.todo and kind in check.found
