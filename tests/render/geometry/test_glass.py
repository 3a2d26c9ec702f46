"""The share of a picture that is glass, and what it does to the number of samples."""

import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Pose, compose, rasterize
from diorama.render.geometry.sampling_plan import (
    FULL_SHARE,
    expected_number,
    glass_share,
    may_show_glass,
    samples_of,
    whole_frame,
)
from diorama.render.geometry.solid import solid
from diorama.render.run.worker import Task
from diorama.scene_specs.model.materials import transmits
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, SceneMaterial
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.reading.source import parse_episode
from tests.distributions import installed, write_distribution

STANDARD = settings_for("standard", 320, 240).with_samples(20, 220)


def scene_of(*objects: dict[str, object], width: int = 320, height: int = 240) -> Scene:
    spec = {"version": 1, "id": "t/glass", "seed": 1, "frames": [{"name": "f", "objects": list(objects)}]}
    return compile_episode(parse_episode(json.dumps(spec), "test"), settings_for("standard", width, height))


def thing(material: str, size: float, x: float, y: float) -> dict[str, object]:
    place = {"location": [x, y, size], "size": size, "rotation_deg": [0, 0, 0]}
    return {"name": f"{material} {x:+.0f}{y:+.0f}", "shape": "cube", "color": "red", "material": material, **place}


def share(scene: Scene) -> float:
    frame = scene.frames[0]
    return glass_share(frame, frame.views[0], scene.settings)


def test_without_glass_there_is_none() -> None:
    scene = scene_of(thing("rubber", 0.7, 0.0, 0.0), thing("metal", 0.7, 2.0, 2.0))
    frame = scene.frames[0]
    assert share(scene) == 0.0
    assert samples_of(STANDARD, frame, frame.views[0]) == 20
    assert samples_of(STANDARD.model_copy(update={"opaque_samples": 5}), frame, frame.views[0]) == 5


def test_images_without_glass_take_fewer_samples_also_without_rectangles() -> None:
    scene, glass = scene_of(thing("rubber", 0.7, 0.0, 0.0)), scene_of(thing("glass", 0.2, 0.0, 0.0))
    settings = STANDARD.model_copy(update={"opaque_samples": 5})
    found = [whole_frame(settings, frame, frame.views[0]).samples for frame in (scene.frames[0], glass.frames[0])]
    assert found == [5, 20]
    more = settings.model_copy(update={"opaque_samples": 30})
    assert samples_of(more, scene.frames[0], scene.frames[0].views[0]) == 20, "never more than `samples`"


def test_little_or_hidden_glass_lights_and_unknown_materials_take_the_samples_of_the_profile() -> None:
    settings = STANDARD.model_copy(update={"opaque_samples": 5})
    hidden = scene_of(thing("glass", 0.35, 0.0, 0.0), thing("rubber", 1.5, 2.0, -2.0))
    assert share(hidden) == 0.0
    unknown = scene_of(thing("rubber", 0.7, 0.0, 0.0)).frames[0]
    (item,) = unknown.objects
    blend = item.model_copy(update={"material": SceneMaterial(name="blend", blend="a.blend", group="g")})
    unknown = unknown.model_copy(update={"objects": (blend,)})
    lit = scene_of(thing("rubber", 0.7, 0.0, 0.0), thing("emission", 0.35, 2.0, 2.0)).frames[0]
    for frame in (scene_of(thing("glass", 0.2, 0.0, 0.0)).frames[0], hidden.frames[0], unknown, lit):
        assert samples_of(settings, frame, frame.views[0]) == 20


@pytest.mark.parametrize("size", [0.35, 0.7, 1.5])
def test_the_share_is_that_of_the_id_pass(size: float) -> None:
    scene = scene_of(thing("glass", size, 0.0, 0.0), thing("rubber", 0.35, 2.0, -2.0))
    frame = scene.frames[0]
    camera = Camera.of(frame.views[0].camera, 320, 240)
    layers = [rasterize(solid(o.shape), Pose(o.rotation_deg, o.scale, o.location), camera) for o in frame.objects]
    ids, _ = compose(layers, 320, 240)
    assert share(scene) == pytest.approx(float(np.mean(ids == 1)), abs=0.004)


def test_what_hides_glass_takes_from_its_share() -> None:
    alone = share(scene_of(thing("glass", 0.35, 0.0, 0.0)))
    hidden = share(scene_of(thing("glass", 0.35, 0.0, 0.0), thing("rubber", 0.35, 0.75, -0.65)))
    assert 0 < hidden < 0.8 * alone


def test_further_samples_grow_with_the_square_of_the_share() -> None:
    found = []
    for size in (0.35, 0.7, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0):
        scene = scene_of(thing("glass", size, 0.0, 0.0))
        frame = scene.frames[0]
        found.append(samples_of(STANDARD, frame, frame.views[0]))
        assert found[-1] == 20 + round(200 * min(share(scene) / FULL_SHARE, 1.0) ** 2)
    assert found == sorted(found)
    assert found[0] <= 21 and found[-1] == 220 and any(20 < count < 220 for count in found)


@pytest.mark.parametrize("size", [(640, 480), (160, 120), (80, 60), (1280, 960)])
def test_the_size_of_the_image_says_nothing(size: tuple[int, int]) -> None:
    things = [thing("glass", 1.3, 0.0, 0.0), thing("glass", 0.35, 2.5, 0.0)]
    assert share(scene_of(*things, width=size[0], height=size[1])) == pytest.approx(share(scene_of(*things)), abs=0.002)


@pytest.mark.parametrize("most", [0, 5, 20])
def test_a_profile_may_leave_it_out(most: int) -> None:
    scene = scene_of(thing("glass", 2.0, 0.0, 0.0))
    frame = scene.frames[0]
    settings = STANDARD.model_copy(update={"glass_samples": most})
    assert samples_of(settings, frame, frame.views[0]) == 20


def test_parallel_rays_show_as_much_as_the_id_pass() -> None:
    scene = scene_of(thing("glass", 1.0, 0.0, 0.0))
    frame = scene.frames[0]
    lens = frame.views[0].camera.model_copy(update={"ortho_scale": 8.0})
    view = frame.views[0].model_copy(update={"camera": lens})
    item = frame.objects[0]
    layer = rasterize(solid(item.shape), Pose(item.rotation_deg, item.scale, item.location), Camera.of(lens, 320, 240))
    assert glass_share(frame, view, scene.settings) == pytest.approx(layer.pixels / (320 * 240), abs=0.004)


def test_glass_behind_the_camera_counts_nothing_and_about_it_everything() -> None:
    scene = scene_of(thing("glass", 1.0, 0.0, 0.0))
    frame = scene.frames[0]
    camera = frame.views[0].camera
    behind = tuple(2 * a - b for a, b in zip(camera.location, camera.look_at, strict=True))
    for place, scale, expected in ((behind, 1.0, 0.0), (camera.location, 5.0, 1.0)):
        item = frame.objects[0].model_copy(update={"location": place, "scale": scale})
        moved = frame.model_copy(update={"objects": (item,)})
        assert glass_share(moved, frame.views[0], scene.settings) == expected


def test_each_view_has_its_own_share_and_a_hand_of_glass_counts() -> None:
    near, far = ({"name": name, "location": [at, 0, at], "look_at": [0, 0, 0.7]} for name, at in (("n", 3), ("f", 9)))
    cube = {"name": "c", "shape": "cube", "color": "red", "material": "rubber", "size": 0.7, "location": [0, 0]}
    pointing = {"name": "f", "objects": [cube], "pointer": {"target": "c", "material": "glass"}, "views": [near, far]}
    spec = json.dumps({"version": 1, "id": "t/glass", "seed": 1, "frames": [pointing]})
    scene = compile_episode(parse_episode(spec, "test"), STANDARD)
    frame = scene.frames[0]
    first, second = (glass_share(frame, view, STANDARD) for view in frame.views)
    assert first > 3 * second > 0


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 1), (11, 300), (16384, 11), (11, 4096)])
def test_no_size_is_too_small_or_too_long(width: int, height: int) -> None:
    assert 0 <= share(scene_of(thing("glass", 1.3, 0.0, 0.0), width=width, height=height)) <= 1


def episode(material: object = None, **frame: object) -> EpisodeSpec:
    objects = [{"shape": "cube"} if material is None else {"shape": "cube", "material": material}]
    spec = {"version": 1, "id": "t/may", "seed": 1, "frames": [{"objects": objects, **frame}]}
    made: EpisodeSpec = parse_episode(json.dumps(spec), "test")
    return made


@pytest.mark.parametrize(
    ("spec", "may"),
    [
        (episode("glass"), True),
        (episode({"name": "glass"}), True),
        (episode("rubber"), False),
        (episode(), False),
        (episode("rubber", random_objects={"count": 2, "materials": ["metal", "glass"]}), True),
        (episode("rubber", random_objects={"count": 2, "materials": ["metal"]}), False),
        (episode("rubber", random_objects={"count": 2}), False),
        (episode("rubber", pointer={"target": "object-0", "material": "glass"}), True),
    ],
)
def test_a_spec_says_whether_there_may_be_glass(spec: EpisodeSpec, may: bool) -> None:
    assert may_show_glass(spec) == may
    scene = compile_episode(spec, settings_for("standard", 64, 48))
    shown = any(item.material.name == "glass" for frame in scene.frames for item in frame.objects)
    assert may_show_glass(scene) == shown
    assert may or not shown


def test_a_pointer_has_the_material_of_its_stage() -> None:
    spec, stage = episode("rubber", pointer={"target": "object-0"}), load_stage("clevr")
    assert stage.pointer is not None and expected_number(transmits, spec) == [0]
    of_glass = stage.model_copy(update={"pointer": stage.pointer.model_copy(update={"material": "glass"})})
    with patch("diorama.render.geometry.sampling_plan.load_stage", return_value=of_glass):
        assert expected_number(transmits, spec) == [1]


def test_a_worker_gets_the_time_of_the_samples_that_glass_takes() -> None:
    given = [Task(episode(material), None, STANDARD).samples for material in ("glass", "rubber")]  # type: ignore[arg-type]
    assert given == [220, 20]
    objects = STANDARD.model_copy(update={"object_samples": 40})
    assert [Task(episode(name), None, objects).samples for name in ("glass", "rubber")] == [660, 60]  # type: ignore[arg-type]


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[None]:
    """Materials of another package: light passes through `ice`, but not through `velvet`."""
    code = "Parameters = build = None\nTRANSMISSIVE = {}\n"
    files = {"lab_stuff/ice.py": code.format(True), "lab_stuff/velvet.py": code.format(False)}
    write_distribution(tmp_path, "lab", {"materials": "* = lab_stuff"}, files)
    with installed(tmp_path):
        yield


@pytest.mark.usefixtures("packages")
def test_a_material_of_another_package_says_that_it_transmits_light() -> None:
    scenes = {name: scene_of(thing(name, 2.0, 0.0, 0.0)) for name in ("glass", "ice", "velvet", "rubber")}
    frames = {name: scene.frames[0] for name, scene in scenes.items()}
    assert {name: samples_of(STANDARD, frame, frame.views[0]) for name, frame in frames.items()} == {
        "glass": 220, "ice": 220, "velvet": 20, "rubber": 20,
    }  # fmt: skip
    assert share(scenes["ice"]) == share(scenes["glass"])
    for name, may in (("ice", True), ("velvet", False), ("rubber", False)):
        assert may_show_glass(episode(name)) == may_show_glass(scenes[name]) == may
        assert Task(episode(name), None, STANDARD).samples == (220 if may else 20)  # type: ignore[arg-type]
    assert may_show_glass(episode("rubber", random_objects={"count": 2, "materials": ["velvet", "ice"]}))


def test_a_node_group_of_a_blend_file_is_not_glass() -> None:
    assert not may_show_glass(episode({"blend": "glass.blend", "group": "glass"}))
