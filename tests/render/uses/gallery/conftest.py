"""A browser with the gallery of a store of odd episodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.gallery.build_gallery import GalleryOptions, build
from tests.render.uses.gallery.browsing import WAIT_SECONDS, Open
from tests.render.uses.gallery.stores import odd_store

CHROMIUM = os.environ.get("DIORAMA_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="package")
def odd(tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    return odd_store(tmp_path_factory.mktemp("gallery") / "odd.lance")


@pytest.fixture(scope="package")
def page_file(odd: LanceStore) -> Path:
    report = build(odd, Path(odd.url).with_name("site"), GalleryOptions(workers=1))
    assert [line.split(":")[0] for line in report.damaged] == ["episode demo/damaged"]
    return report.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * WAIT_SECONDS)
    with sync_playwright() as started:
        # A container's root has no sandbox; these pages are ours.
        yield started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def open_page(browser: Any, page_file: Path) -> Iterator[Open]:
    """Opens the gallery at an address's end; at the end of the test nothing may have been complained of."""
    complaints: list[str] = []
    contexts = []

    def opened(end: str = "", dark: bool = False, base: str = "", size: tuple[int, int] = (1280, 900)) -> Any:
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.goto((base or page_file.as_uri()) + end)
        page.wait_for_selector("#loading", state="hidden")
        page.set_default_timeout(1000 * WAIT_SECONDS)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
