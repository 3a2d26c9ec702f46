"""The entry lists and runs every tool, and turns errors into a line and an exit code."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path

import pytest

from render.model.errors import RenderError, UsageError
from tools.__main__ import exit_code_of, list_tools, load_tool, main, tool_files

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"-m tools ([a-z][a-z0-9-]*)")


def test_the_list_has_a_short_line_for_each_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert text == list_tools()
    lines = text.splitlines()[2:]
    assert [line.split()[0] for line in lines] == list(tool_files())
    assert all(len(line) < 21 + 70 for line in lines), "a first line stands alone in a list"


def test_listing_imports_no_tool() -> None:
    heavy = "{'bpy', 'ray', 'lance'}"
    code = f"import sys; from tools.__main__ import main; main([]); sys.exit(bool({heavy} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    assert done.returncode == 0


@pytest.mark.parametrize("name", tool_files())
def test_every_tool_declares_its_options_and_shows_how_it_is_called(name: str) -> None:
    module, parser = load_tool(name)
    assert f"python -m tools {name}" in (module.__doc__ or "")
    assert parser.format_help()


def test_pages_and_scripts_call_tools_that_exist() -> None:
    pages = [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").glob("*.md"), *(ROOT / "tools").rglob("*.sh")]
    found = {(page.name, name) for page in pages for name in CALL.findall(page.read_text("utf-8"))}
    assert len(found) > 30
    assert [(page, name) for page, name in sorted(found) if name not in tool_files()] == []


def test_an_unknown_tool_is_an_error_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench-qualty"]) == 2
    assert "unknown tool 'bench-qualty'; did you mean 'bench-quality'?" in capsys.readouterr().err


@pytest.mark.parametrize("resumes", [False, True])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("said"), 2),
        (RenderError("said"), 1),
        (OSError(errno.ENOSPC, "No space left on device: said"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_is_a_line_and_an_exit_code(
    error: BaseException, code: int, resumes: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert exit_code_of(fail, resumes) == code
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and ("said" in said or code == 130)


def test_a_tool_that_returns_nothing_ends_with_0() -> None:
    assert exit_code_of(lambda: None) == 0
