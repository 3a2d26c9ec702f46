"""Count small changes of the code that no test notices.

    python -m tools mutants WORK                        # 300 mutants of seed 1; resumes
    python -m tools mutants WORK --count 60 --seed 2

Draws equally many mutants from compiler, annotations, provers and store. WORK, a folder outside the checkout, holds
clones of the last commit, in which the tests run, and the results so far. A mutant meets the tests that ran its line,
then those of its package and those that ran its file, quick ones first; up to 40 s in total. Prints a
table and each survivor as a diff; exit code 1 if fewer than 85 % are noticed.

Operators: mutmut's. Left out, since no test should notice: docstrings, type annotations and aliases, decorators,
`__all__`, text for people (strings with a space), names of the encoding, `strict=` of zip, arguments of len, isinstance
and cast. An endless mutant counts as noticed: it computed 30 s longer than five times the tests.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path

import libcst as cst
from coverage import CoverageData
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators
from tqdm import tqdm

from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.tables import markdown_table
from tools.option_types import positive
from tools.programs import ROOT

RESUMES = True
AREAS = {
    "compiler": ["render/compiler/*.py"],
    "annotations": ["render/annotations/*.py"],
    "provers": ["scene_specs/checks/*.py", "scene_specs/benchmarks/*/verify.py"],
    # Without torch_dataset.py, whose tests need PyTorch, in an environment of its own.
    "store": ["render/store/*.py", "render/store/analysis/*.py", "render/store/lance/[!t]*.py"],
}
TESTS = ["render", "scene_specs", "contracts/test_stores.py", "hostile", "compatibility"]
# These start Ray or Blender, which takes too long for every mutant.
SLOW = ["render/run", "render/renderers", "render/test_api*", "hostile/test_blend*", "compatibility/test_archive*"]
COVERAGE = ["--cov=render", "--cov=scene_specs", "--cov-context=test", "--cov-report=", "-W", "ignore"]
PROCESSES, FIRST_TESTS, LEAST_NOTICED = 2, 40, 0.85
SLOWEST_TEST_S, TESTS_S = 20, 40
# Computing time, which a loaded machine does not stretch, counts, except for tests that wait forever.
GRACE_S, RECORDING_S, LONGEST_S = 30, 3600, 3600
# A mutant that never stops adding to a list must not take the machine's memory.
MAX_DATA_BYTES = 8 << 30
OUTCOMES = ("killed", "timed out", "survived", "no test covers it")
_SILENT_ARGUMENTS = {"encoding", "strict", "stacklevel"}
_SILENT_CALLS = {"len", "isinstance", "cast", "TypeVar"}
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
        return cst.ensure_type(self.module.deep_replace(self.before, self.after), cst.Module).code

    def diff(self) -> str:
        old, new = (text.splitlines(keepends=True) for text in (self.module.code, self.source()))
        return "".join(difflib.unified_diff(old, new, self.path, self.path, n=2))


def is_text(node: cst.CSTNode) -> bool:
    """Return whether a node is text for people, or the name of the one encoding in use."""
    code = _EMPTY.code_for_node(node)
    return isinstance(node, cst.BaseString) and (" " in code or "utf-8" in code)


def is_left_out(node: cst.CSTNode) -> bool:
    """Return whether no change of a node should make a test fail; the module's docstring lists these."""
    if isinstance(node, cst.Assign):
        target = _EMPTY.code_for_node(node.targets[0].target)
        alias = target[0].isupper() and (len(target) == 1 or not target.isupper())
        return target == "__all__" or alias or is_text(node.value)
    if isinstance(node, cst.Arg):
        return is_text(node.value) or (node.keyword is not None and node.keyword.value in _SILENT_ARGUMENTS)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        return node.func.value in _SILENT_CALLS
    return isinstance(node, cst.Annotation | cst.Decorator) or is_text(node)


def changes(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield each node with what may replace it."""
    if is_left_out(node):
        return
    for kind, operator in mutation_operators:
        for after in operator(node) if isinstance(node, kind) else ():
            removed = set(node.children) - set(after.children)
            if not any(isinstance(child, cst.Arg) and is_left_out(child) for child in removed):
                yield node, after
    for child in node.children:
        yield from changes(child)


def mutants_of(root: Path, area: str, path: Path, seed: int) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
    places, name = wrapper.resolve(PositionProvider), str(path.relative_to(root))
    first_lines: dict[int, int] = {}
    for statement in m.findall(wrapper.module, m.SimpleStatementLine()):
        place = places[statement]
        first_lines |= dict.fromkeys(range(place.start.line, place.end.line + 1), place.start.line)
    same: Counter[tuple[str, str]] = Counter()
    for before, after in changes(wrapper.module):
        change = (wrapper.module.code_for_node(before), wrapper.module.code_for_node(after))
        same[change] += 1
        key = hashlib.sha256(json.dumps([seed, name, *change, same[change]]).encode()).hexdigest()
        span = range(places[before].start.line, places[before].end.line + 1)
        # A statement of several lines may run as if it stood on its first.
        lines = frozenset([*span, first_lines.get(span[0], span[0])])
        yield Mutant(key, area, name, lines, wrapper.module, before, after)


def draw(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants, equally many per area as far as that goes."""
    drawn: list[Mutant] = []
    for number, (area, patterns) in enumerate(AREAS.items()):
        files = sorted(path for pattern in patterns for path in root.glob(pattern))
        found = [mutant for path in files for mutant in mutants_of(root, area, path, seed)]
        drawn += sorted(found, key=lambda mutant: mutant.key)[: (count + number) // len(AREAS)]
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
        self.data, recorded = CoverageData(str(work / f"coverage-{commit}")), work / f"tests-{commit}.jsonl"
        if not recorded.exists():
            os.environ["COVERAGE_FILE"] = self.data.data_filename()
            ignored = [f"--ignore-glob=tests/{name}" for name in SLOW]
            options = [*COVERAGE, f"--timeout={SLOWEST_TEST_S}", *ignored]
            run_pytest(self.original, RECORDING_S, *options, *(f"tests/{name}" for name in TESTS))
            shutil.move(self.original / "report.jsonl", recorded)
        self.data.read()
        seconds, failed = read_report(recorded)
        # Folders and files take no time.
        self.times = {name: s for name, s in seconds.items() if s and name not in failed}
        if not self.times:
            raise UsageError(f"{recorded}: no test passes; for the reasons see {self.original / 'pytest.log'}")

    def tests_of(self, mutant: Mutant) -> tuple[list[str], bool]:
        """Return the tests for a mutant, and whether any test or import in their process ran its line."""
        contexts = self.data.contexts_by_lineno(str(self.original / mutant.path))
        direct = {context.rpartition("|")[0] for line in mutant.lines for context in contexts.get(line, ())}
        near = {context.rpartition("|")[0] for found in contexts.values() for context in found}
        home = f"tests/{Path(mutant.path).parent}/"
        # Tests of the package, too: a cached result hides that they need the line.
        chosen = {n: s for n, s in self.times.items() if n in near or n.startswith(home)}
        ranked = sorted((n not in direct, not n.startswith(home), s, n) for n, s in chosen.items())
        totals = accumulate(seconds for _, _, seconds, _ in ranked)
        return [name for (*_, name), total in zip(ranked, totals, strict=True) if total <= TESTS_S], bool(direct)

    def check(self, mutant: Mutant) -> dict[str, str]:
        """Return the outcome for one mutant and, if a test failed, its name."""
        (tests, covered), outcome, by = self.tests_of(mutant), "survived", [""]
        clone = self.clones.get()
        file = clone / mutant.path
        try:
            file.write_text(mutant.source(), "utf-8")
            # Python compares times in seconds and sizes, which two mutants may share.
            Path(cache_from_source(file)).unlink(missing_ok=True)
            # To collect many tests takes longer than to run those that most likely notice.
            for part in filter(None, (tests[:FIRST_TESTS], tests[FIRST_TESTS:])):
                outcome, by = self.run(clone, part, "-x")
                if outcome != "survived":
                    break
        finally:
            shutil.copy2(self.original / mutant.path, file)
            self.clones.put(clone)
        if outcome == "survived" and not covered:
            outcome = "no test covers it"
        return {"key": mutant.key, "outcome": outcome, "by": "".join(by[-1:])}

    def run(self, clone: Path, tests: list[str], *options: str) -> tuple[str, list[str]]:
        """Run tests; return the outcome and the tests that failed, or the file whose import did."""
        (clone / "chosen_tests").write_text("\n".join(tests), "utf-8")
        (clone / "report.jsonl").unlink(missing_ok=True)
        code = run_pytest(clone, GRACE_S + 5 * sum(self.times.get(n, 0) for n in tests), *options, "@chosen_tests")
        if not code:
            return "timed out" if code is None else "survived", []
        # Without a report, pytest did not even start, which says nothing about the mutant: OSError ends this tool.
        return "killed", read_report(clone / "report.jsonl")[1]


def run_pytest(clone: Path, cpu_s: float, *arguments: str) -> int | None:
    """Run pytest in a clone; return its exit code, None if it was stopped after `cpu_s` seconds of computing."""
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--report-log=report.jsonl", "-q", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(clone)}
    with (clone / "pytest.log").open("wb") as log:
        child = subprocess.Popen(line, cwd=clone, env=environment, stdout=log, stderr=log, start_new_session=True)
        for kind, limit in ((resource.RLIMIT_DATA, MAX_DATA_BYTES), (resource.RLIMIT_CPU, int(cpu_s))):
            resource.prlimit(child.pid, kind, (limit, limit))
        try:
            code = child.wait(LONGEST_S)
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Tests may leave processes behind, too.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def read_report(path: Path) -> tuple[dict[str, float], list[str]]:
    """Return the seconds of each test, and the tests that failed or were skipped and the files whose import failed."""
    seconds: Counter[str] = Counter()
    reports = [report for report in map(json.loads, path.read_text("utf-8").splitlines()) if report.get("nodeid")]
    for report in reports:
        seconds[report["nodeid"]] += report.get("duration", 0.0)
    return dict(seconds), [report["nodeid"] for report in reports if report["outcome"] != "passed"]


def table(mutants: list[Mutant], outcomes: list[str]) -> tuple[str, float]:
    """Return the table by area and the share of mutants that tests noticed."""
    rows = []
    for area in [*AREAS, "all"]:
        found = Counter(
            outcome for mutant, outcome in zip(mutants, outcomes, strict=True) if area in (mutant.area, "all")
        )
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
    with ThreadPoolExecutor(PROCESSES) as pool, checker.results.open("a", encoding="utf-8", buffering=1) as kept:
        todo = [pool.submit(checker.check, mutant) for mutant in mutants if mutant.key not in found]
        try:
            for future in tqdm(as_completed(todo), total=len(todo)):
                result = future.result()
                found[result["key"]] = result
                kept.write(json.dumps(result) + "\n")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results = [found[mutant.key] for mutant in mutants]
    # Tests that fail on the unchanged code, too, when they run in another order than recorded, notice nothing.
    unsound = checker.run(checker.original, sorted({r["by"] for r in results} - {""}))[1]
    outcomes = ["survived" if r["by"] in unsound else r["outcome"] for r in results]
    text, share = table(mutants, outcomes)
    print(text)
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        if outcome in OUTCOMES[2:]:
            print(f"{outcome}: {mutant.key[:12]}\n{mutant.diff()}")
    return int(share < LEAST_NOTICED)
