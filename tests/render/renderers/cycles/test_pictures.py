"""Pictures of a stimulus set in Cycles: the pixels of the published way to draw them, under any alpha."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from diorama.render.api import RenderedImage, compile_spec, render_scene
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.benchmarks.iwisdm import Pictures
from diorama.scene_specs.benchmarks.iwisdm.pictures import write_models
from diorama.scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS, VIEW_ANGLES, Item, object_spec

SIDE = 32
CAR = "cars/picture-7"


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", 2)
    yield made
    made.close()


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.uint8]]:
    """The pictures (SIDE, SIDE, 4) of four sides of a car, random in color and alpha; their models are the library."""
    rng = np.random.default_rng(3)
    pictures = [rng.integers(0, 256, (SIDE, SIDE, 4), dtype=np.uint8) for _ in VIEW_ANGLES]
    rows = ["ref,ctg_mod,obj_mod,ang_mod,ctg", "0,1,8,0,mugs"]
    for side, picture in enumerate(pictures):
        (tmp_path / f"set/val/{side}").mkdir(parents=True)
        Image.fromarray(picture).save(tmp_path / f"set/val/{side}/image.png")
        rows.append(f"{side},0,7,{side},cars")
    (tmp_path / "set/val_meta.csv").write_text("\n".join(rows))
    out = tmp_path / "models"
    list(write_models(Pictures(folder=tmp_path / "set", split="val", out=out)).items)
    monkeypatch.setenv("DIORAMA_SHAPENET", str(out))
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    return pictures


def drawn(renderer: CyclesRenderer, width: int, stage: str = "pictures", *look: object) -> RenderedImage:
    """One side of the car in each quadrant of an image of size x size."""
    given = dict(zip(("material", "size"), look, strict=False))
    pairs = zip(LOCATIONS, VIEW_ANGLES, strict=True)
    objects = [{**object_spec(Item(place, "cars", CAR, side), "val"), **given} for place, side in pairs]
    text = json.dumps({"version": 1, "id": "a", "stage": stage, "frames": [{"objects": objects}]})
    return render_scene(compile_spec(text, "draft", (width, width)), renderer=renderer)[0]


def quadrants(pictures: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.concatenate(pictures[k : k + 2], axis=1) for k in (0, 2)])


@pytest.mark.parametrize("scale", [2, 1, 0.5])
def test_a_quadrant_shows_the_picture(
    scale: float, renderer: CyclesRenderer, published: list[NDArray[np.uint8]]
) -> None:
    image = drawn(renderer, round(2 * SIDE * scale))
    side = round(SIDE * scale)
    # As cv2.resize samples: at the center of a pixel, without the alpha, repeating the texels of the edge.
    at = np.clip((np.arange(side) + 0.5) / scale - 0.5, 0, SIDE - 1)
    low, share = np.floor(at).astype(int), at - np.floor(at)
    high = np.minimum(low + 1, SIDE - 1)

    def resized(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
        colors = picture[:, :, :3].astype(float)
        rows = colors[low] * (1 - share)[:, None, None] + colors[high] * share[:, None, None]
        return np.asarray(rows[:, low] * (1 - share)[:, None] + rows[:, high] * share[:, None])

    assert np.abs(image.passes.color - quadrants([resized(one) for one in published])).max() <= 1
    numbers = [np.full((side, side), k, dtype=float) for k in (1, 2, 3, 4)]
    assert np.array_equal(image.passes.ids, quadrants(numbers))
    assert np.array_equal(image.passes.depth, np.full((2 * side, 2 * side), 2000 - 56))
    boxes = [item.bbox for item in image.truth.objects]
    assert boxes == [(x, y, side, side) for y in (0, side) for x in (0, side)]


def test_only_the_material_decides_about_light(renderer: CyclesRenderer, published: list[NDArray[np.uint8]]) -> None:
    """The same model is drawn lit and unlit in turn, and neither leaves a trace."""
    lit, unlit, again, last = (
        drawn(renderer, 2 * SIDE, *more).passes.color
        for more in (("quadrants", "original", 1.0), (), ("quadrants", "original", 1.0), ())
    )
    assert np.array_equal(lit, again) and np.array_equal(unlit, last)
    assert np.abs(lit.astype(int) - unlit).mean() > 5


def test_a_texture_may_repeat(renderer: CyclesRenderer, published: list[NDArray[np.uint8]], tmp_path: Path) -> None:
    file = tmp_path / "models" / CAR / "model.obj"
    file.write_text(file.read_text().replace("vt 1 ", "vt 2 "))
    image = drawn(renderer, 4 * SIDE).passes.color.astype(int)
    assert np.abs(image[:, :SIDE] - image[:, SIDE : 2 * SIDE]).max() <= 1
