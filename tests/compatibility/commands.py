"""Runs the installed commands inside this process. Modules are found through pyproject.toml, not by name."""

from __future__ import annotations

import importlib
import json
import tomllib
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
PROGRAMS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def command(program: str) -> click.Command:
    """The click command of a program in `[project.scripts]`."""
    module, _, attribute = PROGRAMS[program].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, click.Command)
    return found


def run(program: str, *arguments: str | Path, exit_codes: tuple[int, ...] = (0,)) -> str:
    """Run a command and return its standard output. Raises AssertionError for any other exit code."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(command(program), words)
    if result.exit_code not in exit_codes:
        call = " ".join([program, *words])
        raise AssertionError(f"{call}: exit code {result.exit_code}\n{result.output}") from result.exception
    return result.stdout


def run_json(program: str, *arguments: str | Path, exit_codes: tuple[int, ...] = (0,)) -> Any:
    """Run a command with --json and return the data it prints."""
    return json.loads(run(program, *arguments, "--json", exit_codes=exit_codes))
