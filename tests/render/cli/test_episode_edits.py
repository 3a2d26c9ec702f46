"""render-episode: one thing changed, looked at, compared, replaced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from PIL import Image

from diorama.render.cli.store import main as store_main
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store import open_at, open_or_create, open_store
from diorama.render.uses.rerender.rerender import replace_stored
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.render.cli.test_episode import SPEC, call

ID = "look/again/7"


def made(spec: dict[str, Any] = SPEC) -> EpisodeRecord:
    """As a run makes it: from its spec."""
    episode, settings = EpisodeSpec.model_validate(spec), settings_for("draft", 96, 72)
    return make_record(FakeRenderer(), episode, render_key_of(episode, settings, "fake"), settings)


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = str(tmp_path / "s.lance")
    open_or_create(url).put([made()])
    return url


def changed_scene(folder: Path) -> Scene:
    return Scene.model_validate_json((folder / "scene.json").read_text())


def test_a_sheet_and_a_plan_of_what_is_stored_need_no_renderer(store: str, tmp_path: Path) -> None:
    done = call(store, ID, "--sheet", tmp_path / "s.png", "--plan", tmp_path / "p.svg", renderer="cycles")
    assert done.stdout.splitlines() == [f"file: {tmp_path / 's.png'}", f"file: {tmp_path / 'p.svg'}"]
    with Image.open(tmp_path / "s.png") as picture:
        assert picture.width > 2 * 96
    assert ElementTree.parse(tmp_path / "p.svg").getroot().tag.endswith("svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.svg", "s.lance", "s.png"]


def test_a_changed_place_moves_that_object_and_no_other(store: str, tmp_path: Path) -> None:
    before = made().scene
    place = "frames[one].objects[b].location"
    done = call(store, ID, "--set", f"{place}=[2.5,-2.5]", "--out", tmp_path / "o")
    assert "edited: frames[0].objects.b.location[0]" in done.stdout
    after = changed_scene(tmp_path / "o")
    b = after.frames[0].objects[1]
    assert b.location == (2.5, -2.5, b.scale)
    frame = before.frames[0]
    objects = (frame.objects[0], frame.objects[1].model_copy(update={"location": b.location}), frame.objects[2])
    assert after.frames == (frame.model_copy(update={"objects": objects}), before.frames[1])
    spec = json.loads((tmp_path / "o" / "spec.json").read_text())
    assert spec["frames"][0]["objects"][1]["location"] == [2.5, -2.5]
    call("--from", tmp_path / "o" / "spec.json", "--out", tmp_path / "again", "--size", "96x72", "--profile", "draft")
    assert changed_scene(tmp_path / "again").frames == after.frames


def test_a_change_of_the_scene_is_made_as_it_stands(store: str, tmp_path: Path) -> None:
    call(store, ID, "--set-scene", "frames[0].objects[a].size=0.9", "--out", tmp_path / "o")
    a = changed_scene(tmp_path / "o").frames[0].objects[0]
    assert (a.scale, a.size, a.location[2]) == (0.9, None, 0.9)
    assert not (tmp_path / "o" / "spec.json").exists()


def test_another_seed_decides_anew_what_the_spec_leaves_open(store: str, tmp_path: Path) -> None:
    call(store, ID, "--seed", 8, "--out", tmp_path / "o")
    before, after = made().scene.frames[0], changed_scene(tmp_path / "o").frames[0]
    assert after.objects[0].location != before.objects[0].location
    assert (after.objects[0].shape, after.pointer) == ("cube", before.pointer)


@pytest.mark.slow
def test_an_object_taken_out_is_gone(store: str, tmp_path: Path) -> None:
    scene = made().scene
    record = make_record(FakeRenderer(), scene, render_key_of(scene, scene.settings, "fake"), scene.settings)
    open_store(store).replace([record.model_copy(update={"episode_id": "from/a-scene"})])
    call(store, "from/a-scene", "--unset", "frames[0].objects[b]", "--out", tmp_path / "p")
    frame = changed_scene(tmp_path / "p").frames[0]
    assert [(item.index, item.name) for item in frame.objects] == [(1, "a"), (2, "pointer")]
    assert frame.pointer is not None and frame.pointer.index == 2
    call(store, ID, "--unset", "frames[0].objects[b]", "--frame", "one", "--out", tmp_path / "o")
    assert [item.name for item in changed_scene(tmp_path / "o").frames[0].objects] == ["a", "pointer"]


def test_other_samples_are_told_and_compared_when_asked(store: str, tmp_path: Path) -> None:
    done = call(store, ID, "--samples", 2, "--compare", "--out", tmp_path / "o", "--json")
    report = json.loads(done.stdout)
    assert report["comparison"]["identical"] and report["changed"] == ["settings samples: 4, now 2"]
    with Image.open(tmp_path / "o" / "one_compare.png") as picture:
        assert picture.width > 3 * 96


def test_a_changed_color_compares_with_figures_and_ends_with_one(store: str, tmp_path: Path) -> None:
    color = "cyan" if made().scene.frames[0].objects[0].color != "cyan" else "red"
    done = call(store, ID, "--set", f"frames[0].objects[a].color={color}", "--compare", "--out", tmp_path / "o", code=1)
    record = made().images[0].annotation.objects[0]
    assert f"one: {record.visible_pixels} pixels differ" in done.stdout and "PSNR" in done.stdout
    assert "two: identical" in done.stdout


@pytest.mark.slow
def test_replaced_in_one_commit_and_brought_back(store: str, tmp_path: Path) -> None:
    change = ("--set", "frames[0].objects[a].rotation_deg=10", "--replace")
    report = json.loads(call(store, ID, *change, "--out", tmp_path / "o", "--json").stdout)
    before = report["replaced"]["before"]
    now = open_store(store).get(ID)
    assert now.scene.frames[0].objects[0].rotation_deg == (0.0, 0.0, 10.0)
    assert now.provenance.attempt == 2 and now.job.spec["frames"][0]["objects"][0]["rotation_deg"] == 10
    assert call(store, ID, "--out", tmp_path / "same").stdout.splitlines()[1] == "identical"
    sheet = tmp_path / "then.png"
    call(store, ID, "--at", before, "--sheet", sheet)
    assert sheet.exists()
    back = ["copy", store, store, "--at", str(before), "--id", ID, "--differing", "replace"]
    assert "replaced 1" in CliRunner().invoke(store_main, back).output
    assert open_store(store).get(ID) == open_at(store, before).get(ID)


def test_replacing_by_the_same_writes_nothing(store: str, tmp_path: Path) -> None:
    version = open_store(store).version
    done = call(store, ID, "--replace", "--out", tmp_path / "o")
    assert "nothing to replace" in done.stdout and open_store(store).version == version


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "frames[0].objects[c].color=red"], "there are: [0] a, [1] b"),
        (["--set", "frames[0].objects[a].colour=red"], "did you mean 'color'?"),
        (["--set-scene", "frames[0].objects[a].color=rad"], "did you mean 'red'?"),
        (["--replace", "--frame", "one"], "leave --frame out"),
        (["--replace", "--samples", "9"], "give --profile instead"),
        (["--replace", "--at", "1"], "--differing replace"),
        (["--set", "a=1", "--set-scene", "a=1"], "give one kind"),
        (["--set-scene", "settings.samples=3"], "pass --profile, --size, --samples"),
        (["--set-scene", "id=other/1"], "would be another episode, 'other/1'"),
        (["--set", "id=other/1"], "would be another episode, 'other/1'"),
        (["--seed", "3", "--set", "frames[0].objects[a].shape=cone"], "frames[0].objects[0].shape"),
        (["--set", 'task["\\q"]=1'], '"\\q" is not a JSON string'),
        (
            ["--set-scene", "frames[0].views[0].camera.sensor_width=0"],
            "camera.sensor_width: found 0; allowed: at least",
        ),
        (["--set-scene", "frames[0].views[0].camera.lens=-1"], "camera.lens: found -1; allowed: at least"),
        (
            [
                "--set-scene",
                "frames[0].views[0].camera.location=[1,2,3]",
                "--set-scene",
                "frames[0].views[0].camera.look_at=[1,2,3]",
            ],
            "frames[0].views[0].camera: found [1.0, 2.0, 3.0] for both location and look_at; allowed: two different",
        ),
        (["--set", "frames[0].camera.location=[1,2,3]", "--set", "frames[0].camera.look_at=[1,2,3]"], "two different"),
        (
            ["--set-scene", "frames[0].objects[0].location=5", "--set-scene", "frames[0].objects[0].color=blue"],
            "[0].lo",
        ),
        (["--sheet", "s.jpg"], "name a .png file"),
        (["--plan", "p.png"], "name a .svg file"),
        (["--save-blend"], "--save-blend needs Blender"),
        (["--compare", "--size", "48x36"], "another size"),
        (["--frame", "onn", "--sheet", "x.png"], "there are: one, two"),
        (["--sheet", "{file}/x.png"], "can't be written"),
        (["--plan", "{file}/x.svg", "--out", "o"], "nothing can be in it"),
        (["--out", "{file}"], "is a file; name a folder"),
        (["--out", "{file}/o", "--set", "frames[0].objects[a].color=cyan"], "nothing can be in it"),
    ],
)
def test_nothing_is_rendered_or_written_where_options_are_wrong(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    def rendered(*_: object) -> None:
        raise AssertionError("rendered, for nothing")

    monkeypatch.setattr(FakeRenderer, "render", rendered)
    file = tmp_path / "file"
    file.write_text("")
    done = call(store, ID, *[o.format(file=file) for o in options], code=2)
    assert words in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "s.lance"]


@pytest.mark.slow
def test_a_frame_taken_out_is_told_and_is_a_difference(store: str, tmp_path: Path) -> None:
    done = call(store, ID, "--unset", "frames[one]", "--compare", "--out", tmp_path / "o", code=1)
    lines = done.stdout.splitlines()
    assert any(line.startswith("edited: frames[one]: {") and line.endswith(", now nothing") for line in lines)
    assert "two: identical" in lines and "one: is no longer made" in lines
    assert json.loads((tmp_path / "o" / "comparison.json").read_text())["gone"] == ["one"]
    done = call(store, ID, "--frame", "two", "--compare", "--out", tmp_path / "p")
    assert "identical" in done.stdout


@pytest.mark.slow
def test_a_stored_spec_keeps_its_relations_and_drawn_things_have_names(tmp_path: Path) -> None:
    frame = {
        "objects": [{"name": "a"}, {"name": "b"}],
        "random_objects": {"count": 2},
        "constraints": [{"relation": "left", "subject": "a", "of": "b"}],
    }
    record = made({**SPEC, "frames": [frame]})
    url = str(tmp_path / "t.lance")
    open_or_create(url).put([record])
    call(url, ID, "--set", "frames[0].objects[object-3].color=cyan", "--out", tmp_path / "o", "--replace")
    now = open_store(url).get(ID)
    assert now.scene.frames[0].objects[3].color == "cyan" and "random_objects" not in now.job.spec["frames"][0]
    right = record.scene.frames[0].objects[1].location
    moved = f"frames[0].objects[a].location=[{min(right[0] + 1.5, 3)},{min(right[1] + 1.5, 3)}]"
    done = call(url, ID, "--set", moved, "--out", tmp_path / "p", code=2)
    assert "a left of b by" in done.stderr and not (tmp_path / "p").exists()
    done = call(url, ID, "--replace", "--out", tmp_path / "q")
    assert "identical" in done.stdout and "nothing to replace" in done.stdout


def test_an_episode_that_another_writer_replaced_meanwhile_is_left_alone(store: str) -> None:
    stored = open_store(store).get(ID)
    theirs = made({**SPEC, "seed": 5})
    open_store(store).replace([theirs])
    with pytest.raises(ConflictError, match="another writer meanwhile; nothing was committed"):
        replace_stored(store, stored, made({**SPEC, "seed": 6}))
    assert open_store(store).get(ID).digest() == theirs.digest()
