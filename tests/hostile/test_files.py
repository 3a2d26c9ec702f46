"""Files that never end, files that are none, files that take for ever; and what must not be printed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.hostile.traps import changed, make_store, run_bounded
from tests.marks import slow
from tests.render.store.rendered import rendered
from tests.scene_specs.shapes.shapenet.trees import Tree, obj


@pytest.mark.alike
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("render-specs", "check", "FILE"), "a.json"),
        (("render-specs", "check", "FILE"), "a.jsonl"),
        (("render-specs", "kilogram", "drawings", "FOLDER", "--strict"), "page1-0.svg"),
        (("render-specs", "kilogram", "--data", "FOLDER", "--count", "1"), "dense.json"),
        (("render-specs", "import", "FILE"), "CLEVR_val_scenes.json"),
        (("render-specs", "icca", "score", "FILE"), "played.jsonl"),
        (("render-export", "FILE", "--format", "clevr-masks", "--out", "OUT"), "CLEVR_val_scenes.json"),
        (("render-specs", "iwisdm", "--count", "1", "--config", "FILE"), "c.json"),
    ],
)
@pytest.mark.parametrize("kind", ["fifo", *slow("sparse")])
def test_a_pipe_or_a_huge_file_is_refused_at_once(
    tmp_path: Path, arguments: tuple[str, ...], name: str, kind: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / name
    if kind == "fifo":
        os.mkfifo(path)
    else:
        with path.open("wb") as stream:
            stream.truncate(20 << 30)
    words = [
        word.replace("FILE", str(path)).replace("FOLDER", str(folder)).replace("OUT", str(tmp_path / "out"))
        for word in arguments
    ]
    done = run_bounded(*words)
    assert "Traceback" not in done.err, done.err
    assert done.code == 2, (done.out, done.err)
    assert done.peak < 1500


@pytest.mark.slow
def test_a_face_of_a_million_corners_is_an_error_of_the_model(tmp_path: Path) -> None:
    face = "f " + "1 2 3 " * 1_000_000 + "\n"
    tree = Tree(tmp_path / "lib", obj() + face).write()
    (tmp_path / "s.json").write_text(
        json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": tree.shape}]}]})
    )
    done = run_bounded(
        "render-batch", tmp_path / "s.json", "--dry-run", "--shapenet", tree.root, "--out", tmp_path / "x.lance",
        env={"DIORAMA_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.code == 2, done.err
    assert "a line #32 that is too long" in done.err
    assert done.peak < 1500


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("render-store", "ls"), ("render-store", "create"), ("render-export", "-vv", "--out", "OUT")],
    ids=["reading", "writing", "verbose"],
)
def test_passwords_in_an_endpoint_are_not_printed(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run_bounded(
        *(word.replace("OUT", str(tmp_path / "out")) for word in arguments), "s3://bucket/x",
        env={"AWS_ENDPOINT": "http://user:hunter2@127.0.0.1:9", "AWS_ALLOW_HTTP": "1", "AWS_ACCESS_KEY_ID": "k",
             "AWS_SECRET_ACCESS_KEY": "s3cr3t", "AWS_REGION": "r"},
    )  # fmt: skip
    assert done.code == 4
    assert "hunter2" not in done.out + done.err
    assert "s3cr3t" not in done.out + done.err


@pytest.mark.slow
def test_a_gallery_does_not_publish_where_its_store_is(tmp_path: Path) -> None:
    private = tmp_path / "home-of-somebody"
    private.mkdir()
    store, out = make_store(private), tmp_path / "gallery"
    assert run_bounded("render-gallery", store, "--out", out).code == 0
    for path in out.rglob("*"):
        assert not path.is_file() or b"home-of-somebody" not in path.read_bytes(), path
    # Made again in place, it is still known as the gallery of that store.
    assert "becomes the gallery" not in run_bounded("render-gallery", store, "--out", out).err
    # So is the gallery of an older version, which has the path instead of its hash.
    marker = json.loads((out / "gallery.json").read_text())
    del marker["location_hash"]
    for stored, expected in ((store, False), ("/other/s.lance", True)):
        (out / "gallery.json").write_text(json.dumps({**marker, "store": stored}))
        done = run_bounded("render-gallery", store, "--out", out)
        assert (done.code, "becomes the gallery" in done.err) == (0, expected), done.err


@pytest.mark.alike
@pytest.mark.parametrize("format_name", ["folder", "coco", "clevr", "webdataset", "huggingface"])
def test_one_bad_split_fails_one_episode(tmp_path: Path, format_name: str) -> None:
    bad = rendered("demo/bad", 7)
    scene = bad.scene.model_copy(update={"split": "../../etc"})
    store = make_store(tmp_path, [rendered("demo/a", 1), changed(bad, scene=scene), rendered("demo/z", 2)])
    done = run_bounded("render-export", store, "--format", format_name, "--out", tmp_path / "out")
    assert "Traceback" not in done.err, done.err
    # `folder` has no path with the split in it, so the text is data there.
    assert done.code == (0 if format_name == "folder" else 4)
    assert format_name == "folder" or "demo/bad" in done.err
    written = "".join(
        path.read_bytes().decode("latin-1") + path.name for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert "demo/z" in written or "CLEVR_train_000001" in written, done.err
    assert not (tmp_path.parent / "etc").exists()
