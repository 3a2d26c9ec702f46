"""The reader of drawings: odd files right, broken ones named, bombs harmless; and the report on what they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.kilogram.dataset import own_tangrams
from diorama.scene_specs.benchmarks.kilogram.pieces import Figure, figure_of, inset, svg_text
from diorama.scene_specs.benchmarks.kilogram.report import apart, clipped, measure
from diorama.scene_specs.benchmarks.kilogram.svg import SvgError, parse_svg, read_svg
from diorama.scene_specs.language.outlines import signed_area
from tests.scene_specs.benchmarks.kilogram.drawings import BROKEN, FIGURE, ODD, svg

SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))


def close(one: Figure, other: Figure) -> bool:
    """The same picture, once squared and scaled."""
    pairs = zip(one.placed(224), other.placed(224), strict=True)
    return all(a == pytest.approx(b, abs=0.01) for p, q in pairs for a, b in zip(p, q, strict=True))


def test_there_are_forty_and_more() -> None:
    assert len(ODD) + len(BROKEN) > 55


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_right(name: str) -> None:
    figure = parse_svg(ODD[name], "odd")
    assert close(figure, FIGURE)
    assert measure(figure).diagnostics == ()


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.timeout(180)
def test_broken_files_are_named(name: str, tmp_path: Path) -> None:
    data, said = BROKEN[name]
    path = tmp_path / "page1-1.svg"
    path.write_bytes(data)
    with pytest.raises(SvgError) as caught:
        read_svg(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 500


@given(st.binary(max_size=300), st.integers(0, 1200), st.integers(0, 1200))
def test_any_damage_is_read_or_refused(noise: bytes, start: int, length: int) -> None:
    whole = svg()
    try:
        figure = parse_svg(whole[:start] + noise + whole[start + length :], "x")
    except SvgError as error:
        assert str(error)
    else:
        assert len(figure.polygons) == 7
        measure(figure)


def test_a_file_that_can_be_no_name_or_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a b.svg").write_bytes(svg())
    for path in (tmp_path / "a b.svg", tmp_path / "none.svg", tmp_path):
        with pytest.raises(SvgError, match=str(path)):
            read_svg(path)


@pytest.mark.parametrize("number", range(0, 200, 40))
def test_what_is_written_is_read_again(number: int) -> None:
    figure = figure_of(own_tangrams()[number])
    assert close(parse_svg(svg_text(figure).encode(), figure.name), figure)


@pytest.mark.parametrize("box", [(0.0, 0.0, 10.0, 4.0), (-3.0, 7.0, 4.0, 10.0), (5.0, 5.0, 6.0, 6.0)])
def test_squaring_centers_the_shorter_side(box: tuple[float, float, float, float]) -> None:
    x, y, width, height = box
    left, top, side = replace(FIGURE, view_box=box).squared()
    assert side == max(width, height)
    assert (left + side / 2, top + side / 2) == pytest.approx((x + width / 2, y + height / 2))


def _with(piece: int, dx: float = 0.0, dy: float = 0.0, scale: float = 1.0) -> Figure:
    there = list(FIGURE.polygons)
    x0, y0 = there[piece - 1][0]
    there[piece - 1] = tuple((x0 + scale * (x - x0) + dx, y0 + scale * (y - y0) + dy) for x, y in there[piece - 1])
    return replace(FIGURE, polygons=tuple(there))


def test_good_drawings_measure_well() -> None:
    for tangram in own_tangrams()[:40]:
        found = measure(figure_of(tangram))
        assert (found.area, found.angle_deg, found.overlap) == pytest.approx((0, 0, 0), abs=1e-6)
        assert (found.clusters, found.diagnostics) == (1, ())
        turned = parse_svg(
            svg_text(figure_of(tangram)).replace("<polygon", '<polygon transform="rotate(13)"').encode(), "t"
        )
        assert measure(turned).angle_deg < 1e-3


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (_with(1, dx=-300, dy=-300), "2 places"),
        (_with(7, dx=-20), "overlap"),
        (_with(3, scale=1.3), "piece 3's area is off by +6"),
        (replace(FIGURE, polygons=(FIGURE.polygons[1], FIGURE.polygons[0], *FIGURE.polygons[2:])), "it is a square"),
        (replace(FIGURE, polygons=(FIGURE.polygons[2], *FIGURE.polygons[1:])), "3 corners; expected 4"),
        (replace(FIGURE, view_box=(-20.0, 0.0, 600.0, 600.0)), "wider than the pieces"),
        (replace(FIGURE, view_box=(20.0, 0.0, 100.0, 100.0)), "cuts off"),
    ],
)
def test_faults_are_measured(figure: Figure, said: str) -> None:
    assert any(said in diagnostic for diagnostic in measure(figure).diagnostics)


def test_a_bent_piece_and_a_flat_one() -> None:
    bent = replace(FIGURE, polygons=(((0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)), *FIGURE.polygons[1:]))
    assert "piece 1 is not convex" in measure(bent).diagnostics
    flat = replace(FIGURE, polygons=tuple(((0.0, 0.0), (0.0, 0.0), (0.0, 0.0)) for _ in range(7)))
    assert measure(flat).diagnostics
    x, y = FIGURE.polygons[0][2]
    askew = replace(
        FIGURE, polygons=((*FIGURE.polygons[0][:2], (x + 6, y), FIGURE.polygons[0][3]), *FIGURE.polygons[1:])
    )
    assert any("degrees off" in diagnostic for diagnostic in measure(askew).diagnostics)


def test_distances_and_cuts() -> None:
    other = tuple((x + 6.0, y + 3.0) for x, y in SQUARE)
    assert apart(SQUARE, other) == pytest.approx(2)
    onto = tuple((x + 3.0, y + 2.0) for x, y in SQUARE)
    assert signed_area(clipped(SQUARE, onto)) == pytest.approx(2)
    assert apart(SQUARE, onto) == 0
    assert clipped(SQUARE, other) == ()


@given(st.floats(0, 1.9), st.booleans())
def test_a_border_takes_half_its_width_of_each_side(by: float, backwards: bool) -> None:
    found = inset(SQUARE[::-1] if backwards else SQUARE, by)
    assert abs(signed_area(found)) == pytest.approx((4 - 2 * by) ** 2)


def test_nothing_is_left_of_a_piece_thinner_than_its_border() -> None:
    assert inset(SQUARE, 2.5) == ()
    assert inset(((0.0, 0.0), (0.0, 0.0), (1.0, 1.0)), 0.1) == ()
    assert inset(SQUARE, 0) == SQUARE
