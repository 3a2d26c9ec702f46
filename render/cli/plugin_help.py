"""What help says about plug-ins, read from their source without importing them, only the packages above."""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import lru_cache
from importlib import util
from pathlib import Path

from diorama.scene_specs.files.foreign import printable
from diorama.scene_specs.language.registry import Plugin


def summary(plugin: Plugin, of: str = "") -> str:
    """Return the first line of the docstring of a plug-in's module, "" if it has none.

    Args:
        of: a class of the module instead, in lower case.
    """
    described = _classes(plugin).get(of) if of else _parsed_source(plugin)
    text = "" if described is None else ast.get_docstring(described) or ""
    return printable(text.partition("\n")[0])


def class_keyword(plugin: Plugin, name: str) -> dict[str, str]:
    """Return the value of a keyword -> class of the plug-in's module that has it, in lower case."""
    given = ((key.value, word) for word, node in _classes(plugin).items() for key in node.keywords if key.arg == name)
    return {str(value.value): word for value, word in given if isinstance(value, ast.Constant)}


def _classes(plugin: Plugin) -> dict[str, ast.ClassDef]:
    """Return name in lower case -> class of the module."""
    return {node.name.lower(): node for node in _parsed_source(plugin).body if isinstance(node, ast.ClassDef)}


@lru_cache(maxsize=256)
def _parsed_source(plugin: Plugin) -> ast.Module:
    """Return the parsed module, empty if it can't be read."""
    with suppress(Exception):  # finding a module imports the packages above it
        origin = plugin.path or getattr(util.find_spec(plugin.module), "origin", None)
        return ast.parse(Path(origin).read_bytes() if origin else b"")
    return ast.parse("")
