"""CLEVR's and MEWL's files become specs that give all that the files give, and can be compiled as they are."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from diorama.render.cli.specs import main
from diorama.render.compiler import compile_episode
from diorama.render.geometry.camera import Camera
from diorama.scene_specs.benchmarks.clevr.importing import import_published as import_clevr
from diorama.scene_specs.benchmarks.mewl import copies as mewl_copies
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.language.vocabulary import SIZES
from diorama.scene_specs.model.profiles import episode_settings, settings_for
from diorama.scene_specs.model.stage import load_stage
from tests.scene_specs.tasks.importing.published import NOMINAL, clevr_file, jittered, mewl_folder, scene

HAND: dict[str, Any] = {
    "name": None,
    "shape": "arrow",
    "size": "small",
    "material": "rubber",
    "color": "yellow",
    "rotation": 4.97,
}
HAND |= {"3d_coords": [3.0, -1.3, 0.6], "pixel_coords": [203, 161, 8.2]}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_a_clevr_file_gives_everything_it_gives(tmp_path: Path, rng: np.random.Generator) -> None:
    cameras = [jittered(rng) for _ in range(3)]
    scenes = [scene(rng, camera, 6, (480, 320)) for camera in cameras]
    episodes = list(import_clevr(clevr_file(tmp_path / "CLEVR_val_scenes.json", scenes)))
    assert [one.id for one in episodes] == [f"clevr/val/CLEVR_val_{k:06d}" for k in range(3)]
    for one, entry, camera in zip(episodes, scenes, cameras, strict=True):
        assert one.split == "val"
        frame = one.frames[0]
        assert frame.camera is not None
        assert frame.camera.location is not None
        assert frame.camera.jitter == 0
        assert math.dist(frame.camera.location, camera) < 1e-4
        for item, given in zip(frame.objects, entry["objects"], strict=True):
            words = ("shape", "color", "material", "size")
            assert [getattr(item, key) for key in words] == [given[key] for key in words]
            assert item.location == tuple(given["3d_coords"])
            assert isinstance(item.rotation_deg, float)
            turn = math.radians(item.rotation_deg) - given["rotation"]
            assert math.cos(turn) == pytest.approx(1, abs=1e-9)
        assert {(light.name, light.jitter) for light in frame.lights} == {("key", 0), ("fill", 0), ("back", 0)}


def test_the_text_after_the_scenes_is_read_and_must_end(tmp_path: Path, rng: np.random.Generator) -> None:
    file = clevr_file(tmp_path / "a.json", [scene(rng, jittered(rng), 3, (480, 320))])
    text = json.dumps({"scenes": json.loads(file.read_text())["scenes"], "info": {"split": "val"}, "more": 1})
    file.write_text(text + " \n")
    assert len(list(import_clevr(file))) == 1
    for wrong in (text[:-1], text[:-4], text + "}", text.replace("}, ", "} "), text.replace('"more"', "7")):
        file.write_text(wrong)
        with pytest.raises(SpecError, match="JSON"):
            list(import_clevr(file))


def test_two_scenes_of_one_name_are_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    files = [clevr_file(tmp_path / name, [scene(rng, jittered(rng), 3, (480, 320))]) for name in ("a.json", "b.json")]
    out = tmp_path / "out.jsonl"
    done = CliRunner().invoke(main, ["import", "--from", "clevr", *map(str, files), "--out", str(out)])
    assert done.exit_code == 2 and "b.json: episode clevr/val/CLEVR_val_000000: an earlier scene" in done.stderr
    assert not out.exists()


def test_a_published_layout_is_obeyed_by_the_compiler(tmp_path: Path, rng: np.random.Generator) -> None:
    """Also one that no layout of ours would be: hidden objects, outside the area, out of the picture."""
    entry = scene(rng, jittered(rng), 4, (480, 320))
    entry["objects"].append(entry["objects"][0] | {"3d_coords": [6.5, 9.25, 0.7], "size": "large"})
    del entry["objects"][-1]["pixel_coords"]
    (episode,) = import_clevr(clevr_file(tmp_path / "a.json", [entry]))
    check_spec(episode)
    compiled = compile_episode(episode, settings_for("draft", 480, 320)).frames[0]
    for item, given in zip(compiled.objects, entry["objects"], strict=True):
        assert item.location == pytest.approx(given["3d_coords"], abs=1e-6)
    assert compiled.views[0].camera.location == pytest.approx(episode.frames[0].camera.location, abs=1e-6)  # type: ignore[union-attr]


def test_a_single_scene_is_an_episode(tmp_path: Path, rng: np.random.Generator) -> None:
    file = tmp_path / "my scene.json"
    file.write_text(json.dumps(scene(rng, jittered(rng), 3, (320, 240), names=True)))
    (ours,) = import_clevr(file)
    (theirs,) = import_mewl(file)
    assert (ours.stage, theirs.stage) == ("clevr", "mewl")
    assert (ours.id, theirs.id) == ("clevr/my-scene", "mewl/my-scene")
    assert ours.frames == theirs.frames
    assert [item.name for item in ours.frames[0].objects] == ["o0", "o1", "o2"]


def test_a_mewl_episode(tmp_path: Path, rng: np.random.Generator) -> None:
    _, cameras = mewl_folder(tmp_path, rng)
    (episode,) = import_mewl(tmp_path)
    assert episode.stage == "mewl"
    check_spec(episode)
    assert (episode.id, episode.split) == ("mewl/train/shape/12", "train")
    assert [frame.name for frame in episode.frames] == [*(f"context-{k}" for k in range(6)), "question"]
    assert [frame.utterance for frame in episode.frames] == ["supri", "supri", "ecle", "ecle", "toma", "toma", None]
    assert episode.task is not None
    assert (episode.task["name"], episode.task["answer"]) == ("shape", "ecle")
    assert episode.task["options"] == ["supri", "ecle", "toma", "gip", "wom"]
    for frame, camera in zip(episode.frames, cameras, strict=True):
        assert frame.camera is not None
        assert frame.camera.location is not None
        assert math.dist(frame.camera.location, camera) < 1e-3


@pytest.mark.parametrize(("folder", "given"), [("train", "shape"), ("train/shape/12", "."), ("train/shape/12", "..")])
def test_relative_paths_have_the_same_ids(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, folder: str, given: str
) -> None:
    mewl_folder(tmp_path, rng)
    monkeypatch.chdir(tmp_path / folder)
    (episode,) = import_mewl(Path(given))
    assert (episode.id, episode.split, (episode.task or {})["name"]) == ("mewl/train/shape/12", "train", "shape")


def test_queries_of_several_episodes_have_their_folders_in_their_ids(tmp_path: Path, rng: np.random.Generator) -> None:
    folder, _ = mewl_folder(tmp_path, rng)
    (episode,) = import_mewl(folder / "question.json")
    assert episode.id == "mewl/train/shape/12/question"


def test_what_no_spec_can_hold_is_a_fault_of_its_file(tmp_path: Path, rng: np.random.Generator) -> None:
    folder, _ = mewl_folder(tmp_path, rng)
    info = (folder / "info.json").read_text()
    (folder / "info.json").write_text(info.replace('"answer": "ecle"', '"answer": "\\ud800"'))
    with pytest.raises(SpecError, match=r"info\.json:1: question\.answer: a string with half of a surrogate pair"):
        list(import_mewl(tmp_path))
    panels = json.loads(info)
    panels["context_panels"] *= 200
    (folder / "info.json").write_text(json.dumps(panels))
    with pytest.raises(SpecError, match=r"info\.json: frames: .* a list of 1 to 1000 frames"):
        list(import_mewl(tmp_path, "nominal"))
    (folder / "info.json").write_text(info)
    scene_file = folder / "question.json"
    entry = json.loads(scene_file.read_text())
    scene_file.write_text(json.dumps({**entry, "objects": entry["objects"] * 40}))
    with pytest.raises(SpecError, match=r"question\.json: objects: .* at most 100 items"):
        list(import_mewl(tmp_path, "nominal"))


def test_facts_of_a_scene_of_mewl_follow_from_others(rng: np.random.Generator) -> None:
    """Of images of one to three objects, whose cameras need not follow: looks by name, the hand's, pixel columns."""
    size = (320, 240)
    shown = 320, NOMINAL.lens / NOMINAL.sensor_width * 320
    info = mewl_copies.Info.model_validate({"context_panels": [], "question": {}})
    for _ in range(300):
        honest = scene(rng, jittered(rng), int(rng.integers(1, 4)), size)
        assert [*mewl_copies.in_scene(honest, SIZES, info, shown)] == []
        moved = deepcopy(honest)
        moved["objects"][0]["3d_coords"][0] += 3.0
        ((path, _),) = mewl_copies.in_scene(moved, SIZES, info, shown)
        assert path == ("objects", 0, "pixel_coords", 0)
        # An export records its camera, and some images have no known size.
        assert [*mewl_copies.in_scene({**moved, "camera": {}}, SIZES, info, shown)] == []
        assert [*mewl_copies.in_scene(moved, SIZES, info, None)] == []
    item = honest["objects"][0]
    look = [item[kind] for kind in ("shape", "color", "material", "size")]
    info = info.model_copy(update={"objects": {"ecle #1": look, "ecle #2": ["cone", *look[1:]]}})
    for name, expected in (("ecle #1", []), ("ecle #2", [("objects", 0)]), ("ecle #3", [("objects", 0)])):
        item["name"] = name
        assert [path for path, _ in mewl_copies.in_scene(honest, SIZES, info, shown)] == expected
    hand = {**item, **dict(zip(("shape", "color", "material", "size"), mewl_copies.HAND, strict=True)), "name": None}
    for size_word, expected in (("small", []), ("large", [("objects", len(honest["objects"]))])):
        item["name"] = None
        pointing = {**honest, "objects": [*honest["objects"], {**hand, "size": size_word}]}
        assert [path for path, _ in mewl_copies.in_scene(pointing, SIZES, info, shown)] == expected


def test_an_import_without_episodes_is_an_error(tmp_path: Path) -> None:
    file, out = tmp_path / "set-pos-hard/annotation/test_annotation.json", tmp_path / "specs.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    done = CliRunner().invoke(main, ["import", "--from", "malevic", str(file), "--out", str(out)])
    assert (done.exit_code, out.exists()) == (2, False)
    assert "test_annotation.json: has no episode" in done.output


def test_faults_of_all_files_of_an_episode_are_named(tmp_path: Path, rng: np.random.Generator) -> None:
    folder, _ = mewl_folder(tmp_path, rng)
    (folder / "ecle #1.json").unlink()
    (folder / "question.json").write_text('{"objects": [{"shape": "cone"}]}')
    with pytest.raises(SpecError) as caught:
        list(import_mewl(tmp_path))
    files = {Path(diagnostic.file).name for diagnostic in caught.value.diagnostics}
    assert files == {"ecle #1.json", "question.json"}


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", ".hidden", "", None, 3])
def test_names_in_info_are_no_paths(tmp_path: Path, rng: np.random.Generator, name: object) -> None:
    folder, _ = mewl_folder(tmp_path, rng)
    info = json.loads((folder / "info.json").read_text())
    info["context_panels"][0]["name"] = name
    (folder / "info.json").write_text(json.dumps(info))
    with pytest.raises(SpecError, match=r"context_panels\[0\]\.name"):
        list(import_mewl(tmp_path))


def hand_scene(rng: np.random.Generator) -> dict[str, Any]:
    entry = scene(rng, jittered(rng), 3, (320, 240), names=True)
    entry["objects"].append(HAND)
    entry["points_to"] = 1
    return entry


def test_the_hand_becomes_a_pointer(tmp_path: Path, rng: np.random.Generator) -> None:
    entry = hand_scene(rng)
    (tmp_path / "a.json").write_text(json.dumps(entry))
    (episode,) = import_mewl(tmp_path / "a.json")
    frame = episode.frames[0]
    assert len(frame.objects) == 3
    assert frame.pointer is not None
    assert frame.pointer.target == frame.objects[1].name
    assert frame.pointer.location == tuple(HAND["3d_coords"])


@pytest.mark.parametrize("wrong", [None, 3, -1, "o1", True])
def test_a_hand_that_points_at_nothing_is_named(tmp_path: Path, rng: np.random.Generator, wrong: object) -> None:
    entry = hand_scene(rng) | {"points_to": wrong}
    (tmp_path / "a.json").write_text(json.dumps(entry))
    with pytest.raises(SpecError, match=r"points_to: found .*; allowed: the index of an object, 0 to 2"):
        list(import_mewl(tmp_path / "a.json"))


@pytest.mark.parametrize("change", ["one object", "no pixels", "other depths"])
def test_a_camera_that_cannot_be_recovered(
    tmp_path: Path, rng: np.random.Generator, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    entry = scene(rng, jittered(rng), 1 if change == "one object" else 4, (320, 240))
    for number, item in enumerate(entry["objects"]):
        if change == "no pixels":
            del item["pixel_coords"]
        elif change == "other depths":
            item["pixel_coords"][2] += (-1) ** number * 0.5
    file = clevr_file(tmp_path / "a.json", [entry])
    (episode,) = import_clevr(file)
    assert episode.frames[0].camera is not None
    assert episode.frames[0].camera.location == load_stage("clevr").camera.location
    assert episode.frames[0].camera.jitter == 0
    assert "can't be recovered" in caplog.text
    with pytest.raises(SpecError, match="can't be recovered"):
        list(import_clevr(file, strict=True))
    assert list(import_clevr(file, camera="nominal", strict=True)) == [episode]


def test_relations_are_the_image_s_or_the_file_s(tmp_path: Path, rng: np.random.Generator) -> None:
    entry = scene(rng, jittered(rng), 5, (320, 240))
    entry["directions"] = {"right": [0.6, 0.8, -0.0], "front": [0.8, -0.6, 0.0]}
    file = clevr_file(tmp_path / "a.json", [entry])
    (by_image,), (by_file,) = import_clevr(file), import_clevr(file, relations="file")
    assert by_image.frames[0].camera is not None
    assert by_image.frames[0].camera.right is None
    assert by_file.frames[0].camera == by_image.frames[0].camera.model_copy(update={"right": (0.6, 0.8)})
    camera = compile_episode(by_file, episode_settings(by_file)).frames[0].views[0].camera
    assert camera.right == (0.6, 0.8)
    directions = Camera.of(camera, 320, 240).directions()
    assert directions["front"] == (0.8, -0.6, 0.0)
    assert directions["left"] == (-0.6, -0.8, 0.0)
    assert math.isclose(sum(a * b for a, b in zip(directions["right"], directions["behind"], strict=True)), 0.0)
    del entry["directions"]
    with pytest.raises(SpecError, match=r"directions\.right: found null; allowed: 3 numbers"):
        list(import_clevr(clevr_file(tmp_path / "b.json", [entry]), relations="file"))


def test_keys_that_are_not_read_are_named_once(
    tmp_path: Path, rng: np.random.Generator, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [scene(rng, jittered(rng), 4, (480, 320)) | {"class_id": 2, "confounder": True} for _ in range(3)]
    for entry in entries:
        entry["objects"][0]["mood"] = "good"
    episodes = list(import_clevr(clevr_file(tmp_path / "hans.json", entries)))
    assert [(episode.task or {})["class_id"] for episode in episodes] == [2, 2, 2]
    assert all((episode.task or {})["image_size"] == [480, 320] for episode in episodes)
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'hans.json'}: keys that are not read: confounder, mood"
    ]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"shape": "cone"}, "shape", "cube, sphere, cylinder"),
    ({"color": "grey"}, "color", "did you mean 'gray'?"),
    ({"material": None}, "material", "rubber, metal, glass"),
    ({"size": "medium"}, "size", "large, small"),
    ({"3d_coords": [1, 2]}, "3d_coords", "3 numbers"),
    ({"3d_coords": [1, 2, "3"]}, "3d_coords", "3 numbers"),
    ({"3d_coords": [1, 2, 1e300]}, "3d_coords", "10000"),
    ({"rotation": None}, "rotation", "a number"),
    ({"pixel_coords": [1, 2]}, "pixel_coords", "3 numbers"),
]


@pytest.mark.parametrize(("change", "key", "part"), WRONG)
def test_wrong_values_are_faults_with_their_place(
    tmp_path: Path, rng: np.random.Generator, change: dict[str, Any], key: str, part: str
) -> None:
    scenes = [scene(rng, jittered(rng), 4, (480, 320)) for _ in range(3)]
    scenes[1]["objects"][2] |= change
    good: list[Any] = []
    file = clevr_file(tmp_path / "a.json", scenes)
    with pytest.raises(SpecError) as caught:
        # One by one: the good ones are given before the diagnostics are raised.
        for one in import_clevr(file):
            good.append(one)
    (diagnostic,) = caught.value.diagnostics
    assert len(good) == 2
    assert diagnostic.path == f"scenes[1].objects[2].{key}"
    assert part in str(diagnostic)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "not JSON"),
        (b'{"scenes": [', "not JSON"),
        (b"[1, 2]", "not a CLEVR scene file"),
        (b'{"info": {}}', "not a CLEVR scene file"),
        (b'{"scenes": [3]}', "a scene"),
        (b'{"scenes": [{"objects": [3]}]}', "an object"),
        (b'{"objects": [{"rotation": NaN}]}', "NaN"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"[" * 100000, "nested"),
    ],
)
def test_wrong_files_are_faults(tmp_path: Path, content: bytes, part: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(SpecError, match=part):
        list(import_clevr(tmp_path / "a.json"))


def test_a_folder_without_episodes_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no info\.json"):
        list(import_mewl(tmp_path))
