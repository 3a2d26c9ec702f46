"""Write models as ShapeNetCore v2 lays them out: `synset/model_id/models/model_normalized.obj`, `.mtl` and `.json`.

As there, a model looks towards -Z with Y up, its vertices' mean is the origin and its bounding box has a diagonal of 1;
the .json holds the mean (`centroid`) and the box (`min`, `max`) from before, here in meters.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diorama.assets.build.shapenet_mini.mesh import Floats, Mesh
from diorama.assets.build.shapenet_mini.model import Material, Model

# Faces that meet at a smaller angle than this share a smooth normal.
CREASE_DEGREES = 38
DECIMALS = 5


@dataclass(frozen=True)
class Normalisation:
    """What turns meters into the file's units: (v - centroid) / diagonal."""

    low: Floats
    high: Floats
    centroid: Floats
    vertices: int

    @property
    def diagonal(self) -> float:
        return math.sqrt(float(((self.high - self.low) ** 2).sum()))


def model_id(category: str, name: str) -> str:
    """32 hexadecimal digits, as ShapeNet's ids are, from the two names."""
    return hashlib.md5(f"diorama/{category}/{name}".encode(), usedforsecurity=False).hexdigest()


def write_model(folder: Path, identity: str, model: Model) -> int:
    """Write the three files of one model into `folder` and return its number of triangles."""
    folder.mkdir(parents=True)
    places = np.concatenate([mesh.vertices for _, mesh in model.parts])
    frame = Normalisation(places.min(axis=0), places.max(axis=0), places.mean(axis=0), len(places))
    (folder / "model_normalized.obj").write_text(obj_text(model, frame), encoding="ascii")
    (folder / "model_normalized.mtl").write_text(mtl_text(model), encoding="ascii")
    facts = {
        "max": _list(frame.high),
        "centroid": _list(frame.centroid),
        "id": identity,
        "numVertices": frame.vertices,
        "min": _list(frame.low),
    }
    (folder / "model_normalized.json").write_text(json.dumps(facts) + "\n", encoding="ascii")
    return sum(len(face) - 2 for _, mesh in model.parts for face in mesh.faces)


def obj_text(model: Model, frame: Normalisation) -> str:
    """The OBJ file: one group a part, a normal for each corner, quads kept."""
    lines = ["mtllib model_normalized.mtl"]
    normals: dict[str, int] = {}
    offset = 1
    for number, (material, mesh) in enumerate(model.parts):
        lines += [f"g part_{number:03d}", f"usemtl {material.name}"]
        lines += ["v " + _numbers(place, DECIMALS) for place in (mesh.vertices - frame.centroid) / frame.diagonal]
        corners = [[_numbers(normal, 3) for normal in face] for face in corner_normals(mesh)]
        for text in (text for face in corners for text in face):
            if text not in normals:
                normals[text] = len(normals) + 1
                lines.append(f"vn {text}")
        for face, texts in zip(mesh.faces, corners, strict=True):
            lines.append("f " + " ".join(f"{i + offset}//{normals[t]}" for i, t in zip(face, texts, strict=True)))
        offset += len(mesh.vertices)
    return "\n".join(lines) + "\n"


def mtl_text(model: Model) -> str:
    """The MTL file. Kd is linear light, as Blender's importer takes it."""
    used: dict[str, Material] = {}
    for material, _ in model.parts:
        if used.setdefault(material.name, material) != material:
            raise ValueError(f"{model.title}: two materials of one name, {material.name}")
    blocks = []
    for material in used.values():
        gloss = 0.05 + 0.45 * material.shine
        blocks.append(
            f"newmtl {material.name}\n"
            f"Ns {1000 * (0.15 + 0.65 * material.shine) ** 2:.1f}\n"
            "Ka 0.000 0.000 0.000\n"
            f"Kd {_numbers(np.array([linear(channel) for channel in material.color]), 4)}\n"
            f"Ks {_numbers(np.array([gloss] * 3), 3)}\n"
            "Ni 1.45\nd 1\nillum 2\n"
        )
    return "\n".join(blocks)


def linear(channel: int) -> float:
    """Linear light of an 8-bit sRGB channel (IEC 61966-2-1)."""
    value = channel / 255
    return value / 12.92 if value <= 0.04045 else math.pow((value + 0.055) / 1.055, 2.4)


def corner_normals(mesh: Mesh) -> list[Floats]:
    """For each corner of each face (3 or 4, 3) the mean of the normals about its vertex within the crease angle.

    Weighted by area: the flat side of a bevelled box stays flat, and its bevel takes the shading.
    """
    sizes = np.array([len(face) for face in mesh.faces])
    face_of = np.repeat(np.arange(len(sizes)), sizes)
    vertex_of = np.array([i for face in mesh.faces for i in face])
    areas = _area_vectors(mesh)
    units = areas / np.sqrt((areas**2).sum(axis=1, keepdims=True))
    # Every corner meets every corner of the same vertex: `order` lists them vertex by vertex.
    order = np.argsort(vertex_of, kind="stable")
    counts = np.bincount(vertex_of, minlength=len(mesh.vertices))
    starts = np.cumsum(counts) - counts
    meets = counts[vertex_of]
    one = np.repeat(np.arange(len(vertex_of)), meets)
    place = np.arange(len(one)) - np.repeat(np.cumsum(meets) - meets, meets)
    other = order[starts[vertex_of[one]] + place]
    near = (units[face_of[one]] * units[face_of[other]]).sum(axis=1) >= math.cos(math.radians(CREASE_DEGREES))
    totals = np.zeros((len(vertex_of), 3))
    np.add.at(totals, one[near], areas[face_of[other[near]]])
    totals /= np.sqrt((totals**2).sum(axis=1, keepdims=True))
    return np.split(totals, np.cumsum(sizes)[:-1])


def _area_vectors(mesh: Mesh) -> Floats:
    """(F, 3): of each face its normal times twice its area; of a quad that is not flat, that of its mean plane."""
    corners = [face if len(face) == 4 else (*face, face[2]) for face in mesh.faces]
    a, b, c, d = (mesh.vertices[list(index)] for index in zip(*corners, strict=True))
    crossed: Floats = np.cross(c - a, d - b)
    # A triangle written as a quad has c = d, and (c - a) x (c - b) is twice its area vector just the same.
    return crossed


def _numbers(values: Floats, decimals: int) -> str:
    # Adding zero turns a negative zero into a plain one.
    return " ".join(f"{round(float(value), decimals) + 0.0:.{decimals}f}" for value in values)


def _list(values: Floats) -> list[float]:
    return [round(float(value), 6) + 0.0 for value in values]
