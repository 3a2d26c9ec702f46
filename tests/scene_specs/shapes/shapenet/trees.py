"""Trees in ShapeNet's layout with the diagnostics that models of the wild have, each built by its function below.

The model is always the same: a red box, 2 wide (x), 1 high (y), 0.5 deep (z), with a blue box at its front (-z), below
its middle. So whatever is wrong with a file, the right picture is known.
"""

from __future__ import annotations

import importlib
import io
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

CHAIR = "03001627"
ID = "a" * 32

MTL = "newmtl red\nKd 0.8 0.02 0.02\nNs 50\n\nnewmtl blue\nKd 0.02 0.02 0.8\n"
FACES = ((1, 4, 3, 2), (5, 6, 7, 8), (1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (4, 1, 5, 8))


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> list[tuple[float, float, float]]:
    """Corners of a box, in the order that FACES takes them in, outwards."""
    (a, b, c), (d, e, f) = low, high
    return [(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)]


RED = box((-1.0, -0.5, -0.25), (1.0, 0.5, 0.25))
BLUE = box((-0.2, -0.4, -0.45), (0.2, -0.1, -0.25))


@dataclass
class Tree:
    """A root and the folder of its one model. obj, mtl: texts that are written; None leaves the file out.

    name, mtl_name: of the files. layout: "v1", "v2" or "glb".
    """

    root: Path
    obj: str | bytes
    mtl: str | bytes | None = MTL
    layout: str = "v2"
    category: str = CHAIR
    identity: str = ID

    @property
    def folder(self) -> Path:
        base = self.root / self.category / self.identity
        return base / "models" if self.layout == "v2" else base

    @property
    def main(self) -> Path:
        return self.folder / ("model_normalized.obj" if self.layout == "v2" else "model.obj")

    def write(self) -> Tree:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.main.write_bytes(self.obj.encode() if isinstance(self.obj, str) else self.obj)
        if self.mtl is not None:
            target = self.main.with_suffix(".mtl")
            target.write_bytes(self.mtl.encode() if isinstance(self.mtl, str) else self.mtl)
        return self

    @property
    def shape(self) -> str:
        return f"shapenet:{self.category}/{self.identity}"


def lines_of(corners: list[tuple[float, float, float]], scale: float = 1.0, shift: float = 0.0) -> str:
    return "".join(f"v {x * scale + shift:.9g} {y * scale:.9g} {z * scale:.9g}\n" for x, y, z in corners)


def faces_of(start: int, faces: tuple[tuple[int, ...], ...] = FACES, form: str = "{}") -> str:
    return "".join("f " + " ".join(form.format(k + start) for k in face) + "\n" for face in faces)


def obj(scale: float = 1.0, shift: float = 0.0, library: str = "model_normalized.mtl", form: str = "{}") -> str:
    """The model as it should be."""
    head = f"mtllib {library}\n" + lines_of(RED, scale, shift) + lines_of(BLUE, scale, shift)
    return head + "usemtl red\n" + faces_of(0, form=form) + "usemtl blue\n" + faces_of(8, form=form)


def png(color: tuple[int, int, int] = (0, 200, 0), kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((4, 4, 3), color, dtype=np.uint8)).save(stream, format=kind)
    return stream.getvalue()


def textured(name: str, library: str = "model_normalized.mtl") -> tuple[str, str]:
    """The model with a texture on its red box: obj and mtl."""
    coordinates = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    faces = "".join("f " + " ".join(f"{k}/{n}" for n, k in enumerate(face, 1)) + "\n" for face in FACES)
    head = f"mtllib {library}\n" + lines_of(RED) + lines_of(BLUE) + coordinates
    text = head + "usemtl red\n" + faces + "usemtl blue\n" + faces_of(8, form="{}/1")
    return text, MTL.replace("Ns 50", f"Ns 50\nmap_Kd {name}")


@dataclass(frozen=True)
class Case:
    """expect: "right" (the picture of the whole model), "gray" (its shape, its colors lost), "green" (textured), or a
    text that the error must have. note: what must be among the model's notes.
    """

    name: str
    build: Callable[[Path], Tree]
    expect: str = "right"
    note: str = ""


def _textured_tree(root: Path, name: str, files: dict[str, bytes], outside: dict[str, bytes] | None = None) -> Tree:
    text, mtl = textured(name.format(root=root))
    tree = Tree(root, text, mtl).write()
    for place, data in files.items():
        path = tree.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for place, data in (outside or {}).items():
        path = root.parent / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tree


def _flipped(root: Path) -> Tree:
    text = obj()
    turned = [" ".join(["f", *reversed(line.split()[1:])]) if line[:2] == "f " else line for line in text.split("\n")]
    return Tree(root, "\n".join(turned)).write()


def _mixed_winding(root: Path) -> Tree:
    lines = obj().split("\n")
    odd = [" ".join(["f", *reversed(s.split()[1:])]) if s[:2] == "f " and k % 2 else s for k, s in enumerate(lines)]
    return Tree(root, "\n".join(odd)).write()


def _both_sides(root: Path) -> Tree:
    """Every triangle twice, once each way round, as exporters of two-sided materials write them."""
    halves = tuple(half for f in FACES for half in ((f[0], f[1], f[2]), (f[0], f[2], f[3])))
    both = halves + tuple(half[::-1] for half in halves)
    head = "mtllib model_normalized.mtl\n" + lines_of(RED) + lines_of(BLUE)
    return Tree(root, head + "usemtl red\n" + faces_of(0, both) + "usemtl blue\n" + faces_of(8, both)).write()


def _negative(root: Path) -> Tree:
    text = "mtllib model_normalized.mtl\n" + lines_of(RED) + "usemtl red\n"
    text += "".join("f " + " ".join(str(k - 9) for k in face) + "\n" for face in FACES)
    text += lines_of(BLUE) + "usemtl blue\n"
    return Tree(root, text + "".join("f " + " ".join(str(k - 9) for k in face) + "\n" for face in FACES)).write()


def _ngons(root: Path) -> Tree:
    """The red box's faces given a fifth corner in the middle of an edge."""
    middles = [tuple((a + b) / 2 for a, b in zip(RED[f[0] - 1], RED[f[1] - 1], strict=True)) for f in FACES]
    corners = lines_of([(m[0], m[1], m[2]) for m in middles])
    head = "mtllib model_normalized.mtl\n" + lines_of(RED) + lines_of(BLUE) + corners + "usemtl red\n"
    faces = "".join(f"f {f[0]} {17 + n} {f[1]} {f[2]} {f[3]}\n" for n, f in enumerate(FACES))
    return Tree(root, head + faces + "usemtl blue\n" + faces_of(8)).write()


def _glb(root: Path, inside: bool) -> Tree:
    trimesh: Any = importlib.import_module("trimesh")
    scene = trimesh.Scene()
    for corners, color in ((RED, (204, 5, 5, 255)), (BLUE, (5, 5, 204, 255))):
        faces = [triangle for f in FACES for triangle in ((f[0], f[1], f[2]), (f[0], f[2], f[3]))]
        mesh = trimesh.Trimesh(corners, np.array(faces) - 1, process=False)
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=color, metallicFactor=0.0, roughnessFactor=0.776)
        mesh.visual = trimesh.visual.TextureVisuals(material=material)
        scene.add_geometry(mesh)
    data = scene.export(file_type="glb")
    folder = root / CHAIR / ID if inside else root / CHAIR
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ("model.glb" if inside else f"{ID}.glb")).write_bytes(data)
    return Tree(root, "", layout="glb")


def _linked_out(root: Path) -> Tree:
    tree = Tree(root, obj(), None).write()
    secret = root.parent / "elsewhere.obj"
    tree.main.replace(secret)
    tree.main.symlink_to(secret)
    return tree


def _plain(**fields: object) -> Callable[[Path], Tree]:
    return lambda root: Tree(root, **{"obj": obj(), **fields}).write()  # type: ignore[arg-type]


def _with_lines(extra: str, **fields: object) -> Callable[[Path], Tree]:
    return _plain(obj=obj() + extra, **fields)


def _texture(name: str, files: dict[str, bytes], outside: dict[str, bytes] | None = None) -> Callable[[Path], Tree]:
    return lambda root: _textured_tree(root, name, files, outside)


CASES = [
    Case("as it should be", _plain()),
    Case("version 1", _plain(layout="v1", obj=obj(library="model.mtl"))),
    Case("glb in its folder", lambda root: _glb(root, True)),
    Case("glb beside others", lambda root: _glb(root, False)),
    Case("a user's own category", _plain(category="my_things", identity="thing-1.b")),
    Case("missing mtl", _plain(mtl=None), "grey", "is not there"),
    Case("mtl under another name", _plain(obj=obj(library="gone.mtl")), note="was taken instead"),
    Case("no mtllib line", _plain(obj=obj().split("\n", 1)[1], mtl=None), "grey", "not defined"),
    Case("a material that is not defined", _plain(mtl="newmtl red\nKd 0.8 0.02 0.02\n"), "half"),
    Case("texture beside it", _texture("skin.png", {"skin.png": png()}), "green"),
    Case("texture in ../images", _texture("../images/skin.jpg", {"../images/skin.jpg": png(kind="JPEG")}), "green"),
    Case("texture with options", _texture("-s 1 1 1 -clamp on skin.png", {"skin.png": png()}), "green"),
    Case("texture with backslashes", _texture(r"..\images\skin.png", {"../images/skin.png": png()}), "green"),
    Case("texture in a format of its own", _texture("skin.bmp", {"skin.bmp": png(kind="BMP")}), "green"),
    Case("texture name with spaces", _texture("my skin 1.png", {"my skin 1.png": png()}), "green"),
    Case("missing texture", _texture("gone.png", {}), note="is not there"),
    Case("texture that is no picture", _texture("skin.png", {"skin.png": b"\x89PNG nonsense"}), note="can't be read"),
    Case("absolute texture path inside", _texture("{root}/pic.png", {"../../../pic.png": png()}), "green", "found as"),
    Case(
        "absolute path of another machine",
        _texture(r"C:\models\images\skin.png", {"../images/skin.png": png()}),
        "green",
        "was found as",
    ),
    Case("absolute path outside", _texture("{root}/../out.png", {}, {"out.png": png()}), note="is not there"),
    Case("texture above the root", _texture("../../../../out.png", {}, {"out.png": png()}), note="is not there"),
    Case("negative indices", _negative),
    Case("polygons of five corners", _ngons),
    Case("faces without area", _with_lines("f 1 1 2\nf 1 2 2\n"), note="without area"),
    Case("doubled faces", _with_lines("usemtl red\n" + faces_of(0)), note="doubled"),
    Case("doubled faces, turned over", _both_sides, note="doubled"),
    Case("inside out", _flipped, note="turned to look outwards"),
    Case("windings mixed", _mixed_winding, note="turned to look outwards"),
    Case("inverted normals", _plain(obj=obj(form="{0}//1") + "vn 0 0 1\n")),
    Case("normals that are no numbers", _plain(obj="vn nan nan nan\n" + obj(form="{0}//1"))),
    Case("huge", _plain(obj=obj(scale=1e7))),
    Case("tiny", _plain(obj=obj(scale=1e-7))),
    Case("far from the origin", _plain(obj=obj(shift=500.0))),
    Case("corners that nothing uses", _plain(obj=obj().replace("usemtl red", "v 90 90 90\nusemtl red"))),
    Case("a corner that is no number", _with_lines("v nan 0 0\nf 1 2 17\n"), note="no numbers"),
    Case("DOS line ends", _plain(obj=obj().replace("\n", "\r\n"), mtl=MTL.replace("\n", "\r\n"))),
    Case("lines continued", _plain(obj=obj().replace("usemtl red\nf 1 4 3 2", "usemtl red\nf 1 4 \\\n3 2"))),
    Case("not UTF-8", _plain(obj=b"# caf\xe9\n" + obj().encode()), note="not UTF-8"),
    Case(
        "material names that are not UTF-8",
        _plain(
            obj=obj().encode().replace(b"usemtl red", b"usemtl r\xe9d"), mtl=MTL.encode().replace(b" red", b" r\xe9d")
        ),
        note="not UTF-8",
    ),
    Case("a comment that names a library", _plain(obj="# mtllib nonsense.mtl\n" + obj())),
    Case("a wholly transparent material", _plain(mtl=MTL.replace("Ns 50", "Ns 50\nd 0")), note="made opaque"),
    Case(
        "slashes in a material's name",
        _plain(
            obj=obj(form="{0}/1/1").replace("usemtl red", "vt 0 0\nvn 0 0 1\nusemtl paint/1/2/"),
            mtl=MTL.replace("newmtl red", "newmtl paint/1/2/"),
        ),
    ),
    Case(
        "corners written in all ways",
        _plain(obj=f"vt 0 0\nvn 0 0 1\n{obj()}".replace("f 1 4 3 2", "f 1/1 4/1/1 3//1 2")),
    ),
    Case("objects and groups", _plain(obj=obj().replace("usemtl blue", "o second\ng part\ns off\nusemtl blue"))),
    Case("an empty file", _plain(obj=""), "has no faces"),
    Case("corners only", _plain(obj=lines_of(RED)), "has no faces"),
    Case("all in one place", _plain(obj=obj(scale=0.0)), "in one place"),
    Case("a face that names a corner too many", _with_lines("f 1 2 99\n"), note="Invalid vertex index 98"),
    Case("index zero", _with_lines("f 0 1 2\n"), note="Invalid vertex index"),
    Case("an index too far back", _with_lines("f -99 1 2\n"), note="Invalid vertex index"),
    Case("not a model at all", _plain(obj=b"\x00\x01\x02\xff" * 64), "model_normalized.obj"),
    Case("a link that leads out", _linked_out, "outside the model library"),
]


def with_header(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A .glb file with a changed header."""
    size = int.from_bytes(data[12:16], "little")
    head = json.loads(data[20 : 20 + size])
    change(head)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + data[20 + size :]
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
