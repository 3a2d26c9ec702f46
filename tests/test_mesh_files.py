"""The files are read as one mug, or refused, as their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.model_names import MESH_SUFFIXES, mesh_name
from diorama.scene_specs.shapes.shapenet import load_model
from tests import mesh_files


def test_twelve_files_are_one_mug_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    mesh_files.write_files(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir() if path.suffix in MESH_SUFFIXES)
    assert len(names) == 12
    refused, models = [], {}
    with searching([tmp_path]):
        for name in names:
            try:
                models[name] = load_model(mesh_name(name, name == mesh_files.Z_UP))
            except AssetError:
                refused.append(name)
    assert refused == ["broken.glb", "empty.obj"]
    usual = models["two-materials.glb"]
    for name, model in models.items():
        np.testing.assert_allclose(model.upper, usual.upper, atol=2e-3, err_msg=name)
    # The handle is on the right of the front.
    assert usual.vertices[usual.vertices[:, 0] > 0.6][:, 2].std() > 0.1
    assert len(models["huge.glb"].triangles) > 200_000
