"""`--format clevr`: images and scene files as the CLEVR tools read them (question generation, baselines).

    <out>/images/<split>/CLEVR_<split>_<6 digits>.png
          scenes/CLEVR_<split>_scenes.json

Each image is a scene. Its number is its place among all images of the split in the store that CLEVR's words describe,
in the order of episode ids, so it is the same in an export of a part. Programs find scenes by their place in the list:
an image that is left out, and whose number is below that of another one, has a scene without objects and no file.

In addition to CLEVR's fields an object has bbox, amodal_bbox, mask (COCO run lengths) and visible_pixels, and a scene
has episode_id, image_name and camera (diorama.scene_specs.model.record.CameraAnnotation). Directions and relationships
come from the actual camera of the image. Episodes without a split are in the split `new`, the default of the published
script. An episode that CLEVR's vocabulary can't describe (a numeric size, another shape, a pointer) is reported and
left out.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, RELATIONS, SHAPES, SIZES
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, ObjectAnnotation
from diorama.scene_specs.tasks.exporting.layouts import ImageLists, Images, Written, split_of

# In the order of CLEVR's files.
_WORDS = {"shape": tuple(SHAPES), "size": tuple(SIZES), "material": tuple(MEWL_MATERIALS), "color": tuple(COLORS)}


def first_numbers(store: Any) -> dict[str, int]:
    """Episode -> number of its first image in its split, of all that CLEVR's words describe."""
    counts, first = Counter[str](), dict[str, int]()
    described = {}
    for row in store.scan(["episode_id", "split", "annotations"], batch_size=64):
        # A damaged text is reported where the episode is read.
        with suppress(ValueError, LookupError, TypeError):
            images = [image["annotation"] for image in json.loads(row["annotations"])]
            if not any(truth["pointer"] or any(map(_missing_word, truth["objects"])) for truth in images):
                described[row["episode_id"]] = row["split"] or "new", len(images)
    for episode_id, (split, shown) in sorted(described.items()):
        first[episode_id] = counts[split]
        counts[split] += shown
    return first


def _missing_word(item: Mapping[str, Any]) -> str | None:
    """Return the first attribute for whose value CLEVR has no word."""
    return next((key for key, words in _WORDS.items() if item[key] not in words), None)


class Lists(ImageLists):
    """Numbers the scenes of each split from 0, as in the whole store."""

    pattern = "scenes/CLEVR_*_scenes.json"
    _created = ""

    @cached_property
    def _first(self) -> dict[str, int]:
        return first_numbers(self.export.store)

    def write(self, record: EpisodeRecord) -> Images:
        split = split_of(record.scene.split, without="new")
        scenes = [_scene_data(image) for image in record.images]
        stream = self.stream(f"scenes/CLEVR_{split}_scenes.json", ["scenes"])
        stream.facts["info"] = {"split": split, "version": "1.0", "license": ""}
        first = self._first[record.episode_id]
        facts = [{"episode_id": record.episode_id, "image_name": image.name} for image in record.images]
        left_out = dict[str, Any](objects=[], directions={}, relationships={})
        added = [left_out] * (first - self.counts[split]) + [{**a, **b} for a, b in zip(facts, scenes, strict=True)]
        for number, scene in enumerate(added, start=self.counts[split]):
            head = {"image_index": number, "image_filename": f"CLEVR_{split}_{number:06d}.png", "split": split}
            stream.add("scenes", {**head, **scene})
        self.counts[split] += len(added)
        self._created = max(self._created, record.provenance.created)
        paths = [f"images/{split}/CLEVR_{split}_{number:06d}.png" for number in range(first, first + len(scenes))]
        return [(path, image.png) for path, image in zip(paths, record.images, strict=True)]

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
    words = {key: getattr(item, key) for key in _WORDS}
    if key := _missing_word(words):
        raise ValueError(f"image {image}: object {item.name}: CLEVR has no {key} {words[key]!r}")
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
