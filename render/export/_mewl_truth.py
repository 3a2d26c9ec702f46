"""What a learner sees of a rendered MEWL episode: the measured truth in the form that proofs take."""

from __future__ import annotations

from typing import Any

from render.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, ObjectAnnotation
from scene_specs.benchmarks.mewl.verify import Verdict, prove
from scene_specs.benchmarks.mewl.view import View, with_images
from scene_specs.language.stage import load_stage


def standing(annotation: FrameAnnotation) -> list[ObjectAnnotation]:
    """The objects without the pointer, which is no party to relations."""
    hand = annotation.pointer.name if annotation.pointer is not None else None
    return [item for item in annotation.objects if item.name != hand]


def view_of_record(record: EpisodeRecord) -> View:
    """The view (scene_specs.benchmarks.mewl.view) of a record: visible objects, measured relations, the pointed object.

    An object counts as visible with half the pixels that the stage promises. Raises SpecError where the episode is no
    MEWL episode.
    """
    stage = load_stage(record.scene.stage)
    said = {frame.name: frame.utterance for frame in record.scene.frames}
    images = []
    for image in record.images:
        share = image.width * image.height / (stage.size[0] * stage.size[1])
        least = 0.5 * stage.placement.min_visible_pixels * share
        images.append({"utterance": said.get(image.frame), **_seen(image, least)})
    return with_images(record.scene.task or {}, images, record.episode_id)


def _seen(image: ImageRecord, least: float) -> dict[str, Any]:
    annotation = image.annotation
    items = [item for item in standing(annotation) if item.visible_pixels >= least]
    at = {item.name: k for k, item in enumerate(items)}
    relations = [
        [relation, at[subject], at[of]]
        for relation, table in annotation.relations.items()
        for of, subjects in table.items()
        for subject in subjects
        if subject in at and of in at
    ]
    objects = [{"shape": o.shape, "color": o.color, "material": o.material, "size": o.size} for o in items]
    target = annotation.pointer.target if annotation.pointer is not None else None
    pointed = at.get(target) if target is not None else None
    return {"objects": objects, "relations": relations, "open": [], "pointed": pointed}


def prove_record(record: EpisodeRecord) -> Verdict:
    """Prove a rendered episode from its measured truth: a picture must not break its episode.

    Raises SpecError where the record holds no MEWL episode.
    """
    task = record.scene.task or {}
    view = view_of_record(record)
    return prove(view, task["answer"], task.get("words") or task.get("lexicon"))
