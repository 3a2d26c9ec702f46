"""The JSON Schema of spec files (draft 2020-12), for completion and validation in editors."""

from __future__ import annotations

import json
from typing import Any

from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.spec import EpisodeSpec

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """Return the schema of a `.json` file: one episode, or a list of episodes.

    Names that packages can extend (shapes, materials, stages, passes) are examples, not enumerations. Names of
    installed packages are among them.
    """
    schema = EpisodeSpec.model_json_schema(mode="validation")
    definitions: dict[str, Any] = schema.pop("$defs")
    definitions["EpisodeSpec"] = schema
    schema["properties"]["$schema"] = {
        "type": "string",
        "description": "Path or address of this schema, for editors; ignored.",
    }
    material = definitions["MaterialSpec"]
    own = [name for name, registered in plugins("materials").items() if registered.own]
    material["allOf"] = [_parameters_rule(name, material["properties"]) for name in own]
    return {
        "$schema": DRAFT,
        "title": "Diorama scene spec, version 1",
        "description": "One episode, or a list of episodes. In a .jsonl file each line is one episode.",
        "anyOf": [
            {"$ref": "#/$defs/EpisodeSpec"},
            {"type": "array", "items": {"$ref": "#/$defs/EpisodeSpec"}, "minItems": 1},
        ],
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _parameters_rule(name: str, material: dict[str, Any]) -> dict[str, Any]:
    """Return the rule for the keys of a built-in material. material: properties of MaterialSpec."""
    parameters = load_material(name).Parameters.model_json_schema()["properties"]
    return {
        "if": {"properties": {"name": {"const": name}}, "required": ["name"]},
        "then": {"properties": dict.fromkeys(material, True) | parameters, "additionalProperties": False},
    }


def schema_text() -> str:
    """Return the schema as text with a final newline, equal wherever the same plug-ins are installed."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"
