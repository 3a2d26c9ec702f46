"""What the commands of `render-store` share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from render.store.lance.reader import LanceReader

STORE = click.argument("url", metavar="STORE", default=lambda: os.environ.get("DIORAMA_STORE") or "diorama.lance")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
AT = click.option("--at", metavar="VERSION", help="A version's number or tag instead of the newest.")
WHERE = click.option("--where", metavar="SQL", help="Only rows that this holds for, such as \"split = 'train'\".")


def open_one(url: str, at: str | None = None) -> LanceReader:
    """The store, or as it was at a version or tag."""
    from render.store import open_at, open_store

    return open_store(url) if at is None else open_at(url, at)


@contextmanager
def bar(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, for what takes more than two seconds; call what it gives with what was done."""
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, delay=2, disable=None) as shown:

        def progress(done: int) -> None:
            shown.update(done)

        yield progress


def print_json(value: Any) -> None:
    """To stdout, for programs."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a table for people, every column as wide as its widest cell; nothing where there are no rows."""
    cells = [head, *rows]
    if len(cells) > 1:
        widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
        for row in cells:
            yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
