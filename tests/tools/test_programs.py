"""Commands run as processes of this checkout, and their memory is that of their whole family."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.programs import children_of, command, peak_kilobytes, print_figures, run_measured, write_specs


def test_a_command_is_that_of_this_checkout(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "s.jsonl", [{"version": 1, "id": "a", "frames": [{}]}])
    assert json.loads(specs.read_text()) == {"version": 1, "id": "a", "frames": [{}]}
    text, seconds, peak = run_measured("render-specs", "clevr", "--count", 1, "--out", tmp_path / "c.jsonl")
    assert (tmp_path / "c.jsonl").is_file()
    assert seconds > 0 and peak > 0 and text == ""


def test_a_failing_command_is_named() -> None:
    with pytest.raises(SystemExit, match="render-specs clevr --nonsense: failed with exit code 2"):
        run_measured("render-specs", "clevr", "--nonsense")
    assert command("render-specs", 1)[-1] == "1"


def test_children_and_memory_of_a_process() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as parent:
        while not (children := children_of(parent.pid)):
            assert parent.poll() is None
        assert peak_kilobytes(children[0]) > 0
        parent.communicate(b"\n")
    assert children_of(parent.pid) == [] and peak_kilobytes(parent.pid) == 0


@pytest.mark.parametrize("keep", [False, True])
def test_figures_are_a_table_and_what_was_created_goes(
    keep: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    print_figures("title", iter([("size", "1 MB")]), [made, tmp_path / "never"], keep)
    assert capsys.readouterr().out == "| title | |\n|---|---|\n| size | 1 MB |\n"
    assert made.exists() == keep
