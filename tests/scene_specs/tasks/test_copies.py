"""Facts that are stated twice, and files against their SHA256SUMS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.tasks.copies import SUMS, Copy, changed_files, digest_of, lines_of, sums_text


def test_a_line_says_item_found_and_expected() -> None:
    copies = [
        Copy(("objects", 1, "count"), 3, 2),
        Copy("answers", "1.25", "1.2500000", 1e-6),
        Copy("area", 1.0, 1.2, 0.1),
        Copy(("a",), None, None),
    ]
    assert [*lines_of(copies)] == ["objects[1].count: found 3; expected 2", "area: found 1.0; expected 1.2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"a/0.png": b"one", "a/1.png": b"two", "info.json": b"{}"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / SUMS).write_text(sums_text({name: digest_of(content) for name, content in files.items()}))
    return tmp_path


def test_changed_files_are_named_from_the_folder_and_from_a_file(folder: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=folder, check=True)
    # Others' files are nobody's business.
    (folder / "notes.txt").write_text("mine")
    assert [*changed_files(folder)] == [*changed_files(folder / "info.json")] == []
    (folder / "a/0.png").write_bytes(b"two")
    (folder / "a/1.png").unlink()
    for path in (folder, folder / "info.json", folder / "a"):
        swapped, missing = changed_files(path)
        assert str(swapped).startswith(
            f"{folder}/a/0.png: found the SHA-256 3fc4ccfe745870e2...; expected 7692c3ad3540bb80..."
        )
        assert str(missing).startswith(f"{folder}/a/1.png: can't be read: No such file or directory; {SUMS} lists it")


def test_deleted_sums_are_missed_where_a_record_names_them(folder: Path) -> None:
    (folder / SUMS).unlink()
    assert [*changed_files(folder)] == []
    record = folder / ".diorama-export.json"
    record.write_text(f'{{"lists": {{"a/{SUMS}": 0}}}}')
    for path in (folder, folder / "a", folder / "a/0.png"):
        (missing,) = changed_files(path)
        assert f"a/{SUMS}: missing; {record.name} names it" in str(missing)
    # Not that of a folder beside it.
    assert [*changed_files(folder / "info.json")] == []
    record.unlink()
    record.mkdir()
    assert [*changed_files(folder)] == []


def test_sums_of_other_folders_say_nothing(folder: Path) -> None:
    (folder / SUMS).write_text(f"{'0' * 64}  big.iso\n")
    assert [*changed_files(folder / "a")] == []
    (folder / "a" / SUMS).write_text(f"{'0' * 64}  ../../elsewhere/task.json\n")
    assert [*changed_files(folder / "a")] == []
    (folder / "a" / SUMS).write_bytes(b"\xff")
    with pytest.raises(SpecError, match="not UTF-8"):
        [*changed_files(folder / "a")]
