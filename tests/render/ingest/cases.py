"""A model's file, and what it is by the specification of its format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Model, load_model
from tests.render.ingest.blends import layer, mesh_of, shown

# A color or number, and how many triangles have it.
Counts = Mapping[Any, int]


@dataclass(frozen=True)
class Case:
    """A file, and what is right.

    Attributes:
        content: of the model's file.
        file: its name.
        beside: names and contents of other files.
        size: width, depth and height in the file's units; None if not looked at.
        faces: triangles of each slot.
        colors: base colors at the centers of triangles; None if not looked at.
        inputs: other inputs of the surface there.
        notes: parts of the notes, in order.
        error: part of the error where the file is refused.
        texture: properties of the nodes that show images.
    """

    name: str
    content: Callable[[], bytes]
    file: str = "model.glb"
    beside: Mapping[str, bytes] = field(default_factory=dict)
    size: tuple[float, float, float] | None = (2, 2, 2)
    faces: tuple[int, ...] = (12,)
    colors: Counts | None = None
    inputs: Mapping[str, Counts] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error: str = ""
    texture: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write all files."""
        for name, content in {**self.beside, self.file: self.content()}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    def load(self, folder: Path) -> Model:
        """Write and read the model."""
        self.write(folder)
        with searching([folder]):
            return load_model(f"model:{self.file}")

    def check(self, folder: Path) -> None:
        """Compare the model, as the compiler and as Cycles take it, with what is right."""
        if self.error:
            with pytest.raises(AssetError, match=self.error) as caught:
                self.load(folder)
            assert len(str(caught.value).splitlines()) == 1
            return
        model = self.load(folder)
        mesh = mesh_of(model)
        if self.size is not None:
            sides = np.subtract(model.upper, model.lower) * model.unit
            np.testing.assert_allclose(sides, self.size, rtol=1e-5, atol=1e-6 * max(self.size))
        assert np.bincount(model.slots).tolist() == list(self.faces)
        assert len(model.notes) == len(self.notes), model.notes
        assert all(part in note for part, note in zip(self.notes, model.notes, strict=True)), model.notes
        _compare_with_blend(model, mesh)
        for name, counts in {**self.inputs, **({"Base Color": self.colors} if self.colors else {})}.items():
            _compare(shown(mesh, name), counts, name)
        nodes = [node for entry in mesh.materials for node in entry.node_tree.nodes if node.type == "TEX_IMAGE"]
        for key, text in self.texture.items():
            assert [getattr(node, key) for node in nodes] == [text] * len(nodes) != []


def _compare(rows: Any, counts: Counts, name: str) -> None:
    for values, number in counts.items():
        same = (np.abs(rows - np.array(values, dtype=float)) < 0.012).all(axis=1)
        assert int(same.sum()) == number, (name, values, np.unique(rows.round(3), axis=0, return_counts=True))
    assert sum(counts.values()) == len(rows)


def _compare_with_blend(model: Model, mesh: Any) -> None:
    """The compiler and Cycles see the same triangles, slots and texture coordinates."""
    corners = np.array([[mesh.vertices[k].co for k in face.vertices] for face in mesh.polygons])
    np.testing.assert_allclose(corners, model.vertices[model.triangles], atol=1e-6)
    assert [face.material_index for face in mesh.polygons] == model.slots.tolist()
    if mesh.uv_layers:
        active = next(entry.name for entry in mesh.uv_layers if entry.active_render)
        np.testing.assert_array_equal(layer(mesh, active).astype(np.float32), model.uv)
