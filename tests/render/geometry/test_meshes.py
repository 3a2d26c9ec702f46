"""Our meshes say what is wrong when they are not there. tests/contracts/test_shapes.py has what they promise."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from diorama.render.geometry.meshes import all_mesh_paths, load_mesh
from diorama.scene_specs.errors import AssetError


def test_an_unknown_mesh_names_the_nearest() -> None:
    with pytest.raises(AssetError, match="did you mean 'sphere'"):
        load_mesh("spere")


def test_every_mesh_of_ours_can_be_read() -> None:
    for name in all_mesh_paths():
        assert len(load_mesh(name).sha256) == 64


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"triangles": [[0, 1, 3]]}, "indices 0 to 3 for 3 vertices"),
        ({"triangles": [[0, 1, -1]]}, "indices -1 to 1"),
        ({"triangles": [[0, 1, 2, 0]]}, r"triangles of shape \(1, 4\)"),
        ({"vertices": [[0, 0], [1, 0], [0, 1]]}, r"vertices of shape \(3, 2\)"),
        ({"vertices": np.zeros((0, 3))}, r"vertices of shape \(0, 3\)"),
        ({"vertices": [[0, 0, float("nan")], [1, 0, 0], [0, 1, 0]]}, "not a finite number"),
        ({"normals": [[0, 0, 1]]}, "1 normals for 3 vertices"),
    ],
)
def test_a_damaged_mesh_of_a_plug_in_is_an_asset_error(tmp_path: Path, changes: dict[str, Any], found: str) -> None:
    mesh: dict[str, Any] = {
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        "normals": [[0, 0, 1]] * 3,
        "triangles": [[0, 1, 2]],
    }
    path, data = tmp_path / "bent.npz", io.BytesIO()
    with patch("diorama.render.geometry.meshes._own_meshes", return_value={"bent": path}):
        np.savez(path, **mesh)
        assert len(load_mesh.__wrapped__("bent").vertices) == 3
        np.savez(data, **{**mesh, **changes})
        path.write_bytes(data.getvalue())
        with pytest.raises(AssetError, match=f"bent.npz: found .*{found}"):
            load_mesh.__wrapped__("bent")
        path.write_bytes(data.getvalue()[:-30])
        with pytest.raises(AssetError, match=r"bent\.npz: "):
            load_mesh.__wrapped__("bent")
