"""Captions, facts, scripts and thumbnails: the small parts of the gallery."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from diorama.render.store.row_checks import problems_in
from diorama.render.store.rows import row_of
from diorama.render.uses.gallery.build_gallery import SIZE, grid_of, thumbnail
from diorama.render.uses.gallery.episode_facts import caption, check_of, description, page_data, search_row
from diorama.render.uses.gallery.gallery_files import script_call
from diorama.scene_specs.model.record import EpisodeRecord
from tests import factories
from tests.render.uses.gallery.stores import HIDING, POINTING, rendered
from tests.render.uses.gallery.test_build_gallery import script_data

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(_json)
def test_a_script_hands_over_what_was_given_and_holds_no_markup(value: Any) -> None:
    text = script_call("take", value)
    assert text.startswith("take(JSON.parse('")
    assert not set("<>&\u2028\u2029\n") & set(text[:-1])
    assert script_data(text) == [value]


def test_numbers_that_json_has_not_become_words() -> None:
    (found,) = script_data(script_call("take", {"a": [float("nan"), float("-inf")], "b": 1.5}))
    assert found == {"a": ["nan", "-inf"], "b": 1.5}


def test_a_caption_says_what_is_seen_hidden_and_pointed_at() -> None:
    (image,) = rendered(POINTING).images
    text = caption(image.annotation)
    assert text.startswith("A large red rubber cube, ")
    assert "a small blue metal sphere" in text
    assert text.endswith("; a hand points at the small blue metal sphere.")
    frame = {**POINTING["frames"][0], "pointer": {"target": "b", "kind": "hand-left"}}
    (image,) = rendered({**POINTING, "frames": [frame]}).images
    assert caption(image.annotation).endswith("; a left hand points at the small blue metal sphere.")
    people = [{"name": "Ann", "looks_at": "b"}, {"name": "Ben", "looks_at": [0, 0, 1]}]
    (image,) = rendered(
        {**POINTING, "frames": [{"objects": POINTING["frames"][0]["objects"], "observers": people}]}
    ).images
    text = caption(image.annotation)
    assert text.endswith("; Ann looks at the small blue metal sphere; Ben looks at a point.")
    assert "rubber person" in text
    assert "person:" not in text
    (image,) = rendered(HIDING).images
    far = next(item for item in image.annotation.objects if item.name == "far")
    assert far.visible_fraction < 0.5
    assert f"({far.visible_fraction:.0%} visible)" in caption(image.annotation)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "No objects."), (1, "A small red rubber cube."), (12, "12 objects: cube (12).")],
)
def test_a_caption_of_few_and_many(count: int, expected: str) -> None:
    assert caption(factories.make_annotation(count)) == expected


def test_a_caption_of_what_is_out_of_sight() -> None:
    hidden = factories.make_object(1, visible_pixels=0, bbox=None, visible_fraction=0.0)
    truth = factories.make_annotation(0).model_copy(update={"objects": [hidden]})
    assert caption(truth) == "No objects; 1 object out of sight."
    odd = factories.make_object(shape="office_chair", color=None, size=None, material="wood")
    assert description(odd) == "wood office chair"


def test_facts_leave_the_pointer_out_and_find_the_least_visible() -> None:
    row = search_row("k" * 20, rendered(POINTING), [])
    assert row["shape"] == ["cube", "cylinder", "sphere"]
    assert row["objects"] == 3
    assert "small blue metal sphere" in row["things"]
    assert row["text"] == "blicket · Which word is the blue one? · dax"
    hiding = rendered(HIDING)
    least = min(item.visible_fraction for item in hiding.images[0].annotation.objects)
    assert search_row("k", hiding, [])["visible"] == pytest.approx(least, abs=1e-4)


@given(factories.records())
def test_any_record_has_facts_and_a_page(record: EpisodeRecord) -> None:
    row = search_row("k" * 20, record, ["image a: object b: wrong"])
    assert row["checks"] == ["boxes and masks"]
    files = [f"{number}.png" for number in range(len(record.images))]
    text = script_call("take", row, page_data(record, files, problems_in(row_of(record), record)))
    assert [one["id"] for one in script_data(text)] == [record.episode_id] * 2
    json.dumps(row)


@pytest.mark.parametrize(
    ("problem", "check"),
    [
        ("its images don't match their SHA-256", "stored bytes"),
        ("image f0: object a: mask can't be read: it ends inside a number", "boxes and masks"),
        ("image f0: can't be decoded: broken PNG", "images"),
        ("images: missing ['a'], not in the Scene [], or twice or in another order", "frames"),
        ("answer 'x' is not among the 2 options", "answer"),
        ("column task: differs from the episode", "search columns"),
    ],
)
def test_checks_have_names(problem: str, check: str) -> None:
    assert check_of(problem) == check


@given(st.integers(1, 9), st.floats(0.2, 5))
def test_a_grid_has_room_for_all_and_fits(count: int, aspect: float) -> None:
    columns, rows, width, height = grid_of(count, aspect)
    assert columns * rows >= count
    assert (columns - 1) * rows < count or rows == 1 or columns == 1 or (rows - 1) * columns < count
    assert columns * width <= SIZE[0]
    assert rows * height <= SIZE[1]


def test_a_thumbnail_shows_its_pictures_side_by_side() -> None:
    def plain(color: tuple[int, int, int], size: tuple[int, int] = (320, 240)) -> bytes:
        out = io.BytesIO()
        Image.new("RGB", size, color).save(out, "PNG")
        return out.getvalue()

    colors = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]
    with Image.open(io.BytesIO(thumbnail([plain(color) for color in colors]))) as small:
        assert small.format == "WEBP"
        assert small.width <= SIZE[0]
        assert small.height <= SIZE[1]
        width, height = small.width / 2, small.height / 2
        for number, color in enumerate(colors):
            place = (int((number % 2 + 0.5) * width), int((number // 2 + 0.5) * height))
            seen = small.convert("RGBA").getpixel(place)
            assert isinstance(seen, tuple)
            assert max(abs(a - b) for a, b in zip(seen[:3], color, strict=True)) < 25
        corner = small.convert("RGBA").getpixel((small.width - 5, small.height - 5))
        assert isinstance(corner, tuple)
        assert corner[3] == 0
    with Image.open(io.BytesIO(thumbnail([b"no picture", plain((9, 9, 9), (30, 40))]))) as small:
        assert small.height <= 40


def test_backslashes_survive_both_readings() -> None:
    assert script_call("take", "\\u003c") == "take(JSON.parse('\"" + 4 * "\\" + "u003c\"'));\n"
