"""What questions, expressions and captions see of the images of an episode (diorama.scene_specs.questions.view)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diorama.render.geometry.rotation import rounded
from diorama.render.geometry.solid import world_vertices
from diorama.render.model.errors import AssetError
from diorama.scene_specs.language.rendered import EpisodeRecord
from diorama.scene_specs.language.scene import SceneObject
from diorama.scene_specs.language.stage import load_stage
from diorama.scene_specs.questions.view import UNKNOWN, Extent, ImageView, view_of


def store_views(records: Iterable[EpisodeRecord]) -> Iterator[ImageView]:
    """Yield the view of each image of some episodes. Raises StageError."""
    for record in records:
        scene = record.scene
        threshold = load_stage(scene.stage).placement.relation_threshold
        objects = {frame.name: frame.objects for frame in scene.frames}
        for one in record.images:
            extents = {item.name: extent_of(item) for item in objects.get(one.frame, ())}
            yield view_of(scene, one.name, one.annotation, extents, threshold)


def extent_of(item: SceneObject) -> Extent:
    """Return (lowest, highest) x, y and z of an object's mesh in the world, Blender units.

    Unknown if its model is not on this machine: then nothing is above or below the object.
    """
    try:
        points = world_vertices(item)
    except AssetError:
        return UNKNOWN
    x, y, z = ((rounded(axis.min()), rounded(axis.max())) for axis in points.T)
    return (x, y, z)
