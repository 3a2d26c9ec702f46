"""The tool draws the same mutants for a seed, leaves out what nobody would notice, and tells the outcomes apart."""

from __future__ import annotations

import subprocess
from argparse import ArgumentParser
from pathlib import Path

import pytest

from diorama.render.model.errors import UsageError
from tools import mutants
from tools.mutants import AREAS, Mutant, draw
from tools.programs import ROOT

# One function that a test checks, one that a test runs without a check, and one that no test runs.
RULE = '''"""Rules."""

__all__ = ["area"]

Pair = tuple[int, int]


def area(width: int, height: int | None = None) -> int:
    """Return width times height."""
    if height is None:
        raise ValueError(f"height {height + 1}", "no height given")
    return width * height


def unchecked(a: int) -> int:
    return a + 2


def unused(a: int) -> int:
    return a + 3
'''
TESTS = """
from diorama.render.compiler.rule import area, unchecked

def test_area():
    unchecked(1)
    assert area(2, 3) == 6

def test_that_fails_anyway():
    assert unchecked(1) == 4
"""


def project(folder: Path, tests: str = TESTS) -> Path:
    """A checkout with one module in `render/compiler` and its tests."""
    files = {
        # Packages: Diorama, if it is installed, would hide folders without.
        "diorama/__init__.py": "",
        "render/__init__.py": "",
        "render/compiler/__init__.py": "",
        "render/compiler/rule.py": RULE,
        "tests/render/compiler/test_rule.py": tests,
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\npythonpath = ["."]\n',
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "diorama/render").symlink_to("../render")
    commit = ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"]
    for command in (["init", "-q"], ["add", "."], commit):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def changes(drawn: list[Mutant]) -> set[str]:
    """The new lines of mutants, one per mutant."""
    return {line[1:].strip() for m in drawn for line in m.diff().splitlines() if line[0] == "+" and line[:3] != "+++"}


def test_a_seed_draws_the_same_mutants_and_another_seed_others(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = draw(root, 20, 1)
    assert len(first) == 5, "a quarter each for four areas, three of which are empty"
    assert [m.key for m in draw(root, 20, 1)] == [m.key for m in first]
    assert changes(draw(root, 20, 2)) != changes(first)


def test_new_code_leaves_the_draw_among_the_old_as_it_was(tmp_path: Path) -> None:
    root = project(tmp_path)
    before = [m.key for m in draw(root, 400, 1)]
    rule = root / "render/compiler/rule.py"
    rule.write_text(RULE.replace("def area", "def more(b: int) -> int:\n    return b % 7\n\n\ndef area"), "utf-8")
    after = [m.key for m in draw(root, 400, 1)]
    assert len(after) > len(before) and [key for key in after if key in before] == before


def test_text_for_people_annotations_and_aliases_stay(tmp_path: Path) -> None:
    found = changes(draw(project(tmp_path), 400, 1))
    assert {"return width / height", "if height is not None:", "return a - 3"} <= found
    # The error is raised with a number, too, which may change: what stays is its text.
    untouched = ("Rules", "Return", "__all__", "Pair", "def ", '"no height given"XX', "None)", "raise ValueError()")
    assert [line for line in found if any(word in line for word in untouched)] == []


@pytest.mark.parametrize("pattern", [pattern for patterns in AREAS.values() for pattern in patterns])
def test_every_area_has_files(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


def test_mutants_of_real_code_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "AREAS", {"annotations": ["render/annotations/encode.py"]})
    drawn = draw(ROOT, 40, 3)
    assert len(drawn) == 40
    for mutant in drawn:
        compile(mutant.source(), mutant.path, "exec")
        assert mutant.source() != mutant.module.code


@pytest.mark.slow
def test_a_run_tells_the_outcomes_apart_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "ROOT", project(tmp_path / "checkout"))
    monkeypatch.setattr(mutants, "TESTS", ["render"])
    parser = ArgumentParser()
    mutants.add_options(parser)
    options = parser.parse_args([str(tmp_path / "work"), "--count", "400"])
    assert mutants.main(options) == 1
    said = capsys.readouterr().out
    survivors = {block.split("\n+")[-1].split("\n")[0].strip() for block in said.split("\nsurvived: ")[1:]}
    assert "return a - 2" in survivors and "return width / height" not in survivors
    assert said.count("no test covers it: ") == said.count("\n+    return a - 3") + said.count("\n+    return a + 4")
    assert "| compiler |" in said and (tmp_path / "checkout/render/compiler/rule.py").read_text("utf-8") == RULE
    monkeypatch.setattr(mutants.Checker, "check", None)
    assert mutants.main(options) == 1
    assert capsys.readouterr().out == said


@pytest.mark.slow
def test_endless_tests_are_stopped(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "test_endless.py").write_text("def test_endless():\n    while True:\n        pass\n", "utf-8")
    assert mutants.run_pytest(root, 3, "test_endless.py") is None


def test_a_checkout_without_passing_tests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ROOT", project(tmp_path / "checkout", "def test_false():\n    assert False\n"))
    monkeypatch.setattr(mutants, "TESTS", ["render"])
    with pytest.raises(UsageError, match="no test passes"):
        mutants.Checker(tmp_path / "work")


def test_an_error_ends_the_tool_and_leaves_the_clone_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no report")

    monkeypatch.setattr(mutants, "ROOT", project(tmp_path / "checkout"))
    monkeypatch.setattr(mutants, "TESTS", ["render"])
    monkeypatch.setattr(mutants.Checker, "run", fail)
    parser = ArgumentParser()
    mutants.add_options(parser)
    with pytest.raises(OSError, match="no report"):
        mutants.main(parser.parse_args([str(tmp_path / "work"), "--count", "400"]))
    assert (tmp_path / "work/clone-0/render/compiler/rule.py").read_text("utf-8") == RULE
