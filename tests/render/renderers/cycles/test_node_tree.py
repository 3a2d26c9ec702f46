"""Materials whose `build` fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from diorama.render.renderers.cycles import node_tree
from diorama.scene_specs.errors import AssetError, DioramaError, RenderError
from diorama.scene_specs.model.scene import SceneMaterial
from diorama.scene_specs.model.spec import SpecModel


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (KeyError("Sheen"), RenderError, "material 'rubber' of diorama-render: its build failed: KeyError: 'Sheen'"),
        (AssetError("no file"), AssetError, "no file"),
    ],
)
def test_a_material_that_can_not_be_built_is_named_and_leaves_nothing_behind(
    raised: Exception, kind: type[DioramaError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(tree: Any, parameters: Any) -> Any:
        raise raised

    monkeypatch.setattr(
        node_tree, "load_material", lambda name, noun: SimpleNamespace(build=build, Parameters=SpecModel)
    )
    before = len(bpy.data.materials)
    with pytest.raises(kind) as caught:
        node_tree.build_material(SceneMaterial(name="rubber"))
    assert str(caught.value) == message
    assert len(bpy.data.materials) == before
