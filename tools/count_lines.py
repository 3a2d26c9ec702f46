"""Count lines of code: core, wings and tools apart.

    python -m tools count-lines               # by package
    python -m tools count-lines --files       # by file
    python -m tools count-lines --commit REV  # as of another commit
    python -m tools count-lines --check       # exit code 1 if the core or all is above its cap

Blanks, comments, docstrings and tests do not count. The core is what rendering imports (tests/rooms.py). Generators of
assets and JavaScript are not in the sum; nor are lines of data files next to the code, so that code can't hide there.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator

from tests.rooms import core_modules
from tools.programs import ROOT, git

# 14,000 and 46,300, and what the issues of 0.2 may add. A cap grows only with a capability.
CORE_CAP, ALL_CAP = 14_350, 47_650
_CODE = (".py", ".c", ".cpp", ".h")
_DATA = (".json", ".toml", ".txt", ".css", ".html", ".csv")
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
    """Lines of one source, in Python or with comments like C's, with at least one token of code on them."""
    if not python:
        text = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
        return sum(bool(line.strip()) and not line.lstrip().startswith("//") for line in text.splitlines())
    covered: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        # Line ends, indents and the end of the file are tokens of blank text.
        if token.type != tokenize.COMMENT and token.string.strip():
            covered.update(range(token.start[0], token.end[0] + 1))
    return len(covered - docstring_lines(ast.parse(source)))


def sources(commit: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each file of a commit that is counted, code or data."""
    for path in git(ROOT, "ls-tree", "-r", "--name-only", commit).splitlines():
        data = path.endswith((*_DATA, ".js")) and path.startswith(_DATA_FOLDERS)
        if (path.endswith(_CODE) or data) and not path.startswith("tests/"):
            yield path, git(ROOT, "show", f"{commit}:{path}")


def core_files(texts: dict[str, str]) -> set[str]:
    """The paths of the core's modules."""
    installed = {
        f"diorama/{path}": text for path, text in texts.items() if path.startswith(("render/", "scene_specs/"))
    }
    stems = {name.removeprefix("diorama.").replace(".", "/") for name in core_modules(installed)}
    return {f"{stem}{end}" for stem in stems for end in (".py", "/__init__.py")} & texts.keys()


def group_of(path: str, core: set[str]) -> str:
    """What a file is counted as."""
    if path.endswith(".js"):
        return "JavaScript"
    if path.startswith("assets/build/"):
        return "generators of assets"
    if path.startswith("tools/"):
        return "tools"
    return "core" if path in core else "wings"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--commit", default="HEAD", help="count the files of this commit")
    parser.add_argument("--files", action="store_true", help="list every file")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the core or all is above its cap")


def main(options: Namespace) -> int:
    """Print the counts.

    Returns:
        1 if --check finds a count above its cap, else 0.
    """
    texts = dict(sources(options.commit))
    core = core_files({path: text for path, text in texts.items() if path.endswith(".py")})
    groups: Counter[str] = Counter()
    packages: Counter[tuple[str, str]] = Counter()
    for path, text in texts.items():
        if path.endswith((*_CODE, ".js")):
            lines, group = code_lines(text, path.endswith(".py")), group_of(path, core)
            groups[group] += lines
            # Two levels of folders, three in the rooms that hold one wing each.
            parts = path.split("/")[:-1]
            package = "/".join(parts[: 3 if parts[1:2] in (["uses"], ["tasks"], ["benchmarks"]) else 2]) or "."
            packages[group, path if options.files else package] += lines
    for group, name in sorted(packages):
        print(f"{packages[group, name]:7,}  {group}: {name}")
    counted = groups["core"] + groups["wings"] + groups["tools"]
    for name in ("core", "wings", "tools"):
        print(f"{groups[name]:7,}  {name}")
    print(f"{counted:7,}  core, wings and tools")
    data = sum(len(text.splitlines()) for path, text in texts.items() if path.endswith(_DATA))
    besides = {**{name: groups[name] for name in ("generators of assets", "JavaScript")}, "data files": data}
    print("besides:", ", ".join(f"{count:,} of {name}" for name, count in besides.items()))
    above = [
        f"{name} has {count:,} lines; at most {cap:,} are allowed"
        for name, count, cap in (("the core", groups["core"], CORE_CAP), ("all", counted, ALL_CAP))
        if options.check and count > cap
    ]
    print(*above, sep="\n", end="\n" * bool(above))
    return bool(above)
