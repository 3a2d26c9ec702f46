"""What was repaired or replaced in a model is kept with every episode that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError, RenderError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.scene_specs.shapes.shapenet.trees import Tree, obj


class Wrong(FakeRenderer):
    """The fake renderer with one field changed."""

    def __init__(self, **changed: Callable[[Passes], Any]) -> None:
        super().__init__()
        self._changed = changed

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        return replace(passes, **{name: change(passes) for name, change in self._changed.items()})


def record_of(episode: str, *shapes: str, renderer: FakeRenderer | None = None) -> EpisodeRecord:
    passes = ["coverage", "albedo"]
    frames = [
        {"name": f"f{k}", "objects": [{"shape": shape, "name": "a"}], "passes": passes}
        for k, shape in enumerate(shapes)
    ]
    spec = EpisodeSpec.model_validate({"version": 1, "id": episode, "stage": "studio", "frames": frames})
    job = factories.make_job(spec.model_dump(mode="json"))
    return make_record(renderer or FakeRenderer(), spec, job, settings_for("draft", 48, 48))


def test_a_texture_that_is_not_there_stands_in_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "library"
    for identity, mtl in (("good", "newmtl red\n\nnewmtl blue\n"), ("bare", "newmtl red\nmap_Kd gone.png\n")):
        Tree(root, obj(), mtl, identity=identity).write()
    monkeypatch.setenv("DIORAMA_SHAPENET", str(root))
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    mixed = record_of("mixed", "shapenet:chairs/good", "shapenet:chairs/bare", "sphere", "shapenet:chairs/#1")
    assert [*mixed.provenance.models] == ["shapenet:03001627/bare"]
    assert "texture 'gone.png' is not there" in mixed.provenance.models["shapenet:03001627/bare"]
    assert record_of("whole", "shapenet:chairs/good", "cube").provenance.models == {}
    store = LanceStore.create(str(tmp_path / "store.lance"), fsync=False)
    store.put([mixed])
    assert store.get("mixed").provenance == mixed.provenance


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"color": lambda passes: passes.color[::2, ::2]}, r"color of shape \(24, 24, 3\); expected \(48, 48, 3\)"),
        ({"color": lambda passes: passes.color.astype("f4")}, "color of type float32; expected uint8"),
        ({"ids": lambda passes: passes.ids[:24]}, "ids of shape"),
        ({"ids": lambda passes: passes.ids.astype("i4") - 1}, "ids from -1 to 0; expected 0 to 1"),
        ({"ids": lambda passes: passes.ids + np.uint16(1)}, "ids from 1 to 2"),
        ({"depth": lambda passes: passes.depth[::2]}, "depth of shape"),
        ({"coverage": lambda passes: passes.coverage[0]}, r"coverage of shape \(48, 48\); expected \(1, 48, 48\)"),
        ({"extra": lambda passes: {"albedo": np.zeros((2, 3), np.float32)}}, r"albedo of shape \(2, 3\)"),
    ],
)
def test_arrays_of_another_form_are_not_stored(changed: dict[str, Callable[[Passes], Any]], found: str) -> None:
    with pytest.raises(RenderError, match=f"renderer 'fake': found {found}"):
        record_of("wrong", "sphere", renderer=Wrong(**changed))


def test_an_asset_that_changed_since_its_scene_was_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mug.obj").write_text(obj())
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": {"mesh": "mug.obj"}}]}]}
    scene = diorama.compile_spec(spec, "draft", (48, 48), asset_roots=tmp_path)
    (tmp_path / "mug.obj").write_text(obj() + "# changed\n")
    with searching([tmp_path]), pytest.raises(AssetError, match=r"asset model:mug.obj: the Scene was made with"):
        make_record(FakeRenderer(), scene, factories.make_job({}), scene.settings, [tmp_path])
    with pytest.raises(AssetError, match=r"asset model:mug.obj: the Scene was made with"):
        diorama.render_scene(scene, renderer=FakeRenderer(), asset_roots=tmp_path)
