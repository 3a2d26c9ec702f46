"""The examples: right, one file each, and between them all of the language; and the schema that describes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.outlines import FLAT_SHAPES
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.vocabulary import COLORS, CONTACTS, RELATIONS, SHAPES, SIZES
from diorama.scene_specs.model import spec as language
from diorama.scene_specs.model.schema import schema_text, spec_schema
from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.reading.source import SpecSource, parse_episode
from tests.scene_specs.reading.broken_cases import episode
from tests.scene_specs.reading.broken_specs import BROKEN
from tests.scene_specs.strategies import EXAMPLES

VALIDATOR = jsonschema.Draft202012Validator(spec_schema())


def values_of(key: str, value: Any) -> list[Any]:
    """Everything that stands under a key anywhere in a value."""
    if isinstance(value, list):
        return [found for item in value for found in values_of(key, item)]
    if not isinstance(value, dict):
        return []
    return [item for name, item in value.items() if name == key] + values_of(key, list(value.values()))


def test_all_are_right() -> None:
    diagnostics, count = SpecSource(EXAMPLES).check()
    assert not diagnostics
    assert count == len(EXAMPLES) >= 12


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_named_after_its_file(file: Path) -> None:
    # Ids stay, because seeds depend on them: two are older than the American names of their files.
    assert parse_episode(file.read_text()).id.replace("colour", "color") == f"examples/{file.stem}"


def test_together_they_use_every_field_and_word() -> None:
    everything = [json.loads(file.read_text()) for file in EXAMPLES]
    models = [m for m in vars(language).values() if isinstance(m, type) and issubclass(m, SpecModel)]
    unused = [f"{m.__name__}.{field}" for m in models for field in m.model_fields if not values_of(field, everything)]
    # No packaged .blend file has objects; tests/render/ingest names parts of one that Blender writes.
    assert unused == ["MeshSpec.part"]
    materials = [m.get("name") if isinstance(m, dict) else m for m in values_of("material", everything)]
    assert any(is_model(shape) for shape in values_of("shape", everything))
    shapes = (*SHAPES, *FLAT_SHAPES, "bowl", "box", "shelf")
    words = {"shape": shapes, "color": COLORS, "size": SIZES, "relation": (*RELATIONS, *CONTACTS)}
    for key, known in words.items():
        used = {value for value in values_of(key, everything) if isinstance(value, str)}
        assert {value for value in used if not is_model(value)} == set(known)
    assert {"rubber", "metal", "glass", "matte", "emission"} <= set(materials) <= {None, *plugins("materials")}
    assert {name for names in values_of("passes", everything) for name in names} == set(plugins("passes"))


def test_together_they_use_every_form_of_a_value() -> None:
    everything = [json.loads(file.read_text()) for file in EXAMPLES]
    assert {type(value) for value in values_of("size", everything)} == {str, float}
    # A place of a light or a camera has three numbers, too: objects are told by their shape.
    objects = [item for items in values_of("objects", everything) for item in items if isinstance(item, dict)]
    assert {len(item["location"]) for item in objects if "location" in item} == {2, 3}
    assert {type(item["rotation_deg"]) for item in objects if "rotation_deg" in item} >= {int, list}
    assert {type(value) for value in values_of("count", everything)} == {int, list}
    assert False in values_of("in_frame", everything)
    assert any(len(frames) > 1 for frames in values_of("frames", everything))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_schema_takes_the_examples(file: Path) -> None:
    value = json.loads(file.read_text())
    VALIDATOR.validate(value)
    VALIDATOR.validate([value, value])


def test_schema_refuses_wrong_forms() -> None:
    jsonschema.Draft202012Validator.check_schema(spec_schema())
    wrong = [case for case in BROKEN if case.name in {"unknown key", "no id", "color too bright", "unknown relation"}]
    assert len(wrong) == 4
    assert not [case.name for case in wrong if VALIDATOR.is_valid(json.loads(case.content))]
    assert VALIDATOR.is_valid(episode())
    assert not VALIDATOR.is_valid([])


def test_the_schema_allows_its_own_address() -> None:
    spec = {"$schema": "./diorama.schema.json", "version": 1, "id": "a", "frames": [{}]}
    assert VALIDATOR.is_valid(spec)
    assert not VALIDATOR.is_valid(spec | {"$schema": 3})


def test_schema_text_is_the_same_each_time() -> None:
    assert schema_text() == schema_text()
    assert json.loads(schema_text()) == spec_schema()
