"""The form of rendered episodes that benchmarks read. Records of `render` have it; benchmarks do not import them.

Properties are those whose types in `render` are narrower than here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco


class RenderedMask(Protocol):
    """A COCO run-length encoding: size is (height, width), counts its compressed text."""

    size: tuple[int, int]
    counts: str


class RenderedObject(Protocol):
    """An object of an image, with its attributes and measurements; see diorama.render.model.record.ObjectAnnotation."""

    name: str
    shape: str
    color: str | None
    color_linear: tuple[float, float, float]
    material: str
    size: str | None
    camera_rotation: tuple[float, float, float, float]
    location: tuple[float, float, float]
    pixel_center: tuple[float, float, float]
    bbox: tuple[int, int, int, int] | None

    @property
    def rle(self) -> RenderedMask: ...

    visible_pixels: int

    def model_dump(self, *, mode: str = ...) -> dict[str, Any]: ...


class RenderedPointer(Protocol):
    """The pointer of an image and the object it points at, both by name."""

    name: str
    target: str


class RenderedTruth(Protocol):
    """The measured truth of an image. relations: relation -> name -> names of the objects in that relation to it."""

    @property
    def objects(self) -> Sequence[RenderedObject]: ...
    @property
    def relations(self) -> Mapping[str, Mapping[str, Sequence[str]]]: ...
    @property
    def pointer(self) -> RenderedPointer | None: ...


class RenderedImage(Protocol):
    """One image. frame: name of its frame. png: the image as a file. width, height: pixels."""

    name: str
    frame: str
    png: bytes
    width: int
    height: int

    @property
    def annotation(self) -> RenderedTruth: ...
    def color(self) -> NDArray[np.uint8]:
        """The image as an array (H, W, 3)."""
        ...


class SceneOutline(Protocol):
    """An outline. polygon: corners about the origin of its object."""

    polygon: tuple[tuple[float, float], ...] | None


class SceneItem(Protocol):
    """An object of the scene. scale, location: Blender units. rotation_deg: Euler XYZ."""

    name: str
    shape: str
    scale: float
    color: str | None
    location: tuple[float, float, float]
    rotation_deg: tuple[float, float, float]

    @property
    def outline(self) -> SceneOutline | None: ...


class RenderedFrame(Protocol):
    """A frame of the scene. pixels: "center" if edges are not antialiased. background: sRGB, None for the ground."""

    name: str
    utterance: str | None
    truth: dict[str, Any] | None
    background: tuple[int, int, int] | None

    @property
    def pixels(self) -> str | None: ...
    @property
    def objects(self) -> Sequence[SceneItem]: ...
    @property
    def views(self) -> Sequence[Any]: ...


class RenderedScene(Protocol):
    """The scene of an episode. stage: its name. task: the truth of the benchmark."""

    stage: str
    split: str | None
    task: dict[str, Any] | None

    @property
    def frames(self) -> Sequence[RenderedFrame]: ...


class RenderedEpisode(Protocol):
    """One episode. images: in the order of frames and views."""

    episode_id: str

    @property
    def scene(self) -> RenderedScene: ...
    @property
    def images(self) -> Sequence[RenderedImage]: ...


def mask_of(item: RenderedObject) -> NDArray[np.bool_]:
    """Return the visible pixels of an object, (height, width) bool."""
    return coco.decode({"size": list(item.rle.size), "counts": item.rle.counts.encode()}).astype(bool)  # type: ignore[no-any-return]
