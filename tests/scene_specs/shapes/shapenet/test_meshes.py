"""Models in files of the user's own: found below an asset root, turned upright, hashed, licensed, or refused."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.asset_roots import find_asset, in_asset_roots, searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Model, canonical, load_model
from tests.mesh_files import glb
from tests.scene_specs.shapes.shapenet.test_trees import volume
from tests.scene_specs.shapes.shapenet.trees import (
    BLUE,
    FACES,
    MTL,
    RED,
    faces_of,
    lines_of,
    obj,
    png,
    textured,
    with_header,
)

VOLUME = 1.0 + 0.4 * 0.3 * 0.2


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "assets/mugs").mkdir(parents=True)
    return tmp_path / "assets"


def loaded(root: Path, name: str) -> Model:
    with searching([root]):
        return load_model(f"model:{name}")


def written(root: Path, text: str | bytes, mtl: str | None = MTL) -> Model:
    (root / "mugs/red.obj").write_bytes(text if isinstance(text, bytes) else text.encode())
    if mtl is not None:
        (root / "mugs/model_normalized.mtl").write_text(mtl)
    return loaded(root, "mugs/red.obj")


def test_the_front_of_a_file_with_y_up_is_plus_z(root: Path) -> None:
    model = written(root, obj())
    assert model.name == canonical_in(root, "model:mugs/red.obj") == "model:mugs/red.obj"
    # The blue box, which sticks out at -z in the file, is below the middle of the back.
    np.testing.assert_allclose(model.upper, (1.0, 0.35, 0.5), atol=1e-5)
    behind = model.vertices[model.vertices[:, 1] > 0.3]
    np.testing.assert_allclose([behind[:, 2].min(), behind[:, 2].max()], [-0.4, -0.1], atol=1e-5)
    assert volume(model) == pytest.approx(VOLUME, rel=1e-4)
    assert model.unit == pytest.approx(1.0)


def canonical_in(root: Path, shape: str) -> str:
    with searching([root]):
        return canonical(shape)


def test_a_file_with_z_up_keeps_its_axes_and_has_a_digest_of_its_own(root: Path) -> None:
    y_up = written(root, obj())
    z_up = loaded(root, "mugs/red.obj?up=z")
    np.testing.assert_allclose(z_up.upper, (1.0, 0.5, 0.35), atol=1e-5)
    assert z_up.sha256 != y_up.sha256
    # From the cache on disk as well.
    again = loaded(root, "mugs/red.obj?up=z")
    np.testing.assert_array_equal(again.vertices, z_up.vertices)


def test_z_up_holds_for_glb_files_too(root: Path) -> None:
    (root / "mug.glb").write_bytes(glb())
    y_up, z_up = loaded(root, "mug.glb"), loaded(root, "mug.glb?up=z")
    assert y_up.upper[2] > y_up.upper[1]
    assert z_up.upper[1] > z_up.upper[2]


@pytest.mark.parametrize("name", ["red.OBJ", "red.GLB"])
def test_upper_case_suffixes_are_read(root: Path, name: str) -> None:
    (root / name).write_bytes(glb() if name.endswith("GLB") else obj().encode())
    assert len(loaded(root, name).triangles) > 20


@pytest.mark.parametrize("changed", ["red.obj", "model_normalized.mtl", "skin.png"])
def test_each_byte_of_each_file_is_in_the_digest(root: Path, changed: str) -> None:
    text, mtl = textured("skin.png")
    (root / "mugs/skin.png").write_bytes(png())
    before = written(root, text, mtl)
    assert loaded(root, "mugs/red.obj").sha256 == before.sha256
    path = root / "mugs" / changed
    path.write_bytes(png((1, 2, 3)) if changed == "skin.png" else path.read_bytes() + b"#\n")
    assert loaded(root, "mugs/red.obj").sha256 != before.sha256


LICENSES = {
    "red.obj.license": ("SPDX-FileCopyrightText: 2024 Ann\nSPDX-License-Identifier: CC-BY-4.0\n", "CC-BY-4.0"),
    "LICENSE": ("\n  MIT License\n\nCopyright ...", "license: MIT License"),
    "LICENSE.txt": ("All mine\n", "license: All mine"),
}


@pytest.mark.parametrize("name", LICENSES)
def test_a_license_beside_the_file_is_noted_and_does_not_change_the_digest(root: Path, name: str) -> None:
    text, expected = LICENSES[name]
    before = written(root, obj())
    assert not before.notes
    (root / "mugs" / name).write_text(text)
    after = loaded(root, "mugs/red.obj")
    assert [note for note in after.notes if expected in note] == list(after.notes)
    assert after.sha256 == before.sha256
    (root / "mugs" / name).write_text("Another\n")
    assert loaded(root, "mugs/red.obj").notes == ("license: Another",)


@pytest.mark.parametrize("asset", [{"copyright": "2024 Ann, CC0"}, {"extras": {"license": "2024 Ann, CC0"}}])
def test_the_license_of_a_glb_is_in_its_header(root: Path, asset: dict[str, Any]) -> None:
    (root / "mug.glb").write_bytes(with_header(glb(), lambda head: head["asset"].update(asset)))
    assert loaded(root, "mug.glb").notes == ("license: 2024 Ann, CC0",)


@pytest.mark.parametrize("target", ["outside", "inside", "nothing"])
def test_a_license_that_is_a_link_is_refused(root: Path, tmp_path: Path, target: str) -> None:
    folder = root if target == "inside" else tmp_path
    if target != "nothing":
        (folder / "secret").write_text("secret")
    (root / "mugs/LICENSE").symlink_to(folder / "secret")
    with pytest.raises(AssetError, match="LICENSE: is a symbolic link; copy its target") as caught:
        written(root, obj())
    assert "secret" not in str(caught.value)


def test_notes_are_cut(root: Path) -> None:
    lines = [f"newmtl m{k}\nmap_Kd {k}{'x' * 5000}.png" for k in range(300)]
    faces = "".join(f"usemtl m{k}\nf 1 2 {3 + k % 2}\n" for k in range(300))
    text = "mtllib model_normalized.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\n" + faces
    notes = written(root, text, "\n".join(lines)).notes
    assert len(notes) == 101 and notes[-1] == "more notes are left out"
    assert max(map(len, notes)) == 300 and notes[0].endswith("...")


def _uri(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda head: head.update({key: [{**head.get(key, [{}])[0], "uri": "other.bin"}]})


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "Draco": (
        lambda head: head.update(extensionsRequired=["KHR_draco_mesh_compression"]),
        "requires KHR_draco_mesh_compression, which",
    ),
    "KTX2": (lambda head: head.update(extensionsRequired=["KHR_texture_basisu"]), "requires KHR_texture_basisu"),
    "unknown": (lambda head: head.update(extensionsRequired=["ACME_x"]), "requires ACME_x, which is not supported"),
    "an external buffer": (_uri("buffers"), "its buffer 'other.bin' is in another file"),
    "no meshes": (lambda head: [head.pop(key) for key in ("meshes", "nodes", "scenes")], "mug.glb"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_read_from_a_glb_is_refused_with_the_reason(root: Path, name: str) -> None:
    change, message = REFUSED[name]
    (root / "mug.glb").write_bytes(with_header(glb(), change))
    with pytest.raises(AssetError, match=message):
        loaded(root, "mug.glb")


def test_gltf_1_is_refused_by_name(root: Path) -> None:
    (root / "mug.glb").write_bytes(b"glTF\x01\0\0\0" + bytes(100))
    with pytest.raises(AssetError, match="found glTF 1; export it as glTF 2"):
        loaded(root, "mug.glb")


NOTED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a look": (
        lambda head: head.update(extensionsRequired=["KHR_materials_unlit"]),
        "its extension KHR_materials_unlit",
    ),
    "an external image": (
        lambda head: head.update(images=[{"uri": "skin.png"}]),
        "texture 'skin.png' is in another file",
    ),
    "WebP": (lambda head: head.update(images=[{"bufferView": 0, "mimeType": "image/webp"}]), "of type image/webp"),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_is_left_out_of_a_glb_is_noted(root: Path, name: str) -> None:
    change, note = NOTED[name]
    (root / "mug.glb").write_bytes(with_header(glb(), change))
    assert any(note in found for found in loaded(root, "mug.glb").notes)


SHINE = {"metallicFactor": 0.5, "roughnessFactor": 0.25}
FAINT = {"baseColorFactor": [1, 0, 0, 0.2], **SHINE}
# Keys of a material -> color, roughness, metallic and alpha; whether the digest is that of version 0.1.0.
LOOKS: dict[str, tuple[dict[str, Any], tuple[float, ...], bool]] = {
    "left out": ({}, (1, 1, 1, 1, 1, 1), False),
    "metal": ({"pbrMetallicRoughness": {"roughnessFactor": 0.1}}, (1, 1, 1, 0.1, 1, 1), False),
    "complete": ({"pbrMetallicRoughness": FAINT, "alphaMode": "BLEND"}, (1, 0, 0, 0.25, 0.5, 0.2), True),
    "opaque": ({"pbrMetallicRoughness": FAINT}, (1, 0, 0, 0.25, 0.5, 1), False),
    "mask": ({"pbrMetallicRoughness": FAINT, "alphaMode": "MASK", "alphaCutoff": 0.1}, (1, 0, 0, 0.25, 0.5, 1), False),
    "texture": ({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, **SHINE}}, (1, 1, 1, 0.25, 0.5, 1), True),
    "texture of the shine": (
        {"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "metallicRoughnessTexture": {"index": 0}}},
        (1, 0, 0, 0.6, 0, 1),
        True,
    ),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_glb_has_the_defaults_and_the_opacity_of_gltf(root: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    keys, expected, same_digest = LOOKS[name]
    (root / "f.png").write_bytes(png())
    data = with_header(glb(texture=root / "f.png"), lambda head: head.update(materials=[{"name": "m", **keys}] * 2))
    (root / "mug.glb").write_bytes(data)
    model = loaded(root, "mug.glb")
    look = model.materials[0]
    assert (*look.color, look.roughness, look.metallic, look.alpha) == pytest.approx(expected)
    monkeypatch.setattr("diorama.scene_specs.shapes.shapenet.model._GLTF_VERSION", "diorama-model-1")
    monkeypatch.setenv("DIORAMA_CACHE", str(root / "another"))
    os.utime(root / "mug.glb", (1, 1))
    assert (loaded(root, "mug.glb").sha256 == model.sha256) == same_digest


def test_a_texture_of_the_shine_in_another_file_counts_too(root: Path) -> None:
    look = {"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "metallicRoughnessTexture": {"index": 0}}}
    (root / "f.png").write_bytes(png())
    far = {"images": [{"uri": "far.png"}], "materials": [{"name": "m", **look}] * 2}
    (root / "mug.glb").write_bytes(with_header(glb(texture=root / "f.png"), lambda head: head.update(far)))
    found = loaded(root, "mug.glb").materials[0]
    assert (found.roughness, found.metallic) == (0.6, 0)


def test_a_glb_without_materials_is_gray(root: Path) -> None:
    def change(head: dict[str, Any]) -> None:
        for mesh in head["meshes"]:
            del mesh["primitives"][0]["material"]

    (root / "mug.glb").write_bytes(with_header(glb(), change))
    look = loaded(root, "mug.glb").materials[0]
    assert (look.color, look.roughness, look.metallic) == ((0.5, 0.5, 0.5), 0.8, 0.0)


def test_vertex_colors_are_noted_and_gray(root: Path) -> None:
    (root / "mug.glb").write_bytes(glb(colors=True))
    colored = "".join(f"v {x} {y} {z} 1 0 0\n" for x, y, z in RED) + faces_of(0)
    for model in (loaded(root, "mug.glb"), written(root, colored, None)):
        assert model.notes[0] == "its vertex colors are not used"
        assert {material.color for material in model.materials} == {(0.5, 0.5, 0.5)}


def test_a_mirrored_node_looks_like_one_that_is_not(root: Path) -> None:
    models = []
    for mirrored in (False, True):
        (root / f"{mirrored}.glb").write_bytes(glb(mirrored=mirrored))
        models.append(loaded(root, f"{mirrored}.glb"))
    assert volume(models[1]) == pytest.approx(volume(models[0]), rel=1e-4)
    np.testing.assert_allclose(models[1].upper, models[0].upper, atol=1e-6)


@pytest.mark.parametrize("end", ["f 1 2 0", "f 1 2 0\n", "f 1/0 2/1 3/1\n", "f 1 2 3/0", "f 1/1/1 2/00/1 3/1/1"])
def test_index_zero_is_named_wherever_it_stands(root: Path, end: str) -> None:
    text = "vt 0 0\nvn 0 0 1\n" + lines_of(RED) + end
    with pytest.raises(AssetError, match=r"red.obj:11: a face names vt? 0; there are \d so far"):
        written(root, text, None)


def test_indices_with_zeros_in_them_are_not_zero(root: Path) -> None:
    text = lines_of(RED) + lines_of(BLUE) + faces_of(0) + faces_of(8)
    assert " 10\n" in text
    assert volume(written(root, text, None)) == pytest.approx(VOLUME, rel=1e-4)


def test_utf_16_and_texture_coordinates_without_a_material(root: Path) -> None:
    text, _ = textured("gone.png")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith(("mtllib", "usemtl")))
    for data in (plain.encode(), plain.encode("utf-16")):
        model = written(root, data, None)
        assert (len(model.materials), model.materials[0].texture) == (1, None)
        assert len(model.triangles) == 2 * 2 * len(FACES)


def test_corners_that_are_not_numbers_are_refused_without_a_warning(root: Path) -> None:
    trimesh: Any = importlib.import_module("trimesh")
    data = trimesh.Trimesh([[np.nan] * 3, [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], process=False).export(file_type="glb")
    (root / "mug.glb").write_bytes(data)
    with pytest.raises(AssetError, match="none of its faces has finite corners"):
        loaded(root, "mug.glb")


def test_a_missing_file_is_named_with_the_roots_and_the_nearest_name(root: Path, tmp_path: Path) -> None:
    written(root, obj())
    (tmp_path / "second").mkdir()
    roots = [tmp_path / "second", root]
    with pytest.raises(AssetError, match="file not found") as caught:
        find_asset("mugs/rad.obj", roots)
    assert f"looked in: {roots[0]}, {roots[1]}, " in str(caught.value)
    assert str(caught.value).endswith("did you mean 'mugs/red.obj'?")
    with pytest.raises(AssetError, match="with --asset-root"):
        find_asset("mugs/red.obj", [])
    with pytest.raises(AssetError, match="is not a regular file"):
        find_asset("mugs", roots)


def test_files_outside_the_roots_are_refused_and_links_inside_are_not(root: Path, tmp_path: Path) -> None:
    written(root, obj())
    (tmp_path / "secret.obj").write_text(obj())
    (root / "out.obj").symlink_to(tmp_path / "secret.obj")
    (root / "in.obj").symlink_to(root / "mugs/red.obj")
    assert loaded(root, "in.obj").path == (root / "mugs/red.obj").resolve()
    for name in ("out.obj", "../secret.obj"):
        with pytest.raises(AssetError, match="lies outside the asset roots"):
            loaded(root, name)


def test_textures_are_read_from_the_root_that_the_mesh_was_found_in(root: Path) -> None:
    text, mtl = textured("../skin.png")
    (root / "skin.png").write_bytes(png())
    assert any(material.texture for material in written(root, text, mtl).materials)
    with searching([root / "mugs"]):
        narrow = load_model("model:red.obj")
    assert not any(material.texture for material in narrow.materials)


def test_the_roots_of_a_function_end_with_it(root: Path) -> None:
    @in_asset_roots
    def find(name: str, asset_roots: tuple[Path, ...] = ()) -> Path:
        return find_asset(name)[1]

    written(root, obj())
    assert find("mugs/red.obj", (root,)) == find("mugs/red.obj", asset_roots=(root,))
    with pytest.raises(AssetError):
        find("mugs/red.obj")
    with searching([root]):
        assert find("mugs/red.obj").is_file()


@pytest.mark.parametrize("mtl", ["newmtl other\nKd 1 0 0\n", "newmtl red\nKd 0.8 x\n", "newmtl red\nKd\n"])
def test_texture_coordinates_without_a_usable_material_are_gray(root: Path, mtl: str) -> None:
    text, _ = textured("gone.png")
    model = written(root, text, mtl)
    assert {(material.color, material.texture) for material in model.materials} == {((0.5, 0.5, 0.5), None)}


@pytest.mark.parametrize("numbers", ["0.25", "0.25 0", "0.25 0 1"])
def test_texture_coordinates_have_two_numbers_and_one_missing_is_0(root: Path, numbers: str) -> None:
    head = "mtllib model_normalized.mtl\n" + lines_of(RED) + lines_of(BLUE) + f"vt {numbers}\n" * 4
    text = f"{head}usemtl red\n{faces_of(0, form='{0}/1')}usemtl blue\n{faces_of(8)}"
    uv = written(root, text).uv
    assert set(map(tuple, uv.reshape(-1, 2).tolist())) == {(0.25, 0.0), (0.0, 0.0)}


NUMBERS = ["nan", "inf", "1e60", "1e160", "1e307", "-1.7e308", "1e400"]


@pytest.mark.parametrize("number", NUMBERS)
def test_huge_numbers_are_left_out_without_a_warning(root: Path, number: str) -> None:
    corners = "vt 1e300 0\n" + lines_of(RED) + lines_of(BLUE) + f"v {number} {number} 0\n"
    model = written(
        root, corners + faces_of(0, form="{0}/1") + faces_of(8) + "f 1 2 17\n", "newmtl red\nKd 1e300 0 0\n"
    )
    assert any("no numbers or too large" in note for note in model.notes)
    assert volume(model) == pytest.approx(VOLUME, rel=1e-4)


@pytest.mark.parametrize("number", [1e-300, 1e51, 1e160, 1e307])
def test_a_model_of_huge_or_tiny_size_is_refused_without_a_warning(root: Path, number: float) -> None:
    with pytest.raises(AssetError, match="none of its faces has"):
        written(root, lines_of(RED, number) + faces_of(0))
