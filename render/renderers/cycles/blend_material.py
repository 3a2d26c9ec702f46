"""`blend`: a shader node group from a user's .blend file.

    parameter   type          default           meaning
    blend       path          (required)        .blend file, relative to an asset root
    group       name          (required)        shader node group of the file with at least one shader output
    color       linear RGB    (from the object) connected to the group's input `Color`, if it has one

Only the node group is read from the file, its first shader output becomes the surface, and scripts stay disabled. Its
images are packed into the file or lie below an asset root, as the compiler has checked for the file itself; they have
the formats and at most the pixels of models' textures. Drivers and other animation are removed. Light may pass through
the material, but it gets no extra samples.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import bpy
from PIL import Image

from diorama.render.renderers.cycles.node_tree import Tree
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.model.scene import SceneMaterial

# Pillow reads dozens, PostScript by starting Ghostscript.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA")
# Pixels of an image, 8192 x 8192: a PNG of 200 kB may have 200 MB of pixels.
_MOST_PIXELS = 1 << 26
# Cycles chooses a reader by the ending of a name first: that of `a.null?RES=16000x16000` reads no file.
_ENDINGS = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg"), "BMP": (".bmp",), "GIF": (".gif",), "TGA": (".tga",)}
# Of all images of a file together.
_ALL_PIXELS = 1 << 28


def build_blend(material: SceneMaterial, path: Path, roots: Sequence[Path]) -> Any:
    """Return the Blender material.

    Args:
        roots: resolved folders that its images may lie in.

    Raises:
        AssetError: for a missing file or group, a group without shader output, or one that reads other files.
    """
    assert material.group is not None
    if not path.is_file():
        raise AssetError(f"{path}: no such .blend file")
    loaded, blocks, groups = append_blocks(path, "node_groups", material.group)
    # Before anything is evaluated: a driver would run then.
    _remove_animation(blocks, path, roots)
    if not loaded:
        raise AssetError(f"{path}: no node group {material.group!r}; there are: {', '.join(sorted(groups)) or 'none'}")
    tree = Tree(f"{material.blend}:{material.group}")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = loaded[0]
    shaders = [socket for socket in node.outputs if socket.type == "SHADER"]
    if not shaders:
        raise AssetError(f"{path}: node group {material.group!r} has no shader output")
    if "Color" in node.inputs:
        tree.link(tree.color, node.inputs["Color"])
    return tree.finish(shaders[0])


def append_blocks(path: Path, kind: str, only: str | None = None) -> tuple[list[Any], set[Any], list[str]]:
    """Append data-blocks from a .blend file.

    Args:
        kind: such as "meshes".
        only: name of the one to append; default all.

    Returns:
        The data-blocks, all that came with them, and the names of all of the kind in the file.

    Raises:
        AssetError: Blender can't read the file.
    """
    before = set(bpy.data.user_map())
    try:
        with bpy.data.libraries.load(str(path), link=False) as (available, loaded):
            names = list(getattr(available, kind))
            setattr(loaded, kind, [name for name in names if only in (None, name)])
    except OSError as error:
        raise AssetError(f"{path}: Blender cannot read it: {error}") from error
    return getattr(loaded, kind), set(bpy.data.user_map()) - before, names


def _remove_animation(loaded: Iterable[Any], path: Path, roots: Sequence[Path]) -> None:
    """Remove all animation from what was loaded. Raises AssetError if it reads files that it may not read."""
    total = 0
    for block in sorted(loaded, key=lambda block: str(block.name)):
        if block.library is not None:
            raise AssetError(f"{path}: {block.name!r} is linked from {block.library.filepath}; make it local")
        match block:
            case bpy.types.Library():
                continue
            case bpy.types.Image():
                total = sum_pixels(total, _pixels_of(block, path, roots), f"{path}: image {block.name!r}")
            case bpy.types.ShaderNodeTree() | bpy.types.Text() | bpy.types.Action():
                pass
            case _:
                kind = block.id_type.lower()
                raise AssetError(f"{path}: found the {kind} {block.name!r}; allowed: node groups, images and texts")
        block.animation_data_clear()
        for node in getattr(block, "nodes", ()):
            if getattr(node, "mode", "") == "EXTERNAL":
                raise AssetError(f"{path}: node {node.name!r} reads {node.filepath!r}; use an internal text instead")


def sum_pixels(total: int, pixels: int, problem: str) -> int:
    """Add an image's pixels to those of others. Raises AssetError for too many."""
    if pixels > _MOST_PIXELS or total + pixels > _ALL_PIXELS:
        allowed = f"{_MOST_PIXELS:,}, and {_ALL_PIXELS:,} in all images of the file"
        raise AssetError(f"{problem} has {pixels:,} pixels; allowed: {allowed}")
    return total + pixels


def generated_pixels(image: Any) -> int:
    """Return the number of pixels of an image that Blender generates, in units of four bytes."""
    return int(image.generated_width * image.generated_height * (4 if image.use_generated_float else 1))


def _pixels_of(image: Any, path: Path, roots: Sequence[Path]) -> int:
    """Return an image's number of pixels without decoding it. Raises AssetError if the material may not read it."""
    problem = f"{path}: image {image.name!r}"
    if image.source == "GENERATED":
        return generated_pixels(image)
    if image.source in ("FILE", "TILED") and image.packed_files:
        # Blender would read the file of this name if it found the packed data incomplete.
        image.filepath_raw = ""
        return packed_pixels(image, problem)
    real = Path(bpy.path.abspath(image.filepath)).resolve()
    inside = image.source == "FILE" and any(real.is_relative_to(root) for root in roots)
    if not inside or not real.is_file():  # resolved: a pipe or device is not a file
        problem += f" ({image.source.lower()}) reads {image.filepath!r}"
        raise AssetError(f"{problem}; pack it into the .blend file, or keep it as a file below an asset root")
    with real.open("rb") as stream:
        return _size_in(stream, [kind for kind in FORMATS if real.suffix.lower() in _ENDINGS[kind]], problem)


def packed_pixels(image: Any, problem: str) -> int:
    """Return the pixels of all packed files of an image, without decoding them. Raises AssetError for other FORMATS."""
    return sum(_size_in(io.BytesIO(file.packed_file.data), FORMATS, problem) for file in image.packed_files)


def _size_in(stream: IO[bytes], formats: Sequence[str], problem: str) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(stream, formats=tuple(formats)) as image:
                return int(image.width * image.height)
    except Exception as error:  # readers of image formats raise many types
        found = f"can't be read as {', '.join(FORMATS)} with the ending of that format"
        raise AssetError(f"{problem} {found}: {error}") from error


def _inputs_of(group: Any, output: str) -> set[str]:
    """Names of the inputs of a group from which links lead to an output, through groups inside it, too."""
    names, seen = set(), set()
    ends = [node for node in group.nodes if node.bl_idname == "NodeGroupOutput" and node.is_active_output]
    waiting = [socket for node in ends for socket in node.inputs if socket.identifier == output]
    while waiting:
        seen.add(socket := waiting.pop())
        for link in filter(lambda link: not link.is_muted, socket.links):
            node, source = link.from_node, link.from_socket
            if node.bl_idname == "NodeGroupInput":
                names.add(source.name)
            inner = None if node.mute else getattr(node, "node_tree", None)
            known = None if inner is None else _inputs_of(inner, source.identifier)
            waiting += [
                before for before in node.inputs if before not in seen and (known is None or before.name in known)
            ]
    return names


def _write_groups(path: str) -> None:
    """Write the shader groups of a .blend file -> whether their color leads to their first shader output, as JSON."""
    with bpy.data.libraries.load(path, link=False) as (available, imported):
        imported.node_groups = list(available.node_groups)
    linked = {}
    for group in imported.node_groups:
        sockets = [
            item for item in group.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "OUTPUT"
        ]
        for end in [end for end in sockets if end.socket_type == "NodeSocketShader"][:1]:
            linked[group.name] = "Color" in _inputs_of(group, end.identifier)
    sys.stdout.write(f"\n{json.dumps(linked)}\n")


if __name__ == "__main__":
    _write_groups(sys.argv[1])
