"""The list of a gallery in a real browser: paged, searched, filtered, walked through by keyboard."""

from __future__ import annotations

import pytest

from tests.render.uses.gallery.browsing import Open, choose, shows, until

pytestmark = pytest.mark.readers


def test_the_list_is_paged_filtered_and_sorted(open_page: Open) -> None:
    page = open_page()
    cards = page.locator("a.card")
    assert page.locator("#status").text_content() == "75 episodes"
    assert cards.count() == 60
    page.get_by_role("link", name="Next", exact=True).click()
    until(page, "document.querySelectorAll('a.card').length === 15")
    choose(page, "Shape", "sphere")
    shows(page, "demo/hiding", "demo/pointing", status="2 of 75 episodes")
    choose(page, "Shape", "cylinder")
    shows(page, "demo/pointing")
    page.go_back()
    shows(page, "demo/hiding", "demo/pointing")
    page.get_by_label("Sort by").select_option("visible")
    page.locator(".card .figure", has_text="% visible").first.wait_for()
    shows(page, "demo/hiding", "demo/pointing")
    page.get_by_role("button", name="Clear all").click()
    choose(page, "Failed checks", "stored bytes")
    shows(page, "demo/damaged", status="1 of 75 episodes")


def test_filters_chosen_in_one_breath_are_all_kept(open_page: Open) -> None:
    """The second is chosen before the browser tells of the address that the first changed."""
    page = open_page()
    page.evaluate("for (const word of ['cylinder', 'sphere']) document.querySelector(`.facet [value=${word}]`).click()")
    shows(page, "demo/pointing", status="1 of 75 episodes")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("demo/hid", ["demo/hiding"]),
        ("BLICKET", ["demo/pointing"]),
        ("which word is", ["demo/pointing"]),
        ("blue metal sphere", ["demo/pointing"]),
        ("red metal", []),
        # As in the names of materials and shapes: brushed-steel, office_chair.
        ("large-red rubber_cube", ["demo/pointing"]),
        ("]]>", ["hostile/1"]),
    ],
)
def test_search_finds_names_texts_and_objects(open_page: Open, typed: str, expected: list[str]) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type(typed)
    shows(page, *expected)
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
    page.locator("#ask").wait_for()
    page.keyboard.press("w")
    assert page.locator("#answer").is_visible()
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("a.card")
    assert page.evaluate("document.activeElement.innerText").startswith("demo/pointing")
    shows(page, "demo/damaged", "demo/hiding", "demo/pointing")


def test_keys_can_be_turned_off(open_page: Open) -> None:
    page = open_page("#/demo/hiding")
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Use single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("b")
    assert page.locator(".toggle").first.get_attribute("aria-pressed") == "false"


def test_an_address_may_name_what_is_not_here(open_page: Open) -> None:
    """Episodes without a task are not those of a task that no episode has."""
    page = open_page("#?task=nowhere")
    shows(page)
    page.get_by_role("button", name="Clear all").click()
    until(page, "document.querySelectorAll('a.card').length === 60")


def test_texts_are_whole_for_all_who_ask_while_they_are_loaded(open_page: Open) -> None:
    page = open_page()
    # Each with a loading of its own would take files away from the others.
    assert page.evaluate("Gallery.data.loadTexts() === Gallery.data.loadTexts()")
    assert page.evaluate("Gallery.data.loadTexts().then(found => found.text.length)") == 75
