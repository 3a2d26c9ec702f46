"""`EpisodeRecord`, the unit of the store, and the annotations in it.

Boxes are [x, y, width, height] in pixels, origin top left, half-open (COCO). Masks are COCO run-length encodings.
Quaternions are w, x, y, z. The camera frame is OpenCV's: x right, y down, z forward.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from diorama.render.model.png import decode_png
from diorama.scene_specs.language.notebook import html_of
from diorama.scene_specs.language.scene import Scene

Box = tuple[int, int, int, int]
Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Row3 = tuple[Vector3, Vector3, Vector3]
Row4 = tuple[Quaternion, Quaternion, Quaternion, Quaternion]


# Annotations and RenderKeys are hashed: a new field follows the rule at SpecModel in scene_specs/language/spec.py.
class RecordModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RLE(RecordModel):
    """COCO's compressed run-length encoding; column-major, size is (height, width)."""

    size: tuple[int, int]
    counts: str


class ObjectAnnotation(RecordModel):
    """One object in one image.

    Measured, from the id pass of the render: bbox, rle, visible_pixels (pixel centers); bbox is None and the mask is
    empty if nothing is visible. coverage_pixels: sum of Cryptomatte coverage, if that pass was requested.
    Analytic, from the mesh: amodal_bbox and alone_pixels (the object alone, inside the image), visible_fraction =
    visible_pixels / alone_pixels, truncated (its projection leaves the image), pixel_center (x, y, depth of its
    origin), the poses. amodal_rle: the mask of the object alone, if the frame requests the pass `amodal`.
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
    """intrinsics: 3 x 3, pixels. extrinsics: 4 x 4, world to camera. clip: Blender units.

    With p = extrinsics @ (x, y, z, 1), a world point's pixel is intrinsics @ (p.x / p.z, p.y / p.z, 1) in a perspective
    image, intrinsics @ (p.x, p.y, 1) in an orthographic one.
    """

    location: Vector3
    rotation: Quaternion
    intrinsics: Row3
    extrinsics: Row4
    clip: tuple[float, float]
    projection: Literal["perspective", "orthographic"] = "perspective"


class PointerAnnotation(RecordModel):
    """The pointer of an image; its box and mask are those of the object called `name`.

    target: name of the object it points at. knuckle, fingertip: world, Blender units. fingertip_pixel: x, y, depth;
    analytic.
    """

    name: str
    target: str
    knuckle: Vector3
    fingertip: Vector3
    fingertip_pixel: Vector3


class FrameAnnotation(RecordModel):
    """All annotations of one image.

    directions: left, right, front, behind, above, below -> unit vector in the world, from the image's real camera.
    relations: relation -> name -> names of the objects in this relation to it. As in CLEVR, B is in
        relations["left"][A] if B is left of A.
    """

    camera: CameraAnnotation
    directions: dict[str, Vector3]
    relations: dict[str, dict[str, list[str]]]
    objects: list[ObjectAnnotation]
    pointer: PointerAnnotation | None = None


class ImageRecord(RecordModel):
    """One image. png: 8-bit RGB. extra: the optional passes as .npz bytes (render/passes)."""

    name: str
    frame: str
    view: str | None
    width: int
    height: int
    png: bytes
    annotation: FrameAnnotation
    extra: bytes | None = None

    def color(self) -> NDArray[np.uint8]:
        """Decode the PNG: (height, width, 3) uint8. Raises OSError or ValueError if it is damaged."""
        return decode_png(self.png)


class Provenance(RecordModel):
    """Where a record comes from; not compared when an episode is rendered again.

    versions: diorama, bpy, numpy, ... device, cpu (instruction set): hardware that changes pixels.
    seconds: step -> seconds of this episode. attempt: 1 for the first.
    models: model name -> what was repaired or replaced in it, a sentence each, such as a missing texture or inverted
        faces; only models that the episode shows.
    """

    versions: dict[str, str]
    device: str
    cpu: str
    created: str
    attempt: int
    seconds: dict[str, float]
    models: dict[str, tuple[str, ...]] = {}


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
    """One complete episode. job: its RenderKey. scene: its compiled Scene."""

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
