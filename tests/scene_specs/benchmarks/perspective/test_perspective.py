"""Episodes of `perspective`: both proofs reach the answers, of which the camera's point of view has half; tampering."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from operator import mul
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diorama.render.annotations import annotate
from diorama.render.api import compile_spec
from diorama.render.geometry.meshes import load_mesh
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.contrast.contrast import ContrastOptions, contrast_scenes
from diorama.scene_specs.benchmarks.perspective.generate import TASKS, perspective_spec
from diorama.scene_specs.benchmarks.perspective.items import items
from diorama.scene_specs.benchmarks.perspective.sight import CELL, CELLS, Body, Layout, gap, hides, walls_of
from diorama.scene_specs.benchmarks.perspective.truth import TaskName
from diorama.scene_specs.benchmarks.perspective.verify import verify_record, verify_spec
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import ContrastError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeData, EpisodeSpec
from diorama.scene_specs.tasks.items import items_of
from tests.scene_specs.benchmarks.verdict import verdict

COUNT = 2
ALL = pytest.mark.parametrize("task", TASKS)


@lru_cache(maxsize=64)
def _spec(task: TaskName, number: int) -> EpisodeData:
    return perspective_spec(7, "test", task, number)


def spec_of(task: TaskName, number: int) -> EpisodeData:
    return copy.deepcopy(_spec(task, number))


def episode_of(scene: Scene, *annotations: FrameAnnotation) -> EpisodeRecord:
    images = [SimpleNamespace(name=f"scene.{k}", frame="scene", annotation=one) for k, one in enumerate(annotations)]
    return cast(EpisodeRecord, SimpleNamespace(scene=scene, images=images, episode_id=scene.id))


def record_of(spec: Any) -> EpisodeRecord:
    scene = compile_spec(spec, "draft", (320, 240))
    (frame,), renderer = scene.frames, FakeRenderer()
    return episode_of(
        scene, *(annotate(scene, frame, view, renderer.render(scene, frame, view)) for view in frame.views)
    )


@lru_cache(maxsize=64)
def shot(task: TaskName, number: int) -> EpisodeRecord:
    return record_of(spec_of(task, number))


@ALL
def test_what_was_measured_proves_the_answers(task: TaskName) -> None:
    for number in range(COUNT):
        spec = spec_of(task, number)
        assert diagnostics_with_plugins(EpisodeSpec.model_validate(spec)) == []
        assert verify_spec(spec) == ""
        episode = shot(task, number)
        assert verify_record(episode) == ""
        (observer,) = episode.images[0].annotation.observers
        assert math.dist(Layout.of(spec["frames"][0]).eyes(), observer.eye) < 0.01


@ALL
def test_the_camera_is_right_as_often_as_chance_in_each_four_episodes(task: TaskName) -> None:
    truths = [spec_of(task, number)["task"] for number in range(4, 8)]
    right = sum(one["answer"] in one["egocentric"] for one in truths)
    places = Counter(one["options"].index(one["answer"]) for one in truths)
    if task == "facing":
        assert {*places} == {0, 1, 2, 3}
    else:
        assert places == {0: 2, 1: 2}
    expected = {"level-1": 2, "level-2": 2, "second-view": 2, "shelf": 2}
    # Of the other tasks, the camera's point of view can't tell the options apart.
    assert right == expected.get(task, 4)
    assert task in expected or all(sorted(one["egocentric"]) == sorted(one["options"]) for one in truths)


def wrong_truths(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Truths that each differ from a true one in one fact."""
    yield from ({**task, "answer": option} for option in task["options"] if option != task["answer"])
    asked, other = task.get("asked", []), "gray sphere"
    for change in (
        {"person": "Zoe"},
        {"egocentric": ["maybe"]},
        {"asked": [*asked, other]},
        {"asked": [*asked[1:], other]},
        {"asked": asked[1:] if asked else ["red cube"]},
        {"asked": asked * 2 or ["red cube"] * 2},
        {"which": "largest" if task.get("which") == "smallest" else "smallest"},
        # A photograph belongs to one task.
        {"name": "level-2" if task["name"] == "second-view" else "second-view"},
    ):
        yield {**task, **change}


@ALL
def test_tampering_with_the_truth_is_found(task: TaskName) -> None:
    for number in range(COUNT):
        spec, episode = spec_of(task, number), shot(task, number)
        for wrong in wrong_truths(spec["task"]):
            assert verdict(verify_spec, {**spec, "task": wrong}) != "", wrong
            changed = episode.scene.model_copy(update={"task": wrong})
            assert verdict(verify_record, episode_of(changed, *(one.annotation for one in episode.images))) != "", wrong


# Path in the frame -> values about which the geometry can't tell the truth, with words of the reason; `...` removes.
UNFIT: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("observers",), ..., "observers"),
    (("observers",), [], "observers"),
    (("observers", 0, "looks_at"), [0, 0, 0.4], "looks_at"),
    (("observers", 0, "size"), "large", "size"),
    (("observers", 0, "location"), ..., "location"),
    (("observers", 0, "location"), [2, 2, 5], "on the ground"),
    (("objects", 0), ..., "expected one object screen"),
    (("objects", 0, "shape"), "cube", "expected one object screen"),
    (("objects", 0, "size"), 0.05, "expected one object screen"),
    (("objects", 0, "shape", "height"), 0.2, "expected one object screen"),
    (("objects", 0, "material"), "glass", "expected one object screen"),
    (("objects", 0, "material"), {"name": "glass"}, "expected one object screen"),
    (("objects", 1, "shape"), "cone", "one of the shapes"),
    (("objects", 1, "shape"), {"polygon": [[0, 0], [1, 0], [0, 1]]}, "one of the shapes"),
    (("objects", 1, "size"), "small", "size"),
    (("objects", 1, "location"), ..., "location"),
    (("objects", 1, "location"), [2, 2, 2], "on the ground"),
    (("objects", 1, "rotation_deg"), [0, 90, 0], "rotation_deg"),
    (("objects", 1, "color"), ..., "color"),
    (("random_objects",), {"count": 3}, "random_objects"),
    (("camera",), ..., "camera"),
    (("camera", "jitter"), 0.5, "jitter"),
    (("camera", "location"), [0, 0, 9], "straight above"),
]


@pytest.mark.parametrize(("path", "value", "reason"), UNFIT, ids=lambda value: str(value)[:50])
def test_a_spec_that_the_geometry_does_not_fit_is_refused(path: tuple[str | int, ...], value: Any, reason: str) -> None:
    spec = spec_of("level-2", 0)
    place: Any = spec["frames"][0]
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    assert reason in verify_spec(spec)


@pytest.mark.parametrize(
    ("key", "value"), [("size", 1), ("shape", "cube"), ("material", "glass"), ("location", [0, 0, 0.4])]
)
def test_another_shelf_is_refused(key: str, value: Any) -> None:
    spec = spec_of("shelf", 0)
    cells: list[Any] = spec["frames"][0]["objects"][:4]
    for cell in cells:
        cell[key] = value
    assert any(reason in verify_spec(spec) for reason in ("expected cells of a shelf", "on the ground"))


def test_a_person_who_looks_at_a_cell_is_refused() -> None:
    spec = spec_of("shelf", 0)
    (frame,) = spec["frames"]
    cell: Any = next(item for item in frame["objects"] if item["shape"] == "closed_cell")
    cell["name"] = frame["observers"][0]["looks_at"] = "gray closed_cell"
    assert verify_spec(spec) == "found no object, or several, that is a gray closed_cell"


def test_the_geometry_of_a_cell_is_that_of_its_mesh() -> None:
    """All corners are in one of the walls, and each wall begins and ends at the heights of corners."""
    for shape in CELLS:
        cell = {"name": "cell", "shape": shape, "location": [1.0, 2.0], "rotation_deg": 90.0}
        walls = walls_of(cell)
        corners = {tuple(round(CELL * part, 6) for part in row) for row in load_mesh(shape).vertices.tolist()}
        world = {(round(1 - y, 6), round(2 + x, 6), round(z + CELL, 6)) for x, y, z in corners}
        for wall in walls.values():
            assert {round(wall.low, 6), round(wall.height, 6)} <= {z for _, _, z in world}
        for x, y, z in world:
            near = [one for one in walls.values() if gap((x, y), (x, y), one) <= 0.001]
            assert any(one.low - 1e-6 <= z <= one.height + 1e-6 for one in near), (x, y, z)


def test_an_open_cell_shows_what_a_closed_one_hides() -> None:
    spec = spec_of("shelf", 0)
    cells = [item for item in spec["frames"][0]["objects"] if item["shape"] in CELLS]
    assert sorted(item["shape"] for item in cells) == ["closed_cell", "open_cell", "open_cell", "open_cell"]
    (hidden,) = (name for name in spec["task"]["asked"] if not Layout.of(spec["frames"][0]).sees(name))
    for cell in cells:
        cell["shape"] = "open_cell"
    assert Layout.of(spec["frames"][0]).sees(hidden)
    (observer,) = record_of(spec).images[0].annotation.observers
    assert observer.visible[hidden] >= 0.9


def test_a_low_cell_and_a_person_in_front_of_it_hide_nothing() -> None:
    """Lines of sight pass over the back from high up, and come in at the front."""
    wall = walls_of({"name": "cell", "shape": "closed_cell", "location": [0, 0], "rotation_deg": 0})["cell, back"]
    ball = Body((0.0, 0.0), (0.0, 0.0), 0.28, 0.56)
    assert hides(wall, (1.5, 4.0, 1.3), ball)
    assert not hides(wall, (1.5, 4.0, 6.0), ball)
    assert not hides(wall, (0.0, -4.0, 1.3), ball)
    assert not hides(wall, (0.0, 4.0, 1.3), ball._replace(start=(0.3, 0.0), end=(0.3, 0.0)))


def test_what_is_named_is_not_ambiguous() -> None:
    tasks: tuple[TaskName, ...] = ("director", "shelf")
    for task in tasks:
        spec = spec_of(task, 0)
        (frame,), kind = spec["frames"], spec["task"]["asked"][0].split()[-1]
        (person,) = frame["observers"]
        item = next(one for one in frame["objects"] if one["name"] == person["looks_at"])
        person["looks_at"] = f"{item['color']} {kind}"
        item |= {"name": person["looks_at"], "shape": kind}
        assert "may mean another one" in verify_spec(spec)


def test_only_one_frame_is_proved() -> None:
    spec = spec_of("level-1", 0)
    assert "frames" in verify_spec({**spec, "frames": spec["frames"] * 2})
    assert "frames" in verify_spec({**spec, "frames": []})


def test_another_color_is_found() -> None:
    spec = spec_of("level-1", 0)
    spec["frames"][0]["objects"][1]["color"] = "gray"
    assert spec["task"]["asked"][0] in verify_spec(spec)


def test_records_of_changed_scenes_contradict_the_truth() -> None:
    """Without a screen that hides it, the person sees the object; without a person, nothing is proved."""
    number = next(k for k in range(16) if spec_of("level-1", k)["task"]["answer"] == "no" and screen_hides(k))
    spec = spec_of("level-1", number)
    spec["frames"][0]["objects"][0] |= {"shape": "cube", "size": 0.05}
    assert "found 'yes'" in verify_record(record_of(spec))
    del spec["frames"][0]["observers"]
    assert "observers per image: [1]; found [0]" in verify_record(record_of(spec))


def screen_hides(number: int) -> bool:
    """Return whether the screen of an episode of level-1 hides what is asked about, in front of the person."""
    (observer,), truth = shot("level-1", number).images[0].annotation.observers, spec_of("level-1", number)["task"]
    places = {one.name: one.location for one in shot("level-1", number).images[0].annotation.objects}
    away = [there - here for there, here in zip(places[truth["asked"][0]], observer.eye, strict=True)]
    return bool(sum(map(mul, away, observer.gaze)) > 0.6 * math.hypot(*away))


def test_contrasts_move_the_observer_only() -> None:
    spec = EpisodeSpec.model_validate(spec_of("level-1", 0))
    with pytest.raises(ContrastError, match="no contrast of its size: contrasts of perspective move the observer only"):
        contrast_scenes(spec, settings_for("draft", 64, 48), ContrastOptions("size"))
    spec = EpisodeSpec.model_validate(spec_of("second-view", 0))
    with pytest.raises(ContrastError, match="not that of a second camera"):
        contrast_scenes(spec, settings_for("draft", 64, 48), ContrastOptions("observer"))


def test_the_second_camera_is_that_of_the_person() -> None:
    spec = spec_of("second-view", 0)
    views = spec["frames"][0]["views"]
    assert "found 1 of views" in verify_spec({**spec, "frames": [{**spec["frames"][0], "views": views[:1]}]})
    views[1]["location"][0] += 0.05
    assert "location of the second camera" in verify_spec(spec)
    assert verify_record(record_of(spec)) == f"the second image is not what {spec['task']['person']} photographs"


def test_few_places_that_are_drawn_are_near_ties() -> None:
    for task in TASKS:
        drawn = Counter[str]()
        for number in range(2):
            perspective_spec(11, "test", task, number, drawn)
        assert drawn["drawn"] >= 2
        assert drawn["near-ties"] <= 0.1 * drawn["drawn"], task


def test_a_person_who_moved_sees_something_else() -> None:
    """From the opposite place, most answers differ or are not clear."""
    found = 0
    for number in range(8):
        spec = spec_of("level-1", number)
        x, y = spec["frames"][0]["observers"][0]["location"]
        spec["frames"][0]["observers"][0]["location"] = [-x, -y]
        found += verify_spec(spec) != ""
    assert found >= 4


@ALL
def test_questions_name_the_frame_of_reference(task: TaskName) -> None:
    episode = shot(task, 0)
    (item,) = items_of(episode, items)
    text, person = " ".join(part.text for part in item.parts), episode.scene.task["person"]  # type: ignore[index]
    assert person in item.parts[-1].text
    assert "{" not in text
    assert ("from" in item.parts[-1].text.lower()) == (task != "facing")
    assert {*item.rules} == {"egocentric"}
    # Of level-1, being right for the camera is the answer "yes".
    assert ("egocentric" in item.groups) == (task in ("level-2", "second-view", "shelf"))


@pytest.mark.slow
@pytest.mark.parametrize(("task", "number"), [("level-1", 2), ("level-2", 0)])
def test_a_contrast_moves_the_person_alone_and_flips_the_answer(task: TaskName, number: int) -> None:
    spec = EpisodeSpec.model_validate(spec_of(task, number))
    pair = contrast_scenes(spec, settings_for("draft", 64, 48), ContrastOptions("observer"))
    assert {scene.task["answer"] for scene in pair if scene.task} == {*pair[0].task["options"]}  # type: ignore[index]
    moved = [one.name for one, two in zip(*(scene.frames[0].objects for scene in pair), strict=True) if one != two]
    assert moved == [pair[0].task["person"]]  # type: ignore[index]


def test_an_episode_depends_on_its_number_alone() -> None:
    assert perspective_spec(7, "test", "level-1", 2) == spec_of("level-1", 2)
    assert perspective_spec(8, "test", "level-1", 2) != spec_of("level-1", 2)
