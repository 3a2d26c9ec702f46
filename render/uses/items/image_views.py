"""What questions, expressions and captions see of the images of an episode (tasks/questions/view.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from diorama.render.annotations.annotate import extent_of, fronts_of, standing, viewpoints_of
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.model_names import has_front
from diorama.scene_specs.model.record import EpisodeRecord, Extent, FrameAnnotation
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.tasks.questions.view import ImageView, view_of


def store_views(records: Iterable[EpisodeRecord]) -> Iterator[ImageView]:
    """Yield the view of each image of some episodes. Raises StageError."""
    for record in records:
        scene = record.scene
        stage = scene_stage(scene)
        threshold = stage.placement.relation_threshold
        frames = {frame.name: frame for frame in scene.frames}
        for one in record.images:
            # A row of somebody else may name another frame.
            frame, annotation = frames.get(one.frame), one.annotation
            if frame and stage.ground and not annotation.fronts:
                annotation = _with_fronts(annotation, frame, threshold)
            yield view_of(scene, one.name, annotation, extents_of(annotation, frame), threshold)


def _with_fronts(annotation: FrameAnnotation, frame: SceneFrame, threshold: float) -> FrameAnnotation:
    """Return the annotation of a frame in which nothing depends on fronts, with those that its models have."""
    known = {item.name for item in annotation.objects}
    items = [item for item in standing(frame) if item.name in known]
    fronts = fronts_of(frame, [item.model_copy(update={"front_deg": 0.0}) for item in items if has_front(item.shape)])
    return annotation.model_copy(update={"fronts": fronts, "viewpoints": viewpoints_of(items, fronts, (), threshold)})


def extents_of(annotation: FrameAnnotation, frame: SceneFrame | None) -> Mapping[str, Extent]:
    """Return name -> extent; of an annotation of before 0.2 those that the meshes on this machine tell."""
    extents = dict(annotation.extents)
    for item in frame.objects if frame and not extents else ():
        with suppress(AssetError):
            extents[item.name] = extent_of(item)
    return extents
