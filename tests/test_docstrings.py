"""Docstrings of public functions and classes have the sections of the Google style, which the site renders."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Of commands, click and the registry print the docstring as help.
_FILES = [
    path.relative_to(ROOT)
    for folder in ("diorama", "render", "scene_specs")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "cli" not in path.relative_to(ROOT).parts and not (folder == "diorama" and len(path.relative_to(ROOT).parts) > 2)
]
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$")
_ITEM = re.compile(r"^    (\*{0,2}\w+)(?: \([^)]*\))?: ")
_SEVERAL = re.compile(r"\bRaises \w*Error\b[^.]*?(?:, and |, | and |; )\w*Error\b")
_Node = ast.FunctionDef | ast.ClassDef


def sections(text: str) -> dict[str, list[str]]:
    """Section -> the names that its items begin with."""
    found: dict[str, list[str]] = {}
    names: list[str] | None = None
    for line in text.splitlines():
        if section := _SECTION.match(line):
            names = found.setdefault(section[1], [])
        elif line and not line.startswith("    "):
            names = None
        elif names is not None and (item := _ITEM.match(line)):
            names.append(item[1].lstrip("*"))
    return found


def names_of(node: _Node) -> set[str]:
    """Parameters of a function; fields, properties and parameters of a class."""
    if isinstance(node, ast.ClassDef):
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        fields = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        own = {found.attr for found in ast.walk(node) if isinstance(found, ast.Attribute) and _is_self(found.value)}
        made = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        return fields.union(methods, own, *map(names_of, made))
    arguments = node.args
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {argument.arg for argument in found if argument is not None}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def problems(source: str) -> Iterator[str]:
    """What is wrong with the docstrings of a module's public functions and classes, a line each."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, _Node) or node.name.startswith("_") or not (text := ast.get_docstring(node)):
            continue
        found, names = sections(text), names_of(node)
        prose = re.split(r"^(?:Args|Attributes|Returns|Yields|Raises):$", text, maxsplit=1, flags=re.MULTILINE)[0]
        if _SEVERAL.search(" ".join(prose.split())):
            yield f"{node.name}: several errors in a sentence; expected a section Raises"
        run = [name for name in re.findall(r"(?:^|(?<=[.;] ))(\w+): ", " ".join(prose.split())) if name in names]
        if run and not _is_command(node):
            yield f"{node.name}: `{run[0]}: ...` in a sentence; expected a section Args or Attributes"
        listed = found.get("Args", []) + found.get("Attributes", [])
        # Without annotations a class may still set what it lists in a base class.
        inherits = isinstance(node, ast.ClassDef) and bool(node.bases)
        if unknown := [name for name in listed if name not in names and not inherits]:
            yield f"{node.name}: lists {', '.join(unknown)}, which it does not have"
        if twice := [name for name in listed if listed.count(name) > 1]:
            yield f"{node.name}: lists {twice[0]} twice"


def _is_command(node: _Node) -> bool:
    """Whether a class describes a command, whose docstring is its help text, or a parameter set of one."""
    bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
    return any("Command" in base or "Params" in base or base in _COMMANDS for base in bases)


_COMMANDS = {"Report", "Presented"}


@pytest.mark.parametrize("path", _FILES, ids=str)
def test_public_docstrings_have_sections(path: Path) -> None:
    assert [*problems((ROOT / path).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("docstring", "problem"),
    [
        ("Reads. Raises SpecError, StageError.", "several errors"),
        ("Reads. Raises SpecError for a wrong file, and\n    AssetError.", "several errors"),
        ("Reads. size: in pixels.", "`size: ...` in a sentence"),
        ("size: in pixels.", "`size: ...` in a sentence"),
        ("Reads.\n\n    Args:\n        width: in pixels.", "lists width, which it does not have"),
        ("Reads.\n\n    Args:\n        size: a.\n        size: b.", "lists size twice"),
        ("Reads. Raises SpecError.\n\n    Args:\n        size: of what: is.\n            more: text", ""),
    ],
)
def test_planted_problems_are_found(docstring: str, problem: str) -> None:
    found = [*problems(f'def read(size: int) -> None:\n    """{docstring}\n    """\n')]
    assert bool(found) == bool(problem) and all(problem in line for line in found)
