"""What every test gets."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from importlib import metadata
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from diorama.scene_specs.language.registry import plugins

# No deadline: machines that run tests are often loaded. Derandomized: a red test is red again on the next machine;
# DIORAMA_HYPOTHESIS=explore looks for new examples.
DIORAMA = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("diorama", DIORAMA)
settings.register_profile("few", DIORAMA, max_examples=25)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)

# Marker -> what the last line of a run calls the tests that the run leaves out. `make test-all` runs all but the last.
TIERS = {"slow": "slow", "readers": "with other people's tools", "alike": "like others", "root": "only for root"}
NAMES = {**TIERS, "fast": "of `make test`"}
# Of a test that is marked `alike`, `make test` tries so many of its parameters.
OF_ALIKE = 3
LEFT_OUT = pytest.StashKey[dict[str, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run the tests that are marked slow or readers; --every")
    parser.addoption("--every", action="store_true", help="try all parameters of tests marked alike, and all examples")
    parser.addoption(
        "--rest", action="store_true", help="of --all what a run without it leaves out; property tests, too"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = {}
    every = config.getoption("all") or config.getoption("every")
    settings.load_profile(os.environ.get("DIORAMA_HYPOTHESIS", "diorama" if every else "few"))
    # A shell without job control lets what it starts with `&` ignore Ctrl-C, and every process of a test inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what this run leaves out, each test for the first of its markers."""
    reasons = [next((name for name in TIERS if item.get_closest_marker(name)), "") for item in items]
    _thin_out(items, reasons)
    if os.getuid() == 0:
        reasons = ["" if why == "root" else why for why in reasons]
    if config.getoption("rest"):
        examples = [hasattr(getattr(item, "obj", None), "hypothesis") for item in items]
        there = [why not in ("", "root") or many for why, many in zip(reasons, examples, strict=True)]
        reasons = ["" if rest else why or "fast" for rest, why in zip(there, reasons, strict=True)]
    elif config.getoption("all"):
        reasons = [why if why == "root" else "" for why in reasons]
    elif config.getoption("every"):
        reasons = ["" if why == "alike" else why for why in reasons]
    config.stash[LEFT_OUT] = dict(Counter(filter(None, reasons)))
    config.hook.pytest_deselected(items=[item for item, why in zip(items, reasons, strict=True) if why])
    items[:] = [item for item, why in zip(items, reasons, strict=True) if not why]


def _thin_out(items: list[pytest.Item], reasons: list[str]) -> None:
    """Of tests that are marked alike, take the reason from OF_ALIKE of each, spread over its parameters."""
    groups: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        if reasons[at] == "alike":
            groups.setdefault(item.nodeid.partition("[")[0], []).append(at)
    for group in groups.values():
        for kept in range(OF_ALIKE):
            reasons[group[round(kept * (len(group) - 1) / (OF_ALIKE - 1))]] = ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a process of xdist: only these collect tests
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take from a process of xdist what it left out, which is the same for each. One that crashed reports nothing."""
    node.config.stash[LEFT_OUT].update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the last line of a run, which says what was left out."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if (left_out := config.stash[LEFT_OUT]) and terminal is not None:
        added = [f"{left_out[name]} {words}" for name, words in NAMES.items() if name in left_out]
        terminal.write_line(f"left out, see `make test-all`: tests {', '.join(added)}")


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}. A skip is a failure: a test that can't run everywhere needs a marker"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.fixture(autouse=True)
def _no_store_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets `--out` must not write into the store of whoever runs it."""
    monkeypatch.delenv("DIORAMA_STORE", raising=False)


@pytest.fixture
def add_entry_points(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that registers `name=value` in a group, as an installed package does, until the test ends."""
    real = metadata.entry_points
    installed = [point for name in real().groups for point in real(group=name)]

    def add(group: str, **values: str) -> None:
        points = [metadata.EntryPoint(name, value, group) for name, value in values.items()]
        monkeypatch.setattr(
            metadata,
            "entry_points",
            lambda **chosen: metadata.EntryPoints([*installed, *points]).select(**chosen),
        )
        plugins.cache_clear()

    yield add
    plugins.cache_clear()
