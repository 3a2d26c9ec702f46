"""The comparison of a GPU with the CPU; the whole tool runs on simulated GPUs (tests/tools/simulated_gpu)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.store import open_or_create
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.record import RLE, ImageRecord
from tests.factories import make_object, make_record, png
from tools.measuring.gpu import Difference, compare_stores


def block(side: int) -> RLE:
    """The mask of a square in an image of 32 x 24 pixels."""
    mask = np.zeros((24, 32), dtype=bool)
    mask[3 : 3 + side, 3 : 3 + side] = True
    return RLE.of(mask)


def image(**changes: Any) -> ImageRecord:
    """An image of one object, whose annotation has these fields instead."""
    whole = make_record(images=1, objects=1).images[0]
    item = make_object(**{"rle": block(4), **{key: changes[key] for key in ("bbox", "rle") if key in changes}})
    relations = changes.get("relations", whole.annotation.relations)
    annotation = whole.annotation.model_copy(update={"objects": [item], "relations": relations})
    return whole.model_copy(update={"annotation": annotation, "png": changes.get("png", whole.png)})


def difference(**changes: Any) -> Difference:
    found = Difference()
    found.add(image(), image(**changes))
    return found


def test_equal_images_are_accepted() -> None:
    found = difference()
    assert (found.ids, found.boxes, found.relations, found.psnr) == ([0.0], [0], [0], [math.inf])
    assert found.acceptable


def test_a_mask_counts_by_pixels() -> None:
    found = difference(rle=block(5))
    assert found.ids == [9 / (24 * 32)] and not found.acceptable


def test_a_box_may_move_by_a_pixel() -> None:
    assert difference(bbox=(3, 3, 5, 4)).boxes == [1]
    assert difference(bbox=(3, 3, 5, 4)).acceptable
    assert difference(bbox=(3, 3, 6, 4)).boxes == [2]
    assert not difference(bbox=(3, 3, 6, 4)).acceptable
    assert not difference(bbox=None).acceptable


def test_a_relation_may_not_change_and_noise_may() -> None:
    assert not difference(relations={"right": {"object-1": ["object-1"]}}).acceptable
    noisy = difference(png=png(seed=9))
    assert noisy.acceptable and noisy.psnr[0] < 20


def test_stores_of_other_episodes_are_not_compared(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        store = open_or_create(str(tmp_path / name))
        store.put([make_record(name if name != "c" else "a")])
    with pytest.raises(UsageError, match="different episodes"):
        compare_stores(tmp_path / "a", tmp_path / "b")
    assert compare_stores(tmp_path / "a", tmp_path / "c").acceptable
