"""Episodes of `perspective`: both proofs reach the answers, of which the camera's point of view has half; tampering."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diorama.render.annotations import annotate
from diorama.render.api import compile_spec
from diorama.render.episode.contrast import ContrastOptions, contrast_scenes
from diorama.render.model.profiles import settings_for
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.perspective.generate import TASKS, perspective_spec
from diorama.scene_specs.benchmarks.perspective.items import items
from diorama.scene_specs.benchmarks.perspective.sight import Layout
from diorama.scene_specs.benchmarks.perspective.truth import TaskName
from diorama.scene_specs.benchmarks.perspective.verify import verify_record, verify_spec
from diorama.scene_specs.checks.semantics import diagnostics_of
from diorama.scene_specs.language.items import items_of
from diorama.scene_specs.language.rendered import FrameAnnotation, RenderedEpisode
from diorama.scene_specs.language.scene import Scene
from diorama.scene_specs.language.spec import EpisodeSpec

COUNT = 2
ALL = pytest.mark.parametrize("task", TASKS)


@lru_cache(maxsize=64)
def _spec(task: TaskName, number: int) -> dict[str, Any]:
    return perspective_spec(7, "test", task, number)


def spec_of(task: TaskName, number: int) -> dict[str, Any]:
    return copy.deepcopy(_spec(task, number))


def episode_of(scene: Scene, annotation: FrameAnnotation) -> RenderedEpisode:
    image = SimpleNamespace(name="scene", frame="scene", annotation=annotation)
    return cast(RenderedEpisode, SimpleNamespace(scene=scene, images=[image], episode_id=scene.id))


@lru_cache(maxsize=64)
def shot(task: TaskName, number: int) -> RenderedEpisode:
    scene = compile_spec(spec_of(task, number), "draft", (320, 240))
    frame, view = scene.frames[0], scene.frames[0].views[0]
    return episode_of(scene, annotate(scene, frame, view, FakeRenderer().render(scene, frame, view)))


@ALL
def test_what_was_measured_proves_the_answers(task: TaskName) -> None:
    for number in range(COUNT):
        spec = spec_of(task, number)
        assert diagnostics_of(EpisodeSpec.model_validate(spec)) == []
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
    expected = {"level-1": 2, "level-2": 2}
    # Of the other tasks, the camera's point of view can't tell the options apart.
    assert right == expected.get(task, 4)
    assert task in expected or all(sorted(one["egocentric"]) == sorted(one["options"]) for one in truths)


def tampered(spec: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Change one fact of the truth, or move the person to the other side of the scene."""
    task, kind = spec["task"], rng.randrange(4)
    if kind == 0:
        task["answer"] = rng.choice([option for option in task["options"] if option != task["answer"]])
    elif kind == 1:
        task["person"] = "Zoe"
    elif kind == 2:
        item = rng.choice(spec["frames"][0]["objects"][1:])
        item["color"] = "gray"
    else:
        task["egocentric"] = ["maybe"]
    return spec


@ALL
def test_tampering_is_found(task: TaskName) -> None:
    rng, missed = random.Random(1), []
    for number in range(24):
        changed = tampered(spec_of(task, number % COUNT), rng)
        named = {*changed["task"].get("asked", ()), *changed["task"]["options"], changed["task"].get("of")}
        gray = {item["name"] for item in changed["frames"][0]["objects"][1:] if item["color"] == "gray"}
        # The color of an object that nobody asks about or looks at is no part of the truth.
        if not verify_spec(changed) and gray <= named | {changed["frames"][0]["observers"][0]["looks_at"]}:
            missed.append(number)
    assert missed == []


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


@pytest.mark.parametrize(("task", "number"), [("level-1", 1), ("level-2", 0)])
def test_a_contrast_moves_the_person_alone_and_flips_the_answer(task: TaskName, number: int) -> None:
    spec = EpisodeSpec.model_validate(spec_of(task, number))
    pair = contrast_scenes(spec, settings_for("draft", 64, 48), ContrastOptions("observer"))
    assert {scene.task["answer"] for scene in pair if scene.task} == {*pair[0].task["options"]}  # type: ignore[index]
    moved = [one.name for one, two in zip(*(scene.frames[0].objects for scene in pair), strict=True) if one != two]
    assert moved == [pair[0].task["person"]]  # type: ignore[index]


def test_an_episode_depends_on_its_number_alone() -> None:
    assert perspective_spec(7, "test", "level-1", 2) == spec_of("level-1", 2)
    assert perspective_spec(8, "test", "level-1", 2) != spec_of("level-1", 2)
