"""The page of a contrast in a real browser: the difference and the swipe show what the images show."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.gallery.build_gallery import GalleryOptions, build
from diorama.render.uses.rerender.looks import look_scenes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_job, make_spec
from tests.render.uses.contrast.test_pairs import pair
from tests.render.uses.gallery.browsing import Open, pixels, until

pytestmark = pytest.mark.readers
# At the size of the images and at a whole number, one pixel of the screen is one of theirs.
PLACED = "(one, n) => { one.style = `position: fixed; z-index: 9; width: 64px; left: 0; top: ${200 * n}px`; }"


def test_difference_and_swipe_of_a_pair(open_page: Open, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "pairs.lance"), fsync=False)
    records = pair(0, "color")
    store.put(records)
    built = build(store, tmp_path / "site", GalleryOptions(workers=1))
    page = open_page("#/crowd/0+color-1", base=built.page.as_uri())
    until(page, "[...document.querySelectorAll('.pair img')].every(one => one.complete && one.naturalWidth)")
    page.evaluate(f"document.querySelectorAll('.pair figure').forEach({PLACED})")
    first, second = (record.images[0].color().astype(np.int16) for record in records)
    assert (first != second).any()
    shown = pixels(page.locator(".difference div"))
    assert np.array_equal(shown.any(axis=2), (first != second).any(axis=2))
    swipe, slider = page.locator(".swipe div"), page.get_by_label("Share of the first image")
    for share in (0, 50, 100):
        slider.fill(str(share))
        at = share * 64 // 100
        assert np.array_equal(pixels(swipe), np.concatenate([first[:, :at], second[:, at:]], axis=1))
    page.get_by_role("link", name="1: ").click()
    until(page, "document.querySelector('.pair a[aria-current]').textContent.startsWith('1: ')")


def test_the_looks_of_an_episode_stand_side_by_side(open_page: Open, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "looks.lance"), fsync=False)
    spec = EpisodeSpec.model_validate(make_spec("a/1", frames=1))
    scenes = look_scenes(spec, settings_for("draft", 64, 48), ["plain", "wood", "tiles"], ())
    alone = scenes[0].model_copy(update={"id": "a/2+plain"})
    store.put(
        [
            make_record(FakeRenderer(), scene, make_job(json.loads(scene.to_json())), scene.settings)
            for scene in [*scenes, alone]
        ]
    )
    built = build(store, tmp_path / "site", GalleryOptions(workers=1))
    page = open_page("#/a/1+wood", base=built.page.as_uri())
    until(page, "[...document.querySelectorAll('.pair img')].every(one => one.complete && one.naturalWidth)")
    assert page.locator(".pair figcaption").all_text_contents() == ["plain", "tiles", "wood"]
    assert page.locator(".pair a[aria-current]").text_content() == "wood"
    page.get_by_role("link", name="plain", exact=True).click()
    until(page, "document.querySelector('.pair a[aria-current]').textContent === 'plain'")
    page = open_page("#/a/2+plain", base=built.page.as_uri())
    until(page, "document.querySelector('.toolbar') !== null")
    assert page.locator(".pair").count() == 0
