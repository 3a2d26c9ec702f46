"""A pytest plugin of `python -m tools mutants`: records which test runs which line, how long it takes, if it passes.

Under `coverage run`, the context of a line is the id of the test that runs it. What a fixture of a wider scope runs
counts for all tests of the file that used it first.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Generator
from typing import Any

import pytest
from coverage import Coverage

OUTPUT = "recorded_tests.json"
# A mutant that never stops adding to a list must not take the machine's memory.
MAX_DATA_BYTES = 8 << 30

_current: list[str] = []
_recorded: dict[str, tuple[float, bool]] = {}


def _switch(context: str) -> None:
    coverage = Coverage.current()
    if coverage is not None:
        coverage.switch_context(context)


def pytest_configure() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_DATA_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    _current[:] = [item.nodeid]
    _switch(item.nodeid)
    result = yield
    _switch("")
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, Any, Any]:
    if fixturedef.scope != "function":
        _switch(_current[0].split("::")[0])
    result = yield
    _switch(_current[0])
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds, passed = _recorded.get(report.nodeid, (0.0, True))
    _recorded[report.nodeid] = (seconds + report.duration, passed and report.passed)


def pytest_sessionfinish(session: pytest.Session) -> None:
    (session.config.rootpath / OUTPUT).write_text(json.dumps(_recorded), "utf-8")
