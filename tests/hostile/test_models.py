"""Models of strangers whose few bytes ask for much: each ends in an error that names the file."""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diorama.scene_specs.asset_roots import find_asset
from diorama.scene_specs.errors import AssetError, UsageError
from diorama.scene_specs.shapes.shapenet import Library, library, load_model
from tests.hostile.test_images import glb, png_of_zeros
from tests.hostile.traps import Finished, run_bounded
from tests.marks import slow
from tests.scene_specs.shapes.shapenet.trees import MTL, Tree, obj, with_header


def check(tree: Tree, tmp_path: Path) -> Finished:
    """Compile a spec that shows the model, and render nothing."""
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": tree.shape}]}]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    return run_bounded(
        "render-batch", tmp_path / "spec.json", "--dry-run", "--shapenet", tree.root, "--out", tmp_path / "x.lance",
        env={"DIORAMA_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip


def glb_tree(tmp_path: Path, data: bytes) -> Tree:
    tree = Tree(tmp_path / "lib", "", None, layout="glb")
    tree.folder.mkdir(parents=True)
    (tree.folder / "model.glb").write_bytes(data)
    return tree


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A .glb file of 300 kB whose header was changed."""
    data = io.BytesIO()
    Image.effect_noise((500, 500), 90).save(data, "PNG")
    return with_header(glb(data.getvalue()), change)


def _chain(head: dict[str, Any], count: int) -> None:
    head["nodes"] = [{"mesh": 0, "children": [k + 1]} for k in range(count)] + [{"mesh": 0}]


def _without_bytes(head: dict[str, Any]) -> None:
    head["accessors"][0] = {"componentType": 5126, "count": 2_000_000_000, "type": "VEC3"}


def _overlapping(head: dict[str, Any]) -> None:
    whole = {"buffer": 0, "byteLength": head["buffers"][0]["byteLength"]}
    head["bufferViews"] += [whole] * 20_000


def _shared(head: dict[str, Any]) -> None:
    """100,000 primitives of a mesh of three vertices, shown 10,000 times."""
    head["meshes"][0]["primitives"] *= 100_000
    head["nodes"] *= 10_000
    head["scenes"][0]["nodes"] = list(range(10_000))


HEADERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a count without bytes": _without_bytes,
    "a count beyond the file": lambda head: head["accessors"][0].update(count=2_000_000_000),
    "a negative count": lambda head: head["accessors"][0].update(count=-1),
    "a view beyond the file": lambda head: head["bufferViews"][0].update(byteLength=1 << 40),
    "a negative offset": lambda head: head["bufferViews"][0].update(byteOffset=-8),
    "views that overlap": _overlapping,
    "instances of instances": _shared,
    "a circle of nodes": lambda head: head.update(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}]),
    "a chain of 15,000 nodes": lambda head: _chain(head, 15_000),
    "a chain of 100,000 nodes": lambda head: _chain(head, 100_000),
    "an index that is a text": lambda head: head["meshes"][0]["primitives"][0].update(indices="0"),
    "nodes that are no list": lambda head: head.update(nodes={"a": 1}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a negative count", *slow(*sorted({*HEADERS} - {"a negative count"}))])
def test_a_header_that_lies_is_an_error_of_the_model(tmp_path: Path, name: str) -> None:
    done = check(glb_tree(tmp_path, edited(HEADERS[name])), tmp_path)
    # What no position is read from does no harm.
    harmless = name in ("views that overlap", "a view beyond the file")
    assert done.code == (0 if harmless else 2), (done.out, done.err)
    assert harmless or "model.glb" in done.err
    assert "Traceback" not in done.err, done.err
    assert done.peak < 1000


@pytest.mark.slow
def test_a_header_of_nested_lists_is_an_error_of_the_model(tmp_path: Path) -> None:
    text = b"[" * 400_000
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    data = struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
    done = check(glb_tree(tmp_path, data), tmp_path)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["obj", *slow("glb")])
def test_a_texture_that_unpacks_to_much_is_not_decoded(tmp_path: Path, kind: str) -> None:
    bomb = png_of_zeros(12_000, 12_000)
    if kind == "glb":
        tree = glb_tree(tmp_path, glb(bomb))
    else:
        tree = Tree(tmp_path / "lib", "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n" + obj(form="{0}/1"), MTL + "map_Kd t.png\n")
        (tree.write().folder / "t.png").write_bytes(bomb)
    base = check(Tree(tmp_path / "plain", obj()).write(), tmp_path).peak
    done = check(tree, tmp_path)
    assert done.code == 2, done.err
    assert "has 144,000,000 pixels; allowed" in done.err
    assert "Traceback" not in done.err
    assert "Warning" not in done.err
    # Decoded, the image takes 432 MB.
    assert done.peak < base + 200


@pytest.mark.slow
def test_a_damaged_png_inside_a_glb_is_left_out_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    tree = glb_tree(tmp_path, glb(png_of_zeros(64, 64)[:20]))
    model = load_model(tree.shape, Library(tree.root))
    assert [note for note in model.notes if "can't be read as a picture" in note], model.notes
    done = check(tree, tmp_path)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_sparse_file(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(20 << 30)


def a_link_out(path: Path) -> None:
    (path.parents[1] / "secret.obj").write_text(obj())
    path.symlink_to(path.parents[1] / "secret.obj")


OWN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (a_pipe, "is not a regular file"),
    "a folder": (Path.mkdir, "is not a regular file"),
    "a file of 20 GB": (a_sparse_file, "larger than"),
    "a link out of the root": (a_link_out, "outside the asset roots"),
    "an empty file": (Path.touch, "no faces"),
    "half a file": (lambda path: path.write_text("v 0 0 0\nf 1 2"), "it has no faces; Invalid vertex index"),
    "no file": (lambda path: None, "file not found"),
}


@pytest.mark.parametrize("name", ["half a file", *slow(*sorted({*OWN} - {"half a file"}))])
def test_a_mesh_of_ones_own_is_refused_and_nothing_is_rendered(tmp_path: Path, name: str) -> None:
    make, message = OWN[name]
    (tmp_path / "assets").mkdir()
    make(tmp_path / "assets/mug.obj")
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": {"mesh": "mug.obj"}}]}]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    done = run_bounded(
        "render-batch", tmp_path / "spec.json", "--renderer", "fake", "--asset-root", tmp_path / "assets",
        "--out", tmp_path / "x.lance", env={"DIORAMA_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert (done.code, done.out) == (2, ""), done.err
    assert message in done.err
    assert "mug.obj" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "x.lance").exists()
    assert done.peak < 1000


@pytest.mark.slow
def test_a_license_that_is_a_pipe_is_not_read(tmp_path: Path) -> None:
    tree = Tree(tmp_path, obj(), layout="v1", category="c", identity="i").write()
    os.mkfifo(tree.folder / "model.obj.license")
    a_sparse_file(tree.folder / "LICENSE")
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": {"mesh": "c/i/model.obj"}}]}]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    done = run_bounded(
        "render-specs", "resolve", tmp_path / "spec.json", "--asset-root", tmp_path,
        env={"DIORAMA_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.code == 2
    assert "LICENSE: can't be read: larger than" in done.err


@pytest.mark.parametrize("root", ["..", "../private", "~/private", "{tmp}/private", "link", "down/../../private"])
def test_settings_that_come_with_a_download_name_no_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    for folder in ("private/03001627/a", "download/down"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "download/link").symlink_to(tmp_path / "private")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "download")
    root = root.format(tmp=tmp_path)
    Path("assets.toml").write_text(f'[shapenet]\nroot = "{root}"\n')
    with pytest.raises(UsageError, match="allowed: a folder below this file; pass --shapenet, or use"):
        library()
    Path("assets.toml").rename("mine.toml")
    Path("assets.toml").symlink_to(tmp_path / "download/mine.toml")
    with pytest.raises(UsageError, match="allowed: a folder below this file"):
        library()


def test_a_name_that_no_file_system_takes_is_an_error_of_the_asset(tmp_path: Path) -> None:
    (tmp_path / "loop.glb").symlink_to(tmp_path / "loop.glb")
    for name in ("x" * 300 + ".glb", "loop.glb", "a\0b.glb"):
        with pytest.raises(AssetError, match="asset"):
            find_asset(name, [tmp_path])
