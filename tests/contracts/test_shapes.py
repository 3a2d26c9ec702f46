"""What every shape promises: a closed mesh, seen from outside, that fills its box."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.geometry.meshes import load_mesh
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.perspective.sight import CELLS
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import members

Arrays = dict[str, NDArray[Any]]


def arrays(name: str) -> Arrays:
    """The arrays of a shape's file, and whether it is hollow: 2 wide, and flatter than others."""
    with np.load(plugin("shapes", name).load()) as found:
        return {**found, "hollow": np.array("cavity_0" in found or name in CELLS)}


def faces(mesh: Arrays) -> NDArray[np.float64]:
    """Corners of each triangle, (T, 3, 3)."""
    return mesh["vertices"].astype(np.float64)[mesh["triangles"]]


def check_types(mesh: Arrays) -> None:
    count = len(mesh["vertices"])
    for key, shape, dtype in (("vertices", (count, 3), "f4"), ("normals", (count, 3), "f4"), ("triangles", None, "i4")):
        assert mesh[key].dtype == dtype, key
        assert mesh[key].shape == (shape or (len(mesh[key]), 3)), key
    assert mesh["triangles"].min() == 0 and mesh["triangles"].max() == count - 1


def check_box(mesh: Arrays) -> None:
    axes = [0] if mesh["hollow"] else [0, 1, 2]
    assert np.allclose(mesh["vertices"].min(axis=0)[axes], -1, atol=0.002)
    assert np.allclose(mesh["vertices"].max(axis=0)[axes], 1, atol=0.002)
    assert np.abs(mesh["vertices"]).max() < 1.002


def check_closed(mesh: Arrays) -> None:
    """Each edge belongs to two triangles, in opposite directions. Vertices with two normals are one here."""
    _, same = np.unique(np.round(mesh["vertices"], 4), axis=0, return_inverse=True)
    corners = same.reshape(-1)[mesh["triangles"]]
    edges = Counter((int(a), int(b)) for one in corners for a, b in zip(one, np.roll(one, -1), strict=True) if a != b)
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)


def check_outside(mesh: Arrays) -> None:
    """Triangles are counter-clockwise seen from outside, and normals point outwards."""
    a, b, c = faces(mesh).swapaxes(0, 1)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 > (0.2 if mesh["hollow"] else 1), "its volume"
    normals = mesh["normals"][mesh["triangles"]].astype(np.float64)
    assert np.allclose(np.linalg.norm(mesh["normals"], axis=1), 1, atol=1e-4)
    across = np.cross(b - a, c - a)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    assert (np.einsum("ijk,ik->ij", normals, across) > -0.01).all()


CHECKS = (check_types, check_box, check_closed, check_outside)


@pytest.mark.parametrize("name", members("shapes"))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_shape_keeps_its_contract(name: str, check: Callable[[Arrays], None]) -> None:
    check(arrays(name))


@pytest.mark.parametrize("name", members("shapes"))
def test_a_spec_may_name_it(name: str) -> None:
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": name, "location": [0, 0], "size": 1.0}]}]}
    scene = compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 64, 48))
    low = -float(arrays(name)["vertices"][:, 2].min()) if "cavity_0" in arrays(name) else 1
    assert scene.frames[0].objects[0].location[2] == pytest.approx(low, abs=1e-6), "it stands on the ground"
    assert scene.assets[f"mesh:{name}"] == load_mesh(name).sha256
    passes = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    assert (passes.ids == 1).sum() > 50


BROKEN: list[tuple[Callable[[Arrays], Arrays], Callable[[Arrays], None]]] = [
    (lambda mesh: {**mesh, "vertices": mesh["vertices"].astype("f8")}, check_types),
    (lambda mesh: {**mesh, "triangles": mesh["triangles"] + 1}, check_types),
    (lambda mesh: {**mesh, "vertices": mesh["vertices"] * np.float32(0.5)}, check_box),
    (lambda mesh: {**mesh, "triangles": mesh["triangles"][1:]}, check_closed),
    (lambda mesh: {**mesh, "triangles": np.vstack([mesh["triangles"][:1, ::-1], mesh["triangles"][1:]])}, check_closed),
    (lambda mesh: {**mesh, "triangles": mesh["triangles"][:, ::-1]}, check_outside),
    (lambda mesh: {**mesh, "normals": -mesh["normals"]}, check_outside),
    (lambda mesh: {**mesh, "normals": mesh["normals"] * 2}, check_outside),
]


@pytest.mark.parametrize(("broken", "check"), BROKEN)
def test_a_broken_shape_is_caught(broken: Callable[[Arrays], Arrays], check: Callable[[Arrays], None]) -> None:
    with pytest.raises(AssertionError):
        check(broken(arrays("octahedron")))
