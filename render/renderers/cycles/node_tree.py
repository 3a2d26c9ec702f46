"""Build Blender materials: the node tree that a material adds to, with the color that it takes from its object."""

from __future__ import annotations

import math
from typing import Any

import bpy

from diorama.render.renderers.cycles.series import node_tree
from diorama.scene_specs.errors import DioramaError, RenderError
from diorama.scene_specs.language.registry import plugin, singular
from diorama.scene_specs.model.look import Recipe
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.scene import SceneMaterial

# Heights at which a baseboard and a wall begin, Blender units: boards and tiles on a rising ground would bend with it.
_WALL = (0.4, 0.75)
# Size of the smallest detail that a small image still shows, per Blender unit of distance from the camera.
_DETAIL = 0.005


class Tree:
    """A material under construction: `add` creates a node, `link` connects sockets, `finish` sets the surface.

    Args:
        ground: whether it is for a ground, whose object's color is the offset of its texture.
    """

    def __init__(self, name: str, ground: bool = False) -> None:
        self.material: Any = bpy.data.materials.new(name)
        self._tree: Any = node_tree(self.material)
        self.nodes: Any = self._tree.nodes
        self.nodes.clear()
        self._output = self.nodes.new("ShaderNodeOutputMaterial")
        self._info = self.nodes.new("ShaderNodeObjectInfo")
        self._painted: Any = None
        self._offset: Any = self._info.outputs["Color" if ground else "Location"]

    @property
    def color(self) -> Any:
        """Output with the object's color. One material serves all colors, so that no shader is compiled again."""
        return self._painted or self._info.outputs["Color"]

    def paint(self, color: Any) -> None:
        """Let `color` be this output from now on, for a pattern in shades of the object's color."""
        self._painted = color

    @property
    def alpha(self) -> Any:
        """Output with the alpha of the object's color, which materials may use freely: it is not an opacity."""
        return self._info.outputs["Alpha"]

    def add(self, kind: str, **inputs: Any) -> Any:
        """Add a node of type ShaderNode<kind>. Keywords set properties or inputs: `_` for a space, `_0` the first."""
        node = self.nodes.new(f"ShaderNode{kind}")
        for key, value in inputs.items():
            if key in node.bl_rna.properties:
                setattr(node, key, value)
                continue
            self._set(node.inputs[int(key[1:]) if key[0] == "_" else key.replace("_", " ")], value)
        return node

    def _set(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.link(value, socket)
        else:
            socket.default_value = value

    def link(self, source: Any, target: Any) -> None:
        """Connect an output to an input."""
        self._tree.links.new(source, target)

    def point(self, turn: float = 0.0, own: bool = False) -> Any:
        """Output with the place on the object in its own units.

        Args:
            turn: degrees about Z.
            own: the same on every object; otherwise moved for each object, and on grounds for each episode.
        """
        here = self.add("TexCoord").outputs["Object"]
        moved = here if own else self.add("VectorMath", operation="ADD", _0=here, _1=self._offset).outputs[0]
        return self.add("Mapping", Vector=moved, Rotation=(0.0, 0.0, math.radians(turn))).outputs[0] if turn else moved

    def moved(self, at: Any, x: Any, y: Any = 0.0) -> Any:
        """Output with a place moved along X and Y."""
        return self.add("VectorMath", operation="ADD", _0=at, _1=self.add("CombineXYZ", X=x, Y=y).outputs[0]).outputs[0]

    def math(self, operation: str, first: Any, second: Any = 0.0, third: Any = 0.0) -> Any:
        """Output of Blender's math node."""
        return self.add("Math", operation=operation, _0=first, _1=second, _2=third).outputs[0]

    def noise(self, at: Any, scale: float, detail: float, roughness: float, distortion: float = 0.0) -> Any:
        """Output with noise over X and Y, 0 to 1: for grounds, at half the price of noise in space."""
        fields = {"Scale": scale, "Detail": detail, "Roughness": roughness, "Distortion": distortion}
        return self.add("TexNoise", noise_dimensions="2D", Vector=at, **fields).outputs["Fac"]

    def shade(self, color: Any, factor: Any) -> Any:
        """Output with a color (linear RGB or an output) times a factor."""
        return self.add("VectorMath", operation="SCALE", _0=color, Scale=factor).outputs[0]

    def choose(self, factor: Any, first: Any, second: Any) -> Any:
        """Output with `first` where the factor is 1, and `second` where it is 0."""
        return self.mixed("FLOAT", "Float", factor, second, first)

    def blend(self, factor: Any, first: Any, second: Any) -> Any:
        """Output with a color between two, each linear RGB or an output."""
        return self.mixed("VECTOR", "Vector", factor, first, second)

    def mixed(self, kind: str, name: str, factor: Any, first: Any, second: Any) -> Any:
        """Output of Blender's mix node, whose sockets have the same names for all kinds; only identifiers differ.

        Args:
            kind: type of what is mixed, such as "FLOAT".
            name: the end of the sockets' identifiers for this type.
        """
        node = self.add("Mix", data_type=kind)
        sockets = {socket.identifier: socket for socket in (*node.inputs, *node.outputs)}
        for key, value in (("Factor_Float", factor), (f"A_{name}", first), (f"B_{name}", second)):
            self._set(sockets[key], value)
        return sockets[f"Result_{name}"]

    def texture(self, image: Any, extension: str) -> Any:
        """Output with the color of an image at the texture coordinates of a model."""
        node = self.add("TexImage", interpolation="Linear", extension=extension)
        node.image = image
        return node.outputs["Color"]

    def bump(self, height: Any, distance: float) -> Any:
        """Output with the normal of a bumpy surface.

        Args:
            height: output, 0 to 1.
            distance: how high the height 1 is, Blender units.
        """
        return self.add("Bump", Height=height, Distance=distance, Strength=1.0).outputs["Normal"]

    def seen(self, size: float) -> Any:
        """Output with how much of a detail of this size is seen from the camera, 0 to 1; what is finer breaks up."""
        away = self.add("CameraData").outputs["View Distance"]
        return self.math("MINIMUM", self.math("DIVIDE", size / _DETAIL, away), 1.0)

    def bricks(self, at: Any, length: float, width: float, gap: float, shift: float = 0.0) -> tuple[Any, Any]:
        """Return bricks in rows: outputs for a random number of each brick, 0 to 1, and for the gap at a place, 0 to 1.

        Gaps get wider and fainter with the distance from the camera: they would break up where pixels are wider.

        Args:
            shift: how far every second row is moved, share of the length.
        """
        size = {"Vector": at, "Scale": 1.0, "Brick_Width": length, "Row_Height": width, "offset": shift}
        ends = {"Color1": (0, 0, 0, 1), "Color2": (1, 1, 1, 1), "Mortar_Smooth": 1.0}
        number = self.add("TexBrick", Mortar_Size=0.0, **size, **ends).outputs["Color"]
        seen = self.seen(gap)
        line = self.add("TexBrick", Mortar_Size=self.math("DIVIDE", gap, seen), **size, **ends).outputs["Fac"]
        return self.add("SeparateXYZ", _0=number).outputs[0], self.math("MULTIPLY", line, seen)

    def glazed(self, color: Any, ior: float, roughness: float, share: Any = 1.0, **normal: Any) -> Any:
        """Output of a dull body under a clear glaze.

        Args:
            ior: index of refraction of the glaze.
            share: how much of the glaze is there, a number or an output.
            normal: Normal, of a bumpy surface.
        """
        body = self.add("BsdfDiffuse", Color=color, **normal).outputs[0]
        white = {"distribution": "GGX", "Color": (1, 1, 1, 1), "Roughness": roughness}
        gloss = self.add("BsdfAnisotropic", **white, **normal).outputs[0]
        shine = self.math("MULTIPLY", self.add("Fresnel", IOR=ior, **normal).outputs[0], share)
        return self.mix(shine, body, gloss)

    def fresnel(self, ior: float) -> Any:
        """Output with the share of light that both faces reflect; on back faces, Cycles divides 1 by the index."""
        back = self.add("NewGeometry").outputs["Backfacing"]
        return self.add("Fresnel", IOR=self.math("MULTIPLY_ADD", back, 1 / ior - ior, ior)).outputs[0]

    def mix(self, factor: Any, first: Any, second: Any) -> Any:
        """Output of a mix of two shaders.

        Args:
            factor: share of `second`, a number or an output.
        """
        node = self.nodes.new("ShaderNodeMixShader")
        for socket, value in zip(node.inputs, (factor, first, second), strict=True):
            self._set(socket, value)
        return node.outputs[0]

    def walled(self, surface: Any) -> Any:
        """Output of a ground's shader, with a wall and its baseboard where the ground rises behind the scene."""
        height = self.add("SeparateXYZ", _0=self.add("TexCoord").outputs["Object"]).outputs[2]
        rising, above = (self.math("GREATER_THAN", height, start) for start in _WALL)
        color = self.blend(above, (0.72, 0.7, 0.66), (0.55, 0.53, 0.5))
        return self.mix(rising, surface, self.add("BsdfDiffuse", Color=color).outputs[0])

    def finish(self, surface: Any) -> Any:
        """Connect the surface output and return the material."""
        self.link(surface, self._output.inputs["Surface"])
        return self.material


def build_material(material: SceneMaterial | Recipe, noun: str = "materials") -> Any:
    """Return a new Blender material, of any but those of .blend files and models.

    Args:
        noun: "grounds" for the ground of a look.

    Raises:
        PluginError: a plug-in is unknown or can't be loaded.
        RenderError: rendering failed.
    """
    recipe = load_material(material.name, noun)
    name = " ".join([material.name, *(f"{key} {value}" for key, value in material.parameters.items())])[:60]
    tree = Tree(name, ground=noun == "grounds")
    try:
        if isinstance(material, SceneMaterial) and (pattern := material.pattern) is not None:
            shades = load_material(pattern.name, "patterns")
            tree.paint(shades.build(tree, shades.Parameters(**pattern.parameters)))
        surface = recipe.build(tree, recipe.Parameters(**material.parameters))
        return tree.finish(tree.walled(surface) if noun == "grounds" else surface)
    except Exception as error:  # plug-ins raise anything
        bpy.data.materials.remove(tree.material)
        if isinstance(error, DioramaError):
            raise
        owner = plugin(noun, material.name).owner
        raise RenderError(
            f"{singular(noun)} {material.name!r} of {owner}: its build failed: {type(error).__name__}: {error}"
        ) from error
