"""The sources of the documentation site; `make docs` checks what mkdocs makes of them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

import diorama
from tests.test_docs import PROGRAMS, subcommands
from tests.test_docs import command as command_of
from tools import docs_site
from tools.programs import ROOT


def test_links_lead_to_pages_images_and_sources(tmp_path: Path) -> None:
    page = ROOT / "docs/extending.md"
    text, linked = docs_site.convert(page, "extending.md")
    assert "](source/scene_specs/tasks/benchmark.py.txt)" in text
    assert ROOT / "scene_specs/tasks/benchmark.py" in linked
    text, _ = docs_site.convert(ROOT / "README.md", "index.md")
    assert (
        "](spec.md#files-and-standard-input)" in text and "](images/mewl.jpg)" in text and "](contributing.md)" in text
    )


def test_tables_and_fences_are_as_mkdocs_reads_them() -> None:
    text, _ = docs_site.convert(ROOT / "docs/commands.md", "commands.md")
    assert "`render-specs check|resolve|schema`" in text
    text, _ = docs_site.convert(ROOT / "docs/spec.md", "spec.md")
    assert "```json wrong" not in text


def test_every_command_and_public_name_is_on_a_page(tmp_path: Path) -> None:
    assert docs_site.main(Namespace(folder=tmp_path / "docs")) == 0
    commands = (tmp_path / "docs/command_reference.md").read_text("utf-8")
    for program in PROGRAMS:
        names = [program, *(f"{program} {name}" for name in subcommands(command_of(program)))]
        assert not [name for name in names if f"# {name}\n" not in commands]
    reference = (tmp_path / "docs/reference.md").read_text("utf-8")
    assert not [name for name in diorama.__all__ if name != "__version__" and f"::: diorama.{name}\n" not in reference]


def test_a_link_to_a_missing_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs/page.md"
    page.parent.mkdir()
    page.write_text("[gone](images/gone.png)\n", "utf-8")
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    monkeypatch.setattr(docs_site, "ROOT_PAGES", {})
    monkeypatch.setattr(docs_site, "command_page", str)
    assert docs_site.main(Namespace(folder=tmp_path / "site")) == 1
    assert "docs/page.md: no file" in capsys.readouterr().out
