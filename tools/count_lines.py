"""Count lines of code without blanks, comments and docstrings.

    python -m tools count-lines               # every file in Python, C or C++ except tests and assets/build, by package
    python -m tools count-lines --files       # by file
    python -m tools count-lines --commit REV  # as of another commit

Data files next to the code are counted apart, so that code can't hide in them.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator

from tools.programs import ROOT, git

_LEFT_OUT = ("tests/", "assets/build/")
_CODE = (".py", ".c", ".cpp", ".h")
_DATA = (".json", ".toml", ".txt", ".js", ".css", ".html", ".csv")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_DATA_FOLDERS = ("render/", "scene_specs/", "tools/")


def docstring_lines(tree: ast.AST) -> set[int]:
    """1-based lines covered by docstrings of modules, classes and functions."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def code_lines(source: str, python: bool = True) -> int:
    """Lines of one source in Python, or in C or C++, with at least one token of code on them."""
    if not python:
        return sum(bool(line.strip()) for line in re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL).splitlines())
    covered: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        # Line ends, indents and the end of the file are tokens of blank text.
        if token.type != tokenize.COMMENT and token.string.strip():
            covered.update(range(token.start[0], token.end[0] + 1))
    return len(covered - docstring_lines(ast.parse(source)))


def sources(commit: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each counted file of a commit, code or data."""
    for path in git(ROOT, "ls-tree", "-r", "--name-only", commit).splitlines():
        data = path.endswith(_DATA) and path.startswith(_DATA_FOLDERS)
        if (path.endswith(_CODE) or data) and not path.startswith(_LEFT_OUT):
            yield path, git(ROOT, "show", f"{commit}:{path}")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--commit", default="HEAD", help="count the files of this commit")
    parser.add_argument("--files", action="store_true", help="list every file")


def main(options: Namespace) -> None:
    """Print the counts."""
    code: Counter[str] = Counter()
    data = files = 0
    for path, text in sources(options.commit):
        if path.endswith(_CODE):
            # Two levels of folders.
            package = "/".join(path.split("/")[:-1][:2]) or "."
            code[path if options.files else package] += code_lines(text, path.endswith(".py"))
            files += 1
        else:
            data += len(text.splitlines())
    for name, count in sorted(code.items()):
        print(f"{count:7,}  {name}")
    print(f"{sum(code.values()):7,}  lines of code in {files} files; {data:,} lines of data files")
