"""Tangrams as Cycles renders them: colors, borders, frame, and pieces in the id pass; flat and on the table."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import picture_specs
from diorama.scene_specs.benchmarks.kilogram.examples import RGB
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.benchmarks.kilogram.verify import verify_record
from diorama.scene_specs.language.outlines import signed_area
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.reading.source import parse_episode
from tests import factories

DATA = own_dataset(0)
TANGRAM = "own-027"
WHITE = (255, 255, 255)


@cache
def renderer() -> CyclesRenderer:
    return CyclesRenderer(threads=2)


def scene_of(condition: str, look: Options, size: tuple[int, int], tangram: str = TANGRAM) -> Scene:
    annotations = {tangram: DATA.annotations[tangram][:1]}
    spec = next(picture_specs(DATA, annotations, condition, look))
    return compile_episode(parse_episode(json.dumps(spec)), settings_for("draft", *size))


@cache
def picture(condition: str, look: Options, size: tuple[int, int]) -> Passes:
    scene = scene_of(condition, look, size)
    frame = scene.frames[-1]
    return renderer().render(scene, frame, frame.views[0])


def colors_of(passes: Passes) -> set[tuple[int, ...]]:
    return {tuple(map(int, color)) for color in np.unique(passes.color.reshape(-1, 3), axis=0)}


def test_sharp_pictures_have_the_published_colors_and_no_other() -> None:
    sharp = Options(split="all", size=96, sharp=True)
    assert colors_of(picture("whole+black", sharp, (96, 96))) == {WHITE, RGB["black"]}
    annotation = DATA.annotations[TANGRAM][0]
    expected = {RGB[name] for name in list(RGB)[1 : 1 + annotation.parts]}
    assert colors_of(picture("part+color", sharp, (96, 96))) == {WHITE, *expected}


def test_blended_pictures_are_blends_of_these() -> None:
    black = picture("whole+black", Options(split="all", size=96), (96, 96)).color.astype(int)
    assert (black.max(axis=2) == black.min(axis=2)).all()
    blended = ((black[..., 0] > 0) & (black[..., 0] < 255)).mean()
    assert 0 < blended < 0.15


def test_ids_are_the_pieces_whose_inside_a_pixels_center_is() -> None:
    size = 120
    passes = picture("whole+black", Options(split="all", size=size, border=0.0, sharp=True), (size, size))
    x, y = np.meshgrid(np.arange(size) + 0.5, np.arange(size) + 0.5)
    outside = np.ones((size, size), dtype=bool)
    for piece, polygon in zip(PIECES, DATA.figures[TANGRAM].placed(size), strict=True):
        # How far inside the nearest edge, in pixels; corners go one way round.
        turn = np.sign(signed_area(polygon))
        depth = np.full((size, size), np.inf)
        for (x1, y1), (x2, y2) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
            along = np.hypot(x2 - x1, y2 - y1)
            depth = np.minimum(depth, turn * ((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) / along)
        assert (passes.ids[depth > 0.01] == piece).all()
        assert (depth > 0.01).sum() > 100
        outside &= depth < -0.01
    assert not passes.ids[outside].any()
    assert ((passes.ids > 0) == (passes.color == 0).all(axis=2)).all()


def test_the_figure_touches_both_ends_and_is_centerd() -> None:
    there = picture("whole+black", Options(split="all", size=96, border=0.0, sharp=True), (96, 96)).ids > 0
    spans = [np.flatnonzero(there.any(axis=axis)) for axis in (0, 1)]
    longer, shorter = sorted(spans, key=lambda span: int(span[0] - span[-1]))
    assert (longer[0], longer[-1]) == (0, 95)
    assert abs(int(shorter[0]) + int(shorter[-1]) - 95) <= 1


@pytest.mark.parametrize("size", [64, 160])
def test_a_border_is_as_wide_in_pixels_whatever_the_size(size: int) -> None:
    """Its pixels are the edges' length times its width, by the difference that it makes."""
    wide, narrow = (
        picture("whole+black", Options(split="all", size=size, border=b, sharp=True), (size, size)) for b in (4.0, 2.0)
    )
    lost = int((narrow.ids > 0).sum()) - int((wide.ids > 0).sum())
    polygons = DATA.figures[TANGRAM].placed(size)
    around = sum(
        float(np.hypot(*np.subtract(one, other)))
        for polygon in polygons
        for one, other in zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    )
    # A border w takes P w/2 - c (w/2)^2 of a piece with perimeter P, c the sum of cot(angle / 2) of its corners.
    diagonal = 1 + 2**0.5
    corners = 4 + 2 * (diagonal + 1 / diagonal) + 5 * (1 + 2 * diagonal)
    assert lost == pytest.approx(around - 3 * corners, rel=0.06)


def test_on_the_table_every_piece_is_seen_and_has_its_color() -> None:
    look = Options(split="all", world="3d")
    passes = picture("part+color", look, (160, 120))
    assert {*np.unique(passes.ids).tolist()} == {0, *PIECES}
    for piece, item in zip(PIECES, scene_of("part+color", look, (160, 120)).frames[0].objects, strict=True):
        inside = passes.ids == piece
        assert inside.sum() > 30
        mean = passes.color[inside].astype(float).mean(axis=0)
        # The strongest channel of a piece is its color's, however the light falls.
        strong, weak = int(np.argmax(item.color_linear)), int(np.argmin(item.color_linear))
        assert mean[strong] >= mean[weak]
    # What the compiler's own id buffer says of the same scene.
    scene = scene_of("part+color", look, (160, 120))
    known = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0]).ids
    assert (known != passes.ids).sum() <= 3
    edges = np.concatenate([passes.ids[0], passes.ids[-1], passes.ids[:, 0], passes.ids[:, -1]])
    assert not edges.any()


@pytest.mark.parametrize("world", ["2d", "3d"])
def test_a_rendered_episode_is_proved_from_its_pixels(world: str) -> None:
    annotations = {TANGRAM: DATA.annotations[TANGRAM][:1]}
    options = Options.model_validate({"split": "all", "world": world} | ({"size": 64} if world == "2d" else {}))
    spec = next(picture_specs(DATA, annotations, "part+color", options))
    settings = settings_for("draft", 96, 96)
    record = make_record(renderer(), parse_episode(json.dumps(spec)), factories.make_job(spec), settings)
    assert verify_record(record) == ""
    image = record.images[0]
    first, second = image.annotation.objects[0], image.annotation.objects[-1]
    # Two pieces exchanged: what is then seen of one is the other's.
    swapped = [
        second.model_copy(update={"name": first.name}),
        *image.annotation.objects[1:-1],
        first.model_copy(update={"name": second.name}),
    ]
    annotation = image.annotation.model_copy(update={"objects": swapped})
    other = record.model_copy(update={"images": [image.model_copy(update={"annotation": annotation})]})
    assert "its part has" in verify_record(other)
