"""The parts of .glb files, read by trimesh after their header was checked; no other file is read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from render.geometry.shapenet.sources import VERTEX_COLORS, Part, Sources, open_texture, part_of
from render.model.errors import AssetError

# Vertices and indices of a .glb file, each counted as often as it is shown, its nodes, and nodes inside each other.
_MOST_SHOWN, _MOST_NODES, _MOST_LEVELS = 50_000_000, 20_000, 500
# Required extensions that only change how surfaces look; others, which would be read as another geometry.
_LOOKS = ("KHR_materials_", "KHR_lights_", "KHR_texture_transform")
_UNREAD = {
    "KHR_draco_mesh_compression": "geometry compressed with Draco",
    "EXT_meshopt_compression": "geometry compressed with meshopt",
    "KHR_mesh_quantization": "quantized geometry",
    "KHR_texture_basisu": "KTX2 textures",
    "EXT_texture_webp": "WebP textures",
}
# Characters of a file's text in a message.
_SHOWN = 100


def header_of(data: bytes) -> Any:
    """The JSON of a .glb file. Raises anything."""
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")].decode())


def _check_extensions(head: Any, sources: Sources) -> None:
    """Refuse what trimesh would read as another geometry, and note what it leaves out. Raises AssetError."""

    def others(key: str) -> list[str]:
        uris = (item.get("uri", "data:") for item in head.get(key, ()))
        return [uri[:_SHOWN] for uri in uris if not uri.startswith("data:")]

    for name in head.get("extensionsRequired", ()):
        if not name.startswith(_LOOKS):
            found = f"found {_UNREAD.get(name, 'an unknown extension')} ({name[:_SHOWN]})"
            raise AssetError(f"model {sources.main}: {found}; export the file without it")
        sources.note(f"its extension {name[:_SHOWN]} is not used")
    advice = "is in another file; export everything into one .glb"
    for uri in others("buffers"):
        raise AssetError(f"model {sources.main}: its buffer {uri!r} {advice}")
    for uri in others("images"):
        sources.note(f"texture {uri!r} {advice}")
    for kind in sorted({image.get("mimeType", "image/png") for image in head.get("images", ())}):
        if kind not in ("image/png", "image/jpeg"):
            sources.note(f"textures of type {kind[:_SHOWN]} are not used; export them as PNG or JPEG")
    if any("COLOR_0" in p["attributes"] for mesh in head.get("meshes", ()) for p in mesh["primitives"]):
        sources.note(VERTEX_COLORS)


def _check_glb(head: Any, data: bytes, path: Path) -> None:
    """Refuse a few bytes that name more than fits into memory: the same data again and again, or data without bytes.

    Raises AssetError; for a damaged header anything.
    """
    counts = [accessor["count"] for accessor in head.get("accessors", ())]
    meshes = [
        sum(
            counts[p["attributes"]["POSITION"]] + (counts[p["indices"]] if "indices" in p else 0)
            for p in m["primitives"]
        )
        for m in head.get("meshes", ())
    ]
    nodes = head.get("nodes", ())
    shown = sum(meshes) + sum(meshes[node["mesh"]] for node in nodes if "mesh" in node)
    levels, level = 0, set(range(min(len(nodes), _MOST_NODES)))
    while level and levels <= _MOST_LEVELS:  # a circle, which glTF forbids, has no end
        levels, level = levels + 1, {child for k in level for child in nodes[k].get("children", ())}
    viewed = sum(view["byteLength"] for view in head.get("bufferViews", ()))
    for what, found, most in (
        ("nodes", len(nodes), _MOST_NODES),
        ("levels of nodes", levels, _MOST_LEVELS),
        ("vertices and indices", shown, _MOST_SHOWN),
        ("elements in accessors", sum(counts), len(data)),
        ("bytes in buffer views", viewed, 4 * len(data)),
    ):
        if found > most:
            raise AssetError(f"model {path}: found {found:,} {what}; allowed: at most {most:,}")


def _lazy_textures(header: Any, views: Any, resolver: Any = None) -> list[Any]:
    """The images of a .glb file, not decoded; None for those of other formats."""
    from trimesh.exchange import gltf

    images: list[Any] = []
    for facts in header.get("images", ()):
        try:
            data = views[facts["bufferView"]] if "bufferView" in facts else gltf._uri_to_bytes(facts["uri"], resolver)
            images.append(open_texture(io.BytesIO(data)))
        except Exception:  # readers of image formats raise many types
            images.append(None)
    return images


def glb_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    """The parts of a .glb file, one per node and material. Raises AssetError, and what trimesh raises."""
    from trimesh.exchange import gltf
    from trimesh.exchange.load import load_scene

    head = header_of(data)
    _check_glb(head, data, sources.main)
    _check_extensions(head, sources)
    # trimesh offers no choice of image formats. The function stays replaced, so that threads need no lock; a version of
    # trimesh without it fails in tests/hostile.
    gltf._parse_textures = _lazy_textures
    scene = load_scene(io.BytesIO(data), file_type="glb", resolver=None, process=False)
    for node in sorted(scene.graph.nodes_geometry):
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not hasattr(mesh, "faces"):
            continue
        vertices = np.asarray(mesh.vertices) @ matrix[:3, :3].T + matrix[:3, 3]
        yield part_of(vertices, np.asarray(mesh.faces), mesh.visual)
