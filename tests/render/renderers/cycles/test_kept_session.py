"""On a GPU, Cycles keeps its session between images, and yet no image depends on those before it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from diorama.render.compiler import compile_episode
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.render.renderers.cycles.test_cycles_renderer import TRIO, one

# More lights, fewer, one that is an object, another world, and other numbers of samples.
_FRAMES: list[dict[str, Any]] = [
    {"objects": TRIO},
    {"objects": TRIO[:1], "camera": {"jitter": 0}},
    {"objects": [{"shape": "sphere", "material": "emission"}, *TRIO[1:2]]},
    {"objects": TRIO[1:], "background": [32, 48, 64]},
]


def _scenes() -> list[Scene]:
    kinds = [
        ("draft", "clevr", None),
        ("standard", "clevr", None),
        ("draft", "studio", None),
        ("draft", "clevr", "daylight"),
    ]
    return [
        compile_episode(
            EpisodeSpec.model_validate(
                {"version": 1, "id": "kept", "stage": stage, "frames": [frame]} | ({"look": look} if look else {})
            ),
            settings_for(profile, 32, 24),
        )
        for profile, stage, look in kinds
        for frame in _FRAMES
        if look is None or "background" not in frame
    ]


def _differing(renderer: CyclesRenderer, scenes: list[Scene]) -> int:
    alone = [one(renderer, scene) for scene in scenes]
    renderer = _as_on_a_gpu()
    order = random.Random(1).choices(range(len(scenes)), k=4 * len(scenes))
    again = [one(renderer, scenes[index]) for index in order]
    return sum(
        not (np.array_equal(alone[k].color, x.color) and np.array_equal(alone[k].ids, x.ids))
        for k, x in zip(order, again, strict=True)
    )


def _as_on_a_gpu() -> CyclesRenderer:
    renderer = CyclesRenderer("cpu", threads=1)
    # A CPU keeps nothing, and renders here as a GPU would.
    renderer._device = renderer._device._replace(kind="HIP")
    return renderer


@pytest.mark.slow
def test_images_do_not_depend_on_those_before() -> None:
    assert _differing(CyclesRenderer("cpu", threads=1), _scenes()) == 0


@pytest.mark.slow
def test_without_ending_it_they_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CyclesRenderer, "_end_session", lambda _self: None)
    assert _differing(CyclesRenderer("cpu", threads=1), _scenes()) > 5


def test_a_model_shows_the_texture_that_its_file_has_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "library" / "03001627" / "box" / "models"
    folder.mkdir(parents=True)
    monkeypatch.setenv("DIORAMA_SHAPENET", str(tmp_path / "library"))
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    corners = "v -1 0 -1\nv 1 0 -1\nv 0 0 1\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\n"
    sides = "f 1/1 2/2 3/3\nf 1/1 4/2 2/3\nf 2/1 4/2 3/3\nf 3/1 4/2 1/3\n"
    (folder / "model_normalized.obj").write_text(f"mtllib model_normalized.mtl\n{corners}usemtl a\n{sides}")
    (folder / "model_normalized.mtl").write_text("newmtl a\nmap_Kd t.png\n")
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": "shapenet:03001627/box"}]}]}
    renderer, shown = _as_on_a_gpu(), []
    for color in ((250, 20, 20), (20, 20, 250)):
        Image.new("RGB", (8, 8), color).save(folder / "t.png")
        passes = one(renderer, compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 32, 24)))
        shown.append(passes.color[passes.ids == 1].mean(axis=0))
    assert shown[0][0] > shown[0][2] + 20 and shown[1][2] > shown[1][0] + 20


@contextmanager
def _failing() -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(failures=["Error: Illegal address in CUDA queue"])


def test_what_is_kept_ends_with_the_renderer_a_saved_file_and_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renderer, (scene, *_) = _as_on_a_gpu(), _scenes()
    one(renderer, scene)
    assert renderer._scene.render.use_persistent_data
    renderer.save_blend(tmp_path / "a.blend", scene, scene.frames[0], scene.frames[0].views[0])
    assert not renderer._scene.render.use_persistent_data
    one(renderer, scene)
    with monkeypatch.context() as patch, pytest.raises(RenderError):
        # Cycles then writes no image where one is expected.
        patch.setattr(renderer, "_folder", tmp_path / "missing" / "\0"[:0] / "deeper")
        patch.setattr(Path, "is_file", lambda _self: False)
        one(renderer, scene)
    assert not renderer._scene.render.use_persistent_data
    one(renderer, scene)
    renderer.close()
    assert not renderer._scene.render.use_persistent_data
