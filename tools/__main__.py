"""Run a tool for developers of Diorama: `python -m tools NAME [options]`; without a name, list the tools.

A tool is a module or package in this folder or in one of its rooms (`measuring`: what something costs; `claims`: what
backs a figure of the docs), or beside the tests whose files it works on, with a function `main(options)` that returns
an exit code (None counts as 0). Its function `add_options(parser)`, if there is one, declares the options; the module's
docstring is the help text, and `RESUMES = True` means that an interrupted run continues. Exit codes of all tools: 2 for
wrong options and unreadable or unwritable files, 130 after Ctrl-C; each tool documents the others.
"""

from __future__ import annotations

import ast
import importlib
import logging
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.diagnostics import did_you_mean

FOLDER = Path(__file__).parent
USAGE, INTERRUPTED = 2, 130
_MAIN = re.compile(r"^def main\(", re.MULTILINE)
# Tools that work on files of the tests lie beside these.
_IN_TESTS = {
    "command-fuzz": "hostile/command_fuzz.py",
    "compatibility": "compatibility/making.py",
    "judge-models": "render/ingest/judging.py",
    "mangle": "hostile/mangling.py",
    "render-statistics": "statistical/power.py",
    "store-kill": "render/store/lance/killing.py",
    "tampering": "hostile/tampering.py",
}


def tool_files() -> dict[str, Path]:
    """Map the name of each tool to its file. Nothing is imported: some tools need Blender or Ray."""
    files = sorted(FOLDER.rglob("[!_]*.py")) + sorted(FOLDER.glob("*/**/__init__.py"))
    tools = {_module(path).rpartition(".")[2]: path for path in files if _MAIN.search(path.read_text("utf-8"))}
    tools |= {name: FOLDER.parent / "tests" / path for name, path in _IN_TESTS.items()}
    return {name.replace("_", "-"): path for name, path in sorted(tools.items())}


def _module(path: Path) -> str:
    """Return the dotted name of a tool's module or package."""
    parts = path.relative_to(FOLDER.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def list_tools() -> str:
    """Return one line per tool: its name and the first line of its docstring."""
    lines = []
    for name, path in tool_files().items():
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        lines.append(f"  {name:18} {text.splitlines()[0]}\n")
    return "usage: python -m tools NAME [options]\n\n" + "".join(lines)


def load_tool(name: str) -> tuple[ModuleType, ArgumentParser]:
    """Import a tool; return its module and the parser of its options."""
    module = importlib.import_module(_module(tool_files()[name]))
    parser = ArgumentParser(f"python -m tools {name}", description=module.__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    if hasattr(module, "add_options"):
        module.add_options(parser)
    return module, parser


def exit_code_of(work: Callable[[], int | None], resumes: bool = False) -> int:
    """Run `work` and return its exit code; an expected error becomes one line on standard error and a code.

    resumes: the tool keeps completed measurements, which the message then says.
    """
    hint = "; completed measurements are kept: run the same command to continue" if resumes else ""
    try:
        return work() or 0
    except DioramaError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except OSError as error:
        # Not 1, which means that a check failed.
        sys.stderr.write(f"error: {error}{hint}\n")
        return USAGE
    except KeyboardInterrupt:
        sys.stderr.write(f"stopped{hint}\n")
        return INTERRUPTED


def main(arguments: Sequence[str]) -> int:
    """Run one tool and return its exit code. Raises SystemExit for `--help` and wrong options."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(list_tools())
        return 0
    name, *rest = arguments
    if name not in tool_files():
        hint = did_you_mean(name, tool_files()) or "list the tools: python -m tools"
        sys.stderr.write(f"error: unknown tool {name!r}; {hint}\n")
        return USAGE
    module, parser = load_tool(name)
    options = parser.parse_args(rest)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    return exit_code_of(lambda: module.main(options), getattr(module, "RESUMES", False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
