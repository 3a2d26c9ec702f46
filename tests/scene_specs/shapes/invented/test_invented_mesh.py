"""Meshes of invented shapes: the same everywhere, and unlike shapes that have names."""

from __future__ import annotations

import hashlib

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.meshes import load_mesh
from diorama.scene_specs.benchmarks.novel.surface_distance import chamfer
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.invented import Invented, parse_invented
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec

FAMILIES = ("blob", "branch", "lathe")
# SHA-256 of vertices and triangles of seed 0: a change of a mesh changes images (CONTRIBUTING.md says what then).
DIGESTS = {"blob": "54e32b66fc68151f", "branch": "692c8b1661029f96", "lathe": "7eb04e19b0600da0"}


def test_families_are_plugins() -> None:
    assert tuple(plugins("families")) == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_bytes_stay_the_same(family: str) -> None:
    mesh = load_mesh(f"invented:{family}/0")
    own = hashlib.sha256(mesh.vertices.astype("<f8").tobytes() + mesh.triangles.astype("<i4").tobytes()).hexdigest()
    assert mesh.sha256 == own
    assert own[:16] == DIGESTS[family]


def test_another_seed_is_another_thing() -> None:
    assert chamfer("invented:blob/1", "invented:blob/2") > 0.05


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
    found = "; ".join(f"{one.problem} {one.hint}" for one in diagnostics_with_plugins(episode(shape)))
    assert said in found


def test_names_are_equal_for_equal_shapes() -> None:
    assert Invented("blob", 1, {"b": 0.50001, "a": 1.0}).name == "invented:blob/1?a=1&b=0.5"
    assert parse_invented("invented:blob/1?a=0.5&a=0.5") is None
    with pytest.raises(AssetError, match="malformed"):
        load_mesh("invented:blob")
