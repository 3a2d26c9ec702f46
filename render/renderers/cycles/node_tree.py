"""Build Blender materials: the node tree that a material adds to, with the color that it takes from its object."""

from __future__ import annotations

from typing import Any

import bpy

from diorama.render.model.errors import DioramaError, RenderError
from diorama.render.renderers.cycles.series import node_tree
from diorama.scene_specs.language.materials import load_material
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.scene import SceneMaterial


class Tree:
    """A material under construction: `add` creates a node, `link` connects sockets, `finish` sets the surface."""

    def __init__(self, name: str) -> None:
        self.material: Any = bpy.data.materials.new(name)
        self._tree: Any = node_tree(self.material)
        self.nodes: Any = self._tree.nodes
        self.nodes.clear()
        self._output = self.nodes.new("ShaderNodeOutputMaterial")
        self._info = self.nodes.new("ShaderNodeObjectInfo")

    @property
    def color(self) -> Any:
        """Output with the object's color. One material serves all colors, so that no shader is compiled again."""
        return self._info.outputs["Color"]

    @property
    def alpha(self) -> Any:
        """Output with the alpha of the object's color, which materials may use freely: it is not an opacity."""
        return self._info.outputs["Alpha"]

    def add(self, kind: str, **inputs: Any) -> Any:
        """A new node of type ShaderNode<kind>. Keywords set properties, or else inputs (`_` for a space)."""
        node = self.nodes.new(f"ShaderNode{kind}")
        for key, value in inputs.items():
            if key in node.bl_rna.properties:
                setattr(node, key, value)
                continue
            self._set(node.inputs[key.replace("_", " ")], value)
        return node

    def _set(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.link(value, socket)
        else:
            socket.default_value = value

    def link(self, source: Any, target: Any) -> None:
        """Connect an output to an input."""
        self._tree.links.new(source, target)

    def mix(self, factor: Any, first: Any, second: Any) -> Any:
        """Output of a mix of two shaders.

        Args:
            factor: share of `second`, a number or an output.
        """
        node = self.nodes.new("ShaderNodeMixShader")
        for socket, value in zip(node.inputs, (factor, first, second), strict=True):
            self._set(socket, value)
        return node.outputs[0]

    def finish(self, surface: Any) -> Any:
        """Connect the surface output and return the material."""
        self.link(surface, self._output.inputs["Surface"])
        return self.material


def build_material(material: SceneMaterial) -> Any:
    """A new Blender material, of any but those of .blend files and models.

    Raises:
        PluginError: a plug-in is unknown or can't be loaded.
        RenderError: rendering failed.
    """
    found = load_material(material.name)
    tree = Tree(" ".join([material.name, *(f"{key} {value}" for key, value in material.parameters.items())])[:60])
    try:
        return tree.finish(found.build(tree, found.Parameters(**material.parameters)))
    except Exception as error:  # plug-ins raise anything
        bpy.data.materials.remove(tree.material)
        if isinstance(error, DioramaError):
            raise
        owner = plugin("materials", material.name).owner
        raise RenderError(
            f"material {material.name!r} of {owner}: its build failed: {type(error).__name__}: {error}"
        ) from error
