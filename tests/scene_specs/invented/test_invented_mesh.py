"""Meshes of invented shapes: closed, stable, small enough, the same everywhere, and changed step by step by an axis."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.meshes import load_mesh
from diorama.render.model.errors import AssetError
from diorama.render.model.profiles import settings_for
from diorama.scene_specs.checks.semantics import diagnostics_of
from diorama.scene_specs.invented.invented_mesh import invented_mesh, mass_center
from diorama.scene_specs.invented.similarity import chamfer, silhouette
from diorama.scene_specs.language.invented import Invented, parse_invented
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.spec import EpisodeSpec

FAMILIES = ("blob", "branch", "lathe")
# SHA-256 of vertices and triangles of seed 0: a change of a mesh changes images, and needs a new IDENTITY_VERSION.
DIGESTS = {"blob": "335a4f616ee50ac2", "branch": "796f74e055e26fa2", "lathe": "2505487b03ac9407"}
SHAPES = [f"invented:{family}/{seed}" for family in FAMILIES for seed in range(4)]


def test_families_are_plugins() -> None:
    assert tuple(plugins("families")) == FAMILIES


@pytest.mark.parametrize("name", SHAPES)
def test_meshes_are_closed_and_stand_stably(name: str) -> None:
    vertices, triangles = invented_mesh(name)
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
    x, y, _ = mass_center(vertices, triangles)
    # The center of mass is above the base, which reaches at least 0.03 beyond it in each of 16 directions.
    for turn in np.arange(16) * np.pi / 8:
        assert ((base[:, 0] - x) * np.cos(turn) + (base[:, 1] - y) * np.sin(turn)).max() > 0.03


@pytest.mark.parametrize("family", FAMILIES)
def test_bytes_stay_the_same(family: str) -> None:
    mesh = load_mesh(f"invented:{family}/0")
    own = hashlib.sha256(mesh.vertices.astype("<f8").tobytes() + mesh.triangles.astype("<i4").tobytes()).hexdigest()
    assert mesh.sha256 == own
    assert own[:16] == DIGESTS[family]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_along_an_axis_go_away_from_the_start(family: str) -> None:
    for axis in plugins("families")[family].load().AXES:
        names = [f"invented:{family}/3?{axis}={k / 4:g}" for k in range(5)]
        for measure in (chamfer, silhouette):
            away = [measure(names[0], name) for name in names]
            assert away[0] == 0 and (np.diff(away) > 0).all(), (axis, away)


def test_another_seed_is_another_thing() -> None:
    assert silhouette("invented:blob/1", "invented:blob/2") > 0.2


def episode(shape: object) -> EpisodeSpec:
    objects = [{"shape": shape, "location": [0, 0], "size": "large", "color": "red", "material": "rubber"}]
    return EpisodeSpec.model_validate({"version": 1, "id": "a", "seed": 1, "frames": [{"objects": objects}]})


def test_a_scene_has_every_axis_and_the_hash() -> None:
    spec = episode({"invented": {"family": "blob", "seed": 12, "axes": {"roundness": 0.3}}})
    assert spec.frames[0].objects[0].shape == "invented:blob/12?roundness=0.3"
    scene = compile_episode(spec, settings_for("draft", 64, 48))
    item = scene.frames[0].objects[0]
    full = parse_invented(item.shape)
    assert full is not None and set(full.axes) == {"roundness", "height", "squeeze"} and full.axes["roundness"] == 0.3
    assert item.scale == item.location[2] == 0.7
    assert scene.assets[f"mesh:{item.shape}"] == load_mesh(item.shape).sha256


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("invented:blob", "invented:<family>/<seed>"),
        ("invented:blob/1?roundness=2", "invented:<family>/<seed>"),
        ("invented:blub/1", "did you mean 'blob'?"),
        ("invented:blob/1?rondness=0.5", "did you mean 'roundness'?"),
    ],
)
def test_wrong_names_are_reported(shape: str, said: str) -> None:
    found = "; ".join(f"{one.problem} {one.hint}" for one in diagnostics_of(episode(shape)))
    assert said in found


def test_names_are_equal_for_equal_shapes() -> None:
    assert Invented("blob", 1, {"b": 0.50001, "a": 1.0}).name == "invented:blob/1?a=1&b=0.5"
    assert parse_invented("invented:blob/1?a=0.5&a=0.5") is None
    with pytest.raises(AssetError, match="malformed"):
        load_mesh("invented:blob")
