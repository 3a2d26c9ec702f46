"""A plug-in's code is part of the identity of the episodes that may use it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import diorama
from render.compiler import assets, plugins
from render.compiler.render_key import IDENTITY_VERSION, render_key_of
from render.geometry.meshes import load_mesh
from render.model.errors import UsageError
from render.model.profiles import episode_settings
from render.model.record import RenderKey
from render.store.resume import difference
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.stage import load_stage
from tests.factories import make_scene

CUBE = {"shape": "cube", "color": "red", "material": "rubber", "size": "large"}
ENTRY_POINTS = """
[diorama.materials]
velvet = diorama_lab.velvet:build
rubber = diorama_lab.velvet:build
[diorama.shapes]
octahedron = diorama_lab:octahedron
[diorama.stages]
evening = diorama_lab:evening
"""


def forget() -> None:
    for cached in (plugins._plugins, plugins._identity, plugins._renderer_identity):
        cached.cache_clear()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of an installed distribution; its materials import bpy, which must not happen here."""
    info, package = tmp_path / "diorama_lab-0.1.0.dist-info", tmp_path / "diorama_lab"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diorama-lab\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    package.mkdir()
    ours = assets.package_assets()
    files = {"octahedron": ours / "meshes/cube.npz", "evening": ours / "stages/clevr.json"}
    (package / "__init__.py").write_text("".join(f"def {name}(): return {str(p)!r}\n" for name, p in files.items()))
    (package / "velvet.py").write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield package
    forget()
    for cached in (assets._stage_digest, load_mesh, load_stage):
        cached.cache_clear()
    sys.modules.pop("diorama_lab", None)


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


def test_another_version_of_the_distribution_makes_another_episode(lab: Path) -> None:
    before = of_material("velvet")
    (lab.parent / "diorama_lab-0.1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: diorama-lab\nVersion: 0.2.0\n"
    )
    forget()
    assert of_material("velvet").assets["plugin:material:velvet"].startswith("diorama-lab 0.2.0 ")
    assert of_material("velvet").hash() != before.hash()


def test_only_the_plugins_that_an_episode_may_use_count(lab: Path) -> None:
    assert plugin_names(key()) == [], "no package can replace rubber"
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
    assert plugin_names(key("fake")) == plugin_names(key("render.renderers.fake:FakeRenderer")) == []
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


def test_a_renderer_in_a_single_file_counts_with_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lonely_brush.py").write_text("a = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = key("lonely_brush:Brush")
    (tmp_path / "lonely_brush.py").write_text("a = 2\n")
    forget()
    assert key("lonely_brush:Brush").hash() != before.hash()


def test_a_changed_copy_of_a_key_has_its_own_hash() -> None:
    first = key()
    before = first.hash()
    other = first.model_copy(update={"renderer": "fake"})
    assert other.hash() != before == first.hash()
    assert first.version == IDENTITY_VERSION and other == first.model_copy(update={"renderer": "fake"})


def test_a_scene_without_a_plugin_keeps_its_assets() -> None:
    scene = make_scene()
    assert render_key_of(scene, scene.settings, "cycles").assets == scene.assets
