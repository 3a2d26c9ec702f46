"""Shapes and materials that specs can use: built-in ones and those of installed packages (entry points)."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata

from scene_specs.language.outlines import FLAT_SHAPES
from scene_specs.language.vocabulary import MATERIALS, SHAPES, TRANSMITTING


@lru_cache(maxsize=4)
def _added(group: str) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in metadata.entry_points(group=group)))


def shapes() -> tuple[str, ...]:
    """Return the names of shapes: built-in, flat, then those of entry points in the group `diorama.shapes`."""
    return tuple(dict.fromkeys((*SHAPES, *FLAT_SHAPES, *_added("diorama.shapes"))))


def materials() -> tuple[str, ...]:
    """Return the names of materials: built-in, then those of entry points in the group `diorama.materials`."""
    return tuple(dict.fromkeys((*MATERIALS, *_added("diorama.materials"))))


def transmits(material: str) -> bool:
    """Return whether light passes through a material; images of such materials need more samples.

    Built-in materials are listed in the vocabulary, those of packages by entry points of group
    `diorama.transmitting_materials`. Only the names are read: nothing is imported.
    """
    return material in (TRANSMITTING if material in MATERIALS else _added("diorama.transmitting_materials"))
