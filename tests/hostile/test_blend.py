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
if kind == "driver":
    driver = emission.inputs[1].driver_add("default_value").driver
    driver.type = "SCRIPTED"
    driver.expression = "10 ** 9"
if kind == "script":
    script = group.nodes.new("ShaderNodeScript")
    script.mode, script.filepath = "EXTERNAL", image
if kind == "ies":
    lamp = group.nodes.new("ShaderNodeTexIES")
    lamp.mode, lamp.filepath = "EXTERNAL", image
    group.links.new(lamp.outputs[0], emission.inputs[1])
bpy.data.libraries.write(path, {group}, fake_user=True)
"""


def make_blend(path: Path, image: str, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", MAKE, str(path), image, kind], capture_output=True, text=True, timeout=120, check=False
    )
    assert path.is_file(), done.stderr


def render(tmp_path: Path, seconds: float = 120, *options: str) -> tuple[int, str, Path]:
    """Render one episode with the material; returns exit code, standard error, folder."""
    cube = {"shape": "cube", "size": "large", "material": {"blend": "x.blend", "group": "Look"}}
    spec = {"version": 1, "id": "a", "stage": "clevr", "frames": [{"objects": [cube]}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    out = tmp_path / "out"
    done = run_bounded(
        "render-episode", "--from", tmp_path / "s.json", "--profile", "draft", "--size", "64x48", "--device", "cpu",
        "--asset-root", tmp_path / "assets", "--out", out, *options, seconds=seconds,
    )  # fmt: skip
    return done.code, done.err, out


@pytest.mark.parametrize("kind", ["file", "sequence", "script", "ies"])
def test_a_file_outside_the_asset_root_is_refused(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "private" / "secret.png"
    secret.parent.mkdir()
    Image.new("RGB", (4, 4), (255, 0, 255)).save(secret)
    make_blend(tmp_path / "assets" / "x.blend", str(secret), kind)
    code, said, out = render(tmp_path)
    assert code == 2, said
    assert "Traceback" not in said
    assert "secret.png" in said
    assert not list(out.glob("*.png"))


def test_a_link_out_of_the_asset_root_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "private" / "secret.png"
    secret.parent.mkdir()
    Image.new("RGB", (4, 4), (255, 0, 255)).save(secret)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "ours.png").symlink_to(secret)
    make_blend(tmp_path / "assets" / "x.blend", "//ours.png", "file")
    assert render(tmp_path)[0] == 2


def test_a_pipe_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    os.mkfifo(tmp_path / "assets" / "pipe.png")
    make_blend(tmp_path / "assets" / "x.blend", str(tmp_path / "assets" / "pipe.png"), "file")
    assert render(tmp_path, 60)[0] == 2


@pytest.mark.parametrize("kind", ["packed", "file", "plain", "driver"])
def test_what_a_blend_may_hold_is_rendered(tmp_path: Path, kind: str) -> None:
    """Packed images, images below the root, and a group without its drivers."""
    image = tmp_path / "assets" / "ours.png"
    image.parent.mkdir()
    Image.new("RGB", (4, 4), (255, 0, 255)).save(image)
    make_blend(tmp_path / "assets" / "x.blend", str(image), kind)
    code, said, out = render(tmp_path)
    assert code == 0, said
    with Image.open(min(out.glob("*.png"))) as picture:
        assert picture.size == (64, 48)


def test_a_single_episode_has_a_time_limit(tmp_path: Path) -> None:
    make_blend(tmp_path / "assets" / "x.blend", "", "plain")
    code, said, _ = render(tmp_path, 90, "--timeout", "0.01")
    assert code == 1, said
    assert "longer than" in said
