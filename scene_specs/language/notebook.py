"""HTML previews for notebooks. Packages above the data model register them, so that it imports none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_previews: dict[type, Callable[[Any], str]] = {}


def register(kind: type, preview: Callable[[Any], str]) -> None:
    """Make `preview(value)` the HTML of every value of this class.

    `diorama.render.api` does it for records and Scenes.
    """
    _previews[kind] = preview


def html_of(value: object) -> str | None:
    """Return the HTML of a value; None if no preview is registered for its class, so that a notebook prints text."""
    preview = _previews.get(type(value))
    return None if preview is None else preview(value)
