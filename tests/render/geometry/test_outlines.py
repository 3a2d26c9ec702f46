"""Outlines as meshes: triangles fill them exactly, prisms are closed, wrong corners are refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.render.geometry.outlines import corners_of, outline_mesh, triangulate
from diorama.render.geometry.solid import solid, stand_of
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.errors import AssetError, SpecError
from diorama.scene_specs.language.outlines import FLAT_SHAPES, crossing, signed_area
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec, OutlineSpec
from diorama.scene_specs.reading.source import parse_episode


@st.composite
def stars(draw: st.DrawFn) -> tuple[tuple[float, float], ...]:
    """Simple polygons: corners at rising angles about the origin, at any distance."""
    distances = draw(st.lists(st.integers(1, 50), min_size=3, max_size=40))
    turns = [2 * math.pi * k / len(distances) for k in range(len(distances))]
    points = [(round(d * math.cos(t), 3), round(d * math.sin(t), 3)) for d, t in zip(distances, turns, strict=True)]
    return tuple(points if draw(st.booleans()) else points[::-1])


def area_of(corners: tuple[tuple[float, float], ...], triangle: tuple[int, int, int]) -> float:
    return signed_area([corners[k] for k in triangle])


@given(stars())
def test_triangles_fill_a_polygon_once(corners: tuple[tuple[float, float], ...]) -> None:
    assert crossing(corners) is None
    outline = OutlineSpec(polygon=corners)
    whole = corners_of(outline)
    triangles = triangulate(whole)
    assert all(area_of(whole, triangle) > 0 for triangle in triangles)
    # As many as fill it, none over another: otherwise the sum would be larger.
    assert sum(area_of(whole, triangle) for triangle in triangles) == pytest.approx(abs(signed_area(corners)), rel=1e-9)
    assert len(triangles) <= len(corners) - 2


@given(stars(), st.floats(0.1, 20))
def test_prisms_are_closed_and_as_large_as_they_should_be(
    corners: tuple[tuple[float, float], ...], height: float
) -> None:
    outline = OutlineSpec(polygon=corners, height=height)
    body = solid("polygon", outline)
    mesh = outline_mesh(outline)
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)
    assert volume == pytest.approx(abs(signed_area(corners)) * height, rel=1e-6)
    faces = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", faces, mesh.normals[mesh.triangles[:, 0]]) >= -1e-9).all()
    assert body.closed
    assert stand_of("polygon", outline).height == height / 2


@pytest.mark.parametrize("word", FLAT_SHAPES)
def test_words_have_the_areas_they_should(word: str) -> None:
    area = signed_area(FLAT_SHAPES[word])
    assert area == pytest.approx(math.pi if word == "circle" else 4.0, rel=1e-5)
    assert solid(word).radius == pytest.approx(stand_of(word).radius)


def test_corners_that_cross_are_refused() -> None:
    with pytest.raises(AssetError, match="edges cross"):
        triangulate([(0, 0), (2, 2), (2, 0), (0, 2), (1, 3)])
    with pytest.raises(AssetError, match="without corners"):
        solid("polygon")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"polygon": [[0, 0], [2, 2], [2, 0], [0, 2]]}, "meet"),
        ({"polygon": [[0, 0], [1, 0], [1, 0], [0, 1]]}, "meet"),
        ({"polygon": [[0, 0], [2, 0], [1, 0], [0, 3]]}, "meet"),
        ({"polygon": [[0, 0], [1, 0], [2, 0]]}, "meet"),
        ({"polygon": [[0, 0], [1, 0]]}, "3 to 256 corners"),
        ({"polygon": [[0, 0], [1, 0], [0, 1]], "outline": "circle"}, "exactly one"),
        ({"height": 1.0}, "neither"),
        ({"outline": "pentagon"}, "allowed"),
        ({"polygons": []}, "unknown key"),
    ],
)
def test_wrong_outlines_are_faults_of_the_spec(shape: dict[str, object], said: str) -> None:
    spec = {"version": 1, "id": "a", "stage": "flat", "frames": [{"objects": [{"shape": shape}]}]}
    with pytest.raises(SpecError, match=said):
        parse_episode(json.dumps(spec))


@pytest.mark.parametrize(
    ("stage", "item", "frame", "said"),
    [
        ("clevr", {"shape": "circle"}, {}, "in which it would lie"),
        ("clevr", {"shape": "cube", "footprint": 2.0}, {}, "only for"),
        ("flat", {"shape": "square", "footprint": 2.0, "size": 3}, {}, "beside size"),
        ("clevr", {"shape": "cube"}, {"antialias": True}, "not flat"),
        ("flat", {"shape": "square", "color": "purple"}, {}, 'found "purple"'),
        ("clevr", {"shape": "cube", "size": 101}, {}, "at most 100"),
    ],
)
def test_what_does_not_go_together_is_named(stage: str, item: object, frame: dict[str, object], said: str) -> None:
    spec = {"version": 1, "id": "a", "stage": stage, "frames": [{"objects": [item], **frame}]}
    with pytest.raises(SpecError, match=said):
        parse_episode(json.dumps(spec))


def test_a_canvas_is_for_flat_stages() -> None:
    with pytest.raises(SpecError, match="not flat"):
        parse_episode('{"version": 1, "id": "a", "canvas": [9, 9], "frames": [{}]}')


def test_what_was_decided_can_be_held_by_a_spec() -> None:
    spec = EpisodeSpec.model_validate(
        {
            "version": 1,
            "id": "settled",
            "stage": "flat",
            "canvas": [600, 500],
            "frames": [
                {
                    "objects": [
                        {"shape": {"polygon": [[0, 0], [40, 0], [0, 50]]}},
                        {"shape": {"outline": "circle", "height": 2.0}, "footprint": 900.0},
                    ],
                    "random_objects": {"count": 2},
                }
            ],
        }
    )
    scene = compile_episode(spec, settings_for("draft", 600, 500))
    assert scene.frames[0].objects[1].scale == pytest.approx(math.sqrt(900 / math.pi), rel=1e-5)
    pin_layout(spec, scene)
    places = {item.location[2] for item in scene.frames[0].objects}
    assert len(places) == 4
