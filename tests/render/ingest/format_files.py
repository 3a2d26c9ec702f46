"""Contents of files of the formats beside glTF and OBJ, each a box, written by hand from the format's specification."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np

from tests.render.ingest.gltf_files import quadrants
from tests.scene_specs.shapes.shapenet.trees import FACES, box

# 2 wide, 4 high, 6 deep where Y is up.
CORNERS = box((-1, -2, -3), (1, 2, 3))
TRIANGLES = [triangle for a, b, c, d in FACES for triangle in ((a - 1, b - 1, c - 1), (a - 1, c - 1, d - 1))]
SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))


def ply(kind: str = "ascii", colors: bool = True) -> bytes:
    """Greg Turk's format, as text or binary of either order."""
    names = "".join(f"property float {axis}\n" for axis in "xyz")
    names += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue")) if colors else ""
    head = f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex 8\n{names}element face 6\n"
    head += "property list uchar int vertex_indices\nend_header\n"
    faces = [[k - 1 for k in face] for face in FACES]
    paint = [255, 0, 0][: 3 * colors]
    if kind == "ascii":
        rows = [[*corner, *paint] for corner in CORNERS] + [[4, *face] for face in faces]
        return head.encode() + "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()
    order = "<" if kind == "binary_little_endian" else ">"
    body = b"".join(struct.pack(f"{order}3f{len(paint)}B", *corner, *paint) for corner in CORNERS)
    return head.encode() + body + b"".join(struct.pack(f"{order}B4i", 4, *face) for face in faces)


def ply_with(value: float, order: str) -> bytes:
    content = ply(f"binary_{order}_endian")
    start = content.index(b"end_header\n") + 11
    return content[:start] + struct.pack("<f" if order == "little" else ">f", value) + content[start + 4 :]


def ascii_stl() -> bytes:
    """3D Systems' format as text; its normals need not be right."""
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex " + " ".join(map(str, CORNERS[k])) + "\n" for k in triangle)
        + "endloop\nendfacet\n"
        for triangle in TRIANGLES
    )
    return f"solid box\n{facets}endsolid box\n".encode()


def binary_stl(head: bytes = b"") -> bytes:
    facets = (struct.pack("<12fH", 0, 0, 0, *np.ravel([CORNERS[k] for k in t]), 0) for t in TRIANGLES)
    return head.ljust(80, b"\0") + struct.pack("<I", len(TRIANGLES)) + b"".join(facets)


def mesh_text(up: str = "Y", bound: bool = True, more: str = "", unit: float = 1) -> str:
    """A Mesh of OpenUSD with a UsdPreviewSurface and a texture."""
    points = ", ".join(map(str, CORNERS))
    indices = ", ".join(str(k - 1) for face in FACES for k in face)
    binding = "rel material:binding = </World/Paint>" if bound else ""
    return f"""#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = {unit}
    upAxis = "{up}"
)
def Xform "World" {{
    def Mesh "Box" (prepend apiSchemas = ["MaterialBindingAPI"]) {{
        int[] faceVertexCounts = [{", ".join(["4"] * 6)}]
        int[] faceVertexIndices = [{indices}]
        point3f[] points = [{points}]
        texCoord2f[] primvars:st = [{", ".join(map(str, SQUARE * 6))}] (interpolation = "faceVarying")
        uniform token subdivisionScheme = "none"
        {binding}
        {more}
    }}
    def Material "Paint" {{
        token outputs:surface.connect = </World/Paint/Shader.outputs:surface>
        def Shader "Shader" {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </World/Paint/Texture.outputs:rgb>
            float inputs:roughness = 0.3
            float inputs:metallic = 0.9
            token outputs:surface
        }}
        def Shader "Reader" {{
            uniform token info:id = "UsdPrimvarReader_float2"
            string inputs:varname = "st"
            float2 outputs:result
        }}
        def Shader "Texture" {{
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @tex.png@
            float2 inputs:st.connect = </World/Paint/Reader.outputs:result>
            float3 outputs:rgb
        }}
    }}
}}
"""


def usdz() -> bytes:
    """An archive whose files are not compressed and begin at multiples of 64 bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in (("m.usda", mesh_text().encode()), ("tex.png", quadrants())):
            entry = zipfile.ZipInfo(name)
            start = stream.tell() + 30 + len(name)
            # An extra field of four bytes and zeros.
            entry.extra = struct.pack("<HH", 0x1986, -(start + 4) % 64) + bytes(-(start + 4) % 64)
            archive.writestr(entry, content)
    return stream.getvalue()


LAYERS = b"""#usda 1.0
(
    defaultPrim = "Both"
    upAxis = "Y"
    metersPerUnit = 1
)
def Xform "Both" {
    def "First" (references = @part.usda@) {}
    def "Second" (references = @part.usda@) {
        double3 xformOp:translate = (10, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


def collada() -> bytes:
    """COLLADA 1.4.1: a box whose node doubles it along x, in meters, Y up, blue."""
    numbers = " ".join(str(x) for corner in CORNERS for x in corner)
    indices = " ".join(str(k) for triangle in TRIANGLES for k in triangle)
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>0 0 1 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="24">{numbers}</float_array><technique_common>
<accessor source="#a" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="12" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>{indices}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><scale>2 1 1</scale><instance_geometry url="#g">
<bind_material><technique_common><instance_material symbol="s" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
""".encode()


def ascii_fbx() -> bytes:
    """FBX 7.4 as text, in centimeters, Y up, green."""
    points = ",".join(str(x) for corner in CORNERS for x in corner)
    # The last corner of a face is written as its complement.
    faces = ",".join(str(k - 1 if n < 3 else -k) for face in FACES for n, k in enumerate(face))
    settings = (("UpAxis", 1), ("UpAxisSign", 1), ("FrontAxis", 2), ("FrontAxisSign", 1), ("CoordAxis", 0))
    lines = "".join(
        f'P: "{name}", "int", "Integer", "",{number}\n' for name, number in (*settings, ("CoordAxisSign", 1))
    )
    return f"""; FBX 7.4.0 project file
FBXHeaderExtension:  {{
    FBXHeaderVersion: 1003
    FBXVersion: 7400
}}
GlobalSettings:  {{
    Version: 1000
    Properties70:  {{
        {lines}
        P: "UnitScaleFactor", "double", "Number", "",1
    }}
}}
Objects:  {{
    Geometry: 1001, "Geometry::Box", "Mesh" {{
        Vertices: *24 {{
            a: {points}
        }}
        PolygonVertexIndex: *24 {{
            a: {faces}
        }}
        GeometryVersion: 124
        LayerElementMaterial: 0 {{
            MappingInformationType: "AllSame"
            ReferenceInformationType: "IndexToDirect"
            Materials: *1 {{
                a: 0
            }}
        }}
    }}
    Model: 1002, "Model::Box", "Mesh" {{
        Version: 232
    }}
    Material: 1003, "Material::Paint", "" {{
        ShadingModel: "lambert"
        Properties70:  {{
            P: "DiffuseColor", "Color", "", "A",0,1,0
        }}
    }}
}}
Connections:  {{
    C: "OO",1002,0
    C: "OO",1001,1002
    C: "OO",1003,1002
}}
""".encode()
