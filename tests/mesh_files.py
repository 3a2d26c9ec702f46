"""A mug as twelve mesh files of different habits, each as another program would write it.

With the folder as an asset root, every mug that can be rendered should look alike: red, the handle on its right, and a
readable F on its front where it has a texture.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from diorama.render.uses.draw.typography import font

Floats = NDArray[np.float64]
RED, WHITE = (0.6, 0.03, 0.03), (0.8, 0.8, 0.75)
MTL = f"newmtl red\nKd {' '.join(map(str, RED))}\nnewmtl white\nKd {' '.join(map(str, WHITE))}\n"
Z_UP = "z-up.obj"
# Columns of the mug's surface, and of the mug that is huge.
FINE, HUGE = 48, 24_000


def mug(columns: int = FINE) -> list[tuple[Floats, Floats]]:
    """Return body and handle, Y up, front +z: points (rows, columns + 1, 3) of a surface, and their (u, v)."""
    profile = np.array([[1e-3, 0.0], [0.4, 0.0], [0.4, 1.0], [0.35, 1.0], [0.35, 0.06], [1e-3, 0.06]])[:, None]
    turn = np.linspace(-np.pi, np.pi, columns + 1)
    height, u = np.broadcast_arrays(profile[..., 1], turn / (2 * np.pi) + 0.5)
    body = np.stack([profile[..., 0] * np.sin(turn), height, profile[..., 0] * np.cos(turn)], axis=-1)
    v = np.broadcast_to(np.array([0, 0, 1, 1, 1, 1])[:, None], u.shape)
    along, around = np.meshgrid(np.linspace(-1.5, 1.5, 16), np.linspace(np.pi, -np.pi, 13), indexing="ij")
    reach = 0.3 + 0.06 * np.cos(around)
    handle = np.stack([0.38 + reach * np.cos(along), 0.5 + reach * np.sin(along), 0.06 * np.sin(around)], axis=-1)
    return [(body, np.stack([u, v], axis=-1)), (handle, np.zeros((*handle.shape[:2], 2)))]


def quads(points: Floats) -> NDArray[np.int64]:
    """Return (N, 4) corners of the faces of a surface, counted from 0, counter-clockwise seen from outside."""
    number = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    corners = (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
    return np.stack([corner.ravel() for corner in corners], axis=1)


def letter(path: Path) -> None:
    """Write a red texture with a white F in its middle."""
    picture = Image.new("RGB", (512, 256), (203, 48, 48))
    ImageDraw.Draw(picture).text((256, 128), "F", (240, 240, 235), font(120), anchor="mm")
    picture.save(path)


def write_obj(path: Path, matrix: Floats, mtl: str = "", form: str = "{0}", end: bool = False) -> None:
    """Write the mug with quads and without normals. matrix (3, 3): of its points. mtl: text of its materials.

    form: of a corner. end: count corners from the end, and close the bottom with one face.
    """
    text, total = f"mtllib {path.stem}.mtl\n" * bool(mtl), 1
    for name, (points, uv) in zip(("red", "white"), mug(), strict=True):
        text += "".join(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in points.reshape(-1, 3) @ matrix.T)
        text += "".join(f"vt {u:.5f} {v:.5f}\n" for u, v in uv.reshape(-1, 2))
        rows = quads(points) + (-len(points) * len(points[0]) if end else total)
        text += f"usemtl {name}\n" * bool(mtl)
        text += "".join("f " + " ".join(form.format(corner) for corner in row) + "\n" for row in rows)
        total += len(points) * len(points[0])
    bottom = "f " + " ".join(str(FINE + 2 + k) for k in range(FINE)) + "\n"
    path.write_text(text + bottom * end)
    if mtl:
        path.with_suffix(".mtl").write_text(mtl)


def glb(columns: int = FINE, texture: Path | None = None, mirrored: bool = False, colors: bool = False) -> bytes:
    """Return the mug as a .glb of two nodes. mirrored: its handle is on the left, and its node has a negative scale."""
    trimesh: Any = importlib.import_module("trimesh")
    scene = trimesh.Scene()
    for part, (points, uv) in enumerate(mug(columns)):
        flip = np.diag([-1.0 if mirrored and part else 1.0, 1.0, 1.0, 1.0])
        faces = quads(points)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        mesh = trimesh.Trimesh(points.reshape(-1, 3) @ flip[:3, :3], faces, process=False)
        look = trimesh.visual.material.PBRMaterial(baseColorFactor=(RED, WHITE)[part], metallicFactor=0.0)
        if texture is not None and not part:
            look.baseColorTexture, look.baseColorFactor = Image.open(texture), None
        mesh.visual = trimesh.visual.TextureVisuals(uv.reshape(-1, 2), look)
        if colors:
            mesh.visual = trimesh.visual.ColorVisuals(mesh, vertex_colors=np.tile(RED, (len(mesh.vertices), 1)))
        scene.add_geometry(mesh, transform=flip)
    data: bytes = scene.export(file_type="glb")
    return data


def write_files(folder: Path) -> None:
    """Write the twelve files."""
    (folder / "textures").mkdir(parents=True, exist_ok=True)
    letter(folder / "textures/f.png")
    letter(folder / "textures/f.jpg")
    upright, z_up = np.eye(3), np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    write_obj(folder / "millimeters.obj", 95.0 * upright, MTL)
    write_obj(folder / Z_UP, z_up, MTL)
    write_obj(folder / "indices-from-the-end.obj", upright, MTL, end=True)
    write_obj(folder / "without-materials.obj", upright)
    mtl = MTL.replace("newmtl white", "map_Kd .\\textures\\f.png\nnewmtl white")
    write_obj(folder / "texture-with-backslashes.obj", upright, mtl, "{0}/{0}")
    (folder / "empty.obj").write_text("# nothing\n")
    whole = glb()
    (folder / "two-materials.glb").write_bytes(whole)
    (folder / "jpeg-inside.glb").write_bytes(glb(texture=folder / "textures/f.jpg"))
    (folder / "mirrored-node.glb").write_bytes(glb(mirrored=True))
    (folder / "vertex-colors.glb").write_bytes(glb(colors=True))
    (folder / "huge.glb").write_bytes(glb(HUGE))
    (folder / "broken.glb").write_bytes(whole[: len(whole) // 2])
