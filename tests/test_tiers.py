"""`make test` leaves out what is marked and says so; a test that is skipped fails in every run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import slow

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest
from hypothesis import given, strategies

@given(strategies.booleans())
def test_property(value): pass

def test_plain(): pass

@pytest.mark.slow
@pytest.mark.readers
def test_slow(): pass

@pytest.mark.readers
def test_reader(): pass

@pytest.mark.alike
@pytest.mark.parametrize("value", range(20))
def test_alike(value): pass
"""


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, whole output and last line of a run of the tests in `folder`, under this project's rules."""
    shutil.copy(ROOT / "tests/conftest.py", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout, done.stdout.splitlines()[-1]


@pytest.mark.parametrize("processes", ["0", *slow("2")])
def test_marked_tests_are_left_out_and_counted(tmp_path: Path, processes: str) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    code, text, last = run_pytest(tmp_path, "-n", processes)
    assert code == 0 and "5 passed" in text
    assert "make test-all" in last
    assert re.findall(r"\d+ [a-z]+", last) == ["1 slow", "1 with", "17 like"]
    code, text, last = run_pytest(tmp_path, "-n", processes, "--every")
    assert code == 0 and "22 passed" in text and re.findall(r"\d+ [a-z]+", last) == ["1 slow", "1 with"]
    code, text, last = run_pytest(tmp_path, "-n", processes, "--all", "--rest")
    assert code == 0 and "20 passed" in text and re.findall(r"\d+ [a-z]+", last) == ["4 of"]
    code, text, last = run_pytest(tmp_path, "-n", processes, "--all")
    assert code == 0 and "24 passed" in text
    assert "make test-all" not in last


@pytest.mark.slow
@pytest.mark.parametrize(
    "skip",
    [
        "def test_it(): pytest.skip('not here')",
        "@pytest.mark.skipif(True, reason='not here')\ndef test_it(): pass",
        "pytest.importorskip('not_here')",
    ],
    ids=["in a test", "marker", "module"],
)
def test_a_skip_is_a_failure(tmp_path: Path, skip: str) -> None:
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n{skip}\n")
    code, text, _ = run_pytest(tmp_path)
    assert code == (2 if "importorskip" in skip else 1)
    assert "A skip is a failure" in text and re.search("not.here", text)
