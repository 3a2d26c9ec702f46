"""Sheets and comparison pictures: everything on them, at any size and number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from diorama.render.uses.draw.comparison_strip import comparison_strip
from diorama.render.uses.draw.overlay import overlay
from diorama.render.uses.draw.sheet import sheet
from diorama.render.uses.draw.typography import fitting, font, wrapped
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered


def tiles(record: EpisodeRecord, picture: Image.Image) -> int:
    """How many of the record's overlays stand on a sheet, pixel by pixel."""
    whole = np.asarray(picture)
    found = 0
    for image in record.images:
        drawn = np.asarray(overlay(decode_png(image.png), image.annotation, 3, tint=False))
        height, width = drawn.shape[:2]
        rows = np.lib.stride_tricks.sliding_window_view(whole[:, :, 0], (1, 8))[:, :, 0]
        starts = np.argwhere((rows == drawn[0, :8, 0]).all(axis=-1))
        found += any(np.array_equal(whole[y : y + height, x : x + width], drawn) for y, x in starts)
    return found


@pytest.mark.parametrize("frames", [1, 3, 5])
def test_every_image_stands_on_the_sheet_with_its_truth(frames: int) -> None:
    record = rendered("sheet/1", frames=frames)
    assert tiles(record, sheet(record)) == frames


@pytest.mark.parametrize("count", [1, 4, 30, 250])
def test_a_sheet_of_any_number_of_images_has_a_size_that_can_be_looked_at(count: int) -> None:
    record = rendered("sheet/2")
    (image, *_) = record.images
    images = [image.model_copy(update={"name": f"f{number}"}) for number in range(count)]
    picture = sheet(record.model_copy(update={"images": images}))
    assert 100 < picture.width < 4000 and 100 < picture.height < 8000


def test_nothing_of_a_task_breaks_a_sheet() -> None:
    """No task, odd values, controls, an endless word, letters the font has not."""
    for task in (
        None,
        {"options": 5, "answer": ["\x1b[31m", {"a": 1}], "instruction": "w" * 5000, "name": "日本 \u2028"},
    ):
        record = rendered("odd/1")
        scene = record.scene.model_copy(update={"task": task})
        record = record.model_copy(update={"scene": scene})
        assert sheet(record).width > 0


def test_small_pictures_are_enlarged_and_large_ones_are_not() -> None:
    small, large = rendered("s/1", frames=1), rendered("s/2", frames=1, size=(1400, 1050))
    assert sheet(small).width < 64 * 3 + 40
    assert sheet(large).width < 700


def test_beside_shows_stored_new_and_sixteen_times_the_difference() -> None:
    old = np.full((240, 320, 3), 100, np.uint8)
    new = old.copy()
    new[100, 50] = (103, 100, 90)
    drawn = np.asarray(comparison_strip(old, new, "figures"))
    columns = [drawn[:, x : x + 320] for x in (8, 8 + 328, 8 + 656)]
    row = next(y for y in range(drawn.shape[0]) if (columns[0][y] == 100).all())
    assert columns[1][row + 100, 50].tolist() == [103, 100, 90]
    assert columns[2][row + 100, 50].tolist() == [48, 0, 160]
    assert not columns[2][row : row + 100].any()


@given(st.text(max_size=60), st.integers(20, 300), st.integers(1, 4))
def test_text_never_leaves_its_room(text: str, width: int, lines: int) -> None:
    letter: Any = font(12)
    assert letter.getlength(fitting(text, width, letter)) <= max(width, letter.getlength("…"))
    found = wrapped(text, width, letter, lines)
    assert len(found) <= lines
    assert all(letter.getlength(line) <= max(width, letter.getlength("…")) for line in found)
