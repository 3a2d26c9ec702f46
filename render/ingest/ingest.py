"""Reads one model in this process: its triangles for the compiler, and a .blend of the mesh for Cycles."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from diorama.render.ingest import surfaces
from diorama.render.ingest.confinement import flush
from diorama.render.ingest.importing import COLOR, NORMAL, POSITION, UV, gather, left_out, load
from diorama.render.ingest.model_files import ModelFiles
from diorama.render.ingest.preparing import Faces, mean_color, measured, prepared, turned
from diorama.render.ingest.repair import doubled_normals
from diorama.render.renderers.cycles.blend_material import append_blocks
from diorama.render.renderers.cycles.blender_meshes import add_triangles
from diorama.render.renderers.cycles.model_objects import require_plain
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.rotation import Floats
from diorama.scene_specs.shapes.shapenet.loading import ARRAYS, Reading
from diorama.scene_specs.shapes.shapenet.model import VERSION

# Formats that say which way is up, so that Blender turns them: to +Z, front to -Y.
_TURNED = (".fbx", ".usd", ".usda", ".usdc", ".usdz", ".dae", ".blend")
# Axis of glTF -> where Blender's importer turns it.
_FROM_GLTF = {"+y": "+z", "-y": "-z", "+z": "-y", "-z": "+y"}
# Numbers of an attribute -> its type, and the property that has them.
_KINDS = {1: ("FLOAT", "value"), 2: ("FLOAT2", "vector"), 3: ("FLOAT_VECTOR", "vector"), 4: ("FLOAT_COLOR", "color")}
SHARP_DEG = 40.0
# What importers report: in 4.5 with the place in their code, in 5.2 with the time.
_REPORTS = re.compile(
    r"^(?:(?:WARN|ERROR) \([\w.]+\): \S+:\d+ \w+: |[\d:.]+ +[\w.]+ +\| (?:WARNING|ERROR) "
    r"|[\d:]+ \| (?:WARNING|ERROR): |(?:Error|Warning): |\w+ \| (?=Error))(?:in \w+ at line \d+ of \S+ -- )?(.*)$",
    re.MULTILINE,
)

# Of an object in memory.
_ADDRESS = re.compile(r" ?<?0x[0-9a-f]{6,}>?")
# A missing image is noted later, and the importer of .obj first looks for each at a place where none is. A .blend file
# has windows of its own, too, and Blender 5.2 looks for disks then.
_BESIDE = ("Cannot load image", "Cannot read '", "Missing image file", "region type", "Could not get a list of mounted")


def ingest(reading: Reading, folder: Path, log: int) -> None:
    """Read a model and write `model.npz` and `model.blend` into a folder.

    Args:
        log: file descriptor of what this process prints.

    Raises:
        AssetError: the model is damaged, too large, or of a format that Blender doesn't read.
    """
    main, suffix = reading.path, reading.path.suffix.lower()
    files = ModelFiles(reading.root, main)
    load(files.prepare(folder), suffix)
    reports = _reports(log, folder, files.root)
    if (late := next((report for report in reports if "too long" in report), None)) is not None:
        # The importer ends there.
        raise AssetError(late)
    files.read_opened()
    for text in (*(f"Blender reports: {report}" for report in reports), *left_out(files.gltf, files.numberless)):
        files.note(text)
    if (lost := files.faces - sum(len(mesh.polygons) for mesh in bpy.data.meshes) - len(reports)) > 0:
        files.note(f"{lost} faces without area were left out")
    imported = gather(suffix == ".fbx", reading.part, reports)
    up, front = reading.up, reading.front
    if files.gltf is not None:
        # Blender has turned Y to Z.
        up, front = (_FROM_GLTF.get(axis, axis) for axis in (up, front))
    elif suffix in _TURNED:
        up, front = "+z", "-y"
    axes = reading.up, reading.front, *filter(None, [reading.part])
    faces, unit = prepared(imported, up, front, suffix != ".blend", files.note)
    surfaces.pack_images(files.imported_texture, files.note)
    used, slots = np.unique(faces.slots, return_inverse=True)
    listed = [imported.materials[slot] for slot in used]
    materials, colors = surfaces.complete(listed, files.mtl, COLOR in faces.layers, suffix, files.note)
    faces = faces._replace(slots=slots.astype(np.int32))
    if reading.own:
        files.note_license()
    uv = faces.layers.get(UV, np.zeros((len(slots), 3, 2), dtype=np.float32))
    arrays: dict[str, Any] = dict(zip(ARRAYS, (faces.vertices, faces.triangles, uv, faces.slots), strict=True))
    facts = measured(faces.vertices) | {
        "sha256": _digest((axes, files.named_digests()), arrays),
        "unit": unit,
        "color": mean_color(faces, colors),
        "notes": [*files.notes],
        "files": [vars(state) for state in files.states.values()],
    }
    mesh = _build_mesh(faces, materials, turned(faces.layers[NORMAL], up, front) if reading.own else None)
    mesh["sha256"], mesh["emits"] = facts["sha256"], surfaces.emits(materials)
    _write_blend(mesh, folder / "model.blend")
    np.savez(folder / "model.npz", facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)


def _digest(origin: tuple[object, ...], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the digest of a model's axes and files, and of its triangles."""
    digest = hashlib.sha256(json.dumps((VERSION, *origin)).encode())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _reports(log: int, folder: Path, root: Path) -> list[str]:
    """List what importers report, each once."""
    flush()
    os.lseek(log, 0, os.SEEK_SET)
    text = _ADDRESS.sub("", os.read(log, 1 << 20).decode("utf-8", "replace"))
    found = (match.strip().replace(f"{folder}/", "").replace(f"{root}/", "") for match in _REPORTS.findall(text))
    return [report for report in dict.fromkeys(found) if not report.startswith(_BESIDE)]


def _build_mesh(faces: Faces, materials: list[Any], normals: Floats | None) -> Any:
    """Return the mesh of a model, with its materials and all that these read.

    Args:
        normals: (T, 3, 3), None for a library, whose normals are wrong most often.
    """
    mesh = bpy.data.meshes.new("model")
    add_triangles(mesh, faces.vertices, faces.triangles)
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", faces.slots)
    for name in [name for name in faces.layers if name not in (POSITION, NORMAL)]:
        kind, prop = _KINDS[faces.layers[name].shape[2]]
        mesh.attributes.new(name, kind, "CORNER").data.foreach_set(prop, faces.layers[name].ravel())
    if UV in faces.layers:
        mesh.uv_layers[UV].active_render = True
    if COLOR in faces.layers:
        mesh.color_attributes.render_color_index = mesh.color_attributes.find(COLOR)
    mesh.update(calc_edges=True)
    mesh.shade_smooth()
    if normals is None:
        mesh.set_sharp_from_angle(angle=math.radians(SHARP_DEG))
    else:
        outward = doubled_normals(faces.vertices, faces.triangles)[:, None]
        length = np.sqrt((normals * normals).sum(axis=2, keepdims=True))
        # A face that was turned takes its normals along, and one of no number has that of its face.
        normals = np.where((normals * outward).sum(axis=2, keepdims=True) < 0, -normals, normals)
        normals = np.where(length > 0, normals / np.where(length > 0, length, 1), outward)
        # Also makes edges sharp where normals differ; Cycles reads the normals of corners from there alone.
        mesh.normals_split_custom_set(normals.reshape(-1, 3))
    if mesh.validate(verbose=False):
        raise AssetError("Blender had to change its mesh; please report the model")
    return mesh


def _write_blend(mesh: Any, path: Path) -> None:
    """Write a mesh without anything that reads, runs or moves, and read it back to check that. Raises AssetError."""
    surfaces.strip()
    bpy.data.libraries.write(str(path), {mesh}, fake_user=True, compress=True)
    require_plain(append_blocks(path, "meshes")[1], "it")
