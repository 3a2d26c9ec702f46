"""The search: its strips keep the distribution, its batches change nothing, its order suits chains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.compiler.constraints import Demand, Rules
from diorama.render.compiler.placement import Tally, free_strips, placing_order
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.spec import EpisodeSpec

STANDARD = settings_for("standard", 320, 240)


def frame_of(seed: int, **frame: Any) -> SceneFrame:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "placing", "seed": seed, "frames": [frame]})
    return compile_episode(spec, STANDARD).frames[0]


@given(
    st.lists(st.floats(-8, 8), min_size=0, max_size=6),
    st.floats(0.1, 2),
    st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20),
)
def test_strips_leave_out_what_is_taken(taken: list[float], margin: float, shares: list[float]) -> None:
    strips = free_strips(np.array([-5.0]), np.array([5.0]), np.array([taken]).reshape(1, -1), margin)
    grid = np.linspace(-5, 5, 4001)
    free = (np.abs(grid[:, None] - np.array(taken)[None, :]) >= margin).all(axis=1) if taken else np.ones(4001, bool)
    assert float(strips.total[0]) == pytest.approx(10 * free.mean(), abs=0.06)
    if strips.total[0] > 1e-6:
        for value in strips.at(np.array([shares]))[0]:
            assert -5 - 1e-9 <= value <= 5 + 1e-9
            assert all(abs(value - other) >= margin - 1e-9 for other in taken)


def by_rejection(margin: float, right: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Uniform places in the area that keep the margin from the origin along both axes, the slow way."""
    places = np.random.default_rng(0).uniform(-3, 3, (count, 2))
    front = np.array([right[1], -right[0]])
    kept: NDArray[np.float64] = places[(np.abs(places @ right) >= margin) & (np.abs(places @ front) >= margin)]
    return kept


def test_strips_keep_the_distribution() -> None:
    """Places beside a given object, drawn from strips, spread like places drawn by rejection over the whole area."""
    rules = [{"axis_margin": 1.5}, {"min_distance": 0}, {"min_visible_pixels": 0}, {"in_frame": False}]
    given_one = {"name": "a", "location": [0, 0], "size": 0.01}
    drawn = np.array(
        [
            frame_of(seed, objects=[given_one, {"size": 0.01}], constraints=rules, camera={"jitter": 0})
            .objects[1]
            .location[:2]
            for seed in range(400)
        ]
    )
    slow = by_rejection(1.5, np.array([0.65628, 0.75452]), 100_000)
    edges = [np.linspace(-3, 3, 5)] * 2
    expected = np.histogramdd(slow, edges)[0].ravel() / len(slow) * len(drawn)
    counts = np.histogramdd(drawn, edges)[0].ravel()
    busy = expected > 4
    assert counts[~busy].sum() <= expected[~busy].sum() + 12
    # 99.9 % quantile of chi-square with at most 15 degrees of freedom.
    assert ((counts - expected)[busy] ** 2 / expected[busy]).sum() < 37.7


@pytest.mark.parametrize("seed", range(6))
def test_how_many_layouts_run_side_by_side_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = {"random_objects": {"count": 9}}
    usual = frame_of(seed, **frame)
    monkeypatch.setattr("diorama.render.compiler.layout._BATCHES", (1,))
    assert frame_of(seed, **frame) == usual


def test_a_chain_is_placed_from_its_middle() -> None:
    count = 7
    rules = Rules(
        names=tuple("abcdefg"),
        fixed=np.zeros(count, dtype=bool),
        scales=np.full(count, 0.35),
        radii=np.full(count, 0.35),
        hulls=(None,) * count,
        min_distance=0.25,
        axis_margin=0.4,
        in_frame=True,
        distance_stated=False,
        margin_stated=False,
        frame_stated=False,
        visible=(200,) * count,
        visible_stated=(False,) * count,
        demands=tuple(Demand(0, k, k + 1, 0.4, "") for k in range(count - 1)),
    )
    least = (rules.least(0), rules.least(1))
    assert least[0][0, 6] == pytest.approx(6 * 0.4)
    order = placing_order(rules, least, range(count))
    assert order[0] == 3
    assert set(order[1:3]) == {1, 5}
    assert sorted(order) == list(range(count))


def test_rejections_of_a_constraint_add_up_by_layout() -> None:
    tally = Tally(4, np.array([0, 2, 3]))
    tally.add("a", np.array([True, False, True]), np.array([5, 7]))
    tally.add("a", np.array([False, True, True]), 2)
    tally.add("b", np.array([True, False, False]), 1)
    assert {label: counts.tolist() for label, counts in tally.refused.items()} == {"a": [5, 0, 2, 9], "b": [1, 0, 0, 0]}


# clevr's ground rises behind the objects: from there, and from below, it hides them.
@pytest.mark.parametrize(
    "camera", [{"yaw_deg": 230, "elevation_deg": 10, "distance": 16}, {"elevation_deg": -25, "distance": 12}]
)
def test_a_camera_that_the_ground_hides_all_from_is_refused(camera: dict[str, Any]) -> None:
    with pytest.raises(CompileError, match="the ground is between the camera and object-0"):
        frame_of(3, objects=[{"size": "large"}], camera=camera)
    assert frame_of(3, objects=[{"size": "large"}], camera=camera, constraints=[{"min_visible_pixels": 0}]).objects
    assert frame_of(3, objects=[{"size": "large"}], camera={**camera, "elevation_deg": 30}).objects
