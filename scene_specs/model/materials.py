"""Materials as plug-ins: their parameters, and whether light passes through them.

A material is a module, or an object in one, with

    Parameters      a SpecModel; each parameter has a default and a description with its unit
    TRANSMISSIVE    whether light passes through it, so that its images get the samples of glass
    EMISSIVE        whether it gives light, so that its images get `samples` on the ground; may be left out
    build           a function (tree, parameters) -> output of its shader; tree:
    diorama.render.renderers.cycles.node_tree.Tree

Its docstring is its manual. Checks of specs import it, too, so it must not import bpy at its top.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, cast

from diorama.scene_specs.language.model_names import UNLIT
from diorama.scene_specs.language.registry import plugin, plugins
from diorama.scene_specs.model.spec import SpecModel


class Material(Protocol):
    """What a material provides; see the module."""

    Parameters: type[SpecModel]
    TRANSMISSIVE: bool

    def build(self, tree: Any, parameters: Any) -> Any:
        """Add nodes to a tree, and return the output of the shader."""


def load_material(name: str, noun: str = "materials") -> Material:
    """Import a material, or a recipe of a look.

    Args:
        noun: "materials", "grounds" or "patterns".

    Raises:
        PluginError: there is none, it can't be imported, or it lacks something.
    """
    return cast("Material", plugin(noun, name).load())


def transmits(name: str) -> bool:
    """Return whether light passes through a material; images of such materials need more samples."""
    return name in plugins("materials") and load_material(name).TRANSMISSIVE


def scatters(name: str) -> bool:
    """Return whether a material only scatters the light of the stage's lamps, so that the ground needs few samples."""
    if name not in plugins("materials"):
        return name != UNLIT
    return not transmits(name) and not getattr(load_material(name), "EMISSIVE", False)


def changed_parameters(name: str, given: Mapping[str, Any], noun: str = "materials") -> dict[str, Any]:
    """Return the parameters of a material that differ from their defaults.

    Args:
        given: as in JSON.
        noun: as in `load_material`.

    Raises:
        pydantic.ValidationError: a parameter is wrong.
        PluginError: the material can't be imported.
    """
    if not given:
        return {}
    parameters = load_material(name, noun).Parameters.model_validate_json(json.dumps(given, default=str), strict=True)
    return parameters.model_dump(mode="json", exclude_defaults=True)
