"""The set-up says what is missing and leaves alone what it did not make. Nothing is installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("bash", "dirname", "mktemp", "cksum", "rm", "sed", "paste", "id", "rmdir", "head", "grep", "cat", "flock")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the script and a lock that nothing could be installed from."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/setup.sh", tmp_path / "tools")
    (tmp_path / "requirements-dev.lock").write_text("nothing==0\n", "utf-8")
    return tmp_path


def run_setup(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "DIORAMA_VENV"}
    return subprocess.run(
        ["bash", str(checkout / "tools/setup.sh")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**plain, "PYTHON": sys.executable, **environment},
    )


def test_without_python_it_says_which_and_how(checkout: Path) -> None:
    done = run_setup(checkout, PYTHON="/nowhere/python3.11")
    assert done.returncode == 2
    assert "no Python 3.11 found" in done.stderr
    assert "python3.11-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_environment_of_somebody_else_is_left_alone(checkout: Path) -> None:
    theirs = checkout / "mine" / "pyvenv.cfg"
    theirs.parent.mkdir()
    theirs.write_text("home = /usr/bin\n", "utf-8")
    done = run_setup(checkout, DIORAMA_VENV="mine")
    assert done.returncode == 2
    assert "mine is there but was not made by this script" in done.stderr
    assert theirs.read_text("utf-8") == "home = /usr/bin\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries are those of bpy on Linux")
def test_missing_library_is_named_where_nothing_can_install_it(checkout: Path) -> None:
    script = checkout / "tools/setup.sh"
    text = script.read_text("utf-8")
    assert "libGL.so.1:libgl1" in text
    script.write_text(text.replace("libGL.so.1:libgl1", "libNowhere.so.1:libnowhere1"), "utf-8")
    tools = checkout / "bin"
    tools.mkdir()
    for name in NEEDED:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    done = run_setup(checkout, PATH=str(tools))
    assert done.returncode == 2
    assert "missing: libNowhere.so.1. Install them" in done.stderr
    assert "libnowhere1" in done.stderr
    assert not (checkout / ".venv").exists()


def test_failed_installation_leaves_nothing(checkout: Path) -> None:
    """The lock names a package without a hash, so pip refuses it, whatever index there is."""
    done = run_setup(checkout, PIP_NO_INDEX="1")
    assert done.returncode == 1, done.stderr
    assert "installing the locked packages failed" in done.stderr
    assert sorted(path.name for path in checkout.iterdir()) == ["requirements-dev.lock", "tools"]
