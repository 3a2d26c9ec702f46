"""A .blend file of a stranger: it shows what is packed in it or lies below its asset root, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.hostile.traps import run_bounded
from tests.marks import slow

# Run by Blender's Python in a process of its own: makes a node group whose shader shows an image.
MAKE = """
import sys, bpy
path, image, kind = sys.argv[1:]
group = bpy.data.node_groups.new("Look", "ShaderNodeTree")
group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
output = group.nodes.new("NodeGroupOutput")
emission = group.nodes.new("ShaderNodeEmission")
group.links.new(emission.outputs[0], output.inputs[0])
if kind != "plain":
    texture = group.nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.new("secret", 4, 4)
    texture.image.source = "FILE" if kind != "sequence" else "SEQUENCE"
    texture.image.filepath = image
    group.links.new(texture.outputs[0], emission.inputs[0])
if kind == "packed":
    texture.image.pack()
if kind == "generated":
    texture.image.source, texture.image.filepath = "GENERATED", ""
    texture.image.generated_width = texture.image.generated_height = 30_000
if kind == "many":
    for number in range(5):
        texture = group.nodes.new("ShaderNodeTexImage")
        texture.image = bpy.data.images.new(f"new {number}", 8192, 8192)
if kind in ("driver", "loop"):
    driver = emission.inputs[1].driver_add("default_value").driver
    driver.type = "SCRIPTED"
    driver.expression = "10 ** 9" if kind == "driver" else "9 ** 9 ** 9 ** 9"
if kind == "script":
    script = group.nodes.new("ShaderNodeScript")
    script.mode, script.filepath = "EXTERNAL", image
if kind == "ies":
    lamp = group.nodes.new("ShaderNodeTexIES")
    lamp.mode, lamp.filepath = "EXTERNAL", image
    group.links.new(lamp.outputs[0], emission.inputs[1])
if kind == "object":
    place = group.nodes.new("ShaderNodeTexCoord")
    place.object = bpy.data.objects.new("Secret", None)
if kind in ("nested", "linked"):
    inner = bpy.data.node_groups.new("Inner", "ShaderNodeTree")
    inner.nodes.new("ShaderNodeTexImage").image = texture.image
    group.nodes.remove(texture)
    if kind == "linked":
        other = path[:-7] + "other.blend"
        bpy.data.libraries.write(other, {inner}, fake_user=True)
        with bpy.data.libraries.load(other, link=True) as (_, loaded):
            loaded.node_groups = ["Inner"]
        inner = loaded.node_groups[0]
    group.nodes.new("ShaderNodeGroup").node_tree = inner
bpy.data.libraries.write(path, {group}, fake_user=True)
"""


def make_blend(path: Path, image: str, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", MAKE, str(path), image, kind], capture_output=True, text=True, timeout=240, check=False
    )
    assert path.is_file(), done.stderr


def write_image(path: Path) -> None:
    """Write an image of 4 x 4 pixels, and the folder for it."""
    path.parent.mkdir()
    Image.new("RGB", (4, 4), (255, 0, 255)).save(path)


def render(tmp_path: Path, *options: str) -> tuple[int, str, Path]:
    """Render one episode with the material; returns exit code, standard error, folder."""
    done = run_bounded("render-episode", *_arguments(tmp_path), *options)
    return done.code, done.err, tmp_path / "out"


def _arguments(tmp_path: Path) -> list[str | Path]:
    cube = {"shape": "cube", "size": "large", "material": {"blend": "x.blend", "group": "Look"}}
    spec = {"version": 1, "id": "a", "stage": "clevr", "frames": [{"objects": [cube]}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    return [
        "--from", tmp_path / "s.json", "--profile", "draft", "--size", "64x48", "--device", "cpu",
        "--asset-root", tmp_path / "assets", "--out", tmp_path / "out",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", *slow("sequence", "script", "ies", "nested")])
def test_a_file_outside_the_asset_root_is_refused(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "private" / "secret.png"
    write_image(secret)
    make_blend(tmp_path / "assets" / "x.blend", str(secret), kind)
    code, said, out = render(tmp_path)
    assert code == 2, said
    assert "Traceback" not in said
    assert "secret.png" in said
    assert not list(out.glob("*.png"))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [("linked", "other.blend"), *slow(("object", "Secret"))])
def test_data_that_no_material_needs_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    image = tmp_path / "assets" / "ours.png"
    write_image(image)
    make_blend(tmp_path / "assets" / "x.blend", str(image), kind)
    code, said, _ = render(tmp_path)
    assert code == 2, said
    assert name in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("generated", "ours.png", "image 'secret' has 900,000,000 pixels; allowed: 67,108,864"),
        ("file", "a.null?RES=16000x16000", "with the ending of that format"),
        *slow(
            ("many", "ours.png", "allowed: 67,108,864, and 268,435,456 in all images"),
            ("file", "large.png", "image 'secret' has 100,000,000 pixels"),
            ("packed", "large.png", "image 'secret' has 100,000,000 pixels"),
            ("file", "ours.tga", "with the ending of that format"),
            ("file", "ours.exr", "with the ending of that format"),
        ),
    ],
)
def test_the_images_of_a_blend_are_bounded(tmp_path: Path, kind: str, name: str, said: str) -> None:
    """Blender made each pixel of 30,000 x 30,000, for 23.5 GB, and OpenImageIO has a reader that reads nothing."""
    image = tmp_path / "assets" / name
    image.parent.mkdir()
    Image.new("1", (10_000, 10_000) if name == "large.png" else (4, 4)).save(image, "PNG")
    make_blend(tmp_path / "assets" / "x.blend", str(image), kind)
    done = run_bounded("render-episode", *_arguments(tmp_path))
    assert done.code == 2 and said in done.err, done.err
    assert done.peak < 1000


@pytest.mark.slow
def test_a_library_that_is_a_pipe_ends_at_the_time_limit(tmp_path: Path) -> None:
    """Blender opens linked files while it loads, before anything can be checked."""
    make_blend(tmp_path / "assets" / "x.blend", "/secret.png", "linked")
    (tmp_path / "assets" / "other.blend").unlink()
    os.mkfifo(tmp_path / "assets" / "other.blend")
    code, said, out = render(tmp_path, "--timeout", "5", "--save-blend")
    assert code in (1, 2), said
    assert "timed out after 100" in said
    assert not list(out.glob("*")) if out.exists() else True


@pytest.mark.slow
def test_a_link_out_of_the_asset_root_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "private" / "secret.png"
    write_image(secret)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "ours.png").symlink_to(secret)
    make_blend(tmp_path / "assets" / "x.blend", "//ours.png", "file")
    assert render(tmp_path)[0] == 2


@pytest.mark.slow
def test_a_pipe_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    os.mkfifo(tmp_path / "assets" / "pipe.png")
    make_blend(tmp_path / "assets" / "x.blend", str(tmp_path / "assets" / "pipe.png"), "file")
    assert render(tmp_path)[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", *slow("packed", "plain", "driver", "loop")])
def test_what_a_blend_may_hold_is_rendered(tmp_path: Path, kind: str) -> None:
    """Packed images, images below the root, and a group without its drivers."""
    image = tmp_path / "assets" / "ours.png"
    write_image(image)
    make_blend(tmp_path / "assets" / "x.blend", str(image), kind)
    code, said, out = render(tmp_path)
    assert code == 0, said
    with Image.open(min(out.glob("*.png"))) as picture:
        assert picture.size == (64, 48)


@pytest.mark.slow
def test_a_single_episode_has_a_time_limit(tmp_path: Path) -> None:
    make_blend(tmp_path / "assets" / "x.blend", "", "plain")
    code, said, _ = render(tmp_path, "--timeout", "0.01")
    assert code == 1, said
    assert "longer than" in said
