"""Files of strangers that ask for much or for what is not theirs; each function writes `model.*` into a folder."""

from __future__ import annotations

import gzip
import io
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from tests.render.ingest.format_files import ascii_fbx, binary_stl, collada, mesh_text, ply
from tests.render.ingest.gltf_files import Gltf, box, quadrants
from tests.render.ingest.test_obj import cube

Write = Callable[[Path, Path], object]
MTL = "newmtl m\nKd 0.2 0.4 0.8\n"


def png_header(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def bmp_header(side: int) -> bytes:
    return (
        b"BM" + struct.pack("<IHHIIiiHHIIiiII", 1 << 20, 0, 0, 54, 40, side, side, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(64)
    )


def textured(image: bytes) -> Gltf:
    return Gltf().material(image).mesh({**box(), "material": 0})


def of_uri(uri: str) -> Write:
    """A .gltf whose image is elsewhere."""

    def write(folder: Path, secret: Path) -> None:
        built = textured(quadrants())
        built.head["images"] = [{"uri": uri.format(secret=secret)}]
        (folder / "model.gltf").write_bytes(built.text())

    return write


def of_buffer(uri: str) -> Write:
    """A .gltf whose buffer is elsewhere; the secret one fits."""

    def write(folder: Path, secret: Path) -> None:
        built = Gltf().mesh(box())
        (secret / "s.bin").write_bytes(built.body)
        (folder / "model.gltf").write_bytes(built.text(uri.format(secret=secret)))

    return write


def of_mtl(line: str) -> Write:
    def write(folder: Path, secret: Path) -> None:
        (folder / "model.obj").write_bytes(cube())
        (folder / "m.mtl").write_text(MTL + line.format(secret=secret) + "\n")

    return write


def of_bytes(name: str, content: Callable[[], bytes]) -> Write:
    return lambda folder, secret: (folder / name).write_bytes(content())


def of_header(change: Callable[[dict[str, Any]], object]) -> Write:
    """A .glb with another header."""

    def write(folder: Path, secret: Path) -> None:
        built = Gltf().mesh(box())
        change(built.head)
        (folder / "model.glb").write_bytes(built.glb())

    return write


def of_usd(change: Callable[[str, Path], str]) -> Write:
    def write(folder: Path, secret: Path) -> None:
        (secret / "s.usda").write_text(mesh_text())
        (folder / "model.usda").write_text(change(mesh_text(), secret))

    return write


def linked(name: str, target: str, content: bytes = b"") -> Write:
    """A link in the folder, beside a model if there is any content."""

    def write(folder: Path, secret: Path) -> None:
        (secret / "s.mtl").write_text("newmtl m\nKd 0 1 0\n")
        (secret / "s.obj").write_bytes(cube())
        (folder / name).symlink_to(target.format(secret=secret))
        if content:
            (folder / "model.obj").write_bytes(content)
            if name != "m.mtl":
                (folder / "m.mtl").write_text(f"{MTL}map_Kd {name}\n")

    return write


def fifo(name: str, mtl: str = "") -> Write:
    def write(folder: Path, secret: Path) -> None:
        os.mkfifo(folder / name)
        if not name.startswith("model"):
            (folder / "model.obj").write_bytes(cube())
        if mtl:
            (folder / "m.mtl").write_text(MTL + mtl)

    return write


def bound_socket(folder: Path, secret: Path) -> None:
    # Names of sockets are short.
    here = Path.cwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("model.glb")
    finally:
        os.chdir(here)


def thirty_images() -> bytes:
    """Each is allowed, all together are not."""
    built = Gltf()
    for k in range(30):
        built.material(png_header(8000, 8000)).mesh({**box((1, 1, 1), (3 * k, 0, 0)), "material": k})
    return built.glb()


def packed_usdz(name: str = "m.usda", size: int = 0) -> bytes:
    """An archive whose file is compressed, which the format forbids, or lies elsewhere."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if size else zipfile.ZIP_STORED) as archive:
        archive.writestr(name, mesh_text() + " " * size)
    return stream.getvalue()


def gzip_bomb() -> bytes:
    """A compressed .blend of 4 GB of zeros behind its head, in 4 MB: a block of zeros, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    head = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = head.compress(b"BLENDER-v405REND" + bytes(64)) + head.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\3" + start + block * 256


def laughs() -> bytes:
    """Entities of entities in XML, and one that is a file."""
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 11))
    head = f'<!DOCTYPE x [{entities}<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    text = collada().decode().replace("<COLLADA", f"{head}<COLLADA", 1)
    return text.replace("<asset>", "<asset><title>&a10;&file;</title>").encode()


def many_points(count: int) -> bytes:
    """300,000 copies of a box by a PointInstancer."""
    places = ",".join(f"({k % 600},{k // 600},0)" for k in range(count))
    many = f'def PointInstancer "I" {{\nrel prototypes = </World/I/P>\nint[] protoIndices = [{",".join("0" * count)}]\n'
    inner = mesh_text().partition('def Mesh "Box"')[2].partition('def Material "Paint"')[0]
    many += f'point3f[] positions = [{places}]\ndef Mesh "P"{inner}}}\n'
    return (mesh_text().rstrip().removesuffix("}") + many + "}\n").encode()


def chain(head: dict[str, Any], count: int) -> None:
    head["nodes"] = [{"children": [k + 1]} for k in range(count)] + [{"mesh": 0}]


def copies(head: dict[str, Any], count: int) -> None:
    head["nodes"] = [{"mesh": 0}] * count
    head["scenes"] = [{"nodes": list(range(count))}]


def unseen_triangles(head: dict[str, Any]) -> None:
    """10**7 triangles of zeros, which take no bytes in the file."""
    head["accessors"][0] = {"componentType": 5126, "count": 30_000_000, "type": "VEC3"}
    head["meshes"][0]["primitives"][0] = {"attributes": {"POSITION": 0}}


def instances_of_nothing(head: dict[str, Any]) -> None:
    name = "EXT_mesh_gpu_instancing"
    head["accessors"].append({"componentType": 5126, "count": 1_000_000, "type": "VEC3"})
    head["extensionsUsed"] = head["extensionsRequired"] = [name]
    head["nodes"][0]["extensions"] = {name: {"attributes": {"TRANSLATION": len(head["accessors"]) - 1}}}


def fbx_with(path: str) -> Callable[[], bytes]:
    texture = f"""    Texture: 1004, "Texture::T", "" {{
        FileName: "{path}"
        RelativeFilename: "{path}"
    }}
}}
Connections:  {{
    C: "OP",1004,1003, "DiffuseColor"
"""
    return lambda: ascii_fbx().replace(b"}\nConnections:  {\n", texture.encode())


def many_materials() -> bytes:
    return cube() + b"".join(b"usemtl n%d\nf 1 2 3\n" % k for k in range(100_000))


def elf() -> bytes:
    return b"\x7fELF\2\1\1" + bytes(2000)


def jpeg() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(stream, "JPEG")
    return stream.getvalue()


SVGZ = gzip.compress(b"<svg xmlns='http://www.w3.org/2000/svg' width='900000' height='900000'/>" + b" " * (1 << 24))
DEEP = b'{"asset":{"version":"2.0"},"meshes":[{}],"extras":'
SUB = '(\n    subLayers = [@{secret}/s.usda@]\n    defaultPrim = "World"'
VOLUME = 'def Volume "V" {{\nrel field:density = </V/F>\ndef OpenVDBAsset "F" {{\n'
VOLUME += "asset filePath = @{secret}/s.vdb@\n}}\n}}\n"
DOME = 'def DomeLight "D" {{\nasset inputs:texture:file = @{secret}/s.png@\n}}\n'
CLIPS = (
    'def "C" (clips = {{dictionary default = {{asset[] assetPaths = [@{secret}/s.usda@]\nstring primPath = "/World"\n'
)
CLIPS += "double2[] active = [(0, 0)]\ndouble2[] times = [(0, 0)]}}}}) {{}}\n"
LOOP = 'def "A" (references = @b.usda@</B>) {}\n'


def usd_loop(folder: Path, secret: Path) -> None:
    (folder / "model.usda").write_text(mesh_text() + LOOP)
    (folder / "b.usda").write_text('#usda 1.0\ndef "B" (references = @model.usda@</A>) {}\n')


def json_text(tail: bytes) -> Callable[[], bytes]:
    return lambda: DEEP + tail + b"}"


# Name -> what writes it, and how it ends: part of the only line of the error, or of a note; "" if nothing is said.
REFUSED: dict[str, tuple[Write, str]] = {
    "PNG of 60,000 a side inside": (
        of_bytes("model.glb", lambda: textured(png_header(60000, 60000)).glb()),
        "3,600,000,000 pixels",
    ),
    "BMP of 30,000 a side": (
        lambda f, s: [of_mtl("map_Kd b.bmp")(f, s), (f / "b.bmp").write_bytes(bmp_header(30000))],
        "900,000,000 pixels",
    ),
    "thirty images": (of_bytes("model.glb", thirty_images), "268,435,456 in all images"),
    "a million brackets": (of_bytes("model.gltf", json_text(b"[" * 10**6)), "can't be read as GL"),
    "a number of a million digits": (of_bytes("model.gltf", json_text(b"1" * 10**6)), "can't be read as"),
    "10**7 triangles of zeros": (of_header(unseen_triangles), ""),
    "10**6 instances of zeros": (of_header(instances_of_nothing), ""),
    "300,000 nodes": (of_header(lambda head: copies(head, 300_000)), ""),
    "a chain of 20,000 nodes": (of_header(lambda head: chain(head, 20_000)), ""),
    "a node that is its own child": (of_header(lambda head: head["nodes"][0].update(children=[0])), ""),
    "a mesh that is not there": (of_header(lambda head: head["nodes"][0].update(mesh=7)), ""),
    "a scene that is not there": (of_header(lambda head: head.update(scene=7)), ""),
    "a stride of 0 to a count of 2**31": (of_header(lambda head: head["accessors"][0].update(count=2**31)), ""),
    "300,000 copies by points": (of_bytes("model.usda", lambda: many_points(300_000)), "3,600,012 triangles; allowed"),
    "STL of 2**32 triangles": (of_bytes("model.stl", lambda: binary_stl()[:80] + b"\xff" * 4 + bytes(50)), ""),
    "PLY of 10**7 corners": (of_bytes("model.ply", lambda: ply().replace(b"vertex 8", b"vertex 10000000")), ""),
    "PLY of 2**40 corners": (of_bytes("model.ply", lambda: ply().replace(b"vertex 8", b"vertex 1099511627776")), ""),
    "compressed .usdz": (of_bytes("model.usdz", lambda: packed_usdz(size=1 << 28)), ""),
    ".usdz in gzip": (of_bytes("model.usdz", lambda: gzip.compress(packed_usdz())), ""),
    ".blend of 4 GB in gzip": (of_bytes("model.blend", gzip_bomb), ""),
    "buffer above, written with %2f": (of_buffer("..%2f..%2fsecret%2fs.bin"), "Missing resource"),
    "buffer of a file:// address": (of_buffer("file://{secret}/s.bin"), "Missing resource"),
    "buffer of an http address": (of_buffer("http://127.0.0.1:9/s.bin"), "Missing resource"),
    "buffer of Blender's own //": (of_buffer("//../../secret/s.bin"), "Missing resource"),
    "buffer that is /proc/self/environ": (of_buffer("/proc/self/environ"), "Missing resource"),
    "a link to a model outside": (linked("model.obj", "{secret}/s.obj"), "outside the asset roots"),
    "a link to /dev/zero": (linked("model.ply", "/dev/zero"), "outside the asset roots|not a regular file"),
    "a link to itself": (linked("model.obj", "model.obj"), "model.obj"),
    "a pipe": (fifo("model.glb"), "is not a regular file"),
    "a socket": (bound_socket, "is not a regular file"),
    "a folder": (lambda f, s: (f / "model.blend").mkdir(), "is not a regular file"),
    "image that is /dev/zero": (of_uri("/dev/zero"), "is not a regular file"),
    "a face of 300,000 corners": (of_bytes("model.obj", lambda: cube() + b"f " + b"1 2 3 " * 100_000), "too long"),
    "100,000 materials": (of_bytes("model.obj", many_materials), "took longer"),
    "half a .glb": (of_bytes("model.glb", lambda: textured(quadrants()).glb()[:700]), "model.glb"),
    "a tenth of a .stl": (of_bytes("model.stl", lambda: binary_stl()[:120]), ""),
    "half a binary .ply": (of_bytes("model.ply", lambda: ply("binary_little_endian")[:260]), ""),
    "half a .fbx": (of_bytes("model.fbx", lambda: ascii_fbx()[:900]), ""),
    "half a .usda": (of_bytes("model.usda", lambda: mesh_text().encode()[:600]), ""),
    "a picture with the ending .glb": (of_bytes("model.glb", jpeg), "can't be read as GL"),
    "a program with the ending .fbx": (of_bytes("model.fbx", elf), ""),
    "a page with the ending .gltf": (
        of_bytes("model.gltf", lambda: b"<!DOCTYPE html><html>Not found</html>"),
        "can't be read as GLTF",
    ),
    "an archive with the ending .blend": (of_bytes("model.blend", packed_usdz), ""),
    "text with the ending .usdc": (of_bytes("model.usdc", lambda: b"#usdc 1.0\n" + bytes(99)), ""),
    "a .glb with the ending .obj": (of_bytes("model.obj", lambda: textured(quadrants()).glb()), "no faces"),
}

READ: dict[str, tuple[Write, str]] = {
    "image above, written with %2e": (of_uri("%2e%2e/%2e%2e/secret/s.png"), "is not there"),
    "image of an http address": (of_uri("http://127.0.0.1:9/s.png"), "is not there"),
    "image of another computer": (of_uri(r"\\server\share\s.png"), "is not there"),
    "image of Blender's own //": (of_uri("//../../secret/s.png"), "is not there"),
    "texture of Blender's own //": (of_mtl("map_Kd //../../secret/s.png"), "is not there"),
    "texture of /proc/self/mem": (of_mtl("map_Kd /proc/self/mem"), "is not there"),
    "texture with signs for the terminal": (of_mtl("map_Kd \x1b[2J\x07x.png"), "is not there"),
    "texture that is an .svgz": (
        lambda f, s: [of_mtl("map_Kd t.svgz")(f, s), (f / "t.svgz").write_bytes(SVGZ)],
        "can't be read as a picture",
    ),
    "a link to materials outside": (linked("m.mtl", "{secret}/s.mtl", cube()), "is not there"),
    "a link to a texture outside": (linked("skin.png", "{secret}/s.png", cube()), "is not there"),
    "a pipe for materials": (fifo("m.mtl"), "is not there"),
    "a pipe for a texture": (fifo("t.png", "map_Kd t.png\n"), "is not there"),
    "USD layer outside": (
        of_usd(lambda text, s: text.replace('(\n    defaultPrim = "World"', SUB.format(secret=s), 1)),
        "",
    ),
    "USD light with a picture outside": (of_usd(lambda text, s: text + DOME.format(secret=s)), ""),
    "USD volume outside": (of_usd(lambda text, s: text + VOLUME.format(secret=s)), "1 volume left out"),
    "USD clips outside": (of_usd(lambda text, s: text + CLIPS.format(secret=s)), ""),
    "USD tiles outside": (of_usd(lambda text, s: text.replace("tex.png", f"{s}/s.<UDIM>.png")), ""),
    "USD files that refer to each other": (usd_loop, ""),
    "FBX texture outside": (lambda f, s: (f / "model.fbx").write_bytes(fbx_with(f"{s}/s.png")()), "is not there"),
    "FBX texture above": (of_bytes("model.fbx", fbx_with("../../secret/s.png")), "is not there"),
}
COLLADA: dict[str, Write] = {
    "XML that laughs": of_bytes("model.dae", laughs),
    "COLLADA picture outside": of_bytes(
        "model.dae",
        lambda: collada().replace(
            b"<library_eff",
            b'<library_images><image id="i"><init_from>file:///etc/passwd</init_from></image></library_images><library_eff',
        ),
    ),
}


def write_all(root: Path, secret: Path) -> None:
    """Write each into a folder of its own, whose name is its number."""
    secret.mkdir(exist_ok=True)
    for name, data in (("s.png", quadrants()), ("s.1001.png", quadrants()), ("s.vdb", b"vdb"), ("s.abc", b"abc")):
        (secret / name).write_bytes(data)
    writers = {**{name: write for name, (write, _) in (REFUSED | READ).items()}, **COLLADA}
    for name, write in writers.items():
        folder = root / name.replace("/", "_")
        folder.mkdir(parents=True)
        write(folder, secret)
