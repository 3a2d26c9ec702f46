"""The help of every command: first lines that stand alone, and a default and a unit where a reader needs one."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from render import __version__
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
# Options that turn something on, or of which the command needs one.
OFF_BY_DEFAULT = {
    "render-batch": ["--json-log", "--status"],
    "render-episode": ["--from", "--sheet", "--plan"],
    "render-export": ["--out"],
    "render-specs check": ["--store"],
    "render-specs icca": ["--contexts"],
    "render-specs icca play": ["--folders"],
    "render-specs icca prompt": ["--images"],
    "render-specs icca score": ["--plot"],
    "render-specs iwisdm": ["--benchmark", "--task", "--config", "--count"],
    "render-specs views": ["--list"],
    "render-store stats": ["--out"],
    "render-store verify": ["--specs-out"],
}


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_the_first_line_stands_alone_in_a_list(name: str, command: click.Command) -> None:
    first = (command.help or "").split("\n\n")[0]
    assert "\n" not in first and len(first) < 60, first
    assert command.get_short_help_str(60).removesuffix(".") == first.removesuffix("."), first


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_option_says_what_it_does_and_its_default(name: str, command: click.Command) -> None:
    program, *rest = name.split()
    module, _, attribute = PROGRAMS[program].partition(":")
    shown = CliRunner().invoke(getattr(importlib.import_module(module), attribute), [*rest, "--help"]).output
    text = " ".join(shown.split())
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


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_has_the_common_options(name: str, command: click.Command) -> None:
    program, *rest = name.split()
    module, _, attribute = PROGRAMS[program].partition(":")
    main = getattr(importlib.import_module(module), attribute)
    text = CliRunner().invoke(main, [*rest, "-h"]).output
    for options in ("-v, --verbose", "-q, --quiet", "-h, --help", "--version"):
        assert options in text, options
    if name != "render-store tag":  # --version is the version to tag
        assert CliRunner().invoke(main, [*rest, "--version"], prog_name=program).output == f"{program} {__version__}\n"
