from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco

from diorama.render.store import row_checks
from diorama.render.store.columns import RECORD_COLUMNS
from diorama.render.store.row_checks import invalid_answer, measure, problems_of, runs
from diorama.render.store.rows import complete_row, row_of, table_of, text_digest
from diorama.scene_specs.model.pictures import open_png
from diorama.scene_specs.model.record import RLE, EpisodeRecord
from tests.factories import png
from tests.render.store.rendered import rendered

# An older Diorama's records are read from these columns alone.
_READ = set(RECORD_COLUMNS) - {"spec", "relations"}


def row(record: EpisodeRecord) -> dict[str, Any]:
    (found,) = table_of([record]).to_pylist()
    return dict(found)


def with_image(record: EpisodeRecord, **changes: Any) -> EpisodeRecord:
    return record.model_copy(update={"images": [record.images[0].model_copy(update=changes), *record.images[1:]]})


def with_object(record: EpisodeRecord, **changes: Any) -> EpisodeRecord:
    truth = record.images[0].annotation
    objects = [truth.objects[0].model_copy(update=changes), *truth.objects[1:]]
    return with_image(record, annotation=truth.model_copy(update={"objects": objects}))


def test_a_whole_episode_has_no_problem() -> None:
    assert problems_of(row(rendered())) == []
    assert problems_of(row(rendered(split=None, frames=1))) == []


OBJECT_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"bbox": (60, 3, 10, 4)}, r"object a: bbox \[60, 3, 10, 4\] is empty or not inside 64x48"),
    ({"bbox": (3, 3, 0, 4)}, r"object a: bbox \[3, 3, 0, 4\] is empty or not inside"),
    ({"bbox": (1, 1, 2, 2)}, r"object a: bbox \[1, 1, 2, 2\], but the mask's is"),
    ({"bbox": None}, r"object a: bbox None, but the mask's is"),
    ({"amodal_bbox": (-1, 0, 4, 4)}, r"object a: amodal_bbox"),
    ({"visible_pixels": 7}, r"object a: visible_pixels 7, but the mask has"),
    ({"visible_fraction": 0.25}, r"object a: visible_fraction 0.25"),
    ({"visible_fraction": float("nan")}, r"object a: visible_fraction nan"),
    ({"rle": RLE(size=(64, 48), counts="0")}, r"object a: mask is 48x64, the image 64x48"),
    ({"rle": RLE(size=(48, 64), counts="5")}, r"object a: mask can't be read: its runs don't add up"),
    ({"rle": RLE(size=(48, 64), counts="o")}, r"object a: mask can't be read: it ends inside a number"),
    ({"rle": RLE(size=(48, 64), counts="~é")}, r"object a: mask can't be read: character"),
    ({"name": "z"}, r"annotated objects \[z, b\], in the Scene \[a, b\]"),
]


@pytest.mark.parametrize(("changes", "message"), OBJECT_FAULTS)
def test_what_is_wrong_with_an_object_is_named(changes: dict[str, Any], message: str) -> None:
    import re

    problems = problems_of(row(with_object(rendered(), **changes)))
    assert any(re.search(message, problem) for problem in problems), problems


IMAGE_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"png": b"no PNG"}, "image f0: can't be decoded"),
    ({"png": png(32, 24)}, "image f0: is 32x24 RGB, not 64x48 RGB"),
    ({"png": png(64, 48)[:-200]}, "image f0: can't be decoded"),
    ({"width": 65}, "image f0: size is 65x48, in the Scene 64x48"),
    ({"name": "f7"}, "images: missing ['f0'], not in the Scene ['f7']"),
    ({"extra": b"x"}, "image f0: passes requested [], stored: True"),
]


@pytest.mark.parametrize(("changes", "message"), IMAGE_FAULTS)
def test_what_is_wrong_with_an_image_is_named(changes: dict[str, Any], message: str) -> None:
    problems = problems_of(row(with_image(rendered(), **changes)))
    assert any(message in problem for problem in problems), problems


def test_what_is_wrong_with_amodal_masks_is_named() -> None:
    record = rendered(frames=1)
    frame = record.scene.frames[0].model_copy(update={"passes": ("depth", "amodal")})
    asked = record.model_copy(update={"scene": record.scene.model_copy(update={"frames": (frame,)})})
    (problem,) = problems_of(row(asked))
    assert "image f0" in problem and "amodal" in problem
    (image,) = asked.images
    objects = [item.model_copy(update={"amodal_rle": item.rle}) for item in image.annotation.objects]
    whole = with_image(asked, annotation=image.annotation.model_copy(update={"objects": objects}))
    found = problems_of(row(whole))
    assert all("but the amodal mask" in problem or "amodal bbox" in problem for problem in found), found
    smaller = objects[0].rle.model_copy(update={"size": (48, 63)})
    assert any(
        "amodal mask is 63x48" in problem for problem in problems_of(row(with_object(whole, amodal_rle=smaller)))
    )


def test_pillows_bound_is_not_ours_and_ours_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
        assert problems_of(row(rendered())) == []
    monkeypatch.setattr(row_checks, "open_png", partial(open_png, longest=63))
    message = "can't be decoded: found 64x48 pixels; allowed: at most 63 per side"
    assert problems_of(row(rendered())) == [f"image f0: {message}", f"image f1: {message}"]


def test_a_missing_frame_and_a_frame_twice() -> None:
    record = rendered()
    for images in (record.images[:1], [*record.images, record.images[0]], record.images[::-1]):
        assert any("images: missing" in p for p in problems_of(row(record.model_copy(update={"images": images}))))


def test_an_answer_that_is_no_option_is_invalid_and_no_damage() -> None:
    record = rendered()
    task = {**(record.scene.task or {}), "answer": "toma"}
    wrong = record.model_copy(update={"scene": record.scene.model_copy(update={"task": task})})
    assert problems_of(row(wrong)) == []
    assert invalid_answer(task) == ["answer 'toma' is not among the 2 options"]
    assert invalid_answer(record.scene.task) == invalid_answer(None) == invalid_answer({"answer": "toma"}) == []


def test_texts_of_an_older_diorama_are_no_damage() -> None:
    """Its Scenes lack the fields that were added since; their digest says that they are what was put."""
    older = row(rendered())
    scene = json.loads(older["scene"])
    older["scene"] = json.dumps(
        {name: value for name, value in scene.items() if name != "task"} | {"task": scene["task"]}
    )
    older["text_sha256"] = text_digest(older)
    assert older["scene"] != row(rendered())["scene"]
    assert problems_of(older) == []


@pytest.mark.parametrize("column", [name for name in row_of(rendered()) if name not in _READ])
def test_a_search_column_that_says_something_else(column: str) -> None:
    """In a row of an older Diorama, spec and relations are copies for searching, too."""
    changed = dict(complete_row(row(rendered())))
    value = changed[column]
    if isinstance(value, list):
        changed[column] = value[:-1]
    else:
        changed[column] = value + 1 if isinstance(value, int) else "other"
    assert problems_of(changed) == [f"column {column}: differs from the episode"]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_masks_are_read_as_pycocotools_reads_them(height: int, width: int, seed: int, share: float) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < share
    encoded = coco.encode(np.asfortranarray(mask, dtype=np.uint8))
    area, box = measure(RLE(size=(height, width), counts=encoded["counts"].decode()))
    assert area == int(coco.area(encoded))
    assert list(box or (0, 0, 0, 0)) == [int(value) for value in coco.toBbox(encoded)]


@given(st.text(max_size=20))
def test_any_text_is_a_mask_or_a_clear_error(text: str) -> None:
    try:
        lengths = runs(text)
    except ValueError:
        return
    assert all(isinstance(length, int) for length in lengths)


def test_names_of_image_files_are_compared() -> None:
    stored = row(rendered())
    stored["images"][0]["path"] = "f1.png"
    assert problems_of(stored) == ["column images.path: differs from the episode"]
