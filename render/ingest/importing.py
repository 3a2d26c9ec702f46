"""Blender's importer of a file's format, and all that it made as the triangles of one mesh, corner by corner."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.scene_specs.errors import AssetError, counted
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.rotation import Floats

# Triangles of a model, counted before they are made.
MOST_TRIANGLES = 3_000_000
# Names in a message.
_SHOWN = 8
_GEOMETRY = ("MESH", "CURVE", "SURFACE", "FONT", "META")
# Data type of an attribute -> the property of its elements, and their numbers.
_TYPES = {"FLOAT": ("value", 1), "FLOAT2": ("vector", 2), "FLOAT_VECTOR": ("vector", 3)}
_TYPES |= dict.fromkeys(("FLOAT_COLOR", "BYTE_COLOR"), ("color", 4))
# How a C program reads a format without axes of its own as it is.
_AS_IT_IS = {"forward_axis": "Y", "up_axis": "Z"}
_BRIDGE = re.compile(r"libbf_intern_([a-z]+)_bridge")
POSITION, NORMAL, UV, COLOR = "diorama position", "diorama normal", "diorama uv", "diorama color"
# Name -> values (T, 3, n) of the corners of triangles.
Layers = dict[str, NDArray[Any]]


class Imported(NamedTuple):
    """What a file holds, in Blender's axes.

    Attributes:
        slots: (T,) index into `materials`.
        layers: positions, normals, and attributes that materials read; UV and COLOR are those that a material reads
            that names none.
        materials: Blender's materials; None where a surface has none.
    """

    slots: NDArray[np.int32]
    layers: Layers
    materials: list[Any]


def warm_up() -> None:
    """Import all that the importers import, which a confined process no longer can."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    for name in ("io_scene_gltf2", "io_scene_fbx"):
        bpy.ops.preferences.addon_enable(module=name)
    import_module("io_scene_fbx.import_fbx")
    # Images are measured by their headers, and not decoded.
    Image.MAX_IMAGE_PIXELS = None
    # A model stands as its nodes say: its first animation would move it.
    import_module("io_scene_gltf2.blender.imp.scene").BlenderScene.create_animations = staticmethod(lambda gltf: None)


def load(path: Path, suffix: str) -> None:
    """Read a file with Blender's importer.

    Args:
        suffix: of the file's format, in lower case.

    Raises:
        AssetError: Blender has no importer for it.
    """
    name, series = str(path), f"Blender {bpy.app.version_string}"
    match suffix:
        case ".glb" | ".gltf":
            try:
                bpy.ops.import_scene.gltf(filepath=name, import_pack_images=True)
            except RuntimeError as error:
                # The wheel of 5.2 lacks libraries.
                if (match := _BRIDGE.search(str(error))) is None:
                    raise
                raise AssetError(f"{series} reads no {match[1]} compression; export it without") from error
        case ".obj":
            # Doubled faces are left out and noted later.
            bpy.ops.wm.obj_import(filepath=name, validate_meshes=False, **_AS_IT_IS)
        case ".stl":
            bpy.ops.wm.stl_import(filepath=name, use_mesh_validate=False, **_AS_IT_IS)
        case ".ply":
            bpy.ops.wm.ply_import(filepath=name, **_AS_IT_IS)
        case ".fbx":
            # The second reads texts, too, but looks for textures in fewer places.
            binary = path.open("rb").read(18) == b"Kaydara FBX Binary"
            (bpy.ops.import_scene.fbx if binary else bpy.ops.wm.fbx_import)(filepath=name, use_anim=False)
        case ".usd" | ".usda" | ".usdc" | ".usdz":
            bpy.ops.wm.usd_import(filepath=name, import_textures_mode="IMPORT_PACK")
        case ".blend":
            bpy.ops.wm.open_mainfile(filepath=name, use_scripts=False, load_ui=False)
        case ".dae" if bpy.app.version < (5, 0):
            bpy.ops.wm.collada_import(filepath=name)
        case _:
            raise AssetError(f"found the ending {suffix!r}, which {series} does not read; export it as .glb")


def gather(by_name: bool, part: str, reports: Sequence[str]) -> Imported:
    """Return the triangles of all objects that a render shows, with modifiers, skins, shape keys and instances.

    Args:
        by_name: whether the order of the objects changes from run to run.
        part: name of a collection, or of an object that is taken with its children; "" for all.
        reports: what the importer said.

    Raises:
        AssetError: there are none, or too many, or no such part.
    """
    graph = _rendered(part)
    # An instance is valid until the next one, so they are gone through twice.
    shown = (entry.object for entry in graph.object_instances if _is_rendered(entry))
    total = sum(len(body.data.loops) - 2 * len(body.data.polygons) for body in shown if body.type == "MESH")
    if total > MOST_TRIANGLES:
        raise AssetError(f"found {total:,} triangles; allowed: {MOST_TRIANGLES:,}")
    names, slots = _layers_read(), dict[Any, int]()
    entries = filter(_is_rendered, graph.object_instances)
    parts = [(entry.object.name, *data) for entry in entries if (data := _part_of(entry, graph, names, slots))]
    if by_name:
        parts.sort(key=lambda named: named[0])
    if not parts:
        raise AssetError("; ".join(["it has no faces", *reports[:1]]))
    widths = {name: values.shape[2] for *_, layers in parts for name, values in layers.items()}
    joined = {
        name: np.concatenate([_layer_of(layers, name, width) for *_, layers in parts]) for name, width in widths.items()
    }
    return Imported(np.concatenate([own for _, own, _ in parts]), joined, [*slots])


def _rendered(part: str) -> Any:
    """Return the evaluated objects as a render has them, not the window: a process that was forked can't render."""
    layer = _layer_with(part) if part else bpy.context.view_layer
    for body in [*layer.objects]:
        body.hide_set(False, view_layer=layer)
    for group in bpy.data.collections:
        group.hide_viewport = group.hide_render
    for body in bpy.data.objects:
        body.hide_viewport = body.hide_render
        body.show_instancer_for_viewport = body.show_instancer_for_render
        for modifier in body.modifiers:
            modifier.show_viewport = modifier.show_render
            if modifier.type in ("SUBSURF", "MULTIRES"):
                modifier.levels = modifier.render_levels
    for curve in bpy.data.curves:
        curve.resolution_u = curve.render_resolution_u or curve.resolution_u
        curve.resolution_v = curve.render_resolution_v or curve.resolution_v
    layer.update()
    return layer.depsgraph


def _layer_with(part: str) -> Any:
    """Return the view layer of a new scene with one part, even if its own scene hides that. Raises AssetError."""
    scene, whole, first = bpy.data.scenes.new(part), bpy.data.collections.get(part), bpy.data.objects.get(part)
    if (chosen := whole or first) is None:
        named = sorted(block.name for block in (*bpy.data.collections, *bpy.data.objects))
        hint = did_you_mean(part, named) or f"there are: {', '.join(named[:_SHOWN])}"
        raise AssetError(f"it has no collection or object {part!r}; {hint}")
    chosen.hide_render = False
    if whole is not None:
        scene.collection.children.link(whole)
    for body in [first, *first.children_recursive] if whole is None else ():
        scene.collection.objects.link(body)
    return scene.view_layers[0]


def _layer_of(layers: Layers, name: str, width: int) -> NDArray[Any]:
    """Return a layer of a part; one without it has zeros in it, but white colors."""
    if name in layers and layers[name].shape[2] == width:
        return layers[name]
    return np.full((len(layers[POSITION]), 3, width), float(width == 4), dtype=np.float32)


def _is_rendered(entry: Any) -> bool:
    return bool(entry.show_self) and not entry.object.hide_render and entry.object.type in _GEOMETRY


def _values(items: Any, name: str, width: int, kind: Any = np.float32) -> NDArray[Any]:
    array = np.empty(len(items) * width, dtype=kind)
    items.foreach_get(name, array)
    return array.reshape(-1, width)


def multiplied(vectors: Floats, rows: Sequence[Floats] | Floats) -> Floats:
    """(..., 3) vectors times a matrix, in sums that are the same on every processor."""
    x, y, z = (vectors[..., k] for k in range(3))
    return np.stack([x * row[0] + y * row[1] + z * row[2] for row in rows], axis=-1)


def _part_of(entry: Any, graph: Any, names: set[str], slots: dict[Any, int]) -> tuple[NDArray[np.int32], Layers] | None:
    """Return slots and layers of an object, or None if it has no faces."""
    shown = entry.object
    mesh = shown.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
    if mesh is None or not len(mesh.polygons):
        return None
    mesh.calc_loop_triangles()
    keys = {"vertices": 3, "loops": 3, "polygon_index": 1, "material_index": 1}
    points, corners, faces, own = (_values(mesh.loop_triangles, *key, np.int32) for key in keys.items())
    materials = [slot.material and slot.material.original for slot in shown.material_slots] or [None]
    numbers = np.array([slots.setdefault(material, len(slots)) for material in materials], dtype=np.int32)
    matrix = np.array(entry.matrix_world, dtype=np.float64)
    turned = matrix[:3, :3]
    cofactors = np.stack([np.cross(turned[k - 2], turned[k - 1]) for k in range(3)])
    located = multiplied(_values(mesh.vertices, "co", 3).astype(np.float64), turned) + matrix[:3, 3]
    normals = _values(mesh.corner_normals, "vector", 3).astype(np.float64)
    layers = {POSITION: located[points], NORMAL: multiplied(normals[corners], cofactors)}
    rows = {"POINT": points, "FACE": faces.repeat(3, axis=1), "CORNER": corners}
    for name, attribute in _attributes(mesh, names):
        layers[name] = _values(attribute.data, *_TYPES[attribute.data_type])[rows[attribute.domain]]
    if np.linalg.det(turned) < 0:
        layers = {name: values[:, ::-1] for name, values in layers.items()}
    shown.to_mesh_clear()
    return numbers[np.minimum(own[:, 0], len(numbers) - 1)], layers


def _attributes(mesh: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    """List what materials read of a mesh: coordinates and colors that a render takes, and what they name."""
    # In 5.2, no layer of some files is active.
    if layers := mesh.uv_layers:
        yield UV, mesh.attributes[next((layer for layer in layers if layer.active_render), layers[0]).name]
    index = mesh.color_attributes.render_color_index
    if 0 <= index < len(mesh.color_attributes):
        yield COLOR, mesh.color_attributes[index]
    for name in sorted(names):
        attribute = mesh.attributes.get(name)
        if attribute is not None and attribute.data_type in _TYPES and attribute.domain in ("POINT", "FACE", "CORNER"):
            yield name, attribute


def _layers_read() -> set[str]:
    """Names of the attributes that nodes of materials name."""
    trees = [material.node_tree for material in bpy.data.materials if material.node_tree] + [*bpy.data.node_groups]
    nodes = [node for tree in trees for node in tree.nodes]
    keys = ("uv_map", "layer_name", "attribute_name")
    return {name for node in nodes for key in keys if isinstance(name := getattr(node, key, None), str) and name}


def left_out(gltf: Any, numberless: int) -> Iterator[str]:
    """List what a file holds beside its surfaces: by Blender's data, and by the header and numbers of glTF.

    Args:
        gltf: Blender's reader of the file, or None.
        numberless: coordinates that are no finite numbers, of another file.

    Raises:
        AssetError: an accessor has no element; the importer takes all that is there.
    """
    if gltf is not None:
        if any(accessor.count < 1 for accessor in gltf.data.accessors or ()):
            raise AssetError("found an accessor of fewer than one element")
        unknown = [name for name in gltf.data.extensions_used or () if name not in gltf.extensions_managed]
        yield from (f"extension {name} left out" for name in unknown)
        decode = import_module("io_scene_gltf2.io.imp.gltf2_io_binary").BinaryData.decode_accessor
        primitives = [primitive for mesh in gltf.data.meshes or () for primitive in mesh.primitives]
        parts = [primitive.attributes for primitive in primitives]
        indices = dict.fromkeys(attributes["POSITION"] for attributes in parts if "POSITION" in attributes)
        numberless += sum(int((~np.isfinite(decode(gltf, index))).sum()) for index in indices)
        if sheared := sum(_shears(node.matrix) for node in gltf.data.nodes or () if node.matrix):
            yield f"{counted(sheared, 'sheared node')} read without the shear"
        counts = {"animation": len(gltf.data.animations or ()), "point set": sum(part.mode == 0 for part in primitives)}
    else:
        counts = {"animation": len(bpy.data.actions) + len(bpy.data.cache_files)}
    if numberless:
        # By Blender.
        yield f"{counted(numberless, 'coordinate')} without a number, read as 0"
    counts |= {kind: len(getattr(bpy.data, f"{kind}s")) for kind in ("camera", "light", "volume")}
    # One with modifiers says where instances are.
    clouds = [shown for shown in bpy.data.objects if shown.type == "POINTCLOUD" and not shown.modifiers]
    lines = sum(int(_values(mesh.edges, "is_loose", 1, bool).sum()) for mesh in bpy.data.meshes)
    counts |= {"point cloud": len(clouds), "line": lines}
    yield from (f"{counted(count, kind)} left out" for kind, count in counts.items() if count)


def _shears(matrix: list[float]) -> bool:
    """Whether the axes of a matrix, column by column, are not at right angles: Blender keeps those that are."""
    axes = np.reshape(matrix, (4, 4))[:3, :3]
    products = axes @ axes.T
    most = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    return bool((np.abs(products - np.diag(products.diagonal())) > 1e-4 * most).any())
