"""Our meshes say what is wrong when they are not there. tests/contracts/test_shapes.py has what they promise."""

from __future__ import annotations

import pytest

from render.geometry.meshes import load_mesh, mesh_paths
from render.model.errors import AssetError


def test_an_unknown_mesh_names_the_nearest() -> None:
    with pytest.raises(AssetError, match="did you mean 'sphere'"):
        load_mesh("spere")


def test_every_mesh_of_ours_can_be_read() -> None:
    for name in mesh_paths():
        assert len(load_mesh(name).sha256) == 64
