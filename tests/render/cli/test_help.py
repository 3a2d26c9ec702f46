"""The help of every command: first lines that stand alone, and a default and a unit where a reader needs one."""

from __future__ import annotations

import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from diorama.render import __version__
from tests.test_docs import subcommands

ROOT = Path(__file__).parents[3]
PROGRAMS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and its subcommands, with their full names."""
    yield name, command
    for below, sub in subcommands(command).items():
        assert sub is not None
        yield from commands(f"{name} {below}", sub)


def every_command() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for program, where in PROGRAMS.items():
        module, _, attribute = where.partition(":")
        found += commands(program, getattr(importlib.import_module(module), attribute))
    return found


COMMANDS = every_command()
EACH = pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
# Options that turn something on, or of which the command needs one.
OFF_BY_DEFAULT = {
    "render-batch": ["--json-log", "--status"],
    "render-episode": ["--from", "--from-export", "--sheet", "--plan"],
    "render-export": ["--out"],
    "render-specs check": ["--store"],
    "render-specs icca": ["--contexts"],
    "render-specs icca play": ["--folders"],
    "render-specs icca prompt": ["--images"],
    "render-specs icca score": ["--plot"],
    "render-specs iwisdm": ["--benchmark", "--task", "--config", "--count"],
    "render-specs views": ["--list"],
    "render-store verify": ["--specs-out"],
}


def run(name: str, *arguments: str) -> str:
    """What a command with this full name prints."""
    program, *below = name.split()
    module, _, attribute = PROGRAMS[program].partition(":")
    main = getattr(importlib.import_module(module), attribute)
    return CliRunner().invoke(main, [*below, *arguments], prog_name=program).output


@EACH
def test_the_first_line_stands_alone_in_a_list(name: str, command: click.Command) -> None:
    first = (command.help or "").split("\n\n")[0]
    assert "\n" not in first and len(first) < 60, first
    assert command.get_short_help_str(60).removesuffix(".") == first.removesuffix("."), first


@EACH
def test_every_option_says_what_it_does_and_its_default(name: str, command: click.Command) -> None:
    text = " ".join(run(name, "--help").split())
    assert not re.search(r"RANGE|<=|>=|x<|x>", text)
    for option in command.params:
        if not isinstance(option, click.Option):
            continue
        assert option.help, option.opts
        optional = not (option.is_flag or option.required or option.multiple or option.count)
        if optional and option.opts[-1] not in OFF_BY_DEFAULT.get(name, []):
            assert "[default: " in option.help or option.to_info_dict()["default"] is not None, (
                option.opts,
                option.help,
            )


@EACH
def test_every_command_has_the_common_options(name: str, command: click.Command) -> None:
    text = run(name, "-h")
    for options in ("-v, --verbose", "-q, --quiet", "-h, --help", "--version"):
        assert text.count(f"\n  {options} ") == 1, options
    for given in ("-q", "-v", "-vv"):
        assert run(name, given, "--help") == text
    if name != "render-store tag":  # --version is the version to tag
        assert run(name, "--version") == f"{name.split()[0]} {__version__}\n"


@EACH
def test_options_stand_in_groups_on_lines_that_fit(name: str, command: click.Command) -> None:
    text = run(name, "--help")
    assert not [line for line in text.splitlines() if len(line) > 80]
    groups = re.findall(r"^([A-Z][a-z ]+):$", text, re.MULTILINE)
    assert groups[-1] == "Examples" and "Common options" in groups and len(groups) == len(set(groups))
    assert len(re.findall(r"^  -", text.partition("\nOptions:\n")[2].partition("\n\n")[0], re.MULTILINE)) <= 6


@EACH
def test_two_examples_have_options_and_arguments_of_the_command(name: str, command: click.Command) -> None:
    examples = re.findall(r"^  (render-.*)$", run(name, "--help").partition("\nExamples:\n")[2], re.MULTILINE)
    assert len(examples) == 2
    for example in examples:
        program, *words = shlex.split(example)
        called: Any = getattr(importlib.import_module("diorama"), program.replace("-", "_"))
        parent = None
        while isinstance(called, click.Group) and words and words[0] in subcommands(called):
            called, parent = subcommands(called)[words.pop(0)], click.Context(called)
        parsed, rest, _ = called.make_parser(click.Context(called, parent)).parse_args(words)
        assert not rest, example
        for option in called.params:
            value = parsed.get(option.name or "")
            if isinstance(option.type, click.Choice) and isinstance(value, str):
                assert value in option.type.choices, example


@EACH
def test_choices_are_shown(name: str, command: click.Command) -> None:
    text = "".join(run(name, "--help").split())
    choices = [option.type.choices for option in command.params if isinstance(option.type, click.Choice)]
    assert not [choice for named in choices for choice in named if choice not in text]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("render-specs mwel", "mewl"), ("render-specs mewl adit", "audit"), ("render-store lss", "ls")],
)
def test_an_unknown_subcommand_suggests_the_nearest(name: str, nearest: str) -> None:
    assert f"{name.split()[-1]!r}; did you mean {nearest!r}?" in run(name)


@EACH
def test_a_store_that_may_be_left_out_has_one_default(name: str, command: click.Command, tmp_path: Path) -> None:
    optional = [one for one in command.params if isinstance(one, click.Argument) and one.metavar == "[STORE]"]
    if optional and name != "render-store create":
        more = ["--out", str(tmp_path / "out")] if "--out DIR" in run(name, "--help") else []
        if name == "render-eval ask":
            more = ["--model", "openai:any", "--out", str(tmp_path / "out")]
        result = CliRunner(env={"DIORAMA_STORE": str(tmp_path / "none.lance")})
        program, *below = name.split()
        module, _, attribute = PROGRAMS[program].partition(":")
        done = result.invoke(getattr(importlib.import_module(module), attribute), [*below, *more])
        assert done.exit_code == 4 and "none.lance" in done.output


@pytest.mark.parametrize("name", ["render-specs", "render-store"])
def test_an_unknown_option_is_not_a_subcommand(name: str) -> None:
    assert "No such option" in run(name, "--nothing")


def test_commands_that_exit_with_1_are_named_by_their_group_and_by_the_page() -> None:
    meanings = {name: re.search(r"\b1: (.*?);\s", command.help or "", re.DOTALL) for name, command in COMMANDS}
    ones = [name for name, meaning in meanings.items() if meaning and " " in name]
    assert len(ones) > 5
    page = (ROOT / "docs/commands.md").read_text("utf-8").partition("1 means")[2]
    for name in ones:
        group, _, below = name.rpartition(" ")
        of_group = meanings[group]
        assert of_group is not None and re.search(rf"`{below}\b", of_group[1])
        assert re.search(rf"`{name}\b.*\|", page)
