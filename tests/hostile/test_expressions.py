"""Regular expressions that see foreign text take time in proportion to its length."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time

import pytest

from diorama import render, scene_specs
from diorama.render.store import selection
from diorama.render.store.lance import lance_store
from diorama.scene_specs.benchmarks.iwisdm import reader

SIZE = 20_000
# Repeated, each is a text on which an expression with two adjacent repetitions tries all splits.
SEEDS = (
    " ", "\n", "\t\n ", "a", "0", "-", ".", "/", "1/", "a/", "a ", " a", "0 ", ",", ", ", "(", "()", "a,", "a.", "-0",
    "1e", "f ", "f 1/2 ", "mtllib ", "mtllib a\n", "'", "s ", "-o 1 ", "of ", "object 1 ", "observe object 1 with x: ",
    " with a: b", " equals ", " and ", "matrix(", "1,", "[a]", '["a"]', '\\"', "object 1, ", "#", "#1", "<Code>",
    "the ",
)  # fmt: skip
# A linear expression takes about a millisecond; a quadratic one seconds.
MOST_SECONDS = 0.5
# Expressions that are never searched: what has them matches at its own position, or whole texts.
AT_A_POSITION = frozenset({reader._EVENT, selection._MEMBER, lance_store._TAG})


def expressions() -> list[tuple[str, re.Pattern[str]]]:
    """Every compiled expression that is a module's attribute, of all modules that can be imported without Blender."""
    found: dict[re.Pattern[str], str] = {}
    for package in (render, scene_specs):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # The harness' files are copied into exports, and run only there.
            if info.name.startswith(("diorama.render.renderers.cycles", "diorama.render.uses.export.harness.")):
                continue
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    found.setdefault(value, f"{info.name}.{name}")
    return sorted((name, pattern) for pattern, name in found.items())


def seconds_of(pattern: re.Pattern[str], text: str) -> float:
    """How long a search takes on the processor, at most a little over MOST_SECONDS."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    start = time.process_time()
    try:
        (pattern.match if pattern in AT_A_POSITION else pattern.search)(text)
    except TimeoutError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - start


@pytest.mark.parametrize(("name", "pattern"), expressions(), ids=lambda value: value if isinstance(value, str) else "")
def test_expression_is_not_quadratic(name: str, pattern: re.Pattern[str]) -> None:
    for seed in SEEDS:
        text = seed * (SIZE // len(seed)) + "\0"
        assert seconds_of(pattern, text) < MOST_SECONDS, f"{name}: {len(text)} characters of {seed!r}"
