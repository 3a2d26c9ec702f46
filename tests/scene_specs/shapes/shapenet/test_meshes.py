"""Models in files of the user's own: found below an asset root, turned upright, hashed, licensed, or refused."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.asset_roots import find_asset, in_asset_roots, searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Model, canonical, load_model
from tests.mesh_files import glb, letter
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
    "KTX2": (
        lambda head: head.update({f"extensions{key}": ["KHR_texture_basisu"] for key in ("Used", "Required")}),
        "Extension KHR_texture_basisu is not available",
    ),
    "unknown": (
        lambda head: head.update({f"extensions{key}": ["ACME_x"] for key in ("Used", "Required")}),
        "Extension ACME_x is not available",
    ),
    "an external buffer": (_uri("buffers"), "Missing resource, 'other.bin'"),
    "no meshes": (lambda head: [head.pop(key) for key in ("meshes", "nodes", "scenes")], "mug.glb: it has no faces"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_read_from_a_glb_is_refused_with_the_reason(root: Path, name: str) -> None:
    change, message = REFUSED[name]
    (root / "mug.glb").write_bytes(with_header(glb(), change))
    with pytest.raises(AssetError, match=message):
        loaded(root, "mug.glb")


def test_gltf_1_is_refused_by_name(root: Path) -> None:
    (root / "mug.glb").write_bytes(b"glTF\x01\0\0\0" + bytes(100))
    with pytest.raises(AssetError, match="GLB version must be 2; got 1"):
        loaded(root, "mug.glb")


NOTED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an extension": (lambda head: head.update(extensionsUsed=["ACME_x"]), "extension ACME_x left out"),
    "a camera": (
        lambda head: [
            head.update(cameras=[{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]),
            head["nodes"][1].update(camera=0),
        ],
        "1 camera left out",
    ),
    "an external image": (lambda head: head["images"][0].update(uri="skin.png"), "texture 'skin.png' is not there"),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_is_left_out_of_a_glb_is_noted(root: Path, name: str) -> None:
    change, note = NOTED[name]
    letter(root / "f.png")
    (root / "mug.glb").write_bytes(with_header(glb(texture=root / "f.png"), change))
    assert any(note in found for found in loaded(root, "mug.glb").notes)


def test_a_mirrored_node_looks_like_one_that_is_not(root: Path) -> None:
    models = []
    for mirrored in (False, True):
        (root / f"{mirrored}.glb").write_bytes(glb(mirrored=mirrored))
        models.append(loaded(root, f"{mirrored}.glb"))
    assert volume(models[1]) == pytest.approx(volume(models[0]), rel=1e-4)
    np.testing.assert_allclose(models[1].upper, models[0].upper, atol=1e-6)


@pytest.mark.parametrize("end", ["f 1 2 0", "f 1 2 99", "f 1//1 2//1 -99//1"])
def test_a_face_without_its_corner_is_named(root: Path, end: str) -> None:
    with pytest.raises(AssetError, match=r"red\.obj: it has no faces; Invalid vertex index"):
        written(root, "vn 0 0 1\n" + lines_of(RED) + end, None)
    model = written(root, "vn 0 0 1\n" + lines_of(RED) + faces_of(0) + end, None)
    assert len(model.triangles) == 12 and "Invalid vertex index" in model.notes[0]


def test_indices_with_zeros_in_them_are_not_zero(root: Path) -> None:
    text = lines_of(RED) + lines_of(BLUE) + faces_of(0) + faces_of(8)
    assert " 10\n" in text
    assert volume(written(root, text, None)) == pytest.approx(VOLUME, rel=1e-4)


def test_utf_16_and_texture_coordinates_without_a_material(root: Path) -> None:
    text, _ = textured("gone.png")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith(("mtllib", "usemtl")))
    for data in (plain.encode(), plain.encode("utf-16")):
        model = written(root, data, None)
        assert len(model.triangles) == 2 * 2 * len(FACES)


def test_corners_of_a_glb_that_are_not_numbers_are_noted(root: Path) -> None:
    trimesh: Any = importlib.import_module("trimesh")
    data = trimesh.Trimesh([[np.nan] * 3, [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], process=False).export(file_type="glb")
    known = {"min": [0, 0, 0], "max": [1, 1, 0]}
    data = with_header(
        data, lambda head: [item.update(known) for item in head["accessors"] if "NaN" in json.dumps(item)]
    )
    (root / "mug.glb").write_bytes(data)
    assert loaded(root, "mug.glb").notes[0] == "3 coordinates without a number, read as 0"


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
    assert not written(root, text, mtl).notes
    with searching([root / "mugs"]):
        narrow = load_model("model:red.obj")
    assert narrow.notes == ("texture '../skin.png' is not there",)


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


@pytest.mark.parametrize(
    ("mtl", "color", "note"),
    [
        ("newmtl other\nKd 1 0 0\n", 0.5, "its materials are not defined; it is gray"),
        # Blender's own gray.
        ("newmtl red\nKd 0.8 x\nnewmtl blue\n", 0.8, "Kd '0.8 x' is not read"),
        ("newmtl red\nKd\nnewmtl blue\n", 0.8, ""),
    ],
)
def test_texture_coordinates_without_a_usable_material_are_gray(root: Path, mtl: str, color: float, note: str) -> None:
    text, _ = textured("gone.png")
    model = written(root, text, mtl)
    assert model.color == pytest.approx((color, color, color))
    assert model.notes == ((note,) if note else ())


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
    # In 32 bits, the first is 0.
    with pytest.raises(AssetError, match=r"all its corners are in one place|none of its faces has finite corners"):
        written(root, lines_of(RED, number) + faces_of(0))
