"""Writes .blend files that want more than to be seen: `python -m tests.render.ingest.hostile_blends FOLDER SECRET`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

CODE = "__import__('os').system('touch {mark}') or 1"


def _texture(box: Any, image: Any) -> Any:
    """A material that shows an image; its nodes."""
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    node = nodes.new("ShaderNodeTexImage")
    node.image = image
    material.node_tree.links.new(node.outputs[0], nodes["Principled BSDF"].inputs["Base Color"])
    box.data.materials.append(material)
    return nodes


def image_outside(box: Any, secret: Path) -> None:
    _texture(box, bpy.data.images.load(str(secret / "s.png")))


def movie_outside(box: Any, secret: Path) -> None:
    image = bpy.data.images.new("m", 8, 8)
    image.source, image.filepath = "MOVIE", str(secret / "s.mp4")
    _texture(box, image)


def tiles_outside(box: Any, secret: Path) -> None:
    image = bpy.data.images.new("m", 8, 8)
    image.source, image.filepath = "TILED", str(secret / "s.<UDIM>.png")
    _texture(box, image)


def generated_bomb(box: Any, secret: Path) -> None:
    image = bpy.data.images.new("m", 8, 8)
    image.generated_width = image.generated_height = 40_000
    _texture(box, image)


def profile_and_script(box: Any, secret: Path) -> None:
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    lamp, script = nodes.new("ShaderNodeTexIES"), nodes.new("ShaderNodeScript")
    lamp.mode = script.mode = "EXTERNAL"
    lamp.filepath, script.filepath = str(secret / "s.ies"), str(secret / "s.osl")
    links = box.data.materials[0].node_tree.links
    links.new(lamp.outputs[0], nodes["Principled BSDF"].inputs["Roughness"])


def text_node(box: Any, secret: Path) -> None:
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    text = bpy.data.texts.new("shader.osl")
    text.write(CODE.format(mark=secret / "mark"))
    nodes.new("ShaderNodeScript").script = text


def registered_text(box: Any, secret: Path) -> None:
    text = bpy.data.texts.new("run.py")
    text.write(CODE.format(mark=secret / "mark"))
    text.use_module = True


def drivers(box: Any, secret: Path) -> None:
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    for owner, path in ((box, "rotation_euler"), (nodes["Principled BSDF"].inputs["Roughness"], "default_value")):
        added = owner.driver_add(path)
        for curve in added if isinstance(added, list) else [added]:
            curve.driver.expression = CODE.format(mark=secret / "mark")


def animation(box: Any, secret: Path) -> None:
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    for owner, path in ((box, "location"), (nodes["Principled BSDF"].inputs["Roughness"], "default_value")):
        owner.keyframe_insert(path, frame=1)


def library_outside(box: Any, secret: Path) -> None:
    path = str(secret / "s.blend")
    bpy.data.libraries.write(path, {bpy.data.objects.new("Linked", box.data.copy())}, fake_user=True)
    with bpy.data.libraries.load(path, link=True) as (_, linked):
        linked.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(linked.objects[0])


def font_outside(box: Any, secret: Path) -> None:
    curve = bpy.data.curves.new("Text", "FONT")
    curve.body = "secret"
    curve.font = bpy.data.fonts.load(str(next(Path(bpy.utils.resource_path("LOCAL")).rglob("*.woff2"))))
    curve.font.filepath = str(secret / "s.ttf")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Text", curve))


def cache_outside(box: Any, secret: Path) -> None:
    """Alembic, a volume, a sound and a clip: none is a material."""
    bpy.ops.cachefile.open(filepath=str(secret / "s.abc"))
    modifier = box.modifiers.new("Cache", "MESH_SEQUENCE_CACHE")
    modifier.cache_file = bpy.data.cache_files[0]
    volume = bpy.data.volumes.new("Smoke")
    volume.filepath = str(secret / "s.vdb")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Smoke", volume))


def simulation(box: Any, secret: Path) -> None:
    """Caches that modifiers read from a folder."""
    cloth = box.modifiers.new("Cloth", "CLOTH")
    cloth.point_cache.use_external, cloth.point_cache.filepath = True, str(secret)
    ocean = box.modifiers.new("Ocean", "OCEAN")
    ocean.filepath = str(secret)


def compositor_and_world(box: Any, secret: Path) -> None:
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes.new("ShaderNodeTexEnvironment").image = bpy.data.images.load(str(secret / "s.png"))
    bpy.context.scene.world = world
    bpy.context.scene.render.filepath = str(secret / "out.png")


def properties(box: Any, secret: Path) -> None:
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    material = box.data.materials[0]
    material["note"], box["note"], box.data["note"] = str(secret), str(secret), str(secret)
    material["owner"] = bpy.context.scene
    nodes.new("ShaderNodeTexCoord").object = bpy.data.objects.new("Other", bpy.data.lights.new("Other", "POINT"))


def many_nodes(box: Any, secret: Path) -> None:
    """6,000 nodes in groups of 100."""
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    group = bpy.data.node_groups.new("Wide", "ShaderNodeTree")
    for _ in range(100):
        group.nodes.new("ShaderNodeValue")
    for _ in range(60):
        nodes.new("ShaderNodeGroup").node_tree = group.copy()


def nested_groups(box: Any, secret: Path) -> None:
    """125 nodes that stand for 400,000: each group holds the one before twice."""
    nodes = _texture(box, bpy.data.images.new("m", 8, 8))
    inner = bpy.data.node_groups.new("0", "ShaderNodeTree")
    for _ in range(100):
        inner.nodes.new("ShaderNodeValue")
    for depth in range(1, 13):
        outer = bpy.data.node_groups.new(str(depth), "ShaderNodeTree")
        for _ in range(2):
            outer.nodes.new("ShaderNodeGroup").node_tree = inner
        inner = outer
    nodes.new("ShaderNodeGroup").node_tree = inner


def many_copies(box: Any, secret: Path) -> None:
    """12 * 10**6 triangles by a modifier."""
    modifier = box.modifiers.new("Row", "ARRAY")
    modifier.count, modifier.relative_offset_displace = 1_000_000, (2, 0, 0)


def subdivided(box: Any, secret: Path) -> None:
    for levels in (6, 6):
        modifier = box.modifiers.new("Smooth", "SUBSURF")
        modifier.levels = modifier.render_levels = levels


def nested_instances(box: Any, secret: Path) -> None:
    """A collection of 10 instances of one of 10 instances, six times: 10**6 boxes."""
    inner = bpy.data.collections.new("0")
    bpy.context.scene.collection.objects.unlink(box)
    inner.objects.link(box)
    for depth in range(1, 7):
        outer = bpy.data.collections.new(str(depth))
        for k in range(10):
            place = bpy.data.objects.new(f"{depth}.{k}", None)
            place.instance_type, place.instance_collection = "COLLECTION", inner
            place.location = (3 * k * 10**depth, 0, 0)
            outer.objects.link(place)
        inner = outer
    bpy.context.scene.collection.children.link(inner)


KINDS: tuple[Callable[[Any, Path], None], ...] = (
    image_outside,
    movie_outside,
    tiles_outside,
    generated_bomb,
    profile_and_script,
    text_node,
    registered_text,
    drivers,
    animation,
    library_outside,
    font_outside,
    cache_outside,
    simulation,
    compositor_and_world,
    properties,
    many_nodes,
    nested_groups,
    many_copies,
    subdivided,
    nested_instances,
)


def write_all(folder: Path, secret: Path) -> None:
    for change in KINDS:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.mesh.primitive_cube_add(size=2)
        change(bpy.context.object, secret)
        path = folder / change.__name__ / "model.blend"
        path.parent.mkdir(parents=True)
        if change in (many_copies, subdivided, nested_instances):
            # Unlike a main file, it is written without being evaluated.
            bpy.data.libraries.write(str(path), {bpy.context.scene}, fake_user=True)
        else:
            bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False, relative_remap=False)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]), Path(sys.argv[2]))
