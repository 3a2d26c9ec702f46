"""An episode in a real browser: what is drawn lies where the truth is, and is told in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.gallery.build_gallery import GalleryOptions, build
from tests.render.uses.gallery.browsing import Open, pixels, until
from tests.render.uses.gallery.stores import HIDING, POINTING, rendered

pytestmark = pytest.mark.readers
# Of the groups of lines over a picture, one is left to be seen.
ONLY = "n => document.querySelectorAll('.lines > g').forEach((g, i) => { g.style.opacity = i === n ? 1 : 0; })"


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
def test_masks_on_the_screen_are_the_stored_ones(open_page: Open, odd: LanceStore, name: str) -> None:
    page = open_page(f"#/{name}")
    stage = page.locator(".stage")
    until(page, "document.querySelector('.stage img').complete")
    before = pixels(stage)
    page.keyboard.press("m")
    changed = np.abs(pixels(stage) - before).max(axis=2) > 8
    (image,) = odd.get(name).images
    wanted = np.zeros((image.height, image.width), dtype=bool)
    for item in image.annotation.objects:
        wanted |= item.rle.mask()
    wanted_there = np.asarray(Image.fromarray(wanted).resize(changed.shape[::-1], Image.Resampling.NEAREST))
    assert wanted.any()
    assert (wanted_there & changed).sum() / (wanted_there | changed).sum() > 0.98


@pytest.mark.parametrize("name", [POINTING["id"], HIDING["id"]])
@pytest.mark.parametrize("key", ["b", "a"])
def test_boxes_on_the_screen_lie_on_the_objects(open_page: Open, odd: LanceStore, name: str, key: str) -> None:
    """What a box changes on the screen begins and ends where the stored mask, or the stored amodal box, does."""
    page = open_page(f"#/{name}")
    stage = page.locator(".stage")
    until(page, "document.querySelector('.stage img').complete")
    (image,) = odd.get(name).images
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
            down, across = np.nonzero(item.rle.mask())
            left, top = int(across.min()), int(down.min())
            right, bottom = int(across.max()) + 1, int(down.max()) + 1
        else:
            assert item.amodal_bbox is not None
            left, top = item.amodal_bbox[:2]
            right, bottom = left + item.amodal_bbox[2], top + item.amodal_bbox[3]
        found = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        # The line is four pixels of the screen wide, half of it outside.
        wanted = np.array([left, top, right, bottom]) * scale + np.array([-2, -2, 2, 2])
        border = np.array([drawn.shape[1], drawn.shape[0]] * 2)
        assert np.abs(found - np.clip(wanted, 0, border)).max() <= 1.5, item.name


def test_pointing_at_an_object_tells_its_relations(open_page: Open, odd: LanceStore) -> None:
    page = open_page("#/demo/pointing")
    (image,) = odd.get("demo/pointing").images
    item = next(one for one in image.annotation.objects if one.name == "a")
    assert item.bbox is not None
    area = page.locator(".stage").bounding_box()
    scale = area["width"] / image.width
    down, across = np.nonzero(item.rle.mask())
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


def test_a_pinned_object_is_told_until_it_is_let_go(open_page: Open) -> None:
    from playwright.sync_api import expect

    page = open_page("#/demo/pointing")
    button = page.get_by_role("button", name="c", exact=True)
    for pressed in ("true", "false"):
        button.click()
        expect(button).to_have_attribute("aria-pressed", pressed)


def test_an_object_may_have_any_name(open_page: Open, tmp_path: Path) -> None:
    """One of fewer than 20 pixels has no expression, and every table of JavaScript has a `constructor`."""
    store = LanceStore.create(str(tmp_path / "names.lance"), fsync=False)
    items = [{"name": "constructor", "shape": "cube", "size": 0.15}, {"name": "b", "shape": "sphere"}]
    store.put([rendered({"version": 1, "id": "demo/0", "seed": 3, "frames": [{"objects": items}]}, (64, 48))])
    page = open_page("#/demo/0", base=build(store, tmp_path / "site", GalleryOptions(workers=1)).page.as_uri())
    line = page.locator(".things li", has_text="constructor").first
    assert line.locator("div > span").first.inner_text().endswith("cube")
    assert line.locator("q").count() == 0


def test_pictures_are_told_in_words(open_page: Open, odd: LanceStore) -> None:
    page = open_page("#/demo/pointing")
    alt = page.locator(".stage img").get_attribute("alt")
    assert alt.startswith("question, “blicket”: A large red rubber cube, ")
    assert alt.endswith("a hand points at the small blue metal sphere.")
    shown = page.locator(".command code").inner_text()
    # A gallery may be published: it names its store without the folder.
    assert shown == f"render-episode {Path(odd.url).name} demo/pointing --renderer fake --out look"


def test_raw_data_unfolds(open_page: Open, odd: LanceStore) -> None:
    page = open_page("#/demo/hiding")
    page.locator("summary", has_text="Scene").first.click()
    page.get_by_text("scene_version").wait_for(state="visible")
    page.locator(".tree summary", has_text="frames").first.click()
    page.locator(".tree summary", has_text="only").first.wait_for(state="visible")


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
