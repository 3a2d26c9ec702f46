"""What the tests in a browser share: waiting, reading what is on the screen, choosing."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Open = Callable[..., Any]
# How long a browser may take for what takes it a moment: machines that run tests are often loaded.
WAIT_SECONDS = 60


def until(page: Any, expression: str) -> None:
    """Waits until it holds. Playwright's own way needs `eval`, which the page's policy forbids."""
    end = time.monotonic() + WAIT_SECONDS
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never came true: {expression}"
        page.wait_for_timeout(30)


def shows(page: Any, *episodes: str, status: str = "") -> None:
    """Waits until the cards are those of the episodes, in their order."""
    from playwright.sync_api import expect

    expect(page.locator(".card .name")).to_have_text(episodes)
    expect(page.locator("#status")).to_contain_text(status)


def pixels(locator: Any) -> NDArray[np.int16]:
    """(H, W, 3) of an element as it is on the screen."""
    with Image.open(io.BytesIO(locator.screenshot())) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.int16)


def choose(page: Any, facet: str, word: str) -> None:
    page.locator(".facet", has_text=facet).get_by_label(word).check()
