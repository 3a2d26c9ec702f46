"""What was repaired or replaced in a model is kept with every episode that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

import diorama
from render.episode.make_record import make_record
from render.geometry.asset_roots import searching
from render.model.errors import AssetError
from render.model.profiles import settings_for
from render.model.record import EpisodeRecord
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from scene_specs.language.spec import EpisodeSpec
from tests import factories
from tests.render.geometry.shapenet.trees import Tree, obj


def record_of(episode: str, *shapes: str) -> EpisodeRecord:
    frames = [{"name": f"f{k}", "objects": [{"shape": shape, "name": "a"}]} for k, shape in enumerate(shapes)]
    spec = EpisodeSpec.model_validate({"version": 1, "id": episode, "stage": "studio", "frames": frames})
    job = factories.make_job(spec.model_dump(mode="json"))
    return make_record(FakeRenderer(), spec, job, settings_for("draft", 48, 48))


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


def test_an_asset_that_changed_since_its_scene_was_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mug.obj").write_text(obj())
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": {"mesh": "mug.obj"}}]}]}
    scene = diorama.compile_spec(spec, "draft", (48, 48), asset_roots=tmp_path)
    (tmp_path / "mug.obj").write_text(obj() + "# changed\n")
    with searching([tmp_path]), pytest.raises(AssetError, match=r"asset model:mug.obj: the Scene was made with"):
        make_record(FakeRenderer(), scene, factories.make_job({}), scene.settings, [tmp_path])
    with pytest.raises(AssetError, match=r"asset model:mug.obj: the Scene was made with"):
        diorama.render_scene(scene, renderer=FakeRenderer(), asset_roots=tmp_path)
