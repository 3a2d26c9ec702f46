"""The documents say what is so: their specs are right (or wrong as they say), their commands and options exist."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner
from packaging.version import Version

from diorama.render import __version__
from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import CompileError, SpecError
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.vocabulary import COLORS, RELATIONS, SHAPES, SIZES
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.reading.source import parse_episode
from tests.mesh_files import glb, write_files

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *GUIDES]
# The language is on three pages: how it works, its fields, its shapes.
LANGUAGE = "\n".join((ROOT / "docs" / name).read_text() for name in ("spec.md", "fields.md", "shapes.md"))
PROGRAMS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


class Block(NamedTuple):
    """A fenced block. words: what stands after the fence. below: text of the block that follows on its page."""

    page: str
    line: int
    words: tuple[str, ...]
    text: str
    below: str


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text()
    found = list(re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    after = [match.group(2) for match in found[1:]] + [""] * bool(found)
    return [
        Block(page.name, text.count("\n", 0, match.start()) + 1, tuple(match.group(1).split()), match.group(2), below)
        for match, below in zip(found, after, strict=True)
    ]


def episodes() -> list[Block]:
    """JSON blocks that are whole episodes, whatever they are meant to show."""
    blocks = [block for page in PAGES for block in blocks_of(page) if block.words[:1] == ("json",)]
    return [block for block in blocks if {"version", "id", "frames"} <= set(json.loads(block.text))]


def marked(*words: str) -> list[Any]:
    """Episodes whose fence has exactly these words after `json`, as test parameters."""
    return [pytest.param(block, id=f"{block.page}:{block.line}") for block in episodes() if block.words[1:] == words]


@pytest.mark.parametrize("block", marked())
def test_an_episode_without_a_mark_compiles(block: Block) -> None:
    assert isinstance(compile_episode(parse_episode(block.text), settings_for("draft", 320, 240)), Scene)


@pytest.mark.parametrize("block", marked("wrong"))
def test_an_episode_marked_wrong_has_the_faults_shown_below_it(block: Block) -> None:
    with pytest.raises(SpecError) as caught:
        parse_episode(block.text, "broken.json")
    assert [str(diagnostic) for diagnostic in caught.value.diagnostics] == block.below.splitlines()


@pytest.mark.parametrize("block", marked("fails"))
def test_an_episode_marked_fails_gives_the_message_shown_below_it(block: Block) -> None:
    def uncounted(text: str) -> list[str]:
        # How often which rule refused, and so their order, is the search's business.
        head, tail = re.sub(r"\([\d,]+ times?\)", "", text.strip()).split("rejected by: ")
        return [head, *sorted(tail.split(", "))]

    with pytest.raises(CompileError) as caught:
        compile_episode(parse_episode(block.text), settings_for("draft", 320, 240))
    assert uncounted(str(caught.value)) == uncounted(block.below)


@pytest.mark.parametrize("block", marked("needs", "mugs"))
def test_an_episode_that_needs_mugs_compiles_with_them(block: Block, tmp_path: Path) -> None:
    write_files(tmp_path / "mugs")
    (tmp_path / "mugs/red.glb").write_bytes(glb())
    scene = compile_episode(parse_episode(block.text), settings_for("draft", 320, 240), [tmp_path])
    assert {"model:mugs/red.glb", "model:mugs/z-up.obj?up=z"} <= set(scene.assets)


def test_the_marks_are_those_known_here() -> None:
    assert {block.words[1:] for block in episodes()} == {
        (),
        ("wrong",),
        ("fails",),
        ("needs", "mugs"),
    }


def test_pages_have_python_that_parses() -> None:
    for block in (block for page in PAGES for block in blocks_of(page) if block.words == ("python",)):
        compile(block.text, f"{block.page}:{block.line}", "exec")


def test_every_word_of_the_language_is_on_its_pages() -> None:
    words = (*COLORS, *plugins("materials"), *RELATIONS, *SHAPES, *SIZES)
    assert not [word for word in words if f"`{word}`" not in LANGUAGE]


def test_the_palette_is_as_the_page_says() -> None:
    page = " ".join(LANGUAGE.split())
    assert not [name for name, rgb in COLORS.items() if f"`{name}` {' '.join(map(str, rgb))}" not in page]
    assert not [name for name, scale in SIZES.items() if f"`{name}` ({scale:g})" not in page]


def command(program: str) -> click.Command:
    """The click command of an installed program."""
    module, _, attribute = PROGRAMS[program].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, click.Command)
    return found


def subcommands(command: click.Command | None) -> dict[str, click.Command | None]:
    """The commands of a group by name, also those that it imports on demand."""
    if not isinstance(command, click.Group):
        return {}
    context = click.Context(command)
    return {name: command.get_command(context, name) for name in command.list_commands(context)}


@cache
def help_texts(program: str) -> str:
    """`--help` of a program, and of each of its subcommands."""
    found = command(program)
    names: list[list[str]] = [[]]
    for name, below in subcommands(found).items():
        names += [[name], *([name, one] for one in subcommands(below))]
    return "".join(CliRunner().invoke(found, [*name, "--help"], catch_exceptions=False).output for name in names)


def mentions(text: str) -> list[tuple[str, str]]:
    """(program, rest of its line or code span) wherever a text calls one of ours."""
    # In a table the options of a command stand in other cells of its row, each in backticks of its own.
    rows = [line for line in text.splitlines() if line.startswith("|") and line.count("`render-") == 1]
    lines = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("    render-")]
    spans = re.findall(r"`(render-[^`]+)`", text)
    pieces = [piece.split("#")[0].strip() for piece in rows + lines + spans]
    found = [(re.search(r"render-[a-z]+", piece), piece) for piece in pieces]
    return [(match.group(), piece) for match, piece in found if match]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_named_exists(page: Path) -> None:
    wrong = []
    for program, call in mentions(page.read_text()):
        if program not in PROGRAMS:
            wrong.append(f"{program}: no such program")
            continue
        known = help_texts(program)
        options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", call)
        wrong += [f"{program} {option}" for option in options if not _has(known, option)]
        subcommand = re.match(r"render-specs ([a-z]+)", call)
        if subcommand and subcommand.group(1) not in subcommands(command(program)):
            wrong.append(f"{subcommand.group()}: no such subcommand")
    assert not wrong


def _has(known: str, option: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_every_example_is_on_its_page_with_a_picture_if_it_has_one() -> None:
    page = (ROOT / "docs/examples.md").read_text()
    names = {example.stem for example in (ROOT / "scene_specs/examples").glob("*.json")}
    assert not [name for name in names if f"(../scene_specs/examples/{name}.json)" not in page]
    assert {picture.stem for picture in (ROOT / "docs/images/examples").iterdir()} == set(
        re.findall(r"\(images/examples/(.+)\.jpg\)\]", page)
    )


def test_the_readme_is_short() -> None:
    text = PAGES[0].read_text()
    assert len(text.split()) <= 900
    assert not [line for line in text.splitlines() if len(line) > 120]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_a_guide_starts_with_a_sentence_about_its_subject(page: Path) -> None:
    assert re.match(r"# [^\n]+\n\n(?!After reading)[A-Z][^\n]+ [^\n]+\n", page.read_text())


def test_pages_install_what_is_tested() -> None:
    """Each program of others has a version of a lock, or a file of a lock; a range broke with a release of filelock."""
    files = [ROOT / "requirements.lock", ROOT / "tools/setup.sh", *(ROOT / "tools/locks").glob("*.lock")]
    locked = {*re.findall(r"[\w-]+(?:\[\w+\])?==[\w.]+", " ".join(path.read_text() for path in files))}
    seen = set()
    for page in (page for page in PAGES if page.name != "CHANGELOG.md"):
        for line in re.findall(r"pip install (?!--no-index)([^`#&\n]+)", page.read_text()):
            for word in shlex.split(line):
                if word.endswith(".lock"):
                    assert (ROOT / word).is_file(), (page, word)
                elif word[0] not in ".-" and not word.startswith(("diorama-render", "Diorama")):
                    seen.add(word)
    assert {word.replace("_", "-") for word in seen} - locked == set()
    assert len(seen) > 5


def test_the_first_commands_of_the_readme_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten episodes of an image each; they were 1,890 images."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^    (render-\S+) (.+)$", (ROOT / "README.md").read_text().partition("\n## ")[0], re.MULTILINE)
    assert [program for program, _ in lines] == ["render-specs", "render-batch"]
    for program, arguments in lines:
        more = ["--dry-run", "--json"] if program == "render-batch" else []
        done = CliRunner().invoke(command(program), [*arguments.split(), *more], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["todo"] == 10
    specs = [json.loads(line) for line in (tmp_path / "clevr.jsonl").read_text().splitlines()]
    assert [len(spec["frames"]) for spec in specs] == [1] * 10


def test_the_citation_is_of_the_last_release() -> None:
    """This is that release, or a development version of a later one."""
    version, date = re.findall(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    citation = (ROOT / "CITATION.cff").read_text()
    assert f'\nversion: {version}\ndate-released: "{date}"\n' in citation
    assert str(Version(__version__)) == __version__
    assert __version__ == version or (Version(__version__).is_devrelease and Version(__version__) > Version(version))
