"""Specs as JSON data: what generators write, verifiers read, and the models in spec.py describe key by key."""

from __future__ import annotations

from typing import Any, TypedDict


class ObjectData(TypedDict, total=False):
    """An ObjectSpec. Shapes, colors, materials and sizes are names or have another form."""

    name: str
    shape: Any
    color: Any
    material: Any
    size: Any
    location: Any
    rotation_deg: Any
    place: str
    view: Any


class FrameData(TypedDict, total=False):
    """A FrameSpec.

    Attributes:
        truth: of a benchmark, see its TaskTruth.
    """

    name: str
    utterance: Any
    objects: list[ObjectData]
    random_objects: Any
    pointer: Any
    observers: Any
    constraints: list[Any]
    camera: Any
    views: Any
    lights: Any
    area: Any
    passes: list[str]
    background: Any
    fixation: bool
    antialias: bool
    truth: Any


class EpisodeData(TypedDict, total=False):
    """An EpisodeSpec.

    Attributes:
        task: of a benchmark, see its TaskTruth.
    """

    version: int
    id: str
    seed: int
    stage: str
    canvas: list[int]
    split: str | None
    look: Any
    frames: list[FrameData]
    task: Any
