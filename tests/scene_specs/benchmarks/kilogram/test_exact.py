"""Exact numbers, the seven pieces, and tangrams drawn at random."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.kilogram.grow import draw_tangram
from diorama.scene_specs.benchmarks.kilogram.pieces import (
    AREAS,
    PIECES,
    ZERO,
    Polygon,
    Root2,
    Tangram,
    connected,
    double_area,
    edges_meet,
    mirrored_x,
    moved,
    orientations,
    overlap,
    spans,
    tangram_problems,
    touch,
)

NUMBERS = st.builds(Root2, st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))


def exactly(value: Root2) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return value.a + value.b * Decimal(2).sqrt()


@given(NUMBERS, NUMBERS)
def test_numbers_calculate_as_sixty_digits_do(one: Root2, other: Root2) -> None:
    with localcontext() as context:
        context.prec = 60
        tiny = Decimal(10) ** -30
        assert abs(exactly(one + other) - exactly(one) - exactly(other)) < tiny
        assert abs(exactly(one * other) - exactly(one) * exactly(other)) < tiny
        assert one.sign() == (exactly(one) > 0) - (exactly(one) < 0)
        assert (one < other) == (exactly(one) < exactly(other))


@given(NUMBERS)
def test_half_and_double(one: Root2) -> None:
    assert (one + one).half() == one
    assert hash(one - one) == hash(ZERO)
    with pytest.raises(ValueError, match="no half"):
        Root2(1, 2).half()


def test_pieces_are_the_published_ones() -> None:
    for piece in PIECES:
        for look in orientations(piece):
            assert double_area(look) == Root2(16 * AREAS[piece])
    assert sum(AREAS.values()) == 16
    assert [len(orientations(piece)) for piece in PIECES] == [2, 8, 8, 8, 8, 8, 8]


def _apart(one: Polygon, other: Polygon) -> bool:
    """A line along an edge parts them: written from scratch, with cross products instead of spans."""

    def beyond(a: Polygon, b: Polygon) -> bool:
        for k in range(len(a)):
            (x1, y1), (x2, y2) = a[k - 1], a[k]
            if all(((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)).sign() <= 0 for x, y in b):
                return True
        return False

    return beyond(one, other) or beyond(other, one)


def _area_of_union(tangram: Tangram, cells: int = 90) -> float:
    """By counting points; in small triangles."""
    inside = 0
    shapes = tangram.floats()
    xs = [x for one in shapes for x, _ in one]
    ys = [y for one in shapes for _, y in one]
    width, height = max(xs), max(ys)
    for i in range(cells):
        for j in range(cells):
            x, y = (i + 0.5) * width / cells, (j + 0.5) * height / cells
            inside += any(
                all(
                    (one[k][0] - one[k - 1][0]) * (y - one[k - 1][1])
                    - (one[k][1] - one[k - 1][1]) * (x - one[k - 1][0])
                    > 0
                    for k in range(len(one))
                )
                for one in shapes
            )
    return 2 * inside * width * height / cells**2


@pytest.mark.slow
def test_a_thousand_random_tangrams_are_valid() -> None:
    for number in range(1000):
        free = number % 2 == 0
        tangram = draw_tangram(5, f"t{number}", 0.0 if free else 0.2, not free)
        # Laid edge to edge they hang together by edges; others also by corners.
        assert tangram_problems(tangram, by_edges=free) == []
        if number % 10 == 0:
            assert all(_apart(one, other) for one, other in combinations(tangram.polygons, 2))
        if number % 200 == 0:
            assert _area_of_union(tangram) == pytest.approx(16, rel=0.03)


def test_a_tangram_hangs_on_its_seed_and_name_alone() -> None:
    one = draw_tangram(7, "a", 0.2, True)
    assert draw_tangram(7, "a", 0.2, True) == one
    assert draw_tangram(8, "a", 0.2, True) != one
    assert draw_tangram(7, "b", 0.2, True) != one


def test_both_sides_of_the_parallelogram_are_drawn() -> None:
    def side(tangram: Tangram) -> bool:
        (x1, y1), (x2, y2), (x3, y3) = tangram.polygons[1][:3]
        return ((x2 - x1) * (x3 - x2) + (y2 - y1) * (y3 - y2)).sign() * (
            ((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1)) - ((x3 - x2) * (x3 - x2) + (y3 - y2) * (y3 - y2))
        ).sign() > 0

    sides = [side(draw_tangram(1, f"t{number}")) for number in range(60)]
    assert 12 < sum(sides) < 48


def test_faults_are_found() -> None:
    good = draw_tangram(3, "good")
    for piece in PIECES:
        there = good.polygons[piece - 1]
        far = (*good.polygons[: piece - 1], moved(there, (Root2(400), ZERO)), *good.polygons[piece:])
        assert tangram_problems(Tangram("far", far)) == ["the pieces are not connected"]
    for twin, other in ((3, 4), (6, 7)):
        pieces = list(good.polygons)
        pieces[other - 1] = pieces[twin - 1]
        assert f"pieces {twin} and {other} overlap" in tangram_problems(Tangram("twice", tuple(pieces)))
    swapped = (*good.polygons[:4], good.polygons[5], good.polygons[4], good.polygons[6])
    assert [diagnostic.split(" is ")[0] for diagnostic in tangram_problems(Tangram("swapped", swapped))] == [
        "piece 5",
        "piece 6",
    ]
    assert tangram_problems(Tangram("six", good.polygons[:6])) == ["6 pieces; there are 7"]


def test_touching() -> None:
    square = orientations(1)[0]
    beside, corner = moved(square, (Root2(4), Root2(2))), moved(square, (Root2(4), Root2(4)))
    apart, onto = moved(square, (Root2(5), ZERO)), moved(square, (Root2(0, 2), ZERO))
    assert edges_meet(square, beside) and touch(square, beside) and not overlap(spans(square), spans(beside))
    assert touch(square, corner) and not edges_meet(square, corner)
    assert not touch(square, apart)
    assert overlap(spans(square), spans(onto))
    assert connected((square, beside, moved(beside, (Root2(4), ZERO))))
    assert not connected((square, corner))
    assert connected((square, corner), by_edges=False)
    assert mirrored_x(mirrored_x(square)) == square
