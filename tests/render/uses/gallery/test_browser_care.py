"""The gallery in a real browser: hostile texts, missing files, a server, accessibility."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.gallery.build_gallery import GalleryOptions, build
from diorama.render.uses.gallery.serve import address_of, server_of
from tests.render.uses.gallery.browsing import Open, until
from tests.render.uses.gallery.stores import HIDING, HOSTILE, rendered

pytestmark = pytest.mark.readers
TEXTS = "[...document.querySelectorAll('#episode *')].flatMap(e => [...e.childNodes]).filter(n => n.nodeType === 3)"
PLACES = ["", "#?shape=cube&page=2", "#/demo/pointing", "#/hostile/1", "#/demo/damaged", "help"]


def test_nothing_stored_is_taken_for_html(open_page: Open) -> None:
    page = open_page()
    assert page.locator(".facet", has_text="window.hacked").count() > 0
    page.goto(page.url.split("#")[0] + "#/hostile/1")
    page.wait_for_selector(".stage")
    page.locator("#ask").click()
    for key in "bmanpo":
        page.keyboard.press(key)
    for round_ in range(4):
        # Each opens what the ones before it brought.
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.wait_for_timeout(50 + round_)
    page.locator("button.object").focus()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#episode script, #episode b, #episode img[src='x'], #episode iframe").count() == 0
    texts = page.evaluate(f"{TEXTS}.map(node => node.data)")
    assert sum(HOSTILE in text for text in texts) > 8
    assert HOSTILE in page.locator(".stage img").get_attribute("alt")
    assert page.locator(".tree .key", has_text="__proto__").count() > 0
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], "long words don't make the page wider than the window"


def test_a_name_does_not_turn_the_words_beside_it(open_page: Open) -> None:
    page = open_page("#/hostile/1")
    page.keyboard.press("n")
    page.locator("button.object").focus()
    for place in (".notice.bad", ".caption", ".info", ".tag.shown", ".things .relations"):
        text = page.locator(place).first.text_content()
        assert "\\u202e" in text, place
        assert "\u202e" not in text, place


@pytest.mark.parametrize(
    ("missing", "end", "said"),
    [
        ("text-0000.js", "#?q=demo", "The texts to search in can"),
        ("index-0000.js", "", "The index can"),
        ("gallery.js", "#/demo/hiding", "The index can"),
    ],
)
def test_a_folder_that_is_not_whole_says_so(
    browser: Any, page_file: Path, tmp_path: Path, missing: str, end: str, said: str
) -> None:
    shutil.copytree(page_file.parent, tmp_path / "site")
    (lost,) = (tmp_path / "site").glob(f"data/*/{missing}")
    lost.unlink()
    errors: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "site/index.html").as_uri() + end)
    until(page, f"document.getElementById('loading').textContent.startsWith('{said}')")
    assert page.locator("#loading").is_visible()
    for key in ["/", "ArrowLeft", "]", "b", "Escape"]:
        page.keyboard.press(key)
    page.close()
    assert errors == []


def test_an_open_page_of_an_updated_gallery_asks_to_be_reloaded(browser: Any, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered(HIDING, (64, 48))])
    url = build(store, tmp_path / "site", GalleryOptions(workers=1)).page.as_uri()
    list_page, episode_page = browser.new_page(), browser.new_page()
    for page in (list_page, episode_page):
        page.goto(url)
        page.wait_for_selector("a.card")
    store.replace([rendered({**HIDING, "seed": 9}, (64, 48))])
    build(store, tmp_path / "site", GalleryOptions(workers=1))
    list_page.goto(f"{url}#?q=demo")
    until(list_page, "document.getElementById('loading').textContent.includes('updated, reload this page')")
    episode_page.goto(f"{url}#/demo/hiding")
    until(episode_page, "document.getElementById('episode').textContent.includes('updated, reload this page')")
    for page, shown in ((list_page, "a.card"), (episode_page, ".stage")):
        page.reload()
        page.wait_for_selector(shown)
        page.close()


def test_it_is_the_same_when_served(open_page: Open, page_file: Path) -> None:
    with server_of(page_file.parent) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            page = open_page("#/demo/pointing", base=address_of(server))
            until(page, "document.querySelector('.stage img').naturalWidth === 320")
            # What is fetched ahead, two images of the next episode, would fail without its server, and be reported.
            images = "performance.getEntriesByType('resource').filter(one => one.initiatorType === 'img')"
            until(page, f"{images}.length === 3")
            page.wait_for_load_state("networkidle")
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("where", PLACES)
def test_no_serious_fault_of_accessibility(open_page: Open, where: str, dark: bool) -> None:
    page = open_page("" if where == "help" else where, dark=dark)
    if where == "help":
        page.keyboard.press("?")
    elif where.startswith("#/") and page.locator("#ask").count():
        page.locator("#ask").click()
        for key in "bmanp":
            page.keyboard.press(key)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.locator("button.object").first.focus()
    page.evaluate(Path(os.environ["DIORAMA_AXE"]).read_text("utf-8"))
    # Preloading would fetch the style sheet, which the page's policy forbids.
    found = page.evaluate("axe.run({preload: false})")
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert not bad, json.dumps([(one["id"], [n["html"][:160] for n in one["nodes"][:4]]) for one in bad], indent=1)
    assert len(found["passes"]) > 15
