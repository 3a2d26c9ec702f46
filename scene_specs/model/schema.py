"""The JSON Schema of spec files (draft 2020-12), for completion and validation in editors."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from pydantic import BaseModel

from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model import spec
from diorama.scene_specs.model.materials import load_material

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """Return the schema of a `.json` file: one episode, or a list of episodes.

    Names that packages can extend (shapes, materials, stages, passes) are examples, not enumerations. Names of
    installed packages are among them.
    """
    schema = spec.EpisodeSpec.model_json_schema(mode="validation")
    definitions: dict[str, Any] = schema.pop("$defs")
    definitions["EpisodeSpec"] = schema
    for name, definition in definitions.items():
        _describe(definition, getattr(spec, name))
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


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return field -> its meaning, Markdown, from the docstrings of the model and its base classes."""
    texts = [inspect.cleandoc(base.__dict__.get("__doc__") or "") for base in reversed(model.__mro__)]
    items = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", "\n".join(texts), re.MULTILINE)
    return {key: " ".join(text.split()).removesuffix(".") for key, text in items if key in model.model_fields}


def _describe(schema: dict[str, Any], model: type[spec.SpecPart]) -> None:
    """Add what the docstring says to the JSON Schema of a model, without links."""
    schema["description"] = (inspect.getdoc(model) or "").partition("\n\nAttributes:")[0]
    if model.EXAMPLE:
        schema["examples"] = [model.EXAMPLE]
    for key, text in meanings(model).items():
        schema["properties"][key]["description"] = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)


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
