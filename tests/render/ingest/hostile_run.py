"""Reads models, and shows them as a worker does, in processes that a test traces.

`python -m tests.render.ingest.hostile_run read ROOT OUT` reads the model of each folder below a root, and writes how
each ended. `... show IN OUT` renders those that were read, and writes what came into Blender's data with each.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any


def read(root: Path) -> dict[str, Any]:
    """Read all models; name -> how it ended."""
    from diorama.scene_specs.asset_roots import searching
    from diorama.scene_specs.errors import AssetError
    from diorama.scene_specs.shapes.shapenet import load_model, loading

    ends: dict[str, Any] = {}
    for folder in sorted(root.iterdir()):
        file = min(folder.glob("model.*"))
        start = time.monotonic()
        try:
            with searching([root]):
                model = load_model(f"model:{folder.name}/{file.name}")
            ends[folder.name] = {"notes": model.notes, "blend": str(model.blend)}
        except AssetError as error:
            ends[folder.name] = {"error": str(error)}
        ends[folder.name]["seconds"] = time.monotonic() - start
    # With those of its children, once it has ended.
    loading._reader.close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"ends": ends, "peak": peak}


def show(ends: dict[str, Any]) -> dict[str, Any]:
    """Render what was read; name -> what a worker's Blender then holds besides meshes and materials."""
    import bpy

    held = {}
    for name, end in ends.items():
        if "blend" not in end:
            continue
        bpy.ops.wm.read_factory_settings(use_empty=True)
        before = set(bpy.data.user_map())
        with bpy.data.libraries.load(end["blend"]) as (available, appended):
            appended.meshes = available.meshes
        blocks = [block for block in set(bpy.data.user_map()) - before if not isinstance(block, bpy.types.Library)]
        held[name] = sorted(_describe(block) for block in blocks)
        scene = bpy.context.scene
        scene.collection.objects.link(bpy.data.objects.new("m", appended.meshes[0]))
        camera = bpy.data.objects.new("c", bpy.data.cameras.new("c"))
        camera.location = (0, 0, 5)
        scene.collection.objects.link(camera)
        scene.camera = camera
        scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
        scene.render.resolution_x, scene.render.resolution_y = 16, 12
        bpy.ops.render.render()
    return held


def _describe(block: Any) -> str:
    """Kind of a block, and what of it reads, runs or moves something."""
    trees: list[Any] = [tree for tree in (getattr(block, "node_tree", None), block) if hasattr(tree, "nodes")]
    nodes = [node for tree in trees for node in tree.nodes]
    faults = [
        *(["a path"] if getattr(block, "filepath_raw", "") else []),
        *(["no data"] if block.id_type == "IMAGE" and block.packed_file is None and block.source == "FILE" else []),
        *(["a library"] if block.library is not None else []),
        *(["animation"] if any(getattr(owner, "animation_data", None) for owner in (block, *trees)) else []),
        *(f"a {node.type}" for node in nodes if node.type in ("SCRIPT", "TEX_IES")),
        *("an object" for node in nodes if getattr(node, "object", None)),
        *(f"the property {key}" for key, _ in block.items() if key not in ("sha256", "emits")),
    ]
    return " with ".join([block.id_type, *faults])


if __name__ == "__main__":
    action, source, target = sys.argv[1:]
    result = read(Path(source)) if action == "read" else show(json.loads(Path(source).read_text())["ends"])
    Path(target).write_text(json.dumps(result))
