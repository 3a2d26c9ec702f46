"""Compare Diorama with the published files of benchmarks.

    python -m tools published CHECKOUT... [--items 10000] [--python venv/bin/python]

CHECKOUT is a clone of a benchmark's repository, such as lil-lab/kilogram. For each, the tool prints its commit, the
files that are listed there but absent, and a Markdown table, a row as soon as each comparison ends: what was compared,
how many values, how many differ, and why. Exit code 1 if a difference is not among the known ones.
"""

from __future__ import annotations

import logging
import pkgutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from diorama.scene_specs import benchmarks
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import markdown_table
from tools.claims import crosschecks
from tools.programs import git

HEAD = ("compared", "values", "differ", "known", "note")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--renderer", default="cycles", help="renderer of the redrawn images (default: cycles)")
    parser.add_argument("--python", help="Python with the requirements of the checkout's code (iwisdm; default: skip)")
    parser.add_argument("--items", type=int, default=0, help="items per seed to compare distributions (default: none)")


def crosscheck_of(checkout: Path) -> tuple[str, ModuleType]:
    """Return name and module of the comparison for a checkout. Raises UsageError if there is none."""
    names = [found.name for found in pkgutil.iter_modules(crosschecks.__path__)]
    modules = {name: import_module(f"{crosschecks.__name__}.{name}") for name in names}
    for name, module in modules.items():
        if (checkout / module.MARK).exists():
            return name, module
    marks = ", ".join(module.MARK for module in modules.values())
    raise UsageError(f"{checkout}: not a known benchmark; expected one of the files {marks}")


def state_of(checkout: Path) -> str:
    """Return the commit of a checkout, and its absent and changed files, as a paragraph."""
    lines = git(checkout, "ls-tree", "-r", "HEAD").splitlines()
    listed = {name: about.split()[2] for about, name in (line.split("\t") for line in lines)}
    present = [name for name in listed if (checkout / name).is_file()]
    paths = "\n".join(str((checkout / name).absolute()) for name in present)
    hashes = git(checkout, "hash-object", "--no-filters", "--stdin-paths", text=paths).splitlines()
    changed = [name for name, found in zip(present, hashes, strict=True) if listed[name] != found]
    states = {"absent": sorted({*listed} - {*present}), "changed": changed}
    parts = [f"{len(names)} files are {state}: {', '.join(names)}." for state, names in states.items() if names]
    return " ".join([f"Commit {git(checkout, 'rev-parse', 'HEAD').strip()}.", *parts])


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence the importers' warnings: the table has every disagreement."""
    logger = logging.getLogger(benchmarks.__name__)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def main(options: Namespace) -> int:
    """Print a section per checkout; 1 if something differs that is not known to. Raises UsageError."""
    unexpected = 0
    for checkout in options.checkouts:
        name, module = crosscheck_of(checkout)
        sys.stdout.write(f"## {name}\n\n{state_of(checkout)}\n\n")
        sys.stdout.write(markdown_table(HEAD, []))
        compared = 0
        with without_warnings():
            for row in module.check(checkout, options):
                # At once: a comparison takes minutes, and a later one may fail.
                sys.stdout.write(f"| {' | '.join(map(str, row))} |\n")
                sys.stdout.flush()
                compared += 1
                unexpected += row.differ != row.known
        if not compared:
            raise UsageError(f"{checkout}: has none of the files to compare; check out all of them")
        sys.stdout.write("\n")
    return int(unexpected > 0)
