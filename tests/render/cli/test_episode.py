"""render-episode: found, rendered, written, compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

import diorama
from diorama.render.annotations.encode import encode_png
from diorama.render.cli.episode import main
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store import open_or_create
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import EpisodeRecord

SPEC = {
    "version": 1,
    "id": "look/again/7",
    "frames": [
        {"name": "one", "objects": [{"name": "a", "shape": "cube"}, {"name": "b"}], "pointer": {"target": "a"}},
        {"name": "two", "objects": [{"name": "a", "shape": "sphere"}]},
    ],
}


def made() -> EpisodeRecord:
    scene = diorama.compile_spec(SPEC, "draft", (96, 72))
    return make_record(FakeRenderer(), scene, render_key_of(scene, scene.settings, "fake"), scene.settings)


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = str(tmp_path / "s.lance")
    open_or_create(url).put([made()])
    return url


def call(*arguments: object, code: int = 0, renderer: str = "fake") -> Result:
    named = ("--renderer", renderer) if renderer else ()
    done = CliRunner().invoke(main, [*map(str, arguments), *named, "--device", "cpu"])
    assert done.exit_code == code, done.output
    return done


def test_a_stored_episode_is_identical_again(store: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = call(store, "look/again/7", "--out", out, renderer="")
    assert "identical" in done.stdout and str(out) in done.stdout
    names = {path.name for path in out.iterdir()}
    assert {"one.png", "one_overlay.png", "one.json", "two.png", "scene.json", "comparison.json"} <= names
    assert not any("difference" in name for name in names)
    with Image.open(out / "one.png") as picture:
        assert picture.size == (96, 72)


@pytest.mark.slow
def test_the_store_may_be_named_by_the_environment(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_STORE", store)
    assert "identical" in call("look/again/7", "--out", tmp_path / "out").stdout
    monkeypatch.setenv("DIORAMA_STORE", str(tmp_path / "other.lance"))
    assert "identical" in call(store, "look/again/7", "--out", tmp_path / "out").stdout
    monkeypatch.delenv("DIORAMA_STORE")
    monkeypatch.chdir(tmp_path)
    Path(store).rename("diorama.lance")
    assert "identical" in call("look/again/7", "--out", tmp_path / "out").stdout


def test_one_that_was_changed_is_told_and_shown(tmp_path: Path) -> None:
    record = made()
    color = decode_png(record.images[1].png).copy()
    color[10:20, 10:20] = 255 - color[10:20, 10:20]
    images = [record.images[0], record.images[1].model_copy(update={"png": encode_png(color)})]
    url = str(tmp_path / "s.lance")
    open_or_create(url).put([record.model_copy(update={"images": images})])
    done = call(url, "look/again/7", "--out", tmp_path / "out", "--json", code=1)
    report = json.loads(done.stdout)
    assert not report["comparison"]["identical"]
    assert [image["changed_pixels"] for image in report["comparison"]["images"]] == [0, 100]
    assert (tmp_path / "out" / "two_difference.png").exists() and (tmp_path / "out" / "two_stored.png").exists()


def test_another_size_or_profile_moves_nothing_and_is_not_compared(store: str, tmp_path: Path) -> None:
    done = call(
        store, "look/again/7", "--out", tmp_path / "out", "--size", "48x36", "--profile", "standard", "--frame", "two"
    )
    assert "identical" not in done.stdout
    with Image.open(tmp_path / "out" / "two.png") as picture:
        assert picture.size == (48, 36)
    assert not (tmp_path / "out" / "one.png").exists()
    scene = json.loads((tmp_path / "out" / "scene.json").read_text())
    before = made().scene.frames[1].model_dump(mode="json")
    assert scene["frames"] == [before]
    assert scene["settings"]["profile"] == "standard"


def test_from_a_spec_without_a_store(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(SPEC))
    call("--from", file, "--out", tmp_path / "out", "--size", "48x36")
    assert (tmp_path / "out" / "one.png").exists()


def test_a_store_beside_a_spec_is_refused_and_an_id_is_not(store: str, tmp_path: Path) -> None:
    file = tmp_path / "specs.json"
    file.write_text(json.dumps([SPEC, {**SPEC, "id": "look/again/8"}]))
    done = call(store, "look/again/7", "--from", file, "--out", tmp_path / "out", code=2)
    assert f"{store} beside --from" in done.stderr and "give STORE ID, or --from SPEC" in done.stderr
    assert not (tmp_path / "out").exists()
    call("look/again/8", "--from", file, "--out", tmp_path / "out", "--size", "48x36")
    assert json.loads((tmp_path / "out" / "scene.json").read_text())["id"] == "look/again/8"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{store}", "look/agian/7"], "look/agian/7"),
        (["{store}", "look/again/7", "--frame", "three"], "there are: one, two"),
        (["{store}", "look/again/7", "--profile", "standart"], "did you mean 'standard'?"),
        (["{store}"], "give STORE and ID"),
        ([], "give STORE and ID"),
        (["/nowhere/x.lance", "a"], "/nowhere/x.lance"),
    ],
)
def test_what_cannot_be_done_is_said(store: str, tmp_path: Path, arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(
        main, [a.format(store=store) for a in arguments] + ["--out", str(tmp_path / "o"), "--renderer", "fake"]
    )
    assert done.exit_code in (2, 4)
    assert words in done.stderr


LOOK = """
import json, sys
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
scene = bpy.context.scene
things = {o.name: [list(o.location), [s.material.name for s in o.material_slots]] for o in scene.objects}
camera = scene.camera
size = [scene.render.resolution_x, scene.render.resolution_y]
print("FOUND" + json.dumps([things, camera.name, list(camera.location), size]))
"""


@pytest.mark.slow
def test_a_blend_opens_again_with_the_same_objects_at_the_same_places(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(SPEC))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "one.blend").write_text("of an earlier call")
    call(
        "--from",
        file,
        "--out",
        tmp_path / "out",
        "--size",
        "48x36",
        "--profile",
        "draft",
        "--save-blend",
        renderer="cycles",
    )
    names = [path.name for path in (tmp_path / "out").iterdir()]
    assert not [name for name in names if name.startswith(".") or name.endswith(".blend1")]
    frame = json.loads((tmp_path / "out" / "scene.json").read_text())["frames"][0]
    command = [sys.executable, "-c", LOOK, str(tmp_path / "out" / "one.blend")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    things, camera, place, size = json.loads(said.split("FOUND", 1)[1].splitlines()[0])
    for item in frame["objects"]:
        location, materials = things[item["name"]]
        assert location == pytest.approx(item["location"], abs=1e-5)
        assert materials == [item["material"]["name"]]
    assert (camera, size) == ("Camera", [48, 36])
    assert place == pytest.approx(frame["views"][0]["camera"]["location"], abs=1e-5)
    assert {"Light key", "Light fill", "Light back", "Light sun", "Ground clevr"} <= things.keys()
