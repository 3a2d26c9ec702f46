"""The files of the sheet are read as one mug, or refused, as their names say."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from render.geometry.asset_roots import searching
from render.geometry.shapenet import load_model
from render.model.errors import AssetError
from render.renderers.fake import FakeRenderer
from scene_specs.language.model_names import MESH_SUFFIXES, mesh_name
from tools import mesh_sheet


def test_twelve_files_are_one_mug_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    mesh_sheet.write_files(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir() if path.suffix in MESH_SUFFIXES)
    assert len(names) == 12
    refused, models = [], {}
    with searching([tmp_path]):
        for name in names:
            try:
                models[name] = load_model(mesh_name(name, name == mesh_sheet.Z_UP))
            except AssetError:
                refused.append(name)
    assert refused == ["broken.glb", "empty.obj"]
    usual = models["two-materials.glb"]
    for name, model in models.items():
        np.testing.assert_allclose(model.upper, usual.upper, atol=2e-3, err_msg=name)
        assert sum(material.texture is not None for material in model.materials) == (
            "texture" in name or "jpeg" in name
        )
    # The handle is on the right of the front.
    assert usual.vertices[usual.vertices[:, 0] > 0.6][:, 2].std() > 0.1
    assert len(models["huge.glb"].triangles) > 200_000


def test_a_refused_file_is_a_tile_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(mesh_sheet, "text_tile", lambda _picture, lines, _width: texts.extend(lines))
    (tmp_path / "empty.obj").touch()
    renderer = cast(Any, FakeRenderer())
    mesh_sheet.tile("empty.obj", tmp_path.resolve(), Namespace(size=32), renderer)
    assert texts == ["empty.obj", "refused: model empty.obj: it has no faces"]
