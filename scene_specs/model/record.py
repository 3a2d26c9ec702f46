"""Rendered episodes with their measured truth, which benchmarks read and `render` stores.

Boxes are [x, y, width, height] in pixels, origin top left, half-open (COCO). Quaternions are w, x, y, z. The camera
frame is OpenCV's: x right, y down, z forward.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco
from pydantic import BaseModel, ConfigDict, Field

from diorama.scene_specs.files.notebook import html_of
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.scene import Scene

Box = tuple[int, int, int, int]
Vector3 = tuple[float, float, float]
# Lowest and highest x, y and z, Blender units.
Extent = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
Quaternion = tuple[float, float, float, float]


# Annotations and RenderKeys are hashed: a new field follows the rule at SpecModel in scene_specs/model/spec.py.
class RecordModel(BaseModel):
    """Base class of what is stored with the images: immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RLE(RecordModel):
    """A mask as COCO's compressed run-length encoding.

    Attributes:
        size: (height, width) in pixels.
        counts: column-major run lengths.
    """

    size: tuple[int, int]
    counts: str

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> RLE:
        """Encode a mask, (H, W)."""
        counts = coco.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"]
        return cls(size=(mask.shape[0], mask.shape[1]), counts=counts.decode("ascii"))

    def mask(self) -> NDArray[np.bool_]:
        """Decode the mask, (H, W)."""
        mask: NDArray[np.bool_] = coco.decode(self._encoded()).astype(bool)
        return mask

    def area(self) -> int:
        """Count the pixels of the mask without decoding it."""
        return int(coco.area(self._encoded()))

    def _encoded(self) -> dict[str, Any]:
        return {"size": list(self.size), "counts": self.counts.encode()}


class ObjectAnnotation(RecordModel):
    """One object in one image: as in the Scene, measured in the id pass of the render, and computed from the mesh.

    Attributes:
        rotation: rotation of the object in the world.
        camera_location: location in the camera frame, Blender units.
        camera_rotation: rotation in the camera frame.
        pixel_center: x, y and depth of the object's origin; analytic.
        bbox: box of the visible pixels, measured; None if there are none.
        amodal_bbox: box of the object alone, inside the image; analytic.
        rle: the visible pixels, measured.
        visible_pixels: number of pixels whose center shows the object, measured.
        alone_pixels: number of pixels of the object alone, inside the image; analytic.
        visible_fraction: visible_pixels / alone_pixels.
        truncated: whether the projection leaves the image; analytic.
        coverage_pixels: sum of the object's Cryptomatte coverage, if the frame requests the pass `coverage`.
        amodal_rle: mask of the object alone, if the frame requests the pass `amodal`.
    """

    index: int
    name: str
    shape: str
    color: str | None
    color_linear: Vector3
    material: str
    size: str | None
    scale: float
    location: Vector3
    rotation_deg: Vector3
    rotation: Quaternion
    camera_location: Vector3
    camera_rotation: Quaternion
    pixel_center: Vector3
    bbox: Box | None
    amodal_bbox: Box | None
    rle: RLE
    visible_pixels: int
    alone_pixels: int
    visible_fraction: float
    truncated: bool
    coverage_pixels: float | None = None
    amodal_rle: RLE | None = Field(None, exclude_if=lambda value: value is None)


class CameraAnnotation(RecordModel):
    """The camera of an image.

    With p = extrinsics @ (x, y, z, 1), a world point's pixel is intrinsics @ (p.x / p.z, p.y / p.z, 1) in a perspective
    image, intrinsics @ (p.x, p.y, 1) in an orthographic one.

    Attributes:
        rotation: rotation from the camera frame to the world.
        intrinsics: 3 x 3, pixels; pixel centers are at .5.
        extrinsics: 4 x 4, world to camera.
        clip: nearest and farthest depth, Blender units.
    """

    location: Vector3
    rotation: Quaternion
    intrinsics: tuple[Vector3, Vector3, Vector3]
    extrinsics: tuple[Quaternion, Quaternion, Quaternion, Quaternion]
    clip: tuple[float, float]
    projection: Literal["perspective", "orthographic"] = "perspective"


class PointerAnnotation(RecordModel):
    """The pointer of an image; its box and mask are those of the object called `name`.

    Attributes:
        target: name of the object that it points at.
        knuckle: point in the world, Blender units.
        fingertip: point in the world, Blender units.
        fingertip_pixel: x, y and depth; analytic.
    """

    name: str
    target: str
    knuckle: Vector3
    fingertip: Vector3
    fingertip_pixel: Vector3


class ObserverAnnotation(RecordModel):
    """What a person of an image looks at and sees, by geometry; box and mask are those of the object called `name`.

    Attributes:
        looks_at: name of an object, or a point.
        eye: the point between the eyes, Blender units.
        gaze: unit vector in the world.
        visible: name of each other object -> share of it that the person sees, within 60 degrees of the gaze to all
            sides; 0 outside of them, and glass hides what is behind it.
    """

    name: str
    looks_at: str | Vector3
    eye: Vector3
    gaze: Vector3
    visible: dict[str, float]


class FrameAnnotation(RecordModel):
    """All annotations of one image.

    Attributes:
        directions: left, right, front, behind, above, below -> unit vector in the world, from the image's real camera.
        relations: relation -> name -> names of the objects in this relation to it. As in CLEVR, B is in
            relations["left"][A] if B is left of A.
        fronts: name -> unit vector (x, y) on the ground of an object's own front, or of the gaze of a person.
        viewpoints: of who has a front, name -> left, right, front, behind -> name of another object, for observers, or
            its own -> names of the objects that clearly are on this side of it: of its own sides, or from the place of
            the observer, where what is nearer is in front.
        extents: name -> extent of an object's mesh in the world; empty in records of before 0.2.
    """

    camera: CameraAnnotation
    directions: dict[str, Vector3]
    relations: dict[str, dict[str, list[str]]]
    objects: list[ObjectAnnotation]
    pointer: PointerAnnotation | None = None
    observers: list[ObserverAnnotation] = Field(default=[], exclude_if=lambda people: not people)
    fronts: dict[str, tuple[float, float]] = Field(default={}, exclude_if=lambda fronts: not fronts)
    viewpoints: dict[str, dict[str, dict[str, list[str]]]] = Field(default={}, exclude_if=lambda some: not some)
    extents: dict[str, Extent] = Field(default={}, exclude_if=lambda extents: not extents)


class ImageRecord(RecordModel):
    """One image.

    Attributes:
        name: name of its frame, with that of its view if it has one.
        png: the image as a file, 8-bit RGB.
        extra: the optional passes as .npz bytes (render/passes).
    """

    name: str
    frame: str
    view: str | None
    width: int
    height: int
    png: bytes
    annotation: FrameAnnotation
    extra: bytes | None = None

    def color(self) -> NDArray[np.uint8]:
        """Decode the image to (height, width, 3).

        Raises:
            OSError: the PNG is damaged or too large.
            ValueError: the PNG is damaged or too large.
        """
        return decode_png(self.png)


class Provenance(RecordModel):
    """Where a record comes from; not compared when an episode is rendered again.

    Attributes:
        versions: version of diorama, bpy, numpy, ...
        device: that rendered, as Cycles names it.
        cpu: instruction set, which changes pixels.
        attempt: 1 for the first.
        seconds: step -> seconds of this episode.
        models: model name -> what was repaired or replaced in it, a sentence each, such as a missing texture or
            inverted faces; only models that the episode shows.
        unusual: image name -> what looks unusual in it (black, of one color, noise), and then shape, material and color
            of what looks so. Another device rendered the same.
    """

    versions: dict[str, str]
    device: str
    cpu: str
    created: str
    attempt: int
    seconds: dict[str, float]
    models: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    unusual: dict[str, tuple[str, ...]] = Field(default_factory=dict, exclude_if=lambda images: not images)


class RenderKey(RecordModel):
    """The identity of an episode: a stored episode is up to date if its key has the same hash."""

    spec: dict[str, Any]
    settings: dict[str, Any]
    assets: dict[str, str]
    version: str
    renderer: str

    def hash(self) -> str:
        """Return the SHA-256 over the canonical JSON, hexadecimal."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


class EpisodeRecord(RecordModel):
    """One complete episode, the unit of the store.

    Attributes:
        job: its identity.
        scene: its compiled Scene.
        images: all images, in the order of frames and views.
    """

    episode_id: str
    job: RenderKey
    scene: Scene
    images: list[ImageRecord]
    provenance: Provenance

    def digest(self) -> str:
        """Return the SHA-256 over the images and optional passes, in order, hexadecimal."""
        digest = hashlib.sha256()
        for image in self.images:
            for part in (image.name.encode(), image.png, image.extra or b""):
                digest.update(len(part).to_bytes(8, "little"))
                digest.update(part)
        return digest.hexdigest()

    def utterances(self) -> list[str | None]:
        """Return the utterance of each image, None if its frame has none."""
        by_frame = {frame.name: frame.utterance for frame in self.scene.frames}
        return [by_frame.get(image.frame) for image in self.images]

    @property
    def truth(self) -> dict[str, Any]:
        """Everything that must be identical when rendered again, as plain JSON data without the images."""
        return {
            "episode_id": self.episode_id,
            "scene": self.scene.model_dump(mode="json"),
            "images": [
                {
                    "name": image.name,
                    "sha256": hashlib.sha256(image.png).hexdigest(),
                    **image.annotation.model_dump(mode="json"),
                }
                for image in self.images
            ],
        }

    def _repr_html_(self) -> str | None:
        """Show the images with boxes and a table of the objects in a notebook."""
        return html_of(self)
