"""The code that decides pictures, truth and cost, as a hash: a result of other code is not taken again."""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# What the compiler does is in a scene's digest, what profiles say in a candidate's settings.
_PLACES = (
    "render/renderers/cycles",
    "render/annotations",
    "render/geometry",
    "render/episode/make_record.py",
    "tools/quality/measure.py",
    "tools/quality/tuned.py",
    "tools/quality/published.py",
)


@lru_cache(maxsize=1)
def sources(root: Path = _ROOT, places: tuple[str, ...] = _PLACES) -> str:
    """SHA-256 of these files' code, in the order of their names; comments, docstrings and layout don't count.

    Raises FileNotFoundError for a place that is not there.
    """
    found = hashlib.sha256()
    for place in places:
        path = root / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            code = _code(file.read_text("utf-8"))
            found.update(f"{file.relative_to(root).as_posix()}\n{code}\n".encode())
    return found.hexdigest()


def _code(text: str) -> str:
    """A module's syntax tree without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)
