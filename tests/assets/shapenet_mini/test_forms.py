"""The modelling kit: closed surfaces of the right size, whatever they are made with."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.assets.build.shapenet_mini.curves import arc, area, bent, cut_ears, ellipse, inset, rounded, smooth
from diorama.assets.build.shapenet_mini.forms import (
    ball,
    bar,
    box,
    cushion,
    disc,
    extrude,
    lathe,
    loft,
    ring,
    tube,
    turn_part,
)
from diorama.assets.build.shapenet_mini.mesh import Floats, Mesh, around, join, row, triangles, volume

LENGTHS = st.floats(0.05, 3)
ANGLES = st.floats(-360, 360)


def open_edges(mesh: Mesh) -> list[tuple[int, int]]:
    """Directed edges that have no partner running the other way, or that are there twice."""
    edges = Counter((a, b) for face in mesh.faces for a, b in zip(face, face[1:] + face[:1], strict=True))
    return [(a, b) for (a, b), count in edges.items() if count != 1 or edges[b, a] != 1]


def extents(mesh: Mesh) -> list[float]:
    size: list[float] = (mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)).tolist()
    return size


def star(radii: list[float]) -> Floats:
    """A simple polygon, mostly concave: a radius for each of its evenly spread directions."""
    turns = [2 * math.pi * k / len(radii) for k in range(len(radii))]
    return np.array([(r * math.cos(t), r * math.sin(t)) for r, t in zip(radii, turns, strict=True)])


STARS = st.lists(st.floats(0.3, 2), min_size=4, max_size=24).map(star)


@given(LENGTHS, LENGTHS, LENGTHS, st.floats(0, 0.3), st.integers(0, 3))
def test_boxes_are_closed_and_as_large_as_asked(w: float, h: float, d: float, bevel: float, steps: int) -> None:
    mesh = box(w, h, d, (1, 2, 3), bevel, steps)
    assert not open_edges(mesh)
    assert extents(mesh) == pytest.approx([w, h, d], rel=0.02)
    assert mesh.vertices.mean(axis=0) == pytest.approx([1, 2, 3], abs=1e-9)
    assert 0 < volume(mesh) <= w * h * d * (1 + 1e-9)


def test_a_sharp_box_has_the_volume_of_a_box_and_a_bevel_takes_its_edges_off() -> None:
    assert volume(box(1, 2, 3, bevel=0)) == pytest.approx(6)
    # Each of four edges an axis loses a triangle of area 0.1^2 / 2, each corner counts a little more than once.
    edges = 4 * (0.1**2 / 2) * (1 + 2 + 3 - 3 * 0.2)
    assert 6 - volume(box(1, 2, 3, bevel=0.1)) == pytest.approx(edges, rel=0.1)


@given(LENGTHS, LENGTHS, LENGTHS, st.floats(2, 12))
def test_cushions_are_closed_and_fuller_than_an_ellipsoid(w: float, h: float, d: float, power: float) -> None:
    mesh = cushion(w, h, d, (0, 1, 0), power)
    assert not open_edges(mesh)
    assert extents(mesh) == pytest.approx([w, h, d])
    assert 0.93 * math.pi / 6 * w * h * d < volume(mesh) < w * h * d


def test_round_forms_have_nearly_the_volume_of_the_true_ones() -> None:
    assert volume(ball(0.5, cells=12)) == pytest.approx(math.pi / 6, rel=0.02)
    assert volume(disc(0.5, 2, segments=64)) == pytest.approx(math.pi / 2, rel=0.01)
    assert volume(ring(1, 0.2, segments=64, sides=32)) == pytest.approx(2 * math.pi**2 * 0.2**2, rel=0.02)
    assert volume(tube([(0, 0, 0), (0, 0, 3)], 0.5, 64)) == pytest.approx(0.75 * math.pi, rel=0.01)
    assert volume(bar([(0, 0, 0), (2, 0, 0)], 0.5, 0.25)) == pytest.approx(0.25)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_what_is_lathed_stands_along_its_axis(axis: str) -> None:
    solid = lathe([(0.3, 0.0), (0.2, 1.0), (0.0, 2.0)], 16, (1, 1, 1), axis)
    shell = lathe([(0.3, 0.0), (0.3, 2.0), (0.25, 2.0), (0.25, 0.0)], 16, axis=axis, hollow=True)
    for mesh in (solid, shell):
        assert not open_edges(mesh)
        assert volume(mesh) > 0
        assert extents(mesh)["xyz".index(axis)] == pytest.approx(2)
    assert solid.vertices[:, "xyz".index(axis)].min() == pytest.approx(1)


@given(STARS, LENGTHS, st.sampled_from("xyz"), st.booleans())
def test_extruded_outlines_have_the_volume_of_a_prism(outline: Floats, depth: float, axis: str, turned: bool) -> None:
    mesh = extrude(outline[::-1] if turned else outline, depth, axis)
    assert not open_edges(mesh)
    assert volume(mesh) == pytest.approx(area(outline) * depth)


def test_a_bevel_makes_an_extrusion_smaller_but_not_shorter() -> None:
    outline = rounded([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], 0.2)
    plain, cut = extrude(outline, 0.5), extrude(outline, 0.5, bevel=0.05)
    assert not open_edges(cut)
    assert volume(cut) < volume(plain)
    assert extents(cut) == pytest.approx(extents(plain))


@given(st.lists(st.tuples(LENGTHS, LENGTHS), min_size=2, max_size=6), ANGLES)
def test_tubes_and_lofts_are_closed(steps: list[tuple[float, float]], angle: float) -> None:
    path = np.cumsum([(x, 0.3 * x, z) for x, z in steps], axis=0)
    mesh = tube(path, 0.02).turned("y", angle)
    assert not open_edges(mesh)
    assert volume(mesh) > 0


def test_a_loop_of_tube_and_a_part_of_a_turn_are_closed() -> None:
    hoop = [(math.cos(t), 0.0, math.sin(t)) for t in np.linspace(0, 2 * math.pi, 24, endpoint=False)]
    assert not open_edges(tube(hoop, 0.1, loop=True))
    quarter = turn_part([(1, 0), (2, 0), (2, 1), (1, 1)], 0, 90, 64)
    assert not open_edges(quarter)
    assert volume(quarter) == pytest.approx(math.pi * (4 - 1) / 4, rel=0.01)


@given(LENGTHS, ANGLES, st.sampled_from("xyz"), st.sampled_from("xyz"))
def test_turning_and_mirroring_keep_volume_and_outside(length: float, angle: float, axis: str, mirror: str) -> None:
    mesh = lathe([(length, 0.0), (0.5 * length, 1.0)], 9, (0.3, 0, 2))
    moved = mesh.turned(axis, angle, (1, 2, 3)).mirrored(mirror)
    assert volume(moved) == pytest.approx(volume(mesh))
    assert volume(mesh.both(mirror)) == pytest.approx(2 * volume(mesh))
    assert not open_edges(moved)


def test_turning_is_counter_clockwise_and_about_the_given_point() -> None:
    point = Mesh(np.array([[1.0, 0.0, 0.0]]), ())
    assert point.turned("z", 90).vertices[0] == pytest.approx([0, 1, 0])
    assert point.turned("y", 90).vertices[0] == pytest.approx([0, 0, -1])
    assert point.turned("x", 77, about=(1, 0, 0)).vertices[0] == pytest.approx([1, 0, 0])


def test_copies_are_counted_and_stand_where_they_should() -> None:
    piece = box(0.1, 0.1, 0.1, (1, 0, 0), 0)
    assert volume(around(piece, 5)) == pytest.approx(5 * volume(piece))
    assert around(piece, 4).vertices.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert row(piece, (0, 1, 2), "y").vertices[:, 1].max() == pytest.approx(2.05)
    assert len(triangles(join(piece, piece))) == 24


@given(STARS, st.booleans())
def test_ears_cover_an_outline_exactly(outline: Floats, turned: bool) -> None:
    outline = outline[::-1] if turned else outline
    cut = cut_ears(outline)
    pieces = [area(outline[list(corners)]) for corners in cut]
    assert len(cut) == len(outline) - 2
    assert sum(pieces) == pytest.approx(area(outline))
    # None lies outside, or the sum would need one that turns the other way.
    assert all(piece * area(outline) > 0 for piece in pieces)


def test_an_outline_that_crosses_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="crosses itself"):
        cut_ears(np.array([(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)]))


def test_insets_rounded_corners_and_curves() -> None:
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    assert area(inset(square, 0.25)) == pytest.approx(1.5**2)
    assert area(inset(square[::-1], 0.25)) == pytest.approx(-(1.5**2))
    assert area(rounded(square, 0.5, 16)) == pytest.approx(4 - 4 * 0.25 / 6, rel=0.01)
    assert area(np.array(ellipse(2, 1, 128))) == pytest.approx(math.pi / 2, rel=0.01)
    assert arc(2, 0, 90, 3)[1] == pytest.approx((math.sqrt(2), math.sqrt(2)))


@given(st.lists(st.tuples(LENGTHS, LENGTHS, LENGTHS), min_size=2, max_size=6), st.integers(1, 5))
def test_smooth_curves_pass_through_their_points(points: list[tuple[float, float, float]], steps: int) -> None:
    made = smooth(points, steps)
    assert len(made) == steps * (len(points) - 1) + 1
    assert made[::steps] == pytest.approx(np.array(points))
    assert len(smooth(points, steps, loop=True)) == steps * len(points)


def test_bent_paths_keep_their_ends_and_cut_their_corners() -> None:
    path = bent([(0, 0, 0), (1, 0, 0), (1, 1, 0)], 0.3)
    assert path[[0, -1]] == pytest.approx(np.array([(0, 0, 0), (1, 1, 0)]))
    assert not any(np.allclose(point, (1, 0, 0)) for point in path)


def test_a_loft_turns_its_outside_out_whichever_way_it_was_given() -> None:
    sections = [[(0, 0, z), (1, 0, z), (1, 1, z), (0, 1, z)] for z in (0, 1)]
    for given_order in (sections, sections[::-1], [section[::-1] for section in sections]):
        assert volume(loft(given_order)) == pytest.approx(1)
