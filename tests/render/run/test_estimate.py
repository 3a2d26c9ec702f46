"""Estimates of the time that is left, of episodes' costs, and of runs that have not begun."""

from __future__ import annotations

import heapq
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.run.estimate import Estimator, Work, remember
from diorama.render.run.run_batch import predict
from diorama.render.store.rows import encode
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.shapes.shapenet.loading import cache_folder

STANDARD, DRAFT = settings_for("standard", 320, 240), settings_for("draft", 320, 240)
COSTS = st.lists(st.floats(0.01, 1e3), min_size=2, max_size=20)


def spec(count: int = 1, *, frames: int = 1, **changes: object) -> EpisodeSpec:
    item = {"shape": "cube", "material": changes.pop("material", "rubber")}
    data = {"version": 1, "id": "a", "seed": 1, "frames": [{"objects": [item] * count}] * frames, **changes}
    return EpisodeSpec.model_validate(data)


@given(COSTS, st.floats(1e-3, 1e3))
def test_where_time_follows_cost_the_estimate_is_exact_on_one_worker(costs: list[float], speed: float) -> None:
    estimator, elapsed = Estimator(sum(costs)), 0.0
    for place, cost in enumerate(costs):
        # Half of the next episode is done, too.
        estimator.done(cost, cost * speed)
        elapsed += cost * speed
        rest = costs[place + 1 :]
        begun = [(rest[0], rest[0] * speed / 2)] if rest else []
        left = estimator.left(elapsed + (begun[0][1] if begun else 0.0), begun)
        assert left == pytest.approx(sum(rest) * speed - (begun[0][1] if begun else 0.0), abs=1e-6 * speed * sum(costs))


@given(COSTS, COSTS, st.floats(0.1, 100.0), st.floats(0.5, 1e4))
def test_the_unit_of_cost_does_not_matter_and_time_is_never_negative(
    costs: list[float], seconds: list[float], unit: float, elapsed: float
) -> None:
    plain, scaled = Estimator(2 * sum(costs)), Estimator(2 * sum(costs) * unit)
    for cost, took in zip(costs, seconds, strict=False):
        plain.done(cost, took)
        scaled.done(cost * unit, took)
    begun = [(costs[0], seconds[0] * 3), (costs[-1], 0.0)]
    left = plain.left(elapsed, begun)
    assert left is not None and 0 <= left < math.inf
    assert scaled.left(elapsed, [(cost * unit, took) for cost, took in begun]) == pytest.approx(left, rel=1e-6)


def test_nothing_is_estimated_before_an_episode_is_done_and_failures_teach_nothing() -> None:
    estimator = Estimator(30.0)
    assert estimator.left(5.0, [(10.0, 5.0)]) is None
    estimator.done(10.0)
    assert estimator.left(5.0) is None
    estimator.done(10.0, 20.0)
    assert estimator.left(20.0) == pytest.approx(20.0)


def simulate(costs: list[float], seconds: list[float], workers: int, share: float) -> float:
    """ETA over truth once this share of the run has passed: each free worker takes the next episode."""
    free, spans = [(0.0, worker) for worker in range(workers)], []
    for cost, took in zip(costs, seconds, strict=True):
        start, worker = heapq.heappop(free)
        heapq.heappush(free, (start + took, worker))
        spans.append((cost, start, start + took))
    end = max(end for _, _, end in spans)
    now, estimator = share * end, Estimator(sum(costs))
    for cost, start, finish in spans:
        if finish <= now:
            estimator.done(cost, finish - start)
    left = estimator.left(now, [(cost, now - start) for cost, start, finish in spans if start <= now < finish])
    return math.inf if left is None else left / (end - now)


@pytest.mark.parametrize("workers", [1, 2, 8, 32])
@pytest.mark.parametrize("order", ["random", "short first", "long first"])
def test_after_a_third_of_a_run_of_unequal_episodes_the_estimate_is_within_a_quarter(workers: int, order: str) -> None:
    """Costs spread over a factor of 50, and what an episode takes differs from its cost by 25 %."""
    ratios = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        costs = np.exp(rng.uniform(0, math.log(50), 30 * (workers + 1)))
        if order != "random":
            costs = np.sort(costs)[:: 1 if order == "short first" else -1]
        seconds = costs * 3.0 * np.exp(rng.normal(0, 0.25, len(costs)))
        ratios.append(simulate(list(costs), list(seconds), workers, 1 / 3))
    inside = np.mean([0.75 <= ratio <= 1.25 for ratio in ratios])
    assert inside >= 0.95, f"{inside:.0%} within a quarter, median {np.median(ratios):.2f}"


def test_the_number_of_episodes_alone_would_not_do() -> None:
    costs = np.sort(np.exp(np.random.default_rng(1).uniform(0, math.log(50), 60)))
    assert simulate([1.0] * 60, list(costs), 1, 1 / 3) < 0.6 < 0.9 < simulate(list(costs), list(costs), 1, 1 / 3)


def test_cost_follows_images_pixels_samples_and_glass() -> None:
    one = Work.of(spec(), STANDARD)
    assert (one.images, one.megapixels) == (1, 0.0768)
    assert Work.of(spec(frames=3), STANDARD).cost == pytest.approx(3 * one.cost)
    assert Work.of(spec(), settings_for("standard", 640, 480)).cost > 3.5 * one.cost
    four, eight = (Work.of(spec(), STANDARD.with_samples(samples)).cost for samples in (4, 8))
    assert (one.cost - four) / (eight - four) == pytest.approx(0.66), "24 more samples on 11 % of the image"
    assert 0.3 * one.cost < Work.of(spec(), DRAFT).cost < 0.75 * one.cost
    bright = Work.of(spec(1, material="emission"), STANDARD).cost
    assert 1.2 * one.cost < bright < 2 * one.cost, "8 samples on its ground, and 16 more around it"
    assert bright <= Work.of(spec(1, material="glass"), STANDARD).cost < 2 * one.cost
    assert Work.of(spec(8, material="glass"), STANDARD).cost > 5 * one.cost
    assert Work.of(spec(8, material="glass"), DRAFT).cost == Work.of(spec(), DRAFT).cost
    scene = compile_episode(spec(), STANDARD)
    assert Work.of(scene, scene.settings) == one


def test_the_size_of_an_estimate_is_that_of_the_stored_row() -> None:
    """Small images with passes and many objects were estimated at a thirtieth."""
    frame: dict[str, Any] = {"objects": [{"shape": "cube"}] * 3}
    crowd: dict[str, Any] = {"random_objects": {"count": 10, "sizes": ["small"]}}
    sizes = []
    for data in (frame, crowd, {**frame, "passes": ["depth", "normal", "position"]}):
        one = EpisodeSpec.model_validate({"version": 1, "id": "a", "seed": 1, "frames": [data]})
        settings = settings_for("draft", 96, 72)
        record = make_record(FakeRenderer(), one, render_key_of(one, settings, "fake"), settings)
        sizes.append((len(encode(record)), Work.of(one, settings).expected_bytes))
    assert all(0.4 < size / expected < 2.5 for size, expected in sizes[:2])
    # Arrays of the fake renderer have no noise.
    assert sizes[2][0] < sizes[2][1] and sizes[2][1] > 4 * sizes[0][1]


def test_a_flat_image_costs_about_a_tenth() -> None:
    frame = {"objects": [{"shape": "circle", "color": "red"}]}
    flat = EpisodeSpec.model_validate({"version": 1, "id": "a", "seed": 1, "stage": "flat", "frames": [frame]})
    assert Work.of(flat, STANDARD).cost < 0.12 * Work.of(spec(), STANDARD).cost
    scene = compile_episode(flat, STANDARD)
    assert Work.of(scene, scene.settings).cost == Work.of(flat, STANDARD).cost


def test_runs_teach_the_speed_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    work = Work(10, 1.0, cost=30.0, expected_bytes=4000.0)
    guess = predict(work, 2, "cycles cpu here")
    assert not guess["measured"] and guess["seconds"] == pytest.approx(19.0)
    remember(Work(5, 0.5, cost=10.0, seconds=20.0, bytes=1000.0, expected_bytes=2000.0), "cycles cpu here")
    known = predict(work, 2, "cycles cpu here")
    assert known == {"seconds": 34.0, "bytes": 2000, "measured": True}
    assert not predict(work, 2, "fake cpu here")["measured"]
    remember(Work(5, 0.5, cost=4.0, seconds=400.0), "cycles cpu here")
    assert predict(work, 2, "cycles cpu here") == known, "a run of a few images tells nothing"
    assert predict(Work(), 2, "cycles cpu here")["seconds"] == 0.0
    for _ in range(3):
        remember(Work(5, 0.5, cost=1e4, seconds=1e4, bytes=1000.0, expected_bytes=2000.0), "cycles cpu here")
    assert predict(work, 2, "cycles cpu here")["seconds"] == pytest.approx(19.0, abs=0.3)
    for text in ("{", '{"cycles cpu here": {"cost": NaN}}', '{"cycles cpu here": 3}'):
        (cache_folder() / "speed.json").write_text(text)
        assert predict(work, 2, "cycles cpu here") == guess
    monkeypatch.setenv("DIORAMA_CACHE", "/dev/null/nowhere")
    remember(Work(cost=10.0, seconds=1.0), "cycles cpu here")
