"""The entry lists and runs every tool, and turns errors into a line and an exit code."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path

import pytest

from diorama.scene_specs.errors import RenderError, UsageError
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


# Options that are no counts, or of which 0 means none.
NO_COUNTS = {"seed", "first", "cards", "items", "listed", "level", "alone", "tamper", "scenes", "cameras", "models"}


@pytest.mark.parametrize("name", tool_files())
def test_counts_of_tools_are_positive(name: str) -> None:
    _, parser = load_tool(name)
    assert [one.dest for one in parser._actions if one.type is int and one.dest not in NO_COUNTS] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["command-fuzz", "TYPO"], "no pair is selected"),
        (["check-look", "."], "found no NAME.json"),
        (["bench-farm", "--episodes", "9"], "found 9; allowed: at least 10"),
    ],
)
def test_a_tool_without_anything_to_check_is_an_error(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert message in capsys.readouterr().err


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
