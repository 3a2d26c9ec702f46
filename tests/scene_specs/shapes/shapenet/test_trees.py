"""Models with the diagnostics of the wild: the right model, or an error that names the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diorama.render.geometry.solid import Solid
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Library, Model, load_model
from tests.scene_specs.shapes.shapenet.trees import CASES, Case, Tree, obj

RIGHT = [case for case in CASES if case.expect in ("right", "grey", "green", "half")]
WRONG = [case for case in CASES if case not in RIGHT]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def loaded(case: Case, folder: Path) -> Model:
    root = folder / "library with spaces"
    root.mkdir()
    tree = case.build(root)
    return load_model(tree.shape, Library(root.resolve()))


def test_there_are_at_least_thirty() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_the_right_model(case: Case, tmp_path: Path) -> None:
    model = loaded(case, tmp_path)
    # 2 wide, 0.7 deep, 1 high; the longest side is 2 already, and the front (-z in the file) is towards -Y.
    np.testing.assert_allclose(model.upper, (1.0, 0.35, 0.5), atol=1e-5)
    np.testing.assert_allclose(model.lower, (-1.0, -0.35, -0.5), atol=1e-5)
    front = model.vertices[model.vertices[:, 1] < -0.3]
    np.testing.assert_allclose(np.abs(front[:, 0]).max(), 0.2, atol=1e-5)
    np.testing.assert_allclose([front[:, 2].min(), front[:, 2].max()], [-0.4, -0.1], atol=1e-5)
    assert np.bincount(model.slots).sum() == len(model.triangles)
    # Its fifth corners lie on edges of other faces.
    assert Solid.of(model).closed == (case.name != "polygons of five corners")
    assert volume(model) == pytest.approx(1.0 + 0.4 * 0.3 * 0.2, rel=1e-4)
    assert not case.note or any(case.note in note for note in model.notes), model.notes


def volume(model: Model) -> float:
    """Of closed pieces that look outwards."""
    a, b, c = (model.vertices[model.triangles[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum()) / 6


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_the_clear_error(case: Case, tmp_path: Path) -> None:
    with pytest.raises(AssetError) as caught:
        loaded(case, tmp_path)
    assert case.expect in str(caught.value)
    assert ".obj" in str(caught.value)


def test_the_same_model_from_all_layouts_has_one_shape(tmp_path: Path) -> None:
    shapes = []
    for name in ("as it should be", "version 1", "glb in its folder", "inside out", "huge", "negative indices"):
        folder = tmp_path / name
        folder.mkdir()
        model = loaded(next(case for case in CASES if case.name == name), folder)
        corners = np.round(model.vertices[model.triangles].mean(axis=1), 4) + 0.0
        # Quads may be halved along either diagonal: compare outlines and bounds.
        shapes.append((model.hull, model.lower, model.upper, len(corners)))
    first = shapes[0]
    for hull, lower, upper, count in shapes[1:]:
        np.testing.assert_allclose(hull, first[0], atol=1e-5)
        np.testing.assert_allclose([lower, upper], [first[1], first[2]], atol=1e-5)
        assert count == first[3]


@pytest.mark.parametrize(
    ("up", "front", "swap"),
    [
        ("+z", "-y", lambda x, y, z: (-x, z, y)),
        ("-x", "+y", lambda x, y, z: (-y, -z, x)),
        ("+y", "+z", lambda x, y, z: (-x, y, -z)),
    ],
)
def test_other_axes_give_the_same_model(tmp_path: Path, up: str, front: str, swap: object) -> None:
    lines = []
    for line in obj().split("\n"):
        if line.startswith("v "):
            x, y, z = (float(word) for word in line.split()[1:])
            line = "v {} {} {}".format(*swap(x, y, z))  # type: ignore[operator]
        lines.append(line)
    root = tmp_path / "turned"
    tree = Tree(root, "\n".join(lines)).write()
    model = load_model(tree.shape, Library(root.resolve(), up, front))
    straight = Tree(tmp_path / "straight", obj()).write()
    usual = load_model(straight.shape, Library((tmp_path / "straight").resolve()))
    np.testing.assert_allclose(model.vertices, usual.vertices, atol=1e-6)
    assert model.sha256 != usual.sha256
