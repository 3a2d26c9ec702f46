"""`--format clevr`: images and scene files as the CLEVR tools read them (question generation, baselines).

    <out>/images/<split>/CLEVR_<split>_<6 digits>.png
          scenes/CLEVR_<split>_scenes.json

Each image is a scene; scenes are numbered in the order of episode ids. In addition to CLEVR's fields an object has
bbox, amodal_bbox, mask (COCO run lengths) and visible_pixels, and a scene has episode_id, image_name and camera
(diorama.scene_specs.model.record.CameraAnnotation). Directions and relationships come from the actual camera of
the image. Episodes without a split are in the split `new`, the default of the published script. An episode that CLEVR's
vocabulary can't describe (a numeric size, another shape, a pointer) is reported and left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, RELATIONS, SHAPES, SIZES
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, ObjectAnnotation
from diorama.scene_specs.tasks.exporting.layouts import ImageLists, Images, Written, split_of

_WORDS = {"shape": tuple(SHAPES), "color": tuple(COLORS), "material": tuple(MEWL_MATERIALS), "size": tuple(SIZES)}


class Lists(ImageLists):
    """Numbers the scenes of each split from 0."""

    pattern = "scenes/CLEVR_*_scenes.json"
    _created = ""

    def write(self, record: EpisodeRecord) -> Images:
        split = split_of(record.scene.split, without="new")
        scenes = [_scene_data(image) for image in record.images]
        stream = self.stream(f"scenes/CLEVR_{split}_scenes.json", ["scenes"])
        stream.facts["info"] = {"split": split, "version": "1.0", "license": ""}
        first = self.counts[split]
        # Counted even if an image can't be written: the numbers of later scenes must not depend on that.
        self.counts[split] += len(scenes)
        names = [f"CLEVR_{split}_{number:06d}.png" for number in range(first, first + len(scenes))]
        for number, (name, image, scene) in enumerate(zip(names, record.images, scenes, strict=True), start=first):
            head = {"image_index": number, "image_filename": name, "split": split}
            stream.add("scenes", {**head, "episode_id": record.episode_id, "image_name": image.name, **scene})
        self._created = max(self._created, record.provenance.created)
        return [(f"images/{split}/{name}", image.png) for name, image in zip(names, record.images, strict=True)]

    def finish(self, written: Written) -> None:
        # The date of the newest image, so that the same store gives the same bytes.
        for stream in self.streams.values():
            stream.facts["info"]["date"] = self._created[:10]


def _scene_data(image: ImageRecord) -> dict[str, Any]:
    truth = image.annotation
    if truth.pointer is not None:
        raise ValueError(f"image {image.name}: CLEVR has no pointer")
    return {
        "objects": [_object_data(item, image.name) for item in truth.objects],
        "directions": truth.directions,
        "relationships": _relationships(truth),
        "camera": truth.camera.model_dump(mode="json"),
    }


def _object_data(item: ObjectAnnotation, image: str) -> dict[str, Any]:
    words = {"shape": item.shape, "size": item.size, "material": item.material, "color": item.color}
    for key, word in words.items():
        if word not in _WORDS[key]:
            raise ValueError(f"image {image}: object {item.name}: CLEVR has no {key} {word!r}")
    x, y, depth = item.pixel_center
    return {
        **words,
        "3d_coords": item.location,
        # The published files have radians, as Blender does.
        "rotation": math.radians(item.rotation_deg[2]),
        "pixel_coords": [round(x), round(y), depth],
        "bbox": item.bbox,
        "amodal_bbox": item.amodal_bbox,
        "mask": {"size": item.rle.size, "counts": item.rle.counts},
        "visible_pixels": item.visible_pixels,
    }


def _relationships(truth: FrameAnnotation) -> dict[str, list[list[int]]]:
    """Relation -> for each object, the indices of the objects on that side of it, as in CLEVR's files."""
    index = {item.name: number for number, item in enumerate(truth.objects)}

    def listed(beside: Mapping[str, Sequence[str]]) -> list[list[int]]:
        return [sorted(index[name] for name in beside.get(item.name, ())) for item in truth.objects]

    return {relation: listed(truth.relations.get(relation, {})) for relation in RELATIONS}
