"""Materials of the Cycles renderer, one file each. The header of a file lists the parameters of its material.

A package adds a material by an entry point of group `diorama.materials`: a function from SceneMaterial to a Blender
material. If light passes through it, an entry point of group `diorama.transmitting_materials` with the same name gives
its images the samples of glass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from render.model.errors import AssetError
from render.renderers.cycles.materials import blend, emission, glass, matte, metal, rubber
from scene_specs.language.scene import SceneMaterial

BUILDERS: dict[str, Callable[[SceneMaterial], Any]] = {
    "rubber": rubber.build,
    "metal": metal.build,
    "glass": glass.build,
    "matte": matte.build,
    "emission": emission.build,
}


def build(material: SceneMaterial, path: Path | None, roots: Sequence[Path] = ()) -> Any:
    """A new Blender material. Raises AssetError if it is unknown.

    path: the .blend file, None for other materials. roots: resolved folders that its images may lie in.
    """
    if path is not None:
        return blend.build(material, path, roots)
    if material.name in BUILDERS:
        return BUILDERS[material.name](material)
    for point in metadata.entry_points(group="diorama.materials", name=material.name):
        return point.load()(material)
    raise AssetError(f"unknown material {material.name!r}; there are: {', '.join(BUILDERS)}")
