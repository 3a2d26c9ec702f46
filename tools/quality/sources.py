"""Hash the code that decides images, truth and cost: results of other code are measured again."""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# The compiler's work is in a scene's digest, and a profile's in a candidate's settings.
_FILES = (
    "render/renderers/cycles", "render/annotations", "render/geometry", "render/episode/make_record.py",
    "tools/quality/measure.py", "tools/quality/tuned.py", "tools/quality/published.py",
)  # fmt: skip


@lru_cache(maxsize=1)
def sources(root: Path = _ROOT, paths: tuple[str, ...] = _FILES) -> str:
    """Return the SHA-256 of the code of these files in the order of their names, without comments and docstrings.

    Raises FileNotFoundError for a missing file or folder.
    """
    found = hashlib.sha256()
    for name in paths:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            code = _code(file.read_text("utf-8"))
            found.update(f"{file.relative_to(root).as_posix()}\n{code}\n".encode())
    return found.hexdigest()


def _code(text: str) -> str:
    """Return a module's syntax tree without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)
