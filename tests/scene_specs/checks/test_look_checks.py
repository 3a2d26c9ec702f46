"""Looks in specs: what `check` refuses, and where."""

from __future__ import annotations

from typing import Any

import pytest

from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.model.look import Look
from diorama.scene_specs.model.spec import EpisodeSpec

RED = {"shape": "cube", "color": "red", "material": "metal"}


def problems(look: Any, stage: str = "clevr", **thing: Any) -> list[tuple[str, str]]:
    frame = {"objects": [RED | thing]}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "stage": stage, "look": look, "frames": [frame]})
    return [(".".join(map(str, one.path)), f"{one.problem} {one.hint}") for one in diagnostics_with_plugins(spec)]


@pytest.fixture(autouse=True)
def lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    dim = Look.model_validate({"about": "-", "without": ("glass", ("red", "metal")), "variants": ({}, {})})
    monkeypatch.setattr("diorama.scene_specs.checks.semantics.load_look", lambda name: dim)


def test_what_is_allowed() -> None:
    for look in (None, "plain", "wood", {"name": "wood", "variant": 1}):
        assert not problems(look, color="blue")
    assert not problems("plain")


@pytest.mark.parametrize(
    ("look", "changes", "path", "problem"),
    [
        ("woood", {}, "look", "did you mean 'wood'"),
        ({"name": "woood"}, {}, "look.name", "did you mean 'wood'"),
        ({"name": "wood", "variant": 2}, {"color": "blue"}, "look.variant", "allowed: 0 to 1"),
        ("wood", {}, "frames.0.objects.0.material", "red metal"),
        ("wood", {"material": "glass", "color": "blue"}, "frames.0.objects.0.material", "blue glass"),
        ("wood", {"material": {"name": "glass"}, "color": "blue"}, "frames.0.objects.0.material", "blue glass"),
    ],
)
def test_what_is_refused(look: Any, changes: dict[str, Any], path: str, problem: str) -> None:
    ((found, text),) = problems(look, **changes)
    assert found == path and problem in text


@pytest.mark.parametrize(("materials", "fails"), [(["glass"], True), (["glass", "metal"], False), (None, False)])
def test_random_objects_of_a_material_without_words(materials: list[str] | None, fails: bool) -> None:
    frame = {"random_objects": {"count": 2, "materials": materials}}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "look": "wood", "frames": [frame]})
    found = [(one.path[2:], one.problem) for one in diagnostics_with_plugins(spec)]
    expected = "found glass, whose colors do not hold in look 'wood'; add another material"
    assert found == ([(("random_objects", "materials"), expected)] if fails else [])


def test_a_flat_stage_has_no_ground() -> None:
    frame = {"objects": [{"shape": "circle", "color": "red", "location": [0.0, 0.0]}]}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "stage": "flat", "look": "wood", "frames": [frame]})
    assert any(one.path == ("look",) and "no ground" in one.problem for one in diagnostics_with_plugins(spec))
