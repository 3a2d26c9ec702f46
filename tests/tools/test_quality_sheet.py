"""The sheet shows the right places, enlarged and not smoothed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from diorama.render.annotations.encode import encode_png
from diorama.render.model.profiles import settings_for
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.language.pictures import decode_png
from tools import quality_sheet
from tools.__main__ import main as run_tool
from tools.quality import results
from tools.quality.metrics import unit
from tools.quality.references import write_png16
from tools.quality.scenes import scenes

WIDTH, HEIGHT = 80, 60


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Nine scenes, painted flat, by one candidate; the references are the same with a dark floor to the left."""
    for scene in scenes(9):
        compiled = scene.compiled(settings_for("draft", WIDTH, HEIGHT))
        passes = FakeRenderer().render(compiled, compiled.frames[0], compiled.frames[0].views[0])
        results.keep(
            tmp_path / "results",
            "flat",
            scene.name,
            "k",
            results.Measured({"sampling": 1.0}, 1.0, encode_png(passes.color)),
        )
        deep: NDArray[np.uint16] = np.multiply(passes.color, 257, dtype=np.uint16)
        deep[:, :30][passes.ids[:, :30] == 0] //= 2
        (tmp_path / "references").mkdir(exist_ok=True)
        write_png16(tmp_path / "references" / f"{scene.name}.png", deep)
        facts = {"scene": scene.digest(), "size": [WIDTH, HEIGHT], "samples": 1, "own_psnr": 60.0, "settings": {}}
        (tmp_path / "references" / f"{scene.name}.json").write_text(json.dumps(facts))
    return tmp_path


def call(folder: Path, *names: str) -> int:
    places = ["--references", str(folder / "references"), "--results", str(folder / "results"), "--limit", "9"]
    return run_tool(["quality-sheet", str(folder / "sheet.png"), *names, *places])


def test_each_kind_is_shown_where_it_is(measured: Path) -> None:
    among = scenes(9)
    known = {s.name: unit(decode_png((measured / "results/flat" / f"{s.name}.png").read_bytes())) for s in among}
    for picture in known.values():
        picture[:, :30] *= 0.5
    found = {spot.kind: spot for spot in quality_sheet.spots(known, among)}
    assert list(found) == ["glass", "metal", "hand", "shadow"]
    for kind in ("glass", "metal", "hand"):
        spot = found[kind]
        compiled = spot.scene.compiled(settings_for("draft", WIDTH, HEIGHT))
        frame = compiled.frames[0]
        ids = FakeRenderer().render(compiled, frame, frame.views[0]).ids
        item = frame.objects[ids[spot.center[1], spot.center[0]] - 1]
        assert kind == ("hand" if item.shape == "hand" else item.material.name)
    # The only edge on the floor is that of the dark part.
    assert abs(found["shadow"].center[0] - 30) <= quality_sheet._EDGE


def test_the_sheet_has_a_row_a_kind_and_pixels_four_times_their_size(measured: Path) -> None:
    assert call(measured, "flat") == 0
    with Image.open(measured / "sheet.png") as opened:
        pixels = np.asarray(opened.convert("RGB"))
    width, height = 4 * (WIDTH // 5), 4 * (HEIGHT // 5)
    gap, caption = quality_sheet.GAP, quality_sheet.FONT_SIZE + 5
    assert pixels.shape == (4 * (height + caption + gap) + gap, 2 * (width + gap) + gap, 3)
    first = pixels[gap : gap + height, gap : gap + width]
    assert np.array_equal(first, np.kron(first[::4, ::4], np.ones((4, 4, 1), np.uint8)))
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 1


def test_a_crop_at_the_border_stays_inside() -> None:
    picture = np.zeros((60, 80, 3))
    picture[-1, -1] = 1.0
    made = np.asarray(quality_sheet.crop(picture, (79, 59)))
    assert made.shape == (48, 64, 3)
    assert (made[-4:, -4:] == 255).all() and made.sum() == 16 * 3 * 255


def test_nothing_measured_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, "standard") == 2
    assert "bench-quality run standard" in capsys.readouterr().err
    assert not (tmp_path / "sheet.png").exists()
