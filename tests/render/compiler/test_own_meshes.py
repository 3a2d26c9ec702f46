"""Meshes of the user's own in the compiler: names, footprints, units, assets and identities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.api import compile_spec, render_scene
from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import picture_key, render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.model_names import kind_of
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.rotation import transform
from diorama.scene_specs.shapes.shapenet import load_model
from tests.scene_specs.shapes.shapenet.trees import MTL, obj

MUG = {"mesh": "mugs/red.obj"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "assets/mugs"
    folder.mkdir(parents=True)
    (folder / "red.obj").write_text(obj(library="red.mtl", scale=0.1))
    (folder / "red.mtl").write_text(MTL)
    return tmp_path / "assets"


def spec(*objects: dict[str, Any], **frame: Any) -> EpisodeSpec:
    frames = [{"objects": [{"shape": MUG, **item} for item in objects], **frame}]
    episode = parse_episode(json.dumps({"version": 1, "id": "own/1", "frames": frames}))
    assert isinstance(episode, EpisodeSpec)
    return episode


def test_a_mesh_is_its_name_in_specs_and_scenes(root: Path) -> None:
    written = spec({})
    assert written.frames[0].objects[0].shape == "model:mugs/red.obj"
    assert parse_episode(written.model_dump_json(exclude_none=True)) == written
    scene = compile_spec(written, asset_roots=[root])
    (item,) = scene.frames[0].objects
    assert (item.shape, item.material.name, item.color) == ("model:mugs/red.obj", "original", None)
    assert parse_episode(scene.to_json()) == scene
    assert kind_of(item.shape) == "mugs/red"


def test_the_two_forms_of_a_mesh_are_one_spec(root: Path) -> None:
    tall = {"mesh": "mugs/red.obj", "up": "z"}
    assert spec({"shape": tall}) == spec({"shape": "model:mugs/red.obj?up=z"})
    scenes = [compile_spec(spec({"shape": shape}), asset_roots=[root]) for shape in (MUG, tall)]
    assert scenes[0].frames[0].objects[0].shape != scenes[1].frames[0].objects[0].shape


def test_it_stands_on_the_ground_at_the_requested_size(root: Path) -> None:
    (named, number, units) = compile_spec(
        spec(
            {"size": "large", "location": [0, 0]},
            {"size": 1.5, "location": [2.5, 2], "color": "blue"},
            {"size": 4, "normalize": False, "location": [-2, -2]},
        ),
        asset_roots=[root],
    ).frames[0].objects  # fmt: skip
    with searching([root]):
        model = load_model("model:mugs/red.obj")
    assert [named.scale, number.scale, units.scale] == pytest.approx([0.7, 1.5, 4 * 0.1])
    assert number.material.name == "painted"
    for item in (named, number, units):
        lowest = transform(model.vertices, item.rotation_deg, item.scale, item.location)[:, 2].min()
        assert lowest == pytest.approx(0.0, abs=2e-6)


def test_random_objects_and_pinned_layouts_may_be_meshes(root: Path) -> None:
    drawn = spec(random_objects={"count": 3, "shapes": ["model:mugs/red.obj"]})
    scene = compile_spec(drawn, asset_roots=[root])
    assert {item.shape for item in scene.frames[0].objects} == {"model:mugs/red.obj"}
    pinned = pin_layout(drawn, scene, [root])
    again = compile_episode(pinned, scene.settings, [root])
    assert again.frames[0].objects == scene.frames[0].objects


def key_of(episode: EpisodeSpec | Scene, root: Path) -> str:
    return render_key_of(episode, episode_settings(episode, "draft", None), "fake", [root]).hash()


def test_the_identity_is_that_of_the_files(root: Path, tmp_path: Path) -> None:
    episode = spec({}, random_objects={"count": 1, "shapes": ["model:mugs/red.obj", "cube"]})
    before = key_of(episode, root)
    assert key_of(episode, root) == before
    copy = tmp_path / "another machine"
    root.rename(copy)
    assert key_of(episode, copy) == before
    (copy / "mugs/LICENSE").write_text("CC0")
    assert key_of(episode, copy) == before
    mtl = copy / "mugs/red.mtl"
    mtl.write_text(MTL + "#")
    assert key_of(episode, copy) != before
    mtl.unlink()
    assert key_of(episode, copy) != before


def test_every_asset_of_a_scene_is_recorded_and_decides_its_picture(root: Path) -> None:
    scene = compile_spec(spec({}), asset_roots=[root])
    with searching([root]):
        model = load_model("model:mugs/red.obj")
    assert scene.assets["model:mugs/red.obj"] == model.sha256
    other = scene.model_copy(update={"assets": {**scene.assets, "model:mugs/red.obj": "0" * 64}})
    frame = scene.frames[0]
    assert picture_key(scene, frame, frame.views[0]) != picture_key(other, frame, frame.views[0])


def test_a_record_has_masks_and_the_license(root: Path) -> None:
    (root / "mugs/LICENSE").write_text("CC0-1.0\n")
    episode = spec({"location": [0, 0], "size": 1}, {"shape": "cube", "location": [0, -2]})
    settings = episode_settings(episode, "draft", (96, 72))
    key = render_key_of(episode, settings, "fake", [root])
    record = make_record(FakeRenderer(), episode, key, settings, [root])
    assert record.provenance.models == {"model:mugs/red.obj": ("license: CC0-1.0",)}
    first = record.images[0].annotation.objects[0]
    assert first.visible_pixels > 100
    # By the public interface too, whose renderer knows no roots.
    (image,) = render_scene(record.scene, renderer=FakeRenderer(), asset_roots=[root])
    assert np.count_nonzero(image.passes.ids == 1) == first.visible_pixels


def test_a_missing_mesh_ends_before_the_layout() -> None:
    with pytest.raises(AssetError, match=r"file not found.*assets"):
        compile_spec(spec({}))
    with pytest.raises(AssetError, match="file not found"):
        key_of(spec({}), Path("/nowhere"))
