"""Camera, lights, ground and world of a stage as Blender data-blocks, created once and updated for each view."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Matrix, Vector

from diorama.render.geometry.camera import Camera
from diorama.render.renderers.cycles.blender_meshes import mesh_data
from diorama.render.renderers.cycles.node_tree import Tree
from diorama.render.renderers.cycles.series import node_tree
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.look import Recipe, SceneLook, Sky
from diorama.scene_specs.model.scene import SceneLight, SceneView, Settings
from diorama.scene_specs.model.stage import Stage
from diorama.scene_specs.rotation import Vec

# Sines of the heights between which the sky has its gradient.
_SKY = (0.0, 0.7)


def apply_camera(scene: Any, view: SceneView, settings: Settings) -> None:
    """Set the scene's camera; its matrix is that of the compiler, so that images and annotations agree."""
    camera = Camera.of(view.camera, settings.width, settings.height)
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    data = scene.camera.data
    data.sensor_fit = "AUTO"
    data.lens, data.sensor_width = view.camera.lens, view.camera.sensor_width
    data.shift_x, data.shift_y = view.camera.shift
    data.type = "PERSP" if view.camera.ortho_scale is None else "ORTHO"
    if view.camera.ortho_scale is not None:
        data.ortho_scale = view.camera.ortho_scale
    data.clip_start, data.clip_end = view.camera.clip
    x, y, z = Vector(camera.right), -Vector(camera.down), -Vector(camera.forward)
    rows = [(x[i], y[i], z[i], camera.location[i]) for i in range(3)]
    scene.camera.matrix_world = Matrix([*rows, (0.0, 0.0, 0.0, 1.0)])


def light_object(scene: Any, light: SceneLight) -> Any:
    """Return the object of a light, created at first use."""
    name = f"Light {light.name}"
    kind = {"area": "AREA", "sun": "SUN"}[light.kind]
    existing = bpy.data.objects.get(name)
    if existing is not None and existing.data.type == kind:
        return existing
    if existing is not None:
        bpy.data.objects.remove(existing)
    return bpy.data.objects.new(name, bpy.data.lights.new(name, kind))


def apply_lights(scene: Any, lights: tuple[SceneLight, ...]) -> list[Any]:
    """Update all lights and return their objects in the order of the Scene."""
    objects = []
    for light in lights:
        target = light_object(scene, light)
        data = target.data
        data.energy, data.color = light.energy, light.color
        if light.kind == "area":
            data.shape, data.size = "SQUARE", light.size
        else:
            data.angle = light.size
        rotation = _euler_rotation(light.rotation_rad or (0.0, 0.0, 0.0))
        if light.look_at is not None:
            direction = Vector(light.look_at) - Vector(light.location)
            rotation = direction.to_track_quat("-Z", "Y").to_matrix().to_4x4()
        target.matrix_world = Matrix.Translation(light.location) @ rotation
        objects.append(target)
    return objects


def ground_object(stage: Stage, look: SceneLook | None, material: Callable[[Recipe], Any]) -> Any | None:
    """Return the object of the ground, created at first use; None for a stage without ground.

    Args:
        material: makes the Blender material of a look's ground.
    """
    if stage.ground is None:
        return None
    name = f"Ground {stage.name}"
    ground = bpy.data.objects.get(name)
    if ground is None:
        tree, gray = Tree(name), stage.ground.albedo
        ground = bpy.data.objects.new(name, mesh_data(stage.ground.mesh))
        ground.material_slots[0].link = "OBJECT"
        tree.finish(tree.add("BsdfDiffuse", Color=(gray, gray, gray, 1.0)).outputs[0])
        ground.pass_index = 0
    slot = ground.material_slots[0]
    if look is None or look.ground is None:
        slot.material = bpy.data.materials[name]
    else:
        slot.material, ground.color = material(look.ground), (*look.offset, 0.0, 1.0)
    return ground


def apply_world(scene: Any, ambient: Vec, background: tuple[int, int, int] | None) -> None:
    """Set the world: it emits `ambient` (linear RGB) and shows `background` (8-bit sRGB) to the camera.

    Without a background the camera sees `ambient`, too.
    """
    scene.world = bpy.data.worlds.get("world") or bpy.data.worlds.new("world")
    scene.world.color = ambient
    tree = node_tree(scene.world, used=background is not None)
    if tree is None:
        return
    if "seen" not in tree.nodes:
        _build_world(tree)
    seen = ambient if background is None else linear_of_srgb(background)
    tree.nodes["ambient"].inputs["Color"].default_value = (*ambient, 1.0)
    tree.nodes["seen"].inputs["Color"].default_value = (*seen, 1.0)


def apply_sky(scene: Any, sky: Sky) -> None:
    """Set a world with a gradient from the horizon to the zenith, which the camera sees as well."""
    scene.world = bpy.data.worlds.get("sky") or bpy.data.worlds.new("sky")
    # An importance map, which costs more time than a soft gradient gains.
    scene.world.cycles.sampling_method = "NONE"
    tree = node_tree(scene.world)
    nodes, links = tree.nodes, tree.links
    nodes.clear()
    up, ramp = nodes.new("ShaderNodeSeparateXYZ"), nodes.new("ShaderNodeValToRGB")
    light, output = nodes.new("ShaderNodeBackground"), nodes.new("ShaderNodeOutputWorld")
    links.new(nodes.new("ShaderNodeTexCoord").outputs["Generated"], up.inputs[0])
    links.new(up.outputs["Z"], ramp.inputs[0])
    for element, at, color in zip(ramp.color_ramp.elements, _SKY, (sky.horizon, sky.zenith), strict=True):
        element.position, element.color = at, (*color, 1.0)
    links.new(ramp.outputs["Color"], light.inputs["Color"])
    links.new(light.outputs[0], output.inputs["Surface"])


def _build_world(tree: Any) -> None:
    nodes, links = tree.nodes, tree.links
    nodes.clear()
    mix, output = nodes.new("ShaderNodeMixShader"), nodes.new("ShaderNodeOutputWorld")
    links.new(nodes.new("ShaderNodeLightPath").outputs["Is Camera Ray"], mix.inputs[0])
    for socket, name in ((1, "ambient"), (2, "seen")):
        node = nodes.new("ShaderNodeBackground")
        node.name = name
        links.new(node.outputs[0], mix.inputs[socket])
    links.new(mix.outputs[0], output.inputs["Surface"])


def object_matrix(rotation_deg: Vec, scale: float, location: Vec) -> Any:
    """World matrix of an object.

    Args:
        rotation_deg: Euler XYZ.
        location: Blender units.
        scale: Blender units.
    """
    x, y, z = (math.radians(angle) for angle in rotation_deg)
    return Matrix.Translation(location) @ _euler_rotation((x, y, z)) @ Matrix.Scale(scale, 4)


def _euler_rotation(rotation_rad: Vec) -> Any:
    """4 x 4 matrix of Euler XYZ angles in radians."""
    x, y, z = rotation_rad
    return Matrix.Rotation(z, 4, "Z") @ Matrix.Rotation(y, 4, "Y") @ Matrix.Rotation(x, 4, "X")
