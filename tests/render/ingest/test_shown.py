"""Images of models with the material `unlit`: each pixel has a color that the file's specification gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.api import render_scene
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.asset_roots import searching
from tests.render.ingest import test_gltf, test_obj
from tests.render.ingest.cases import Case
from tests.render.renderers.cycles.test_models import scene_of

RED, GREEN, BLUE, YELLOW = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)
# Colors in sRGB; 188 is half of the light of 255, and 89 a tenth.
SHOWN: dict[str, list[tuple[int, int, int]]] = {
    "plain_textured": [RED, GREEN, BLUE, YELLOW],
    "factor_times_texture": [RED, (0, 188, 0), (0, 0, 89), (255, 188, 0)],
    "texcoord1": [RED, GREEN, BLUE, YELLOW],
    "clamp_wrap": [YELLOW],
    "texture_transform": [RED],
    "specgloss_textured": [RED, (0, 188, 0), BLUE, (255, 188, 0)],
    "d_kd_times_tex": [RED, (0, 0, 0)],
    "clamped": [GREEN],
}


def case_of(name: str) -> Case:
    if name in dict(test_obj.CASES):
        return Case(name, file="model.obj", **dict(test_obj.CASES)[name]())
    build, right = next((build, right) for known, build, right in test_gltf.CASES if known == name)
    return Case(name, lambda: build().glb(), **right)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_each_pixel_of_an_unlit_model_has_a_color_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "files").mkdir()
    case = case_of(name)
    case.write(tmp_path / "files")
    item: dict[str, Any] = {"shape": f"model:{case.file}", "rotation_deg": 0, "material": "unlit"}
    with searching([tmp_path / "files"]):
        view = {"name": "front", "yaw_deg": 20, "elevation_deg": 15}
        scene = scene_of([{"objects": [item], "views": [view]}], "studio", (64, 48), samples=8)
        (image,) = render_scene(scene, renderer=CyclesRenderer("cpu"))
    pixels = image.passes.color[image.passes.ids == 1].astype(int)
    near = np.abs(pixels[:, None] - np.array(SHOWN[name])).max(axis=2) < 12
    assert len(pixels) > 300
    # At edges of the texture and of the model, colors mix.
    assert near.any(axis=1).mean() > 0.7
    assert (near.mean(axis=0) > 0.04).all(), near.mean(axis=0)
