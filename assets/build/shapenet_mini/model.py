"""A model as its builder makes it: parts, each a mesh with a material, in meters."""

from __future__ import annotations

from dataclasses import dataclass, field

from diorama.assets.build.shapenet_mini.mesh import Mesh, join


@dataclass(frozen=True)
class Material:
    """name: as in the .mtl file; color: 8-bit sRGB; shine: 0 (chalk) to 1 (polished)."""

    name: str
    color: tuple[int, int, int]
    shine: float = 0.3


@dataclass
class Model:
    """title: what a person calls it; parts: in the order they were added."""

    title: str
    parts: list[tuple[Material, Mesh]] = field(default_factory=list)

    def add(self, material: Material, *meshes: Mesh) -> None:
        self.parts.append((material, join(*meshes)))

    def scaled(self, x: float = 1, y: float = 1, z: float = 1) -> Model:
        """The model stretched: what is very long and thin in truth would be a few pixels high in a small picture."""
        return Model(self.title, [(material, mesh.scaled(x, y, z)) for material, mesh in self.parts])
