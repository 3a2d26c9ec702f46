"""Counting lines of code."""

from __future__ import annotations

from argparse import Namespace

import pytest

from tools import count_lines

PYTHON = '''"""Docstring."""

# comment
import diorama.render.run.worker


def f():
    """Docstring."""
    return (
        1
    )
'''
FILES = {
    "render/run/batch.py": PYTHON,
    "render/run/worker.py": "x = 1\n",
    "render/uses/export/x.py": "import diorama.render.run.batch\n",
    "tools/x.py": "y = 2\n",
    "assets/build/x.py": "z = 3\n",
    "render/uses/gallery/site/x.js": "// comment\nlet a = 1;\n/* more\n */\n",
    "scene_specs/x.json": "{\n}\n",
}


def test_comments_blanks_and_docstrings_do_not_count() -> None:
    assert count_lines.code_lines(PYTHON) == 5
    assert count_lines.code_lines(FILES["render/uses/gallery/site/x.js"], python=False) == 1


def test_core_wings_and_tools_are_apart(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(count_lines, "sources", lambda commit: FILES.items())
    options = Namespace(commit="HEAD", files=False, check=True)
    assert count_lines.main(options) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split() for line in printed[-5:-1]] == [
        ["6", "core"], ["1", "wings"], ["1", "tools"], ["8", "core,", "wings", "and", "tools"],
    ]  # fmt: skip
    assert printed[-1] == "besides: 1 of generators of assets, 1 of JavaScript, 2 of data files"
    monkeypatch.setattr(count_lines, "CORE_CAP", 5)
    assert count_lines.main(options) == 1
    assert "the core has 6 lines; at most 5 are allowed" in capsys.readouterr().out
    assert count_lines.main(Namespace(commit="HEAD", files=False, check=False)) == 0
