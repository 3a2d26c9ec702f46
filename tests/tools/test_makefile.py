"""`make` removes only what it made."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile, with an environment that is ready and whose commands do nothing."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("tools/setup.sh", *(f"bin/{name}" for name in ("python", "render-episode", "render-batch"))):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n", "utf-8")
        path.chmod(0o755)
    for name in ("render-export", "render-gallery"):
        shutil.copy(tmp_path / "bin/python", tmp_path / "bin" / name)
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = ["make", "-C", str(checkout), f"BIN={checkout / 'bin'}", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=240, check=False)


def test_a_folder_of_the_user_is_neither_filled_nor_removed(checkout: Path) -> None:
    for name in ("demo", "dist"):
        (checkout / name).mkdir()
        (checkout / name / "mine.txt").write_text("mine", "utf-8")
    done = make(checkout, "demo")
    assert done.returncode == 2
    assert f"{checkout / 'demo'} was not made by it" in done.stderr
    assert make(checkout, "clean").returncode == 0
    assert (checkout / "demo/mine.txt").exists() and (checkout / "dist/mine.txt").exists()


def test_its_own_folder_is_made_again_and_removed(checkout: Path) -> None:
    assert make(checkout, "demo").returncode == 0
    (checkout / "demo/old.png").write_text("old", "utf-8")
    assert make(checkout, "demo").returncode == 0
    assert not (checkout / "demo/old.png").exists()
    assert make(checkout, "clean").returncode == 0
    assert not (checkout / "demo").exists()
