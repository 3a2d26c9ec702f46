"""Who is held to a contract: every plug-in of Diorama, and those of docs/extending.md."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from diorama.scene_specs.language.registry import plugins
from tests.acme import NAMES

# Benchmark -> options of two or more small episodes. A benchmark without an entry fails its suite.
EPISODES: dict[str, dict[str, Any]] = {
    "acme": {"count": 3},
    "clevr": {"count": 3, "objects": (3, 3)},
    "icca": {"contexts": 3, "difficulty": "hard", "source": "clevr"},
    "iwisdm": {"benchmark": "low", "count": 3},
    "kilogram": {"condition": "whole+black", "contexts": 1},
    "malevic": {"name": "pos1", "split": "val", "count": 3},
    "mewl": {"task": "shape", "split": "val", "count": 3},
    "novel": {"task": "few-exemplars", "split": "val", "count": 2},
    "perspective": {"task": "level-1", "split": "val", "count": 2},
    "views": {"models": ("chairs",), "limit": 2, "count": 2, "yaw": "random"},
}


def members(noun: str) -> list[str]:
    """The names of Diorama's own plug-ins of a noun, then those of the page. Needs no installed package."""
    own = [name for name, found in plugins(noun).items() if found.own]
    # make_shapes.py writes the only one without a block of its own.
    files = (*NAMES, "acme/shapes/octahedron.npz")
    page = [PurePath(file).stem.replace("_", "-") for file in files if file.startswith(f"acme/{noun}/")]
    return [*own, *page]
