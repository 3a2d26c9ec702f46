"""Read a model's file with trimesh: triangles with their texture coordinates, materials, and the license."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.language.diagnostics import value_at
from diorama.scene_specs.shapes.shapenet.sources import Part, Sources, decode_text, open_texture, part_of

_MOST_CORNERS = 10_000
_MTLLIB = re.compile(r"^[^\S\n]*mtllib[ \t]+(.*)$", re.MULTILINE)
# Faces with an index that counts from the end, or is 0, are rewritten one by one.
_ODD_FACE = re.compile(r"^[^\S\n]*f\b.*[\s/](?:-|0+(?:[/\s]|$))", re.MULTILINE)
# A corner with more than three coordinates and a weight.
_COLORED = re.compile(r"^[^\S\n]*v(?:[^\S\n]+\S+){6}", re.MULTILINE)
_NORMAL = re.compile(r"(?<!\d)(-?\d+)/(-?\d*)/-?\d*")
# Where no corner has exactly one slash, a normal follows the last slash of each. Found without a group, because
# substituting groups takes seconds in a large model.
_ONE_SLASH = re.compile(r"(?:^|\s)[^\s/]+/[^\s/]+(?=\s|$)", re.MULTILINE)
_LAST_OF_TWO = re.compile(r"/-?\d*(?=\s|$)", re.MULTILINE)
_LAST_SLASH = re.compile(r"/(?=\s|$)", re.MULTILINE)
# Vertices and indices of a .glb file, each counted as often as it is shown, its nodes, and nodes inside each other.
_MOST_SHOWN, _MOST_NODES, _MOST_LEVELS = 50_000_000, 20_000, 500
# Required extensions that only change how surfaces look; others would be read as another geometry.
_PBR = "pbrMetallicRoughness"
_LOOKS = ("KHR_materials_", "KHR_lights_", "KHR_texture_transform")
# Characters of a file's text in a message.
_SHOWN = 100
_VERTEX_COLORS = "its vertex colors are not used"
_MOST_LICENSE = 1 << 20


def read_parts(sources: Sources) -> list[Part]:
    """Return the parts of a model's main file (.obj or .glb), in order. Raises AssetError naming the file."""
    path = sources.main
    try:
        data = sources.read(path)
        parts = list(_obj_parts(data, sources) if path.suffix.lower() == ".obj" else _glb_parts(data, sources))
    except AssetError:
        raise
    except OSError as error:
        raise AssetError(f"model {path}: can't be read: {error.strerror or error}") from error
    except IndexError as error:
        raise AssetError(f"model {path}: a face names a corner that does not exist: {error}") from error
    except Exception as error:  # the parsers of trimesh raise many types
        kind = path.suffix[1:].upper()
        raise AssetError(f"model {path}: can't be read as {kind}: {type(error).__name__}: {error}") from error
    if not sum(len(part.triangles) for part in parts):
        raise AssetError(f"model {path}: it has no faces")
    return parts


def _obj_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    from trimesh.exchange.obj import load_obj

    text = decode_text(data, sources, sources.main.name).replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    sources.libraries = tuple(dict.fromkeys(name.rstrip() for name in _MTLLIB.findall(text) if name.strip()))
    text = "mtllib materials\n" + _MTLLIB.sub("", _plain_faces(text, sources.main))
    loaded = load_obj(io.BytesIO(text.encode()), resolver=sources, group_material=True)  # type: ignore[arg-type]
    if "geometry" not in loaded:
        return
    if _COLORED.search(text):
        sources.note(_VERTEX_COLORS)
    if "\nusemtl" in text and not any(mesh["visual"] is not None for mesh in loaded["geometry"].values()):
        sources.note("its materials are not defined; it is gray")
    for mesh in loaded["geometry"].values():
        yield part_of(mesh["vertices"], mesh["faces"], mesh["visual"])


def _plain_faces(text: str, path: Path) -> str:
    """OBJ text whose faces have no normals, which are wrong most often, and indices counted from 1.

    Raises AssetError for an index without a vertex, or a face of too many corners.
    """
    lines = text.split("\n")
    numbers = [number for number, line in enumerate(lines) if line.lstrip()[:2] in ("f ", "f\t")]
    for number in numbers:
        if len(lines[number]) > _MOST_CORNERS and (corners := len(lines[number].split()) - 1) > _MOST_CORNERS:
            raise AssetError(f"{path}:{number + 1}: found {corners:,} corners of a face; allowed: {_MOST_CORNERS:,}")
    faces = _without_normals("\n".join(lines[number] for number in numbers))
    for number, line in zip(numbers, faces.split("\n"), strict=False):
        lines[number] = line
    if _ODD_FACE.search(faces):
        _count_from_one(lines, path)
    return "\n".join(lines)


def _without_normals(faces: str) -> str:
    if "/" not in faces:
        return faces
    shorter = _NORMAL.sub(r"\1/\2", faces) if _ONE_SLASH.search(faces) else _LAST_OF_TWO.sub("", faces)
    return _LAST_SLASH.sub("", shorter)


def _count_from_one(lines: list[str], path: Path) -> None:
    """Rewrite the lines of faces with indices counted from 1. Raises AssetError for an index without a vertex."""
    counts = {"v": 0, "vt": 0}
    for number, line in enumerate(lines):
        words = line.split()
        if not words:
            continue
        if words[0] in counts:
            counts[words[0]] += 1
        elif words[0] == "f":
            lines[number] = "f " + " ".join(_resolve_reference(word, counts, path, number + 1) for word in words[1:])


def _resolve_reference(word: str, counts: dict[str, int], path: Path, line: int) -> str:
    parts = []
    for text, key in zip(word.split("/"), ("v", "vt"), strict=False):
        if not text:
            continue
        try:
            index = int(text)
        except ValueError as error:
            raise AssetError(f"{path}:{line}: found {text!r} where a face names a vertex") from error
        plain = index if index > 0 else counts[key] + 1 + index
        if index == 0 or plain < 1:
            raise AssetError(f"{path}:{line}: a face names {key} {index}; there are {counts[key]} so far")
        parts.append(str(plain))
    return "/".join(parts)


def _glb_header(data: bytes) -> Any:
    """Return the JSON of a .glb file. Raises anything."""
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")].decode())


def _check_extensions(head: Any, sources: Sources) -> None:
    """Refuse what trimesh would read as another geometry, and note what it leaves out. Raises AssetError."""

    def others(key: str) -> list[str]:
        uris = (item.get("uri", "data:") for item in head.get(key, ()))
        return [uri[:_SHOWN] for uri in uris if not uri.startswith("data:")]

    for name in head.get("extensionsRequired", ()):
        if not name.startswith(_LOOKS):
            problem = f"it requires {name[:_SHOWN]}, which is not supported"
            raise AssetError(f"model {sources.main}: {problem}; export the file without it")
        sources.note(f"its extension {name[:_SHOWN]} is not used")
    # trimesh reads no textures of other files.
    mapped = [item for item in head.get("materials", ()) if "metallicRoughnessTexture" in item.get(_PBR, ())]
    sources.shine_maps = frozenset(str(item.get("name") or "") for item in mapped)
    advice = "is in another file; export everything into one .glb"
    for uri in others("buffers"):
        raise AssetError(f"model {sources.main}: its buffer {uri!r} {advice}")
    for uri in others("images"):
        sources.note(f"texture {uri!r} {advice}")
    for kind in sorted({image.get("mimeType", "image/png") for image in head.get("images", ())}):
        if kind not in ("image/png", "image/jpeg"):
            sources.note(f"textures of type {kind[:_SHOWN]} are not used; export them as PNG or JPEG")
    if any("COLOR_0" in p["attributes"] for mesh in head.get("meshes", ()) for p in mesh["primitives"]):
        sources.note(_VERTEX_COLORS)


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
    for what, count, most in (
        ("nodes", len(nodes), _MOST_NODES),
        ("levels of nodes", levels, _MOST_LEVELS),
        ("vertices and indices", shown, _MOST_SHOWN),
        ("elements in accessors", sum(counts), len(data)),
        ("bytes in buffer views", viewed, 4 * len(data)),
    ):
        if count > most:
            raise AssetError(f"model {path}: found {count:,} {what}; allowed: at most {most:,}")


def _lazy_textures(header: Any, views: Any, resolver: Any = None) -> list[Any]:
    """Return the images of a .glb file, not decoded; None for those of other formats."""
    from trimesh.exchange import gltf

    images: list[Any] = []
    for facts in header.get("images", ()):
        try:
            data = views[facts["bufferView"]] if "bufferView" in facts else gltf._uri_to_bytes(facts["uri"], resolver)
            images.append(open_texture(io.BytesIO(data)))
        except Exception:  # readers of image formats raise many types
            images.append(None)
    return images


def _glb_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    from trimesh.exchange import gltf
    from trimesh.exchange.load import load_scene

    if data[:8] == b"glTF\x01\0\0\0":
        raise AssetError(f"model {sources.main}: found glTF 1; export it as glTF 2")
    head = _glb_header(data)
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


def note_license(sources: Sources) -> None:
    """Note the license of a model that was read: a line of a file beside it, or what its .glb header says.

    The file is `<file>.license`, `LICENSE`, `LICENSE.txt` or `LICENSE.md`; its line with an SPDX identifier counts,
    else its first. It does not change the model's digest. Raises AssetError, also for a symbolic link, whose target may
    be anything.
    """
    text = next(_read_licenses(sources), None)
    if text:
        sources.note(f"license: {str(text).strip()[:_SHOWN]}")


def _read_licenses(sources: Sources) -> Iterator[object]:
    main = sources.main
    for path in map(main.with_name, (f"{main.name}.license", "LICENSE", "LICENSE.txt", "LICENSE.md")):
        if path.is_symlink():
            raise AssetError(f"license {path}: is a symbolic link; copy its target in its place")
        if path.is_file():
            sources.unhashed.append(path)
            try:
                lines = read_foreign(path, _MOST_LICENSE).decode("utf-8", "replace").strip().splitlines()
            except OSError as error:
                raise AssetError(f"license {path}: can't be read: {error.strerror or error}") from error
            yield next((line for line in lines if "SPDX-License-Identifier:" in line), lines[0] if lines else "")
        elif not path.exists():
            sources.missing.append(path)
    if main.suffix.lower() == ".glb":
        asset = value_at(_glb_header(sources.files[main]), ("asset",))
        yield value_at(asset, ("copyright",)) or value_at(asset, ("extras", "license"))
