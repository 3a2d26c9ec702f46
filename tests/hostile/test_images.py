"""Images of strangers: only formats that models really use are opened, and none larger than its Scene says."""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from tests.hostile.traps import changed, make_store, run_bounded
from tests.marks import slow
from tests.render.store.rendered import rendered
from tests.scene_specs.shapes.shapenet.trees import MTL, Tree, obj

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n(x) print\nshowpage\n%%EOF\n"


@pytest.fixture
def ghostscript(tmp_path: Path) -> dict[str, str]:
    """An environment whose Ghostscript only leaves a mark that it was started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("gs", "gswin32c", "gswin64c"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexit 1\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "DIORAMA_CACHE": str(tmp_path / "cache")}


def check_model(tree: Tree, environment: dict[str, str], tmp_path: Path) -> str:
    """Run a dry run over a spec that shows the model; returns what went to standard error."""
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": tree.shape}]}]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    out = tmp_path / "never.lance"
    return run_bounded(
        "render-batch", tmp_path / "spec.json", "--dry-run", "--shapenet", tree.root, "--out", out, env=environment
    ).err


@pytest.mark.slow
def test_postscript_behind_a_texture_of_an_obj_starts_nothing(tmp_path: Path, ghostscript: dict[str, str]) -> None:
    uv = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    tree = Tree(tmp_path / "lib", uv + obj(form="{0}/1"), MTL + "map_Kd t.png\n").write()
    (tree.folder / "t.png").write_bytes(EPS)
    said = check_model(tree, ghostscript, tmp_path)
    assert not (tmp_path / "started").exists()
    assert "Traceback" not in said


def glb(image: bytes) -> bytes:
    """A triangle whose texture is `image`, which it says is a PNG."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    uv = struct.pack("<6f", 0, 0, 1, 0, 0, 1)
    index = struct.pack("<3H", 0, 1, 2) + b"\0\0"
    blobs = [points, uv, index, image + b"\0" * (-len(image) % 4)]
    offsets = [sum(map(len, blobs[:k])) for k in range(len(blobs))]
    views = [{"buffer": 0, "byteOffset": at, "byteLength": len(blob)} for at, blob in zip(offsets, blobs, strict=True)]
    views[2]["byteLength"], views[3]["byteLength"] = 6, len(image)
    head = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"bufferView": 3, "mimeType": "image/png"}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": views, "buffers": [{"byteLength": sum(map(len, blobs))}],
    }  # fmt: skip
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(blobs)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.mark.slow
def test_postscript_inside_a_glb_starts_nothing(tmp_path: Path, ghostscript: dict[str, str]) -> None:
    tree = Tree(tmp_path / "lib", "", None, layout="glb")
    tree.folder.mkdir(parents=True)
    (tree.folder / "model.glb").write_bytes(glb(EPS))
    said = check_model(tree, ghostscript, tmp_path)
    assert not (tmp_path / "started").exists()
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_png_inside_a_glb_is_still_read(tmp_path: Path, ghostscript: dict[str, str]) -> None:
    data = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(data, "PNG")
    tree = Tree(tmp_path / "lib", "", None, layout="glb")
    tree.folder.mkdir(parents=True)
    (tree.folder / "model.glb").write_bytes(glb(data.getvalue()))
    assert "error" not in check_model(tree, ghostscript, tmp_path)


def png_of_zeros(width: int, height: int) -> bytes:
    """A valid black RGB PNG of any size, small on the disk."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    row = b"\0" * (1 + 3 * width)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of 64 x 48 images, one of which is 16,384 x 16,384, and one has a mask of 100,000 x 100,000."""
    huge = rendered("demo/huge")
    images = [huge.images[0].model_copy(update={"png": png_of_zeros(16384, 16384)}), *huge.images[1:]]
    mask = rendered("demo/mask")
    annotation = mask.images[0].annotation
    item = annotation.objects[0]
    rle = item.rle.model_copy(update={"size": (100_000, 100_000)})
    wrong = annotation.model_copy(update={"objects": [item.model_copy(update={"rle": rle}), *annotation.objects[1:]]})
    masks = [mask.images[0].model_copy(update={"annotation": wrong}), *mask.images[1:]]
    folder = tmp_path_factory.mktemp("bombs")
    return make_store(folder, [rendered("demo/fine"), changed(huge, images=images), changed(mask, images=masks)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("render-store verify", ()),
        *slow(
            ("render-gallery", ("--workers", "1")),
            ("render-export", ("--format", "folder")),
            ("render-export", ("--format", "coco")),
            ("render-episode", ("demo/huge", "--sheet")),
            ("render-episode", ("demo/mask", "--sheet")),
        ),
    ],
)
def test_images_and_masks_that_their_scene_denies_are_not_decoded(
    bombs: str, tmp_path: Path, program: str, options: tuple[str, ...]
) -> None:
    out: tuple[str | Path, ...] = ("--out", tmp_path / "out") if "--sheet" not in options else (tmp_path / "s.png",)
    name, *sub = program.split()
    base = run_bounded("render-store", "ls", bombs).peak
    done = run_bounded(name, *sub, bombs, *options, *(() if sub else out))
    assert "Traceback" not in done.err, done.err
    assert done.code != 0
    # Decoded, the image alone would take 805 MB.
    assert done.peak < base + 300
