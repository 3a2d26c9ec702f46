"""What questions, expressions and captions see of the images of an episode (scene_specs.questions.view)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from render.geometry.rotation import rotation_matrix
from render.geometry.solid import solid
from render.model.errors import AssetError
from render.model.record import EpisodeRecord, FrameAnnotation
from scene_specs.language.scene import Scene, SceneObject
from scene_specs.language.stage import load_stage
from scene_specs.questions.view import UNKNOWN, Extent, ImageView, view_of


def store_views(records: Iterable[EpisodeRecord]) -> Iterator[ImageView]:
    """Yield the view of each image of some stored episodes. Raises StageError."""
    for record in records:
        yield from views_of(record.scene, [(one.frame, one.name, one.annotation) for one in record.images])


def views_of(scene: Scene, images: Iterable[tuple[str, str, FrameAnnotation]]) -> Iterator[ImageView]:
    """Yield the view of each image, (name of its frame, its name, annotation), of a Scene. Raises StageError."""
    threshold = load_stage(scene.stage).placement.relation_threshold
    frames = {frame.name: frame for frame in scene.frames}
    for frame, name, annotation in images:
        extents = {item.name: extent_of(item) for item in frames[frame].objects} if frame in frames else {}
        yield view_of(scene.id, scene.split, name, annotation, extents, threshold)


def extent_of(item: SceneObject) -> Extent:
    """Return (lowest, highest) x, y and z of an object's mesh in the world, Blender units.

    Unknown if its model is not on this machine: then nothing is above or below the object.
    """
    try:
        body = solid(item.shape, item.outline)
    except AssetError:
        return UNKNOWN
    x, y, z = body.vertices
    found = []
    for row, place in zip(rotation_matrix(item.rotation_deg), item.location, strict=True):
        along = (x * row[0] + y * row[1] + z * row[2]) * item.scale + place
        found.append((round(float(along.min()), 6), round(float(along.max()), 6)))
    return (found[0], found[1], found[2])
