"""Change the code in small ways, and count the changes that no test notices.

    python -m tools mutants WORK                        # 300 mutants of seed 1; resumes
    python -m tools mutants WORK --count 60 --seed 2

Draws equally many mutants from compiler, annotations, provers and store. WORK, a new folder, holds copies of the
checkout, which is never mutated itself, and the results so far. Each mutant meets the tests that ran its line, then the
other tests that ran its file, quick tests first, up to a total of 40 s. Prints the table by area and each survivor as a
diff; exit code 1 if fewer than 85 % are killed.

Operators: mutmut's. Left out, since no test should notice: docstrings, type annotations and aliases, decorators,
`__all__`, text for people (strings with a space), names of the encoding, `strict=` of zip.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path

import libcst as cst
from coverage import CoverageData
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.mutators import mutation_operators
from tqdm import tqdm

from render.model.errors import UsageError
from scene_specs.language.atomic import write_atomic
from scene_specs.language.tables import markdown_table
from tools.option_types import positive
from tools.programs import ROOT
from tools.record_tests import OUTPUT

RESUMES = True
AREAS = {
    "compiler": ["render/compiler/*.py"],
    "annotations": ["render/annotations/*.py"],
    "provers": ["scene_specs/checks/*.py", "scene_specs/benchmarks/*/verify.py"],
    "store": ["render/store/**/*.py"],
}
# Its tests need PyTorch, in an environment of its own.
LEFT_OUT = "render/store/lance/torch_dataset.py"
# Without the tests that start Ray or Blender: too slow to repeat for each mutant.
PACKAGES = ("annotations", "cli", "compiler", "episode", "export", "gallery", "geometry", "model", "store")
TESTS = [
    *(f"tests/render/{name}" for name in PACKAGES),
    "tests/scene_specs",
    "tests/hostile",
    "--ignore=tests/hostile/test_blend.py",
    "tests/compatibility/test_contents.py",
    "tests/compatibility/test_identities.py",
]
PROCESSES, FIRST_TESTS = 2, 40
SLOWEST_TEST_S, TESTS_S, RECORDING_S = 20, 40, 3600
# Seconds beyond five times the unmutated tests before a mutant counts as endless: for the start of a loaded machine.
GRACE_S = 30
LEAST_KILLED = 0.85
OUTCOMES = ("killed", "timed out", "survived", "no test covers it")
_SILENT_ARGUMENTS = {"encoding", "strict", "stacklevel"}
_SILENT_CALLS = {"len", "isinstance", "cast", "TypeVar"}
_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_EMPTY = cst.Module([])


@dataclass(frozen=True)
class Mutant:
    """A change of one node. key: depends on the seed and this change, so other changes of a file don't redraw it."""

    key: str
    area: str
    path: str
    lines: frozenset[int]
    module: cst.Module
    before: cst.CSTNode
    after: cst.CSTNode

    def source(self) -> str:
        changed = self.module.deep_replace(self.before, self.after)
        assert isinstance(changed, cst.Module)
        return changed.code

    def diff(self) -> str:
        old, new = (text.splitlines(keepends=True) for text in (self.module.code, self.source()))
        return "".join(difflib.unified_diff(old, new, self.path, self.path, n=2))


def is_text(node: cst.CSTNode) -> bool:
    """Return whether a node is text for people, or the name of the one encoding in use."""
    code = _EMPTY.code_for_node(node)
    return isinstance(node, _STRINGS) and (" " in code or "utf-8" in code)


class Collector(cst.CSTVisitor):
    """Collect the mutants of a module."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self, area: str, path: str, module: cst.Module, seed: int) -> None:
        super().__init__()
        self.area, self.path, self.module, self.seed = area, path, module, seed
        self.mutants: list[Mutant] = []
        self._same: Counter[tuple[str, str]] = Counter()

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._is_left_out(node):
            return False
        for kind, operator in mutation_operators:
            for after in operator(node) if isinstance(node, kind) else ():
                kept = {id(child) for child in after.children}
                gone = [child for child in node.children if isinstance(child, cst.Arg) and id(child) not in kept]
                if not any(is_text(argument.value) or self._is_left_out(argument) for argument in gone):
                    self._add(node, after)
        return True

    def _is_left_out(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Assign):
            target = _EMPTY.code_for_node(node.targets[0].target)
            alias = target[0].isupper() and (len(target) == 1 or not target.isupper())
            return target == "__all__" or alias or is_text(node.value)
        if isinstance(node, cst.Arg):
            return node.keyword is not None and node.keyword.value in _SILENT_ARGUMENTS
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
            return node.func.value in _SILENT_CALLS
        return isinstance(node, cst.Annotation | cst.Decorator) or is_text(node)

    def _add(self, before: cst.CSTNode, after: cst.CSTNode) -> None:
        change = (self.module.code_for_node(before), self.module.code_for_node(after))
        self._same[change] += 1
        identity = json.dumps([self.seed, self.path, *change, self._same[change]])
        place, statement = self.get_metadata(PositionProvider, before), before
        while not isinstance(statement, cst.SimpleStatementLine | cst.BaseCompoundStatement | cst.Module):
            statement = self.get_metadata(ParentNodeProvider, statement)
        first = self.get_metadata(PositionProvider, statement).start.line
        lines = frozenset([first, *range(place.start.line, place.end.line + 1)])
        key = hashlib.sha256(identity.encode()).hexdigest()
        self.mutants.append(Mutant(key, self.area, self.path, lines, self.module, before, after))


def draw(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants, equally many per area as far as that goes."""
    drawn: list[Mutant] = []
    for number, (area, patterns) in enumerate(AREAS.items()):
        found: list[Mutant] = []
        for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
            if path == root / LEFT_OUT:
                continue
            wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
            collector = Collector(area, str(path.relative_to(root)), wrapper.module, seed)
            wrapper.visit(collector)
            found += collector.mutants
        share = (count + number) // len(AREAS)
        drawn += sorted(found, key=lambda mutant: mutant.key)[:share]
    return drawn


class Checker:
    """Runs tests on mutants, in clones of the checkout below a folder."""

    def __init__(self, work: Path) -> None:
        commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)[:12]
        self.original, self.results = work / "original", work / f"results-{commit}.jsonl"
        self.clones: queue.Queue[Path] = queue.Queue()
        for clone in [self.original, *(work / f"clone-{number}" for number in range(PROCESSES))]:
            shutil.rmtree(clone, ignore_errors=True)
            subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
            self.clones.put(clone)
        self.clones.get()
        self.data, times = CoverageData(str(work / f"coverage-{commit}")), work / f"tests-{commit}.json"
        if not times.exists():
            coverage = ["coverage", "run", f"--data-file={self.data.data_filename()}", "--source=render,scene_specs"]
            run_pytest(self.original, RECORDING_S, ["-m", *coverage], f"--timeout={SLOWEST_TEST_S}", *TESTS)
            write_atomic(times, (self.original / OUTPUT).read_bytes())
        self.data.read()
        recorded = json.loads(times.read_text("utf-8"))
        self.times: dict[str, float] = {name: seconds for name, (seconds, passed) in recorded.items() if passed}
        if not self.times:
            raise UsageError(f"{times}: no test passes on the unchanged code; see {self.original / 'pytest.log'}")

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests for a mutant; none if neither a test nor an import ran its line."""
        contexts = self.data.contexts_by_lineno(str(self.original / mutant.path))
        direct = {context for line in mutant.lines for context in contexts.get(line, ())}
        near = {context for found in contexts.values() for context in found} if direct else set()
        home = f"tests/{Path(mutant.path).parent}/"
        ranked = []
        for name, seconds in self.times.items():
            ids = {name, name.split("::")[0]}
            if ids & near:
                ranked.append((not ids & direct, not name.startswith(home), seconds, name))
        ranked.sort()
        totals = accumulate(seconds for _, _, seconds, _ in ranked)
        return [name for (*_, name), total in zip(ranked, totals, strict=True) if total <= TESTS_S]

    def check(self, mutant: Mutant) -> dict[str, str]:
        """Return the outcome for one mutant and, if a test failed, its name."""
        tests, outcome, by = self.tests_of(mutant), "no test covers it", ""
        clone = self.clones.get()
        file = clone / mutant.path
        file.write_text(mutant.source(), "utf-8")
        # Python compares times in seconds and sizes, which two mutants may share.
        Path(cache_from_source(file)).unlink(missing_ok=True)
        # To collect many tests takes longer than to run those that most likely notice.
        for part in filter(None, (tests[:FIRST_TESTS], tests[FIRST_TESTS:])):
            outcome, by = self.run(clone, part, "-x")
            if outcome != "survived":
                break
        shutil.copy2(self.original / mutant.path, file)
        self.clones.put(clone)
        return {"key": mutant.key, "outcome": outcome, "by": by}

    def run(self, clone: Path, tests: list[str], *options: str) -> tuple[str, str]:
        """Run tests; return the outcome and the tests that failed, one per line."""
        (clone / "chosen_tests").write_text("\n".join(tests), "utf-8")
        (clone / OUTPUT).unlink(missing_ok=True)
        limit = GRACE_S + 5 * sum(self.times[name] for name in tests)
        code = run_pytest(clone, limit, [], *options, "@chosen_tests")
        if not code:
            return "timed out" if code is None else "survived", ""
        recorded = json.loads((clone / OUTPUT).read_text("utf-8")) if (clone / OUTPUT).exists() else {}
        # Without a failed test, the mutated module can't be imported, or the process died.
        return "killed", "\n".join(name for name, (_, passed) in recorded.items() if not passed)


def run_pytest(clone: Path, limit_s: float, prefix: list[str], *arguments: str) -> int | None:
    """Run pytest in a copy; return its exit code, None if it was stopped after `limit_s`."""
    plugins = ["-p", "tools.record_tests", "-p", "no:cacheprovider"]
    line = [sys.executable, *prefix, "-m", "pytest", *plugins, "-q", "--tb=short", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(clone)}
    with (clone / "pytest.log").open("wb") as log:
        child = subprocess.Popen(line, cwd=clone, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            return child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Tests may leave processes behind, too.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def table(mutants: list[Mutant], outcomes: list[str]) -> tuple[str, float]:
    """Return the table by area and the share of mutants that tests noticed."""
    rows = []
    for area in [*AREAS, "all"]:
        found = Counter(outcome for m, outcome in zip(mutants, outcomes, strict=True) if area in (m.area, "all"))
        share = (found["killed"] + found["timed out"]) / max(found.total(), 1)
        rows.append([area, found.total(), *(found[outcome] for outcome in OUTCOMES), f"{share:.1%}"])
    return markdown_table(["area", "mutants", *OUTCOMES, "noticed"], rows), share


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("work", type=Path, help="folder for clones and results")
    parser.add_argument("--count", type=positive, default=300, help="number of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other mutants (default: %(default)s)")


def main(options: Namespace) -> int:
    """Test the mutants that have no result yet; print the table and the survivors."""
    options.work.mkdir(parents=True, exist_ok=True)
    checker = Checker(options.work.resolve())
    mutants = draw(checker.original, options.count, options.seed)
    checker.results.touch()
    found = {r["key"]: r for r in map(json.loads, checker.results.read_text("utf-8").splitlines())}
    with ThreadPoolExecutor(PROCESSES) as pool, checker.results.open("a", encoding="utf-8") as kept:
        todo = [pool.submit(checker.check, mutant) for mutant in mutants if mutant.key not in found]
        for future in tqdm(as_completed(todo), total=len(todo)):
            result = future.result()
            found[result["key"]] = result
            kept.write(json.dumps(result) + "\n")
            kept.flush()
    results = [found[mutant.key] for mutant in mutants]
    # Tests that fail on the unchanged code, too, when they run in another order than recorded, notice nothing.
    unsound = checker.run(checker.original, sorted({r["by"] for r in results} & checker.times.keys()))[1].split("\n")
    outcomes = ["survived" if r["by"] and r["by"] in unsound else r["outcome"] for r in results]
    text, share = table(mutants, outcomes)
    print(text)
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        if outcome in OUTCOMES[2:]:
            print(f"{outcome}: {mutant.key[:12]}\n{mutant.diff()}")
    return int(share < LEAST_KILLED)
