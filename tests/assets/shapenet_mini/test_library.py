"""The 64 models as they lie in `assets/shapenet_mini`: layout, numbers, surfaces, axes, and that no two are alike."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from diorama.assets.build.shapenet_mini import __main__ as building
from diorama.assets.build.shapenet_mini.library import CATEGORIES
from diorama.assets.build.shapenet_mini.mesh import Floats, triangles, volume
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.writer import corner_normals, model_id, mtl_text
from diorama.scene_specs.shapes.shapenet.loading import DECIMALS, TRIANGLES
from tests.assets.shapenet_mini.test_forms import open_edges

# These files change only when somebody makes them again.
pytestmark = pytest.mark.slow
ROOT = building.LIBRARY
BUILT = [(category.name, builder.__name__) for category in CATEGORIES for builder in category.builders]


@dataclass(frozen=True)
class Written:
    """What an OBJ file says, read without regard to how it was written."""

    vertices: Floats
    normals: Floats
    faces: list[tuple[str, list[int], list[int]]]


@cache
def built(category: str, name: str) -> Model:
    return builder_of(category, name)()


def builder_of(category: str, name: str) -> Callable[[], Model]:
    (builders,) = (entry.builders for entry in CATEGORIES if entry.name == category)
    (builder,) = (builder for builder in builders if builder.__name__ == name)
    return builder


def folder_of(category: str, name: str) -> Path:
    (synset,) = (entry.synset for entry in CATEGORIES if entry.name == category)
    return ROOT / synset / model_id(category, name) / "models"


@cache
def read(folder: Path) -> Written:
    vertices, normals, faces, material = [], [], [], ""
    for line in (folder / "model_normalized.obj").read_text("ascii").splitlines():
        word, *rest = line.split()
        if word == "v":
            vertices.append([float(number) for number in rest])
        elif word == "vn":
            normals.append([float(number) for number in rest])
        elif word == "usemtl":
            (material,) = rest
        elif word == "f":
            corners = [corner.split("//") for corner in rest]
            faces.append((material, [int(v) - 1 for v, _ in corners], [int(n) - 1 for _, n in corners]))
    return Written(np.array(vertices), np.array(normals), faces)


def test_eight_categories_of_eight_models_in_shapenets_folders() -> None:
    assert [len(category.builders) for category in CATEGORIES] == [8] * 8
    files = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
    form = r"\d{8}/[0-9a-f]{32}/models/model_normalized\.(json|mtl|obj)"
    others = [name for name in files if not re.fullmatch(form, name)]
    assert others == ["catalogue.json", "taxonomy.json", "triangles.npz"]
    assert Counter(name.split("/")[0] for name in files if "/" in name) == {c.synset: 24 for c in CATEGORIES}


def test_taxonomy_and_catalogue_say_what_is_there() -> None:
    taxonomy = json.loads((ROOT / "taxonomy.json").read_text("ascii"))
    assert {entry["synsetId"]: entry["numInstances"] for entry in taxonomy} == {c.synset: 8 for c in CATEGORIES}
    catalogue = json.loads((ROOT / "catalogue.json").read_text("ascii"))["categories"]
    for entry in catalogue:
        ids = [model["id"] for model in entry["models"]]
        # A model's place in the catalog is its number in `shapenet:<category>/#n`.
        assert ids == sorted(path.name for path in (ROOT / entry["synset"]).iterdir())
        for model in entry["models"]:
            assert model["id"] == model_id(entry["category"], model["name"])
            written = read(ROOT / entry["synset"] / model["id"] / "models")
            assert model["triangles"] == sum(len(corners) - 2 for _, corners, _ in written.faces)


@pytest.mark.parametrize(("category", "name"), BUILT)
def test_files_are_normalised_as_shapenets_are(category: str, name: str) -> None:
    folder = folder_of(category, name)
    written, facts = read(folder), json.loads((folder / "model_normalized.json").read_text("ascii"))
    assert facts["id"] == folder.parent.name
    assert facts["numVertices"] == len(written.vertices)
    low, high, centroid = (np.array(facts[key]) for key in ("min", "max", "centroid"))
    diagonal = float(np.linalg.norm(high - low))
    # Half a unit of the fifth decimal, in each of the two sides of the difference.
    assert np.linalg.norm(np.ptp(written.vertices, axis=0)) == pytest.approx(1, abs=2e-5)
    assert written.vertices.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-5)
    assert written.vertices.min(axis=0) * diagonal + centroid == pytest.approx(low, abs=2e-5 * diagonal)
    assert written.vertices.max(axis=0) * diagonal + centroid == pytest.approx(high, abs=2e-5 * diagonal)
    defined = re.findall(r"^newmtl (\S+)$", (folder / "model_normalized.mtl").read_text("ascii"), re.MULTILINE)
    assert sorted({material for material, _, _ in written.faces}) == sorted(defined)
    assert len(defined) >= 2


@pytest.mark.parametrize(("category", "name"), BUILT)
def test_normals_look_where_their_faces_do(category: str, name: str) -> None:
    written = read(folder_of(category, name))
    assert np.linalg.norm(written.normals, axis=1) == pytest.approx(1, abs=2e-3)
    for _, corners, normals in written.faces:
        places = written.vertices[corners]
        face = np.cross(places, np.roll(places, -1, axis=0)).sum(axis=0)
        if np.linalg.norm(face) > 1e-6:
            # A mean of normals within the crease angle of this one.
            assert (written.normals[normals] @ face / np.linalg.norm(face)).min() > 0.75


@pytest.mark.parametrize(("category", "name"), BUILT)
def test_every_part_is_closed_and_has_its_outside_out(category: str, name: str) -> None:
    for material, mesh in built(category, name).parts:
        assert not open_edges(mesh), material.name
        assert volume(mesh) > 0, material.name
        a, b, c = (mesh.vertices[corner] for corner in triangles(mesh).T)
        assert (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-10).all(), material.name


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole library, made anew by its command."""
    folder = tmp_path_factory.mktemp("made") / "library"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["shapenet_mini", str(folder)])
        building.main()
    return folder


def test_the_files_are_what_the_builders_make(made: Path) -> None:
    files = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    assert sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file()) == files
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    arrays, stored = (np.load(folder / TRIANGLES) for folder in (made, ROOT))
    assert sorted(arrays.files) == sorted(stored.files)
    # The facts have digests, which the last digits change.
    for name in [name for name in stored.files if not name.endswith("/facts")]:
        most = 2e-3 * DECIMALS if name.endswith("/vertices") else 2e-3
        assert arrays[name].shape == stored[name].shape, name
        assert np.abs(arrays[name].astype(np.float64) - stored[name]).max() < most, name
    for file in [file for file in files if file.name != TRIANGLES]:
        one, other = ((folder / file).read_text("ascii").split() for folder in (made, ROOT))
        assert len(one) == len(other), (
            f"{file} is not what its builder makes: run `python -m diorama.assets.build.shapenet_mini`"
        )
        for a, b in zip(one, other, strict=True):
            # The last digit may differ between processors' sines; indices and names may not.
            assert a == b or ("." in a and abs(_number(a) - _number(b)) < 2e-3), file


def _number(text: str) -> float:
    return float(text.strip("[],{}"))


@cache
def surface(category: str, name: str) -> tuple[Floats, Floats]:
    """Points (N, 3) spread evenly over all surfaces, in file units, and their 8-bit colors (N, 3)."""
    written = read(folder_of(category, name))
    rng = np.random.default_rng(1)
    points, colors = [], []
    offset = 0
    for material, mesh in built(category, name).parts:
        a, b, c = (written.vertices[corner + offset] for corner in triangles(mesh).T)
        areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
        chosen = np.repeat(np.arange(len(areas)), rng.poisson(areas * 20_000))
        u, v = rng.random((2, len(chosen), 1))
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        points.append(a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen])
        colors.append(np.tile(np.array(material.color, dtype=np.float64), (len(chosen), 1)))
        offset += len(mesh.vertices)
    return np.concatenate(points), np.concatenate(colors)


def look(category: str, name: str) -> Floats:
    """Share of the surface in each of 6 x 6 x 6 colors."""
    _, colors = surface(category, name)
    counts, _ = np.histogramdd(colors, bins=(6, 6, 6), range=[(0, 256)] * 3)
    shares: Floats = counts.ravel() / counts.sum()
    return shares


def silhouettes(category: str, name: str) -> Floats:
    """Which cells of a 32 x 32 grid the model covers, seen along each axis: (3, 32, 32) of 0 and 1."""
    points, _ = surface(category, name)
    seen = []
    for axis in range(3):
        flat = np.delete(points - (points.max(axis=0) + points.min(axis=0)) / 2, axis, axis=1)
        counts, _, _ = np.histogram2d(flat[:, 0], flat[:, 1], bins=32, range=[(-0.5, 0.5)] * 2)
        seen.append((counts > 0).astype(np.float64))
    return np.array(seen)


@pytest.mark.parametrize("category", [category.name for category in CATEGORIES])
def test_no_two_models_of_a_category_are_alike_in_color_or_form(category: str) -> None:
    names = [name for group, name in BUILT if group == category]
    for one, other in itertools.combinations(names, 2):
        shared = np.minimum(look(category, one), look(category, other)).sum()
        assert shared < 0.65, f"{one} and {other} share {shared:.0%} of their colors"
        a, b = silhouettes(category, one), silhouettes(category, other)
        common = (np.minimum(a, b).sum(axis=(1, 2)) / np.maximum(a, b).sum(axis=(1, 2))).min()
        assert common < 0.92, f"{one} and {other} have outlines {common:.0%} alike in every direction"


def mean_depth(category: str, name: str, chosen: Callable[[Material], bool]) -> float:
    """Mean z of the parts whose material is chosen."""
    places = [mesh.vertices for material, mesh in built(category, name).parts if chosen(material)]
    return float(np.concatenate(places)[:, 2].mean())


def test_models_look_towards_minus_z_and_stand_upright() -> None:
    for category, name in BUILT:
        written = read(folder_of(category, name))
        top = written.vertices[written.vertices[:, 1] > np.quantile(written.vertices[:, 1], 0.92)]
        if category in ("chairs", "couches"):
            assert top[:, 2].mean() > 0, f"{name}: the back rest is in front"
        if category == "cars":
            lamps = mean_depth(category, name, lambda material: material.name == "headlight")
            assert lamps < mean_depth(category, name, lambda material: material.name == "taillight"), name
        if category == "planes":
            tail = written.vertices[written.vertices[:, 2] > np.quantile(written.vertices[:, 2], 0.95)]
            nose = written.vertices[written.vertices[:, 2] < np.quantile(written.vertices[:, 2], 0.05)]
            assert tail[:, 1].max() > nose[:, 1].max(), f"{name}: the fin is in front"


def test_a_foreign_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["shapenet_mini", str(tmp_path)])
    with pytest.raises(SystemExit, match="no library of ours"):
        building.main()
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_two_materials_of_one_name_are_refused() -> None:
    model = Model("a thing")
    mesh = built("tables", "tulip").parts[0][1]
    model.add(Material("oak", (1, 2, 3)), mesh)
    model.add(Material("oak", (1, 2, 4)), mesh)
    with pytest.raises(ValueError, match="two materials of one name"):
        mtl_text(model)


def test_normals_are_smooth_where_round_and_sharp_where_flat() -> None:
    from diorama.assets.build.shapenet_mini.forms import ball, box

    for face, corners in zip(box(1, 1, 1, bevel=0).faces, corner_normals(box(1, 1, 1, bevel=0)), strict=True):
        assert len(face) == 4
        assert np.allclose(corners, corners[0])
    sphere = ball(1, cells=8)
    for face, corners in zip(sphere.faces, corner_normals(sphere), strict=True):
        assert corners == pytest.approx(sphere.vertices[list(face)], abs=0.06)
