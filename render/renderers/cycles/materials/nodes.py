"""Building node trees by data-block access alone, and the color every material takes from its object."""

from __future__ import annotations

from typing import Any

import bpy


class Tree:
    """A material under construction: `add` makes a node, `link` joins sockets, `color` is the object's color."""

    def __init__(self, name: str) -> None:
        self.material: Any = bpy.data.materials.new(name)
        self.material.use_nodes = True
        self.nodes: Any = self.material.node_tree.nodes
        self.nodes.clear()
        self._output = self.nodes.new("ShaderNodeOutputMaterial")
        self._info = self.nodes.new("ShaderNodeObjectInfo")

    @property
    def color(self) -> Any:
        """Socket with the object's own color: one material serves every color, so nothing is compiled anew."""
        return self._info.outputs["Color"]

    @property
    def alpha(self) -> Any:
        """Socket with the alpha of the object's color, which is nothing's opacity but free for a material's use."""
        return self._info.outputs["Alpha"]

    def add(self, kind: str, **inputs: Any) -> Any:
        """A node of type ShaderNode<kind>; keyword arguments are properties if it has them, else inputs (spaces as
        _).
        """
        node = self.nodes.new(f"ShaderNode{kind}")
        for key, value in inputs.items():
            if key in node.bl_rna.properties:
                setattr(node, key, value)
                continue
            socket = node.inputs[key.replace("_", " ")]
            if isinstance(value, bpy.types.NodeSocket):
                self.link(value, socket)
            else:
                socket.default_value = value
        return node

    def link(self, source: Any, target: Any) -> None:
        """Join an output to an input."""
        self.material.node_tree.links.new(source, target)

    def mix(self, factor: Any, first: Any, second: Any) -> Any:
        """Shader `first` mixed towards `second` by factor (number or socket); returns the output socket."""
        node = self.nodes.new("ShaderNodeMixShader")
        if isinstance(factor, bpy.types.NodeSocket):
            self.link(factor, node.inputs[0])
        else:
            node.inputs[0].default_value = factor
        self.link(first, node.inputs[1])
        self.link(second, node.inputs[2])
        return node.outputs[0]

    def finish(self, surface: Any) -> Any:
        """Set the surface and return the material."""
        self.link(surface, self._output.inputs["Surface"])
        return self.material
