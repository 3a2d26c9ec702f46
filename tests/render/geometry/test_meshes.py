"""Our meshes fill their box and say what is wrong when they are not there."""

from __future__ import annotations

import numpy as np
import pytest

from render.geometry.meshes import load_mesh, mesh_paths
from render.model.errors import AssetError


@pytest.mark.parametrize("shape", ["cube", "sphere", "cylinder"])
def test_shapes_fill_a_box_of_two_units(shape: str) -> None:
    mesh = load_mesh(shape)
    assert np.allclose(mesh.vertices.min(axis=0), -1, atol=0.002)
    assert np.allclose(mesh.vertices.max(axis=0), 1, atol=0.002)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-4)


def test_an_unknown_mesh_names_the_nearest() -> None:
    with pytest.raises(AssetError, match="did you mean 'sphere'"):
        load_mesh("spere")


def test_every_mesh_of_ours_can_be_read() -> None:
    for name in mesh_paths():
        assert len(load_mesh(name).sha256) == 64
