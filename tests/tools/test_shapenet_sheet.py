"""Sheets of models: every model that was asked for, in order, in a file of moderate size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import diorama
from tools import shapenet_sheet
from tools.__main__ import main as run_tool
from tools.check_shapenet import names_of

Drawn = Callable[..., NDArray[np.uint8]]


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The sheet of as many models as there are shades, whose renders are flat images of one shade each."""

    def draw(size: tuple[int, int], shades: list[int], *options: str) -> NDArray[np.uint8]:
        images = iter([Image.new("RGB", size, (shade,) * 3) for shade in shades])
        monkeypatch.setattr(shapenet_sheet, "pictures", lambda *_: [next(images)])
        models = [f"cars/#{number}" for number, _ in enumerate(shades, start=1)]
        assert run_tool(["shapenet-sheet", str(tmp_path / "sheet.png"), *models, *options]) == 0
        with Image.open(tmp_path / "sheet.png") as opened:
            return np.asarray(opened)

    return draw


def test_categories_are_all_of_their_models_and_models_are_themselves() -> None:
    assert names_of(["chairs"], None) == [f"chairs/#{number}" for number in range(1, 9)]
    assert names_of(["boats/#3", "cars/#1"], 1) == ["boats/#3", "cars/#1"]
    everything = names_of(["all"], None)
    assert len(everything) == len(set(everything)) == 64


def test_tiles_fill_rows_and_the_last_is_completed_with_paper(drawn: Drawn) -> None:
    sheet = drawn((4, 4), [10, 20, 30], "--columns", "2")
    assert sheet.shape == (8, 8, 3)
    assert [int(sheet[y, x, 0]) for y, x in ((0, 0), (0, 4), (4, 0), (4, 4))] == [10, 20, 30, 255]


def test_a_caption_is_added_below_and_leaves_the_picture_whole(drawn: Drawn) -> None:
    tile = drawn((60, 20), [0], "--captions")
    assert tile.shape[0] > 20 and tile.shape[1:] == (60, 3)
    assert (tile[:20] == 0).all()
    assert (tile[20:] < 128).any()


def test_a_model_that_cannot_be_rendered_is_gray_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "sheet.jpg"
    assert run_tool(["shapenet-sheet", str(sheet), "cars/#99", "--size", "24"]) == 1
    assert "cars/#99: " in capsys.readouterr().err
    with Image.open(sheet) as opened:
        assert opened.size == (24, 24) and opened.getpixel((12, 12)) == (128, 128, 128)


def test_a_sheet_that_could_not_be_written_is_refused_before_anything_is_rendered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        ((tmp_path / "gone" / "sheet.png",), "there is no folder"),
        ((tmp_path / "sheet.jpg", "--size", 40_000), "64 images"),
    ):
        assert run_tool(["shapenet-sheet", *map(str, arguments)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["chairs/#3", "planes/#1"])
def test_a_models_views_compile_to_one_picture_each(name: str) -> None:
    spec = shapenet_sheet.spec(f"shapenet:{name}", [20.0, 200.0], 25.0, [0, 0, 0])
    scene = diorama.compile_spec(spec, "draft", (64, 64))
    (frame,) = scene.frames
    assert len(frame.views) == 2
