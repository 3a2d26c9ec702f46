"""Commands with closed standard streams, and with variables of Python and Blender in the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SPEC = {"version": 1, "id": "a", "stage": "clevr", "frames": [{"random_objects": {"count": 2}}]}
PROGRAM = "import sys, diorama; sys.argv[0] = 'render-specs'; sys.exit(diorama.render_specs())"


def run_in_shell(arguments: str, redirected: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    line = f'"{sys.executable}" -c "{PROGRAM}" {arguments} {redirected}'
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.alike
@pytest.mark.parametrize("redirected", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_has_no_effect(redirected: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(SPEC))
    done = run_in_shell("check a.json", redirected, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("" if ">&- " in f"{redirected} ".replace("2>&-", "") else "1 episode, no errors\n")
    done = run_in_shell("clevr --count 2 --out b.jsonl", redirected, tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 2


def test_help_says_why_texts_are_missing(tmp_path: Path) -> None:
    done = run_in_shell("check --help", "", tmp_path, PYTHONOPTIMIZE="2")
    assert done.returncode == 0 and "PYTHONOPTIMIZE=2" in done.stdout
    assert "PYTHONOPTIMIZE" not in run_in_shell("check --help", "", tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BLENDER_SYSTEM_SCRIPTS", "BLENDER_USER_SCRIPTS", "BLENDER_SYSTEM_RESOURCES"])
def test_scripts_of_another_blender_do_not_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup/theirs.py").write_text("raise SystemExit('theirs ran')\n")
    code = f"""import diorama
scene = diorama.compile_spec({SPEC!r}, profile="draft", size=(64, 48))
print(diorama.render_scene(scene)[0].passes.color.shape)"""
    environment = {**os.environ, name: str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "(48, 64, 3)\n", "")
