"""What questions, expressions and captions see of the images of an episode (scene_specs.questions.view)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from render.geometry.rotation import rotation_matrix
from render.geometry.solid import solid
from render.model.record import EpisodeRecord, FrameAnnotation
from scene_specs.language.scene import Scene, SceneObject
from scene_specs.language.stage import load_stage
from scene_specs.questions.view import ImageView, view_of


def views_of(scene: Scene, annotations: Iterable[FrameAnnotation]) -> Iterator[ImageView]:
    """Yield the view of each image of a Scene, in the order of frames and views. Raises AssetError, StageError."""
    threshold = load_stage(scene.stage).placement.relation_threshold
    images = ((frame, view) for frame in scene.frames for view in frame.views)
    for (frame, view), annotation in zip(images, annotations, strict=True):
        extents = {item.name: extent_of(item) for item in frame.objects}
        yield view_of(scene.id, scene.split, frame.image_name(view), annotation, extents, threshold)


def store_views(records: Iterable[EpisodeRecord]) -> Iterator[ImageView]:
    """Yield the view of each image of some stored episodes."""
    for record in records:
        yield from views_of(record.scene, [image.annotation for image in record.images])


def extent_of(item: SceneObject) -> tuple[tuple[float, float], ...]:
    """Return (lowest, highest) x, y and z of an object's mesh in the world, Blender units. Raises AssetError."""
    body = solid(item.shape, item.outline)
    x, y, z = body.vertices
    found = []
    for row, place in zip(rotation_matrix(item.rotation_deg), item.location, strict=True):
        along = (x * row[0] + y * row[1] + z * row[2]) * item.scale + place
        found.append((round(float(along.min()), 6), round(float(along.max()), 6)))
    return tuple(found)
