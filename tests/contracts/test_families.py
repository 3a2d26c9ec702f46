"""What every family of invented shapes promises: closed meshes that stand, and steps that lead away from the start."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from diorama.scene_specs.benchmarks.novel.surface_distance import chamfer
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.shapes.invented.invented_mesh import invented_mesh, mass_center
from tests.contracts.members import members


@pytest.mark.parametrize("family", members("families"))
@pytest.mark.parametrize("seed", range(4))
def test_a_shape_is_closed_and_stands_stably(family: str, seed: int) -> None:
    vertices, triangles = invented_mesh(f"invented:{family}/{seed}")
    assert len(triangles) <= 20_000
    edges = Counter((a, b) for t in triangles.tolist() for a, b in zip(t, t[1:] + t[:1], strict=True))
    assert set(edges.values()) == {1} and all((b, a) in edges for a, b in edges)
    assert set(np.unique(triangles)) == set(range(len(vertices)))
    # One surface: faces - edges + vertices = 2.
    assert len(triangles) - len(edges) // 2 + len(vertices) == 2
    assert np.isclose(vertices[:, 2].min(), -1, atol=1e-5)
    assert np.hypot(vertices[:, 0], vertices[:, 1]).max() <= 1 + 1e-4 and vertices[:, 2].max() <= 1 + 1e-4
    assert (np.abs(vertices * 1e5 - np.round(vertices * 1e5)) < 1e-6).all()
    base = vertices[vertices[:, 2] < -0.99999]
    (x, y, _), _ = mass_center(vertices, triangles)
    # The center of mass is above the base, which reaches at least 0.03 beyond it in each of 16 directions.
    for turn in np.arange(16) * np.pi / 8:
        assert ((base[:, 0] - x) * np.cos(turn) + (base[:, 1] - y) * np.sin(turn)).max() > 0.03


@pytest.mark.parametrize("family", members("families"))
def test_nothing_is_below_the_ground_at_the_ends_of_an_axis(family: str) -> None:
    for axis in plugin("families", family).load().AXES:
        for seed in range(4, 24):
            vertices, _ = invented_mesh(f"invented:{family}/{seed}?{axis}={seed % 2}")
            assert np.isclose(vertices[:, 2].min(), -1, atol=1e-5), (axis, seed)


@pytest.mark.slow
@pytest.mark.parametrize("family", members("families"))
def test_steps_along_an_axis_go_away_from_the_start(family: str) -> None:
    for axis in plugin("families", family).load().AXES:
        names = [f"invented:{family}/3?{axis}={k / 4:g}" for k in range(5)]
        away = [chamfer(names[0], name) for name in names]
        assert away[0] == 0 and (np.diff(away) > 0).all(), (axis, away)
