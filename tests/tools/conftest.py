"""What the tests of tools share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_log_level() -> Iterator[None]:
    """Tools may silence what they measure: they are programs, and here others run after them in the same process."""
    logger = logging.getLogger("diorama.render")
    level = logger.level
    yield
    logger.setLevel(level)
