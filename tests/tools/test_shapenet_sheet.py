"""Sheets of models: every model that was asked for, in order, in a file of moderate size."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import render
from tools import shapenet_sheet


def test_categories_are_all_of_their_models_and_models_are_themselves() -> None:
    assert shapenet_sheet.names_of(["chairs"]) == [f"chairs/#{number}" for number in range(1, 9)]
    assert shapenet_sheet.names_of(["boats/#3", "cars/#1"]) == ["boats/#3", "cars/#1"]
    everything = shapenet_sheet.names_of(["all"])
    assert len(everything) == len(set(everything)) == 64


def test_tiles_fill_rows_and_the_last_is_completed_with_paper() -> None:
    tiles = [np.full((4, 4, 3), shade, dtype=np.uint8) for shade in (10, 20, 30)]
    sheet = np.asarray(shapenet_sheet.sheet(tiles, 2))
    assert sheet.shape == (8, 8, 3)
    assert [int(sheet[y, x, 0]) for y, x in ((0, 0), (0, 4), (4, 0), (4, 4))] == [10, 20, 30, 255]


def test_a_caption_is_added_below_and_leaves_the_picture_whole() -> None:
    picture = np.zeros((20, 60, 3), dtype=np.uint8)
    tile = shapenet_sheet.captioned(picture, "cars #1")
    assert tile.shape == (20 + shapenet_sheet.CAPTION, 60, 3)
    assert (tile[:20] == picture).all()
    assert (tile[20:] < 128).any()


def test_a_jpeg_is_kept_small_and_a_png_is_exact(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (700, 700, 3), dtype=np.uint8)
    picture = Image.fromarray(noise)
    shapenet_sheet.write(picture, tmp_path / "sheet.jpg")
    shapenet_sheet.write(picture, tmp_path / "sheet.png")
    assert (tmp_path / "sheet.jpg").stat().st_size < shapenet_sheet.LARGEST
    with Image.open(tmp_path / "sheet.png") as opened:
        assert (np.asarray(opened) == noise).all()


@pytest.mark.parametrize("name", ["chairs/#3", "planes/#1"])
def test_a_models_views_compile_to_one_picture_each(name: str) -> None:
    options = argparse.Namespace(yaw=[20.0, 200.0], elevation=25.0, background=[0, 0, 0], profile="draft", size=64)
    scene = render.compile_spec(shapenet_sheet.spec(name, options), options.profile, (64, 64))
    (frame,) = scene.frames
    assert len(frame.views) == 2
