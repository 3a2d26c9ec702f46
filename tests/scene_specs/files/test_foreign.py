"""Reading of files of strangers."""

from __future__ import annotations

from pathlib import Path

import pytest

from diorama.scene_specs.files.foreign import read_foreign


def test_a_small_file_needs_no_memory_for_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"small")
    assert read_foreign(path, 1 << 50) == b"small"
    assert read_foreign(path, 5) == b"small"
    with pytest.raises(OSError, match="larger than"):
        read_foreign(path, 4)


def test_files_without_a_size_are_read() -> None:
    path = Path("/proc/self/status")
    assert read_foreign(path, 1 << 20).startswith(b"Name:")
    with pytest.raises(OSError, match="larger than"):
        read_foreign(path, 10)
