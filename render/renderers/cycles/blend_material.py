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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import bpy

from diorama.render.renderers.cycles.node_tree import Tree
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.model.scene import SceneMaterial
from diorama.scene_specs.shapes.shapenet.sources import FORMATS, MOST_PIXELS, open_texture

# Cycles chooses a reader by the ending of a name first: that of `a.null?RES=16000x16000` reads no file.
_ENDINGS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".bmp": "BMP", ".gif": "GIF", ".tga": "TGA"}
# Of all images of a file together.
_ALL_PIXELS = 1 << 28


def build_blend(material: SceneMaterial, path: Path, roots: Sequence[Path]) -> Any:
    """The Blender material.

    Args:
        roots: resolved folders that its images may lie in.

    Raises:
        AssetError: for a missing file or group, a group without shader output, or one that reads other files.
    """
    assert material.group is not None
    if not path.is_file():
        raise AssetError(f"{path}: no such .blend file")
    before = set(bpy.data.user_map())
    try:
        with bpy.data.libraries.load(str(path), link=False) as (available, imported):
            groups = list(available.node_groups)
            imported.node_groups = [name for name in groups if name == material.group]
    except OSError as error:
        raise AssetError(f"{path}: Blender cannot read it: {error}") from error
    # Before anything is evaluated: a driver would run then.
    _remove_animation(set(bpy.data.user_map()) - before, path, roots)
    if not imported.node_groups:
        raise AssetError(f"{path}: no node group {material.group!r}; there are: {', '.join(sorted(groups)) or 'none'}")
    tree = Tree(f"{material.blend}:{material.group}")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = imported.node_groups[0]
    shaders = [socket for socket in node.outputs if socket.type == "SHADER"]
    if not shaders:
        raise AssetError(f"{path}: node group {material.group!r} has no shader output")
    if "Color" in node.inputs:
        tree.link(tree.color, node.inputs["Color"])
    return tree.finish(shaders[0])


def _remove_animation(loaded: Iterable[Any], path: Path, roots: Sequence[Path]) -> None:
    """Remove all animation from what was loaded. Raises AssetError if it reads files that it may not read."""
    pixels = 0
    for block in sorted(loaded, key=lambda block: str(block.name)):
        if block.library is not None:
            raise AssetError(f"{path}: {block.name!r} is linked from {block.library.filepath}; make it local")
        match block:
            case bpy.types.Library():
                continue
            case bpy.types.Image():
                pixels += _pixels_of(block, path, roots)
                if pixels > _ALL_PIXELS:
                    raise AssetError(f"{path}: its images have more than {_ALL_PIXELS:,} pixels; scale them down")
            case bpy.types.ShaderNodeTree() | bpy.types.Text() | bpy.types.Action():
                pass
            case _:
                kind = block.id_type.lower()
                raise AssetError(f"{path}: found the {kind} {block.name!r}; allowed: node groups, images and texts")
        block.animation_data_clear()
        for node in getattr(block, "nodes", ()):
            if getattr(node, "mode", "") == "EXTERNAL":
                raise AssetError(f"{path}: node {node.name!r} reads {node.filepath!r}; use an internal text instead")


def _pixels_of(image: Any, path: Path, roots: Sequence[Path]) -> int:
    """The number of pixels of an image, which is not decoded. Raises AssetError if the material may not read it."""
    problem = f"{path}: image {image.name!r}"
    if image.source == "GENERATED":
        pixels = image.generated_width * image.generated_height
        # Four bytes for each of a pixel's values.
        return _bounded(pixels, problem) * (4 if image.use_generated_float else 1)
    if image.source in ("FILE", "TILED") and image.packed_files:
        # Blender would read the file of this name if it found the packed data incomplete.
        image.filepath_raw = ""
        return sum(_file_pixels(io.BytesIO(file.packed_file.data), problem) for file in image.packed_files)
    real = Path(bpy.path.abspath(image.filepath)).resolve()
    inside = image.source == "FILE" and any(real.is_relative_to(root) for root in roots)
    if not inside or not real.is_file():  # resolved: a pipe or device is not a file
        problem += f" ({image.source.lower()}) reads {image.filepath!r}"
        raise AssetError(f"{problem}; pack it into the .blend file, or keep it as a file below an asset root")
    if real.suffix.lower() not in _ENDINGS:
        raise AssetError(f"{problem} reads {image.filepath!r}; expected a name that ends with {', '.join(_ENDINGS)}")
    with real.open("rb") as stream:
        return _file_pixels(stream, problem, _ENDINGS[real.suffix.lower()])


def _file_pixels(stream: IO[bytes], problem: str, kind: str = "") -> int:
    try:
        with open_texture(stream) as image:
            pixels, found = image.width * image.height, image.format
    except Exception as error:  # readers of image formats raise many types
        raise AssetError(f"{problem} can't be read as {', '.join(FORMATS)}: {error}") from error
    if kind not in ("", found):
        raise AssetError(f"{problem} is a {found} file with the ending of a {kind} file; rename it")
    return _bounded(pixels, problem)


def _bounded(pixels: int, problem: str) -> int:
    if pixels > MOST_PIXELS:
        raise AssetError(f"{problem} has {pixels:,} pixels; allowed: at most {MOST_PIXELS:,}")
    return pixels
