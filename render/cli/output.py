"""Output of commands: files and stdout, JSON, tables, progress bars."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from diorama.render.cli.command import log
from diorama.scene_specs.files.writing import atomic_writer

_Data = TypeVar("_Data")


def json_text(value: Any, ascii_only: bool = True) -> str:
    """Return a value as indented JSON with a line break at its end."""
    return json.dumps(value, indent=1, ensure_ascii=ascii_only, default=str) + "\n"


def print_json(value: Any, ascii_only: bool = True) -> None:
    """Print a value as indented JSON."""
    click.echo(json_text(value, ascii_only), nl=False)


def print_result(as_json: bool, data: Any, text: str, ascii_only: bool = True) -> None:
    """Print a result as indented JSON, or as text, which ends with a line break."""
    click.echo(json_text(data, ascii_only) if as_json else text, nl=False)


def write_text(out: Path | None, text: str, option: str = "--out") -> None:
    """Write a text atomically; see `atomic_writer`."""
    with atomic_writer(out, option) as stream:
        stream.write(text)


def write_lines(out: Path | None, lines: Iterable[str], unit: str, total: int | None = None) -> None:
    """Write lines with a progress bar.

    Args:
        out: file, None for stdout.
        lines: without line breaks.
        unit: what a line is.
        total: number of lines, if known.
    """
    with atomic_writer(out) as stream:
        for line in progress(lines, unit, total):
            stream.write(line + "\n")


def _hidden() -> bool | None:
    """Whether --quiet hides progress bars; None hides them if stderr is not a terminal."""
    return None if log.isEnabledFor(logging.INFO) else True


def progress(items: Iterable[_Data], unit: str, total: int | None = None) -> Iterator[_Data]:
    """Iterate with a progress bar on a terminal, shown after two seconds."""
    from tqdm import tqdm

    yield from tqdm(items, total=total, unit=f" {unit}", delay=2, disable=_hidden())


@contextmanager
def total_bar(unit: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar as `progress` does; call the yielded function with the numbers of done items and of all."""
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", delay=2, disable=_hidden()) as bar:

        def update(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update


@contextmanager
def progress_bar(total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar as `progress` does; call the yielded function with the number of items done since."""
    from tqdm import tqdm

    with tqdm(total=total, unit=f" {unit}", delay=2, disable=_hidden()) as bar:

        def update(done: int) -> None:
            bar.update(done)

        yield update
