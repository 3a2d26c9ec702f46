"""What every test gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import metadata

import pytest
from hypothesis import HealthCheck, settings

from scene_specs.language.registry import plugins

# No deadline: machines that run tests are often loaded. Derandomized: a red test is red again on the next machine;
# DIORAMA_HYPOTHESIS=explore looks for new examples.
settings.register_profile("diorama", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("DIORAMA_HYPOTHESIS", "diorama"))


@pytest.fixture(autouse=True)
def _no_store_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets `--out` must not write into the store of whoever runs it."""
    monkeypatch.delenv("DIORAMA_STORE", raising=False)


@pytest.fixture
def add_entry_points(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that registers `name=value` in a group, as an installed package does, until the test ends."""
    real = metadata.entry_points

    def add(group: str, **values: str) -> None:
        points = [metadata.EntryPoint(name, value, group) for name, value in values.items()]
        monkeypatch.setattr(
            metadata,
            "entry_points",
            lambda **chosen: [*real(**chosen), *(point for point in points if point.matches(**chosen))],
        )
        plugins.cache_clear()

    yield add
    plugins.cache_clear()
