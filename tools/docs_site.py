"""Write the sources of the documentation site.

    python -m tools docs-site build/docs

`make docs` runs this, then mkdocs. The pages of the repository link to files, as the forge shows them. On the site
README.md is the first page, source files are text files, and two pages are added: the commands, from their `--help`,
and the Python interface, which mkdocstrings fills in. Exit codes: 0 written, 1 a link leads nowhere.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

import click

import diorama
from tools.programs import ROOT

ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
# The words after a fence's language are for the tests of the pages.
FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)
# The forge wants a bar in a table's code escaped; mkdocs would show the backslash.
CODE_BAR = re.compile(r"^\|.*\\\|.*$", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Map each page of the repository to its path on the site."""
    own = {page: page.relative_to(ROOT / "docs").as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))}
    return {ROOT / name: site for name, site in ROOT_PAGES.items()} | own


def site_path(file: Path) -> str:
    """Return where a file that a page links to is on the site: a page, an image, or a source file as text."""
    if found := pages().get(file):
        return found
    if file.is_relative_to(ROOT / "docs"):
        return file.relative_to(ROOT / "docs").as_posix()
    return f"source/{file.relative_to(ROOT).as_posix()}.txt"


def convert(page: Path, site: str) -> tuple[str, list[Path]]:
    """Return the text of a page for the site, and the files that it links to."""
    found = []

    def link(match: re.Match[str]) -> str:
        file = Path(os.path.normpath(page.parent / match.group(2).replace("\\", "")))
        found.append(file)
        return match.group(1) + os.path.relpath(site_path(file), Path(site).parent) + match.group(3)

    text = FENCE.sub(r"\1", page.read_text("utf-8"))
    return LINK.sub(link, CODE_BAR.sub(lambda row: row.group().replace("\\|", "|"), text)), found


def help_sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yield a section with the `--help` of a command, then those of its subcommands."""
    context = command.make_context(name, [], parent, resilient_parsing=True, max_content_width=100)
    level = 2 if parent is None else 3
    yield f"{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if found := command.get_command(context, each):
                yield from help_sections(found, each, context)


def command_page() -> str:
    """Return the page of all commands."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    parts = ["# Command options\n\nWhat `--help` shows, for every command. [Commands](commands.md) has an overview.\n"]
    for name, target in scripts.items():
        module, _, attribute = target.partition(":")
        parts += help_sections(getattr(importlib.import_module(module), attribute), name)
    return "\n".join(parts)


def api_page() -> str:
    """Return the page of the Python interface, for mkdocstrings."""
    names = sorted(name for name in diorama.__all__ if not name.startswith("_"))
    parts = ["# Python reference\n\nEvery public name of `diorama`. [From Python](python.md) has examples.\n"]
    for title, lower in (("Functions", True), ("Classes and errors", False)):
        parts += [f"## {title}\n", *(f"::: diorama.{name}\n" for name in names if name.islower() == lower)]
    return "\n".join(parts)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="folder to write; what it holds is replaced")


def main(options: Namespace) -> int:
    """Write the sources."""
    shutil.rmtree(options.folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", options.folder, ignore=shutil.ignore_patterns("*.md", "references"))
    texts = {"command_reference.md": command_page(), "reference.md": api_page()}
    missing = []
    for page, site in pages().items():
        texts[site], linked = convert(page, site)
        missing += [f"{page.relative_to(ROOT)}: no file {file}" for file in linked if not file.is_file()]
        texts |= {site_path(file): file.read_text("utf-8") for file in linked if site_path(file).startswith("source/")}
    for name, text in texts.items():
        (options.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (options.folder / name).write_text(text, "utf-8")
    sys.stdout.writelines(f"{line}\n" for line in missing)
    return bool(missing)
