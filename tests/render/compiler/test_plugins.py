"""A plug-in's code is part of the identity of the episodes that may use it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import diorama
from diorama.render.compiler import render_key
from diorama.render.compiler.render_key import IDENTITY_VERSION, render_key_of
from diorama.render.geometry.meshes import load_mesh
from diorama.render.machine.blender_series import key_suffix
from diorama.render.store.resume import difference
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.errors import PluginError, UsageError
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage, stage_digest
from tests import distributions as registry
from tests.factories import make_scene

CUBE = {"shape": "cube", "color": "red", "material": "rubber", "size": "large"}
ENTRY_POINTS = {
    "materials": "velvet = diorama_lab.velvet",
    "shapes": "octahedron = diorama_lab:octahedron",
    "stages": "evening = diorama_lab:evening",
    "renderers": "brush = diorama_lab.velvet:Brush",
}


def forget() -> None:
    registry.forget()
    render_key._identity.cache_clear()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Path]:
    """The package of an installed distribution; its materials are not imported for the key."""
    ours = package_assets()
    files = {"octahedron": ours / "shapes/cube.npz", "evening": ours / "stages/clevr.json"}
    code = "".join(f"def {name}(): return {str(path)!r}\n" for name, path in files.items())
    package = {"diorama_lab/__init__.py": code, "diorama_lab/velvet.py": "raise AssertionError('imported')\n"}
    registry.write_distribution(tmp_path, "diorama-lab", ENTRY_POINTS, package)
    render_key._identity.cache_clear()
    with registry.installed(tmp_path):
        yield tmp_path / "diorama_lab"
    render_key._identity.cache_clear()
    for cached in (stage_digest, load_mesh, load_stage):
        cached.cache_clear()


def key(renderer: str = "cycles", **changes: Any) -> RenderKey:
    spec = {"version": 1, "id": "a", "frames": [{"objects": [CUBE]}], **changes}
    episode = EpisodeSpec.model_validate(spec)
    return render_key_of(episode, episode_settings(EpisodeSpec.model_validate({**spec, "stage": "clevr"})), renderer)


def plugin_names(found: RenderKey) -> list[str]:
    return [name for name in found.assets if name.startswith("plugin:")]


def of_material(given: Any) -> RenderKey:
    return key(frames=[{"objects": [{**CUBE, "material": given}]}])


@pytest.mark.parametrize("given", ["velvet", {"name": "velvet"}])
def test_changed_code_of_a_material_makes_another_episode(lab: Path, given: Any) -> None:
    before = of_material(given)
    assert plugin_names(before) == ["plugin:material:velvet"]
    assert before.assets["plugin:material:velvet"].startswith("diorama-lab 0.1.0 ")
    (lab / "velvet.py").write_text("raise AssertionError('imported, and changed')\n")
    assert of_material(given) == before, "the digest is computed once per process"
    forget()
    (line,) = difference(before, of_material(given))
    assert line.startswith('assets plugin:material:velvet: stored "diorama-lab 0.1.0')


def test_any_file_of_the_package_counts_and_links_do_not_lead_out_of_it(lab: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    hashes = [of_material("velvet").hash()]

    def changed() -> bool:
        forget()
        hashes.append(of_material("velvet").hash())
        return hashes[-1] not in hashes[:-1]

    (lab / "looks").mkdir()
    (lab / "looks/tune.json").write_text("1")
    assert changed()
    (lab / "looks/tune.json").write_text("2")
    assert changed()
    (lab / "data").symlink_to(outside)
    assert changed()
    (outside / "any").write_text("1")
    (lab / "__pycache__").mkdir()
    (lab / "__pycache__/notes.txt").write_text("1")
    (lab / "old.pyc").write_text("1")
    os.mkfifo(lab / "pipe")
    assert not changed()


def test_another_version_of_the_distribution_makes_another_episode(lab: Path) -> None:
    before = of_material("velvet")
    (lab.parent / "diorama_lab-0.1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: diorama-lab\nVersion: 0.2.0\n"
    )
    forget()
    assert of_material("velvet").assets["plugin:material:velvet"].startswith("diorama-lab 0.2.0 ")
    assert of_material("velvet").hash() != before.hash()


def test_only_the_plugins_that_an_episode_may_use_count(lab: Path) -> None:
    assert plugin_names(key()) == []
    assert plugin_names(key("brush")) == ["plugin:renderer:brush"]
    assert plugin_names(key(frames=[{"objects": [{**CUBE, "shape": "octahedron"}]}])) == ["plugin:shape:octahedron"]
    assert plugin_names(key(stage="evening")) == ["plugin:stage:evening"]
    drawn = {"count": 2, "materials": ["metal", "velvet"]}
    assert plugin_names(key(frames=[{"random_objects": drawn}])) == ["plugin:material:velvet"]
    pointer = {"target": "object-0", "material": "velvet"}
    assert plugin_names(key(frames=[{"objects": [CUBE], "pointer": pointer}])) == ["plugin:material:velvet"]


def test_a_scene_counts_what_it_shows(lab: Path) -> None:
    scene = diorama.compile_spec({"version": 1, "id": "a", "frames": [{"objects": [CUBE]}]})
    assert plugin_names(render_key_of(scene, scene.settings, "cycles")) == []
    text = scene.to_json().replace('"name":"rubber"', '"name":"velvet"').replace('"mesh:cube"', '"mesh:octahedron"')
    changed = type(scene).model_validate_json(text)
    found = render_key_of(changed, changed.settings, "cycles")
    assert plugin_names(found) == ["plugin:material:velvet", "plugin:shape:octahedron"]


def test_a_renderer_counts_with_the_folder_of_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugin_names(key("fake")) == plugin_names(key("diorama.render.renderers.fake:FakeRenderer")) == []
    (tmp_path / "painter/deep").mkdir(parents=True)
    module, helper = tmp_path / "painter/deep/brush.py", tmp_path / "painter/deep/helper.py"
    for path in (module, helper, tmp_path / "painter/__init__.py", tmp_path / "painter/deep/__init__.py"):
        path.write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "painter.deep.brush:Brush"
    before = key(name)
    assert len(before.assets[f"plugin:renderer:{name}"]) == 64
    helper.write_text("changed = True\n")
    forget()
    assert key(name).hash() != before.hash()
    with pytest.raises(UsageError, match="nowhere"):
        key("nowhere.at_all:Brush")
    with pytest.raises(PluginError, match=r"'cycle'.* cycles, fake.* 'cycles'"):
        key("cycle")


def test_a_renderer_in_a_single_file_counts_with_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lonely_brush.py").write_text("a = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = key("lonely_brush:Brush")
    (tmp_path / "lonely_brush.py").write_text("a = 2\n")
    forget()
    assert key("lonely_brush:Brush").hash() != before.hash()


def test_a_renderer_under_its_name_of_0_1_0_is_told_its_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = [folder for folder in sys.path if not (Path(folder or ".") / "render").is_dir()]
    monkeypatch.setattr(sys, "path", elsewhere)
    with pytest.raises(UsageError, match=r"plug-in render\.renderers\.fake: .*is now `diorama\.render`"):
        key("render.renderers.fake:FakeRenderer")


def test_a_changed_copy_of_a_key_has_its_own_hash() -> None:
    first = key()
    before = first.hash()
    other = first.model_copy(update={"renderer": "fake"})
    assert other.hash() != before == first.hash()
    assert first.version == IDENTITY_VERSION + key_suffix("cycles") and other == first.model_copy(
        update={"renderer": "fake"}
    )


def test_a_scene_without_a_plugin_keeps_its_assets() -> None:
    scene = make_scene()
    assert render_key_of(scene, scene.settings, "cycles").assets == scene.assets
