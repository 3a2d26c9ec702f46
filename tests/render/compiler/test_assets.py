"""Hashes of what a Scene needs, and the walls around the asset roots."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.compiler.assets import blend_digest, check_assets, resolve_blend
from diorama.render.geometry.meshes import all_mesh_paths
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """A root with wood.blend in it, and a folder beside it with secret.blend."""
    inside, outside = tmp_path / "root", tmp_path / "elsewhere"
    for folder, name in ((inside / "deep", "wood.blend"), (outside, "secret.blend")):
        folder.mkdir(parents=True)
        shutil.copy(package_assets() / "materials/wood.blend", folder / name)
    return inside, outside


def test_a_scene_names_every_file_it_needs(roots: tuple[Path, Path]) -> None:
    material = {"blend": "deep/wood.blend", "group": "Wood"}
    objects = [{"shape": "cube", "material": material}, {"shape": "sphere", "material": "rubber"}]
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "frames": [{"objects": objects}]})
    scene = compile_episode(spec, settings_for("draft", 32, 24), [roots[0]])
    meshes = all_mesh_paths()
    assert scene.assets == {
        "blend:deep/wood.blend": sha(roots[0] / "deep/wood.blend"),
        "mesh:clevr_ground": sha(meshes["clevr_ground"]),
        "mesh:cube": sha(meshes["cube"]),
        "mesh:sphere": sha(meshes["sphere"]),
        "stage:clevr": sha(plugins("stages")["clevr"].load()),
    }
    check_assets(scene, [roots[0]])
    for asset in ("blend:deep/wood.blend", "mesh:cube", "stage:clevr"):
        with pytest.raises(AssetError, match=asset):
            check_assets(scene.model_copy(update={"assets": {**scene.assets, asset: "0" * 64}}), [roots[0]])
    # A look has put all of its numbers into the Scene; what was called `clevr` in 0.1 is `mewl`.
    before = {"look:wood": "0" * 64, "stage:clevr": sha(plugins("stages")["mewl"].load())}
    check_assets(scene.model_copy(update={"assets": {**scene.assets, **before}}), [roots[0]])
    material_of = scene.frames[0].objects[0].material
    assert (material_of.name, material_of.blend, material_of.group) == ("blend", "deep/wood.blend", "Wood")


@pytest.mark.parametrize(
    "name", ["../elsewhere/secret.blend", "deep/../../elsewhere/secret.blend", "link.blend", "way/secret.blend"]
)
def test_nothing_outside_the_roots_is_reached(roots: tuple[Path, Path], name: str) -> None:
    inside, outside = roots
    (inside / "link.blend").symlink_to(outside / "secret.blend")
    (inside / "way").symlink_to(outside)
    with pytest.raises(AssetError, match="outside the asset roots"):
        resolve_blend(name, [inside])
    # With its folder named as a root the same file is fine, by whichever name.
    assert resolve_blend(name, [inside, outside]) == outside / "secret.blend"


def test_an_absolute_name_must_lie_inside(roots: tuple[Path, Path]) -> None:
    inside, outside = roots
    assert resolve_blend(str(inside / "deep/wood.blend"), [inside]) == inside / "deep/wood.blend"
    with pytest.raises(AssetError, match="outside"):
        resolve_blend(str(outside / "secret.blend"), [inside])


@pytest.mark.parametrize("name", ["deep/none.blend", "deep", "deep/wood.txt", "deep/wood\0.blend", ""])
def test_what_is_no_blend_file_is_refused(roots: tuple[Path, Path], name: str) -> None:
    with pytest.raises(AssetError, match="asset"):
        resolve_blend(name, [roots[0]])


def test_a_changed_file_has_another_hash(roots: tuple[Path, Path]) -> None:
    wood = resolve_blend("deep/wood.blend", [roots[0]])
    first = blend_digest(wood)
    (roots[0] / "deep/wood.blend").write_bytes(b"something longer than before")
    assert blend_digest(wood) != first
    assert blend_digest(wood) == sha(roots[0] / "deep/wood.blend")
