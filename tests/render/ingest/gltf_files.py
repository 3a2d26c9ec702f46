"""Writes glTF files: a header, and a buffer for its accessors, views and images."""

from __future__ import annotations

import base64
import io
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[Any]
RED, GREEN, BLUE, YELLOW, WHITE, BLACK = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1), (0, 0, 0)
_COMPONENTS = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
_TYPES = {(): "SCALAR", (2,): "VEC2", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))


def floats(values: Any) -> Array:
    """Numbers of 32 bits."""
    return np.array(values, dtype=np.float32)


def shorts(values: Any) -> Array:
    """Integers of 16 bits."""
    return np.array(values, dtype=np.uint16)


def picture(*rows: tuple[tuple[int, ...] | int, ...], size: int = 64, kind: str = "PNG") -> bytes:
    """An image of rows of colored squares, whose numbers are 0 to 255."""
    pixels = np.array(rows, dtype=np.uint8).repeat(size // len(rows), axis=0).repeat(size // len(rows[0]), axis=1)
    stream = io.BytesIO()
    options: dict[str, dict[str, Any]] = {"JPEG": {"quality": 95, "subsampling": 0}, "WEBP": {"lossless": True}}
    Image.fromarray(pixels).save(stream, kind, **options.get(kind, {}))
    return stream.getvalue()


def quadrants(kind: str = "PNG", alpha: tuple[int, ...] = ()) -> bytes:
    """Red and green above blue and yellow.

    Args:
        alpha: of each of the four, in this order.
    """
    colors = [tuple(255 * channel for channel in color) for color in (RED, GREEN, BLUE, YELLOW)]
    cells = [(*color, *alpha[k : k + 1]) for k, color in enumerate(colors)]
    return picture((cells[0], cells[1]), (cells[2], cells[3]), kind=kind)


def plain(*color: int) -> bytes:
    """An image of one color."""
    return picture((color,), size=8)


def box(half: tuple[float, ...] = (1, 1, 1), center: tuple[float, ...] = (0, 0, 0)) -> dict[str, Any]:
    """A primitive of 12 triangles, counter-clockwise seen from outside.

    The centers of its triangles have the coordinates (2/3, 1/3) and (1/3, 2/3), by turns.
    """
    corners = []
    for axis in range(3):
        for sign in (-1, 1):
            across = np.roll(np.eye(3), sign, axis=0)[axis]
            along = np.cross(sign * np.eye(3)[axis], across)
            corners += [sign * np.eye(3)[axis] + across * i + along * j for i, j in 2 * np.array(SQUARE) - 1]
    indices = np.array([4 * face + k for face in range(6) for k in (0, 1, 2, 0, 2, 3)], dtype=np.uint16)
    return {
        "POSITION": np.array(corners, dtype=np.float32) * floats(half) + floats(center),
        "TEXCOORD_0": np.array(SQUARE * 6, dtype=np.float32),
        "indices": indices,
    }


def sphere(columns: int = 8, rows: int = 4) -> dict[str, Any]:
    """A primitive of 2 * columns * (rows - 1) triangles and as many without area as there are columns, twice."""
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    turn, down = 2 * np.pi * u, np.pi * v
    points = np.stack([np.sin(down) * np.sin(turn), np.cos(down), np.sin(down) * np.cos(turn)], axis=-1)
    number = np.arange(u.size).reshape(u.shape)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return {
        "POSITION": floats(points.reshape(-1, 3)),
        "TEXCOORD_0": floats(np.stack([u, v], axis=-1).reshape(-1, 2)),
        "indices": np.stack([a, b, c, a, c, d], axis=1).ravel().astype(np.uint16),
    }


class Gltf:
    """A file under construction; methods that add something return it, for chains.

    Attributes:
        head: the header.
        body: the buffer.
    """

    def __init__(self, **head: Any) -> None:
        self.head: dict[str, Any] = {"asset": {"version": "2.0"}, "scene": 0, **head}
        self.body = b""

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Append to a list of the header; the index."""
        items = self.head.setdefault(kind, [])
        items.append(item)
        return len(items) - 1

    def view(self, data: bytes, **more: Any) -> int:
        """Append bytes; the index of their view."""
        self.body += b"\0" * (-len(self.body) % 4)
        at, self.body = len(self.body), self.body + data
        return self.add("bufferViews", {"buffer": 0, "byteOffset": at, "byteLength": len(data), **more})

    def accessor(self, values: Array, **more: Any) -> int:
        """Append numbers, one element a row."""
        numbers = values.reshape(-1, *values.shape[1:])
        item = {"componentType": _COMPONENTS[str(values.dtype)], "type": _TYPES[values.shape[1:]], "count": len(values)}
        if values.ndim == 2:
            item |= {"min": numbers.min(axis=0).tolist(), "max": numbers.max(axis=0).tolist()}
        if values.dtype.kind in "iu" and values.ndim > 1:
            item["normalized"] = True
        # Rows begin at multiples of four bytes.
        row = values.itemsize * int(np.prod(values.shape[1:]))
        if values.ndim > 1 and row % 4:
            padded = np.zeros((len(values), row + -row % 4), dtype=np.uint8)
            padded[:, :row] = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), row)
            view = self.view(padded.tobytes(), byteStride=padded.shape[1])
        else:
            view = self.view(values.tobytes())
        return self.add("accessors", {"bufferView": view, **item, **more})

    def texture(self, data: bytes, mime: str = "image/png", **sampler: int) -> dict[str, Any]:
        """Append an image; what a material says to name its texture."""
        image = self.add("images", {"bufferView": self.view(data), "mimeType": mime})
        more = {"sampler": self.add("samplers", sampler)} if sampler else {}
        return {"index": self.add("textures", {"source": image, **more})}

    def material(self, image: bytes = b"", texture: dict[str, Any] | None = None, **more: Any) -> Gltf:
        """Append a material; keys of its `pbrMetallicRoughness` may stand beside its own.

        Args:
            image: of its base color.
            texture: keys beside the index of that.
        """
        keys = ("baseColorFactor", "metallicFactor", "roughnessFactor", "metallicRoughnessTexture", "baseColorTexture")
        surface = {"metallicFactor": 0, **{key: more.pop(key) for key in keys if key in more}}
        if image:
            surface["baseColorTexture"] = {**self.texture(image), **(texture or {})}
        self.add("materials", {"pbrMetallicRoughness": surface, **more})
        return self

    def mesh(self, *primitives: dict[str, Any], node: dict[str, Any] | None = None, **more: Any) -> Gltf:
        """Append a mesh and, unless its keys are None, a node of the first scene that shows it.

        Args:
            primitives: arrays become accessors; names in capitals are attributes.
            node: keys of the node.
        """
        items = []
        for primitive in primitives:
            read = {key: self.accessor(v) if isinstance(v, np.ndarray) else v for key, v in primitive.items()}
            attributes = {key: index for key, index in read.items() if key[0].isupper()}
            rest = {key: index for key, index in read.items() if not key[0].isupper()}
            items.append({"attributes": attributes, **rest})
        index = self.add("meshes", {"primitives": items, **more})
        self.add("nodes", {"mesh": index, **(node or {})})
        return self.scene(*range(len(self.head["nodes"])))

    def scene(self, *nodes: int, add: bool = False) -> Gltf:
        """Set the roots of the first scene, or of one more."""
        scenes = self.head.setdefault("scenes", [])
        if add or not scenes:
            scenes.append({})
        scenes[-1 if add else 0]["nodes"] = list(nodes)
        return self

    def extensions(self, *names: str, required: bool = False) -> Gltf:
        """Say which extensions are used."""
        self.head["extensionsUsed"] = [*self.head.get("extensionsUsed", []), *names]
        if required:
            self.head["extensionsRequired"] = [*names]
        return self

    def glb(self) -> bytes:
        """The file in one piece."""
        body = self.body + b"\0" * (-len(self.body) % 4)
        text = json.dumps({**self.head, "buffers": [{"byteLength": len(body)}]}).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def text(self, uri: str = "") -> bytes:
        """The header as a .gltf, with its buffer at a URI, or inside."""
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(self.body).decode()
        return json.dumps({**self.head, "buffers": [{"byteLength": len(self.body), "uri": uri}]}).encode()
