"""Judge how models are read: by another reader, and by pictures.

    python -m tools judge-models FOLDER... [--count 40] [--seed 65] [--readers venv/bin/python] [--pairs DIR]

FOLDER is a clone of a repository. Of each, the tool draws files by seed, the kinds in turn, and reads them as meshes of
an asset root. `--readers` is a Python with `assimp-py` and `usd-core`, which share no code with Blender: they say
extents and area. What Blender's importer makes of the same file is rendered beside our mesh, with the same camera and
lights; DIR gets the pairs. The table says for each folder how many files were read, refused by both, or refused by us
alone, how many have the same shape by the other reader, and how many look the same. All others are listed with what
differs. Exit code 1: a process that reads ended without an answer.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from PIL import Image

from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.rotation import Floats
from diorama.scene_specs.shapes.shapenet.library import MeshFolder
from diorama.scene_specs.shapes.shapenet.loading import blend_of, load_model
from tools.programs import positive

KINDS = (".glb", ".gltf", ".obj", ".ply", ".stl", ".fbx", ".usd", ".usda", ".usdc", ".usdz", ".blend", ".dae")
# Kinds that don't say which way is up, or that Blender turns: our frame is Blender's then.
UPRIGHT = (".glb", ".gltf", ".obj")
MOST_BYTES, WAIT = 30_000_000, 120
# Relative to the longest side and its square; share of the pixels of either silhouette; levels of 255.
SHAPE, AREA, SILHOUETTE, COLOR = 2e-3, 1e-2, 0.02, 3.0
WIDTH, HEIGHT, SAMPLES = 160, 120, 12
HEAD = ("folder", "files", "read", "both refuse", "only we refuse", "same shape", "judged", "look the same", "judged")
READER = Path(__file__).with_name("other_readers.py")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=positive, default=40, help="files of each folder (default: 40)")
    parser.add_argument("--seed", type=int, default=65)
    parser.add_argument("--readers", help="Python with assimp-py and usd-core (default: no other reader)")
    parser.add_argument("--pairs", type=Path, metavar="DIR", help="keep the rendered pairs here")


def main(options: Namespace) -> int:
    """Print the table and what differs."""
    rows, ended, numbers = [], 0, count(1)
    lines: list[str] = []
    with TemporaryDirectory() as temporary:
        pairs = options.pairs or Path(temporary)
        pairs.mkdir(parents=True, exist_ok=True)
        for folder in options.folders:
            row = [0] * (len(HEAD) - 1)
            for path in drawn(folder, options.count, options.seed):
                number = f"{next(numbers):04d}"
                told = judge(path, folder.resolve(), options.readers, pairs / number)
                row = [before + add for before, add in zip(row, told["counts"], strict=True)]
                ended += told["ended"]
                if told["says"]:
                    lines.append(f"- {number} {path.relative_to(folder)}: {told['says']}\n")
                    sys.stderr.write(lines[-1])
            rows.append((folder.name, *row))
    sys.stdout.write(markdown_table(HEAD, rows) + "\nOthers:\n\n" + "".join(lines))
    return int(ended > 0)


def drawn(folder: Path, most: int, seed: int) -> list[Path]:
    """Return files of a folder, the kinds in turn."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in KINDS and path.is_file()]
    files = [path for path in files if path.stat().st_size < MOST_BYTES]
    random.Random(seed).shuffle(files)
    by_kind = [[path for path in files if path.suffix.lower() == kind] for kind in KINDS]
    return [path for turn in zip_longest(*by_kind) for path in turn if path is not None][:most]


def judge(path: Path, root: Path, readers: str | None, pair: Path) -> dict[str, Any]:
    """Return what is counted of a file, whether a process ended without an answer, and what is to be said."""
    counts = dict.fromkeys(HEAD[1:5], 0) | {"shape": 0, "shapes": 0, "look": 0, "looks": 0, "files": 1}
    other: dict[str, Any] = facts_of_other(path, readers) if readers else {"error": "not asked"}
    axes = ("+y", "+z") if path.suffix.lower() in UPRIGHT else ("+z", "-y")
    says, ended = [], 0
    try:
        model = load_model(f"mesh:{path.relative_to(root)}", MeshFolder(root, *axes, file=path.resolve()))
        blend = blend_of(model)
    except DioramaError as error:
        alone = "error" not in other
        counts["only we refuse" if alone else "both refuse"] = 1
        return {"counts": [*counts.values()], "ended": 0, "says": f"refused: {error}" if alone else ""}
    counts["read"] = 1
    if "error" not in other:
        counts["shapes"] = 1
        sides = [(high - low) * model.unit for low, high in zip(model.lower, model.upper, strict=True)]
        area = area_of(model.vertices, model.triangles) * model.unit**2
        problem = differs(sides, area, other["extent"], other["area"])
        counts["shape"] = not problem
        says += [problem] * bool(problem)
    plain = any("not defined" in note for note in model.notes)
    shown = in_fork(lambda: compared(path, blend, pair, plain))
    ended += shown is None
    if shown and "silhouette" in shown:
        counts["looks"] = 1
        same = shown["silhouette"] < SILHOUETTE and shown["color"] < COLOR
        counts["look"] = same
        says += [] if same else [f"silhouette {shown['silhouette']:.1%}, color {shown['color']:.1f}"]
    elif shown:
        says.append(shown["problem"])
    notes = f" ({'; '.join(model.notes)[:300]})" if says and model.notes else ""
    return {"counts": [*counts.values()], "ended": ended, "says": "; ".join(says) + notes}


def area_of(vertices: Floats, triangles: Any) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def differs(sides: Sequence[float], area: float, others: Sequence[float], other_area: float) -> str:
    """Return what differs of two shapes whatever their units and axes, or nothing."""
    ours, theirs = (np.sort(extent) / (max(extent) or 1.0) for extent in (np.array(sides), np.array(others)))
    apart = float(np.abs(ours - theirs).max())
    own, its = area / (max(sides) ** 2 or 1.0), other_area / (max(others) ** 2 or 1.0)
    if apart < SHAPE and abs(own - its) < AREA * max(own, its, 1e-12):
        return ""
    return f"sides differ by {apart:.4f}; area {own:.4f}, another reader's {its:.4f}"


def facts_of_other(path: Path, readers: str) -> dict[str, Any]:
    """Return what another reader says: `extent` and `area`, or `error`."""
    with suppress(subprocess.TimeoutExpired, ValueError, IndexError):
        call = [readers, str(READER), str(path)]
        answer = subprocess.run(call, capture_output=True, text=True, timeout=WAIT, check=False)
        told: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
        return told
    return {"error": "no answer"}


def in_fork(work: Any) -> dict[str, Any] | None:
    """Return what some work with Blender says, or None if its process ends without an answer."""
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(receiver)
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            signal.alarm(WAIT)
            try:
                told = work()
            except Exception as error:  # importers raise anything
                told = {"problem": f"Blender's import: {error!r}"[:200]}
            os.write(sender, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as answer:
        content = answer.read()
    os.waitpid(child, 0)
    return json.loads(content) if content else None


def compared(path: Path, blend: Path, pair: Path, plain: bool) -> dict[str, Any]:
    """Render what Blender imports, and our mesh; the share of the silhouettes, and the mean color, that differ.

    Args:
        plain: whether no material is defined, for which importers have colors of their own.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import_plainly(str(path.resolve()), path.suffix.lower())
    for shown in bpy.data.objects:
        if shown.type == "MESH" and (plain or not any(slot.material for slot in shown.material_slots)):
            shown.data.materials.clear()
            shown.data.materials.append(bpy.data.materials.get("none") or gray())
    theirs = picture(pair.with_suffix(".blender.png"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(blend)) as (available, appended):
        appended.meshes = available.meshes
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("ours", appended.meshes[0]))
    ours = picture(pair.with_suffix(".ours.png"))
    if theirs is None or ours is None:
        return {"problem": "Blender's own import shows no faces"}
    shown, own = theirs[..., 3] > 127, ours[..., 3] > 127
    apart = np.abs(theirs - ours)[shown & own][:, :3]
    return {
        "silhouette": float((shown != own).sum() / max((shown | own).sum(), 1)),
        "color": float(apart.mean()) if apart.size else 255.0,
    }


def gray() -> Any:
    """Return what our reader gives to surfaces without a material, and says so."""
    material = bpy.data.materials.new("none")
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.5, 0.5, 0.5, 1)
    material.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.8
    return material


def import_plainly(name: str, suffix: str) -> None:
    """Read a file as a user of Blender does."""
    match suffix:
        case ".glb" | ".gltf":
            bpy.ops.import_scene.gltf(filepath=name)
            # As the nodes say: the importer leaves the first animation on.
            for shown in [*bpy.data.objects, *bpy.data.shape_keys]:
                shown.animation_data_clear()
        case ".fbx":
            try:
                bpy.ops.import_scene.fbx(filepath=name)
            except RuntimeError:
                bpy.ops.wm.fbx_import(filepath=name)
        case ".dae":
            bpy.ops.wm.collada_import(filepath=name)
        case ".blend":
            bpy.ops.wm.open_mainfile(filepath=name, use_scripts=False, load_ui=False)
        case ".usd" | ".usda" | ".usdc" | ".usdz":
            bpy.ops.wm.usd_import(filepath=name)
        case _:
            getattr(bpy.ops.wm, f"{suffix[1:]}_import")(filepath=name)


def corners() -> Iterator[Floats]:
    """Yield the corners (N, 3) of all that a render shows."""
    graph = bpy.context.evaluated_depsgraph_get()
    for entry in graph.object_instances:
        shown = entry.object
        if entry.show_self and not shown.hide_render and shown.type in ("MESH", "CURVE", "SURFACE", "FONT", "META"):
            mesh = shown.to_mesh()
            if mesh is not None and len(mesh.polygons):
                used = sorted({index for face in mesh.polygons for index in face.vertices})
                matrix = np.array(entry.matrix_world)
                points = np.array([mesh.vertices[index].co for index in used])
                yield points @ matrix[:3, :3].T + matrix[:3, 3]


def picture(path: Path) -> Floats | None:
    """Render all that the scene shows, of any size, and return RGBA; None if there are no faces."""
    scene = bpy.context.scene
    for item in [item for item in scene.objects if item.type in ("LIGHT", "CAMERA", "LIGHT_PROBE", "VOLUME")]:
        bpy.data.objects.remove(item)
    parts = [*corners()]
    if not parts:
        return None
    points = np.concatenate(parts)
    low, high = points.min(axis=0), points.max(axis=0)
    half = float((high - low).max()) / 2
    view = Vector((0.55, -1.0, 0.6)).normalized()
    lens = bpy.data.cameras.new("camera")
    lens.type, lens.ortho_scale, lens.clip_start, lens.clip_end = "ORTHO", 3.4 * half, 0.01 * half, 20 * half
    scene.camera = _linked("camera", lens, -view)
    scene.camera.matrix_world.translation = Vector((low + high) / 2) + view * half * 6
    for direction, energy in (((-0.3, 1, -1), 2.5), ((1, 0.3, -0.6), 1.0)):
        sun = bpy.data.lights.new("sun", "SUN")
        sun.energy = energy
        _linked("sun", sun, Vector(direction))
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.5, 0.5, 0.5, 1)
    _set_rendering(scene, str(path))
    bpy.ops.render.render(write_still=True)
    return np.asarray(Image.open(path).convert("RGBA"), dtype=np.float64)


def _linked(name: str, data: Any, direction: Vector) -> Any:
    """Return a new object that looks along a direction."""
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.matrix_world = Matrix(direction.to_track_quat("-Z", "Y").to_matrix().to_4x4())
    return item


def _set_rendering(scene: Any, path: str) -> None:
    """Let Cycles write a small picture without a background, whatever a file has set."""
    render, cycles = scene.render, scene.cycles
    render.engine, render.threads_mode, render.threads = "CYCLES", "FIXED", 1
    cycles.device, cycles.samples, cycles.seed, cycles.max_bounces = "CPU", SAMPLES, 1, 6
    cycles.use_adaptive_sampling = cycles.use_denoising = False
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, HEIGHT, 100
    render.film_transparent = True
    render.use_compositing = render.use_sequencer = render.use_border = render.use_motion_blur = False
    scene.view_settings.view_transform, scene.view_settings.look = "Standard", "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0, 1
    scene.view_layers[0].material_override = None
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    render.filepath = path
