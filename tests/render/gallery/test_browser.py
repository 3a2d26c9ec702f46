"""The gallery in a real browser: what is shown, found, drawn and heard. docs/gallery.md says what these tests need."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from render.gallery.build import GalleryOptions, build
from render.gallery.overlay import decode_mask
from render.gallery.serve import address_of, server_of
from render.store.lance_store import LanceStore
from tests.render.gallery.stores import HIDING, HOSTILE, POINTING, odd_store

ROOT = Path(__file__).parents[3]
CHROMIUM = os.environ.get("DIORAMA_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
AXE = Path(os.environ.get("DIORAMA_AXE") or ROOT / "node_modules/axe-core/axe.min.js")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
if CHROMIUM is None:
    pytest.skip("no Chromium found: apt-get install chromium, or name it in DIORAMA_CHROMIUM", allow_module_level=True)

Open = Callable[..., Any]
# Of the groups of lines over a picture, one is left to be seen.
ONLY = "n => document.querySelectorAll('.lines > g').forEach((g, i) => { g.style.opacity = i === n ? 1 : 0; })"
TEXTS = "[...document.querySelectorAll('#episode *')].flatMap(e => [...e.childNodes]).filter(n => n.nodeType === 3)"
PLACES = ["", "#?shape=cube&page=2", "#/demo/pointing", "#/hostile/1", "#/demo/damaged", "help"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    return odd_store(tmp_path_factory.mktemp("gallery") / "odd.lance")


@pytest.fixture(scope="module")
def page_file(store: LanceStore) -> Path:
    report = build(store, Path(store.url).with_name("site"), GalleryOptions(workers=1))
    assert [line.split(":")[0] for line in report.damaged] == ["episode demo/damaged"]
    return report.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
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
        page.set_default_timeout(5000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def until(page: Any, expression: str) -> None:
    """Waits until it holds. Playwright's own way needs `eval`, which the page's policy forbids."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(30)
    raise AssertionError(f"never came true: {expression}")


def names(page: Any) -> list[str]:
    """Episodes of the cards, in their order."""
    found: list[str] = page.locator(".card .name").all_text_contents()
    return found


def pixels(locator: Any) -> NDArray[np.int16]:
    """(H, W, 3) of an element as it is on the screen."""
    with Image.open(io.BytesIO(locator.screenshot())) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.int16)


def choose(page: Any, facet: str, word: str) -> None:
    page.locator(".facet", has_text=facet).get_by_label(word).check()


def test_the_list_is_paged_filtered_and_sorted(open_page: Open) -> None:
    page = open_page()
    assert page.locator("#status").text_content() == "75 episodes"
    assert len(names(page)) == 60
    page.get_by_role("link", name="Next", exact=True).click()
    assert len(names(page)) == 15
    choose(page, "Shape", "sphere")
    assert names(page) == ["demo/hiding", "demo/pointing"]
    assert page.locator("#status").text_content() == "2 of 75 episodes"
    choose(page, "Shape", "cylinder")
    assert names(page) == ["demo/pointing"]
    page.go_back()
    assert names(page) == ["demo/hiding", "demo/pointing"]
    page.get_by_label("Sort by").select_option("visible")
    assert names(page) == ["demo/hiding", "demo/pointing"]
    assert "% visible" in page.locator(".card .figure").first.text_content()
    page.get_by_role("button", name="Clear all").click()
    choose(page, "Failed checks", "stored bytes")
    assert names(page) == ["demo/damaged"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("demo/hid", ["demo/hiding"]),
        ("BLICKET", ["demo/pointing"]),
        ("which word is", ["demo/pointing"]),
        ("blue metal sphere", ["demo/pointing"]),
        ("red metal", []),
        ("]]>", ["hostile/1"]),
    ],
)
def test_search_finds_names_texts_and_objects(open_page: Open, typed: str, expected: list[str]) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type(typed)
    until(page, "location.hash.includes('q=')")
    until(page, f"document.querySelectorAll('a.card').length === {len(expected)}")
    assert names(page) == expected
    assert page.locator(".results .notice").is_visible() == (not expected)


def test_pictures_are_loaded_when_they_come_into_sight(open_page: Open) -> None:
    page = open_page(size=(1280, 500))
    loaded = "[...document.querySelectorAll('.card img')].filter(one => one.complete && one.naturalWidth).length"
    until(page, f"{loaded} > 3")
    assert page.locator(".card img").count() >= 59
    assert page.locator('.card img[loading="lazy"]').count() == page.locator(".card img").count()


def test_everything_by_keyboard(open_page: Open) -> None:
    page = open_page("#?q=demo")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.innerText").startswith("demo/hiding")
    page.keyboard.press("Enter")
    page.wait_for_selector(".stage")
    assert page.locator("h1:visible").text_content() == "demo/hiding"
    assert page.evaluate("document.activeElement.id") == "episode-title"
    for key, layer in {"b": "boxes", "m": "masks", "a": "amodal", "n": "names", "p": "pointer"}.items():
        page.keyboard.press(key)
        assert f"show-{layer}" in page.locator(".stage").get_attribute("class")
    page.keyboard.press("ArrowRight")
    until(page, "document.title.startsWith('demo/pointing')")
    assert page.locator(".toggle").first.get_attribute("aria-pressed") == "true"
    page.keyboard.press("w")
    assert page.locator("#answer").is_visible()
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("a.card")
    assert page.evaluate("document.activeElement.innerText").startswith("demo/pointing")
    assert names(page) == ["demo/damaged", "demo/hiding", "demo/pointing"]


def test_keys_can_be_turned_off(open_page: Open) -> None:
    page = open_page("#/demo/hiding")
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Use these keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("b")
    assert page.locator(".toggle").first.get_attribute("aria-pressed") == "false"


def test_the_answer_waits_until_it_is_asked_for(open_page: Open) -> None:
    page = open_page("#/demo/pointing")
    shown = page.locator("#episode").inner_text()
    assert "Which word is the blue one?" in shown
    assert "dax" in shown
    assert "Answer" not in shown
    assert "lexicon" not in shown
    page.get_by_role("button", name="Show the answer").click()
    assert "Answer: blicket" in page.locator("#episode").inner_text()
    assert "lexicon" in page.locator("#answer").inner_text()
    assert page.locator(".options .right").inner_text() == "blicket"


@pytest.mark.parametrize("name", [POINTING["id"], HIDING["id"]])
def test_masks_on_the_screen_are_the_stored_ones(open_page: Open, store: LanceStore, name: str) -> None:
    page = open_page(f"#/{name}")
    stage = page.locator(".stage")
    until(page, "document.querySelector('.stage img').complete")
    before = pixels(stage)
    page.keyboard.press("m")
    changed = np.abs(pixels(stage) - before).max(axis=2) > 8
    (image,) = store.get(name).images
    wanted = np.zeros((image.height, image.width), dtype=bool)
    for item in image.annotation.objects:
        wanted |= decode_mask(item.rle)
    wanted_there = np.asarray(Image.fromarray(wanted).resize(changed.shape[::-1], Image.Resampling.NEAREST))
    assert wanted.any()
    assert (wanted_there & changed).sum() / (wanted_there | changed).sum() > 0.98


@pytest.mark.parametrize("name", [POINTING["id"], HIDING["id"]])
@pytest.mark.parametrize("key", ["b", "a"])
def test_boxes_on_the_screen_lie_on_the_objects(open_page: Open, store: LanceStore, name: str, key: str) -> None:
    """What a box changes on the screen begins and ends where the stored mask, or the stored amodal box, does."""
    page = open_page(f"#/{name}")
    stage = page.locator(".stage")
    until(page, "document.querySelector('.stage img').complete")
    (image,) = store.get(name).images
    page.keyboard.press(key)
    groups = page.locator(".lines > g:not(.pointer)")
    assert groups.count() == len(image.annotation.objects)
    for number, item in enumerate(image.annotation.objects):
        page.evaluate(ONLY, number)
        drawn = pixels(stage)
        page.evaluate(ONLY, None)
        rows, columns = np.nonzero(np.abs(drawn - pixels(stage)).max(axis=2) > 24)
        scale = drawn.shape[1] / image.width
        if key == "b":
            down, across = np.nonzero(decode_mask(item.rle))
            left, top, right, bottom = across.min(), down.min(), across.max() + 1, down.max() + 1
        else:
            assert item.amodal_bbox is not None
            left, top = item.amodal_bbox[:2]
            right, bottom = left + item.amodal_bbox[2], top + item.amodal_bbox[3]
        found = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        # The line is four pixels of the screen wide, half of it outside.
        wanted = np.array([left, top, right, bottom]) * scale + np.array([-2, -2, 2, 2])
        border = np.array([drawn.shape[1], drawn.shape[0]] * 2)
        assert np.abs(found - np.clip(wanted, 0, border)).max() <= 1.5, item.name


def test_pointing_at_an_object_tells_its_relations(open_page: Open, store: LanceStore) -> None:
    page = open_page("#/demo/pointing")
    (image,) = store.get("demo/pointing").images
    item = next(one for one in image.annotation.objects if one.name == "a")
    assert item.bbox is not None
    area = page.locator(".stage").bounding_box()
    scale = area["width"] / image.width
    down, across = np.nonzero(decode_mask(item.rle))
    middle = len(down) // 2
    page.mouse.move(area["x"] + (across[middle] + 0.5) * scale, area["y"] + (down[middle] + 0.5) * scale)
    told = page.locator(".info").inner_text()
    assert told.startswith("a: large red rubber cube, 100% visible")
    phrases = {"left": "left of it", "right": "right of it", "front": "in front of it", "behind": "behind it"}
    for relation, phrase in phrases.items():
        others = image.annotation.relations[relation]["a"]
        assert (f"{phrase}: {', '.join(others)}" in told) == bool(others)
    lit = page.locator(".tag.shown").all_inner_texts()
    assert "a" in lit
    assert any(text.startswith("b · ") for text in lit)
    # The same by keyboard, from the list.
    page.mouse.move(0, 0)
    page.get_by_role("button", name="c", exact=True).focus()
    assert page.locator(".info").inner_text().startswith("c: large green glass cylinder")


def test_pictures_are_told_in_words(open_page: Open, store: LanceStore) -> None:
    page = open_page("#/demo/pointing")
    alt = page.locator(".stage img").get_attribute("alt")
    assert alt.startswith("question, “blicket”: A large red rubber cube, ")
    assert alt.endswith("a hand points at the small blue metal sphere.")
    shown = page.locator(".command code").inner_text()
    assert shown == f"render-episode {store.url} demo/pointing --out look"


def test_raw_data_unfolds(open_page: Open, store: LanceStore) -> None:
    page = open_page("#/demo/hiding")
    page.locator("summary", has_text="Scene").first.click()
    page.get_by_text("scene_version").wait_for(state="visible")
    page.locator(".tree summary", has_text="frames").first.click()
    page.locator(".tree summary", has_text="only").first.wait_for(state="visible")


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


def test_pictures_of_any_size_and_without_objects(open_page: Open) -> None:
    page = open_page("#/flat/1", size=(500, 800))
    assert page.locator(".stage").count() == 2
    area = page.locator(".stage").first.bounding_box()
    assert area["width"] == pytest.approx(area["height"], abs=1)
    assert area["width"] <= 500
    assert "null" not in page.locator(".task").inner_text()
    page.locator("#ask").click()
    assert "actions" in page.locator("#answer").inner_text()
    for key in "bmanpo":
        page.keyboard.press(key)


def test_what_is_damaged_or_not_there_says_so(open_page: Open) -> None:
    page = open_page("#/demo/damaged")
    assert "don't match their SHA-256" in page.locator("#episode").inner_text()
    assert "--specs-out again.jsonl --repair" in page.locator(".command code").inner_text()
    page.goto(page.url.split("#")[0] + "#/no/such%20one")
    page.wait_for_selector("text=This gallery has no such episode")


def test_it_is_the_same_when_served(open_page: Open, page_file: Path) -> None:
    with server_of(page_file.parent) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            page = open_page("#/demo/pointing", base=address_of(server))
            until(page, "document.querySelector('.stage img').naturalWidth === 320")
            # What is fetched ahead would fail without its server, and be complained of.
            page.wait_for_load_state("networkidle")
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core not found: npm install axe-core, or DIORAMA_AXE=.../axe.min.js")
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
    page.evaluate(AXE.read_text("utf-8"))
    # Preloading would fetch the style sheet, which the page's policy forbids.
    found = page.evaluate("axe.run({preload: false})")
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert not bad, json.dumps([(one["id"], [n["html"][:160] for n in one["nodes"][:4]]) for one in bad], indent=1)
    assert len(found["passes"]) > 15
