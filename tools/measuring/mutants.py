"""Count small changes of the code that no test notices, with mutmut.

    python -m tools mutants WORK                        # 300 mutants of seed 1; resumes
    python -m tools mutants WORK --count 60 --seed 2

Draws equally many of mutmut's mutants from compiler, annotations, provers, store and the executors of questions, and
prints a table of their outcomes and each survivor as a diff. [tool.mutmut] in pyproject.toml says what is changed and
which tests run. WORK, a folder outside the checkout, gets a clone of the last commit, in which mutmut works. To make
the mutants and to record which test runs which function takes 5 minutes, a mutant 3 to 15 s. Exit code 1 if fewer than
75 % are noticed.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

from diorama.scene_specs.files.tables import markdown_table
from tools.programs import ROOT, git, positive

RESUMES = True
AREAS = {
    "compiler": r"render\.compiler\.",
    "annotations": r"render\.annotations\.",
    "provers": r"scene_specs\.(checks|benchmarks\.\w+\.verify)\.",
    "store": r"render\.store\.",
    "questions": r"scene_specs\.tasks\.questions\.\w+_executor\.",
}
# A mutant that never ends is noticed, too; "no tests" and what mutmut could not decide are not.
NOTICED, LEAST_NOTICED = ("killed", "timeout", "segfault"), 0.75


def mutmut(clone: Path, *arguments: str, check: bool = True) -> str:
    """Run a command of mutmut in a clone; return what it prints."""
    line = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(line, cwd=clone, check=check, stdout=subprocess.PIPE, text=True).stdout


def outcomes(clone: Path) -> dict[str, str]:
    """Return the name of each mutant in a clone -> its outcome so far."""
    lines = mutmut(clone, "results", "--all", "true").splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if ": " in line)


def draw(names: list[str], count: int, seed: int) -> dict[str, list[str]]:
    """Return `count` mutants by area, equally many of each as far as that goes."""
    drawn = {}
    for number, (area, pattern) in enumerate(AREAS.items()):
        ranked = sorted(
            (hashlib.sha256(f"{seed} {name}".encode()).digest(), name)
            for name in names
            if re.match(rf"diorama\.{pattern}", name)
        )
        drawn[area] = [name for _, name in ranked[: (count + number) // len(AREAS)]]
    return drawn


def table(drawn: dict[str, list[str]], results: dict[str, str]) -> tuple[str, float]:
    """Return the table by area and the share of mutants that tests noticed."""
    counts = {area: Counter(results[name] for name in names) for area, names in drawn.items()}
    counts["all"] = sum(counts.values(), Counter())
    kinds = sorted(counts["all"], key=lambda kind: (kind not in NOTICED, kind))
    share = {area: sum(found[kind] for kind in NOTICED) / max(found.total(), 1) for area, found in counts.items()}
    rows = [[area, found.total(), *(found[k] for k in kinds), f"{share[area]:.1%}"] for area, found in counts.items()]
    return markdown_table(["area", "mutants", *kinds, "noticed"], rows), share["all"]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("work", type=Path, help="folder for the clone")
    parser.add_argument("--count", type=positive, default=300, help="number of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other mutants (default: %(default)s)")


def main(options: Namespace) -> int:
    """Test the mutants that have no result yet; print the table and the survivors."""
    clone = options.work.resolve() / git(ROOT, "rev-parse", "--short=12", "HEAD").strip()
    if not (clone / "mutants/mutmut-stats.json").exists():
        if not clone.exists():
            git(ROOT, "clone", "--quiet", "--shared", ".", str(clone))
        # Makes all mutants and records the tests, then fails because no mutant is called so.
        mutmut(clone, "run", "none", check=False)
    drawn = draw(list(outcomes(clone)), options.count, options.seed)
    mutmut(clone, "run", "--max-children", "2", *(name for names in drawn.values() for name in names))
    results = outcomes(clone)
    text, share = table(drawn, results)
    print(text)
    for name in (name for names in drawn.values() for name in names if results[name] not in NOTICED):
        print(f"{results[name]}: {mutmut(clone, 'show', name)}")
    return int(share < LEAST_NOTICED)
