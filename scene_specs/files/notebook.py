"""HTML previews for notebooks. Packages above the data model register them, so that it imports none of them."""

from __future__ import annotations

from pkgutil import resolve_name

_previews: dict[type, str] = {}


def register(kind: type, preview: str) -> None:
    """Name the function that makes the HTML of a value of this class; `diorama.render.api` does it.

    Args:
        kind: the class.
        preview: "module:function"; imported when it is first used.
    """
    _previews[kind] = preview


def html_of(value: object) -> str | None:
    """Return the HTML of a value; None if no preview is registered for its class, so that a notebook prints text."""
    preview = _previews.get(type(value))
    return None if preview is None else str(resolve_name(preview)(value))
