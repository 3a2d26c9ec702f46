"""`tools perspective`: the judge reaches the stored answers by rays, and notices what is tampered with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diorama.render.api import compile_spec
from diorama.scene_specs.benchmarks.perspective.generate import TASKS, perspective_spec
from diorama.scene_specs.benchmarks.perspective.truth import TaskName
from tools.claims.perspective import SIDES, exported, judged, meet, own_eye, pictured, share_seen, tampered


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_judge_agrees_and_notices_what_is_tampered_with(task: TaskName) -> None:
    for number in range(2):
        spec = perspective_spec(3, "val", task, number)
        facts = exported(compile_spec(spec, "draft", (320, 240)))
        assert judged(facts) == spec["task"]["answer"]
        if task in SIDES:
            assert [pictured(facts)] == spec["task"]["egocentric"]
        assert not facts["differs"]
        assert judged(tampered(facts, spec["task"])) != spec["task"]["answer"]


def test_a_wrong_eye_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nod of the head left out, as a fault of the annotations would be."""
    scene = compile_spec(perspective_spec(3, "val", "facing", 0), "draft", (320, 240))
    monkeypatch.setattr("diorama.render.geometry.person._HEAD_NOD", 0.0)
    assert exported(scene)["differs"]


def test_a_photograph_from_elsewhere_is_noticed() -> None:
    spec = perspective_spec(3, "val", "second-view", 0)
    spec["frames"][0]["views"][1]["location"][0] += 0.1
    facts = exported(compile_spec(spec, "draft", (64, 48)))
    assert facts["differs"]
    # Turned around, it shows neither object.
    facts["photo"]["extrinsics"] = [
        [-x for x in row] if k in (0, 2) else row for k, row in enumerate(facts["photo"]["extrinsics"])
    ]
    assert judged(facts) == ""


def test_an_eye_follows_from_the_pose() -> None:
    """Half a turn about Z; the head turns by 65 of 80 degrees, the gaze by all."""
    person = {"shape": "person:80/0", "rotation": [0, 0, 0, 1], "scale": 2.0, "location": [1.0, 0.0, 2.0]}
    eye, gaze = own_eye(person)
    around = np.radians([65, 80])
    # The eyes are 0.335 in front of the neck, and 0.6 above the middle of the person.
    assert eye == pytest.approx([1 - 0.67 * np.sin(around[0]), 0.67 * np.cos(around[0]), 3.2])
    assert gaze == pytest.approx([-np.sin(around[1]), np.cos(around[1]), 0])


def test_rays_are_stopped_by_what_is_between_their_ends() -> None:
    wall = np.array([[[-1.0, 2.0, -1.0], [1.0, 2.0, -1.0], [0.0, 2.0, 1.0]]])
    rays = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 0.0], [0.0, -3.0, 0.0], [3.0, 3.0, 0.0]])
    assert meet(np.zeros(3), rays, wall).tolist() == [True, False, False, False]


def test_a_screen_between_an_eye_and_an_object_hides_it() -> None:
    ball: dict[str, Any] = {"name": "red sphere", "shape": "sphere", "scale": 0.3, "rotation": [1, 0, 0, 0]}
    screen = {"name": "screen", "scale": 1.0, "rotation": [1, 0, 0, 0], "location": [0, 2, 0]}
    corners = [[-1, -0.1], [1, -0.1], [1, 0.1], [-1, 0.1]]
    facts = {
        "observers": [{"name": "Ann", "eye": [0, 0, 0], "gaze": [0, 1, 0]}],
        "outlines": {"screen": {"polygon": corners, "height": 2.0}},
    }
    shares = [
        share_seen({**facts, "objects": [screen, {**ball, "location": place}]}, "red sphere")
        for place in ([0, 4, 0], [4, 4, 0], [2, 4, 0], [0, -4, 0])
    ]
    assert (shares[0], shares[1], shares[3]) == (0, 1, 0)
    assert 0.3 < shares[2] < 0.7
