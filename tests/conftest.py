"""What every test gets."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# No deadline: machines that run tests are often loaded. Derandomized: a red test is red again on the next machine;
# DIORAMA_HYPOTHESIS=explore looks for new examples.
settings.register_profile("diorama", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("DIORAMA_HYPOTHESIS", "diorama"))


@pytest.fixture(autouse=True)
def _no_store_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets `--out` must not write into the store of whoever runs it."""
    monkeypatch.delenv("DIORAMA_STORE", raising=False)
