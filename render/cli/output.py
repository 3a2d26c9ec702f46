"""Output of commands: files and stdout, JSON, tables, progress bars."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from render.cli.command import log, report_write_errors, unwritable
from render.model.errors import UsageError
from scene_specs.language.atomic import atomic_path
from scene_specs.language.tables import counted as counted

_Data = TypeVar("_Data")


def is_stream(out: Path | None) -> bool:
    """Whether an --out is stdout (None or `-`), a pipe, or a device, such as /dev/null: never a file to rename."""
    return out is None or str(out) == "-" or (out.exists() and not out.is_file() and not out.is_dir())


@contextmanager
def atomic_writer(out: Path | None) -> Iterator[IO[str]]:
    """Open `out` for UTF-8 text: a file gets its name only if the block ends without an error.

    None and `-` are stdout. Pipes and devices are written to directly: a rename would replace them. If `out` is a
    symbolic link, its target is written. Raises UsageError if the file can't be written; errors of the block pass.
    """
    if out is None or str(out) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    raised: BaseException | None = None
    try:
        if out.is_dir():
            raise UsageError(f"--out {out}: is a folder; name a file")
        with _open_atomic(out) as stream:
            try:
                yield stream
            except BaseException as error:
                raised = error
                raise
    except (OSError, RuntimeError) as error:
        if error is raised or isinstance(error, BrokenPipeError):
            raise
        raise unwritable(f"--out {out}", error) from error


@contextmanager
def _open_atomic(out: Path) -> Iterator[IO[str]]:
    if is_stream(out):
        with out.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
    else:
        with atomic_path(out.resolve()) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream


def create_empty_folder(option: str, out: Path) -> None:
    """Create the folder that an option names. Raises UsageError if that fails or the folder has contents."""
    with report_write_errors(f"{option} {out}"):
        if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
            raise UsageError(f"{option} {out}: already exists and is not an empty folder; name another folder")
        out.mkdir(parents=True, exist_ok=True)


def json_text(value: Any, ascii_only: bool = True) -> str:
    """A value as indented JSON with a line break at its end."""
    return json.dumps(value, indent=1, ensure_ascii=ascii_only, default=str) + "\n"


def print_json(value: Any, ascii_only: bool = True) -> None:
    """Print a value as indented JSON."""
    click.echo(json_text(value, ascii_only), nl=False)


def write_text(out: Path | None, text: str) -> None:
    """Write a text atomically; see `atomic_writer`."""
    with atomic_writer(out) as stream:
        stream.write(text)


def write_lines(out: Path | None, lines: Iterable[str], unit: str, total: int | None = None) -> None:
    """Write lines with a progress bar. unit: what a line is."""
    with atomic_writer(out) as stream:
        for line in progress(lines, unit, total):
            stream.write(line + "\n")


def write_specs(out: Path | None, specs: Iterable[Any], unit: str, total: int | None = None) -> None:
    """Write JSON data as compact JSON Lines with a progress bar."""
    write_lines(out, (json.dumps(spec, separators=(",", ":")) for spec in specs), unit, total)


def _no_bar() -> bool | None:
    """True with --quiet; None lets tqdm decide: it shows a bar on a terminal."""
    return None if log.isEnabledFor(logging.INFO) else True


def progress(items: Iterable[_Data], unit: str, total: int | None = None) -> Iterator[_Data]:
    """Iterate with a progress bar on a terminal, shown after two seconds."""
    from tqdm import tqdm

    yield from tqdm(items, total=total, unit=f" {unit}", delay=2, disable=_no_bar())


@contextmanager
def progress_bar(total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar as `progress` does; call the yielded function with the number of items done since."""
    from tqdm import tqdm

    with tqdm(total=total, unit=f" {unit}", delay=2, disable=_no_bar()) as bar:

        def update(done: int) -> None:
            bar.update(done)

        yield update
