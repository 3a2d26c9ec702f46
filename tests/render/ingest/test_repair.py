"""Repairs on meshes of which the answer is known."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diorama.render.ingest.repair import live_faces, oriented, weld


def sphere(level: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    trimesh: Any = importlib.import_module("trimesh")
    made = trimesh.creation.icosphere(subdivisions=level)
    return np.array(made.vertices), np.array(made.faces, dtype=np.int64)


def volume(vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum()) / 6


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 1), level=st.integers(0, 3), pieces=st.integers(1, 4))
def test_any_faces_turned_over_are_turned_back(seed: int, share: float, level: int, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    vertices, triangles = sphere(level)
    cloud = np.concatenate([vertices + 3.0 * k for k in range(pieces)])
    faces = np.concatenate([triangles + len(vertices) * k for k in range(pieces)])
    wrong = rng.random(len(faces)) < share
    broken = np.where(wrong[:, None], faces[:, ::-1], faces)
    order = rng.permutation(len(faces))
    mended, count = oriented(cloud, broken[order])
    assert volume(cloud, mended) == pytest.approx(volume(cloud, faces))
    assert count == int(wrong.sum())
    assert np.array_equal(np.sort(mended, axis=1), np.sort(faces[order], axis=1))


def test_a_large_piece_is_done_in_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.ingest.repair._ROUNDS", 24)
    vertices, triangles = sphere(5)
    rng = np.random.default_rng(1)
    wrong = rng.random(len(triangles)) < 0.5
    mended, _ = oriented(vertices, np.where(wrong[:, None], triangles[:, ::-1], triangles))
    assert np.array_equal(mended, triangles) or volume(vertices, mended) > 4.0


def test_a_strip_that_cannot_agree_ends_all_the_same() -> None:
    count = 12
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    rims = [
        np.stack([(1 + s * np.cos(a / 2)) * np.cos(a), (1 + s * np.cos(a / 2)) * np.sin(a), s * np.sin(a / 2)])
        for a in angles
        for s in (-0.3, 0.3)
    ]
    faces = []
    for k in range(count):
        low, high = 2 * k, 2 * k + 1
        after, beyond = (2 * k + 2, 2 * k + 3) if k + 1 < count else (1, 0)
        faces += [(low, after, high), (high, after, beyond)]
    mended, _ = oriented(np.array(rims), np.array(faces, dtype=np.int64))
    assert len(mended) == 2 * count


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_welding_loses_no_corner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vertices, triangles = sphere(1)
    loose = vertices[triangles.ravel()] + rng.uniform(-1e-9, 1e-9, (triangles.size, 3))
    welded, faces = weld(loose.reshape(-1, 3, 3))
    assert len(welded) == len(vertices)
    np.testing.assert_allclose(welded[faces], vertices[triangles], atol=1e-6)


def test_many_more_corners_than_a_key_has_bits_for() -> None:
    """Rows of numbers beyond 21 bits take the slow way, with the same result."""
    big = np.array([[1 << 22, 5, 9], [5, 1 << 22, 9], [1 << 22, 5, 9], [9, 5, 1 << 22]], dtype=np.int64)
    vertices = np.zeros(((1 << 22) + 1, 3))
    vertices[[5, 9, 1 << 22]] = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    solid, repeated = live_faces(vertices, big)
    assert solid.all()
    assert repeated.tolist() == [False, True, True, True]
