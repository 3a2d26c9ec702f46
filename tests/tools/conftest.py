"""What the tests of tools share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_log_level() -> Iterator[None]:
    """Tools may silence what they measure: they are programs, and here others run after them in the same process."""
    logger, root = logging.getLogger("diorama.render"), logging.getLogger()
    level, root_level, handlers = logger.level, root.level, [*root.handlers]
    yield
    logger.setLevel(level)
    root.setLevel(root_level)
    root.handlers[:] = handlers
