"""`--format coco`: images and instances files as the COCO tools read them.

    <out>/images/<episode id>/<image name>.png
          annotations/instances_<split>.json    images, annotations, categories (shapes; for models, such as "chair")

Boxes are [x, y, width, height], masks compressed run lengths, `area` the number of visible pixels. In addition to
COCO's fields an annotation has amodal_bbox (the whole object, inside the image), visible_fraction, truncated, name,
color, material, size, location, rotation_deg, extent (width, depth and height in the world); an image has episode_id,
name, frame, view, utterance, camera (diorama.scene_specs.model.record.CameraAnnotation), task and contrast. An object
without visible pixels has no annotation. Episodes without a split are in `instances_unsplit.json`.

Amodal masks, if the spec requested the pass `amodal`, are in `amodal_segm`, beside the visible mask in `segmentation`,
where all readers of COCO expect it. COCOA's files have them the other way around: `segmentation` is the amodal mask and
`visible_mask` the visible one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from diorama.render.store.episode_store import KEY
from diorama.render.uses.export._layouts import ImageExport
from diorama.render.uses.export.hub import episode_facts, object_extents
from diorama.scene_specs.language.model_names import kind_of
from diorama.scene_specs.model.record import EpisodeRecord, ObjectAnnotation
from diorama.scene_specs.tasks.exporting.layouts import ImageLists, Images, Written, image_path, split_of

# Fields of an annotation in addition to COCO's, as in ObjectAnnotation.
_OTHERS = (
    "amodal_bbox", "visible_fraction", "truncated", "name", "shape", "color", "material", "size", "location",
    "rotation_deg",
)  # fmt: skip


class Lists(ImageLists):
    """Numbers images and annotations from 1, in the order of episode ids.

    Numbers, also of categories, are those of the store, not of the chosen episodes: other exports have the same.
    """

    pattern = "annotations/instances_*.json"
    export: ImageExport

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
        """Kind of shape -> number, in alphabetical order; and episode -> images and annotations before it."""
        shapes: set[str] = set()
        counts = {}
        for row in self.export.store.scan([KEY, "image_names", "objects"], batch_size=256):
            items = row["objects"] or ()
            shapes.update(kind_of(item["shape"]) for item in items)
            counts[row[KEY]] = len(row["image_names"] or ()), sum(item["bbox"] is not None for item in items)
        first, images, annotations = {}, 0, 0
        for key in sorted(counts):
            first[key] = images, annotations
            images, annotations = images + counts[key][0], annotations + counts[key][1]
        return {shape: number for number, shape in enumerate(sorted(shapes), start=1)}, first

    def write(self, record: EpisodeRecord) -> Images:
        split = split_of(record.scene.split)
        shapes = {kind_of(item.shape) for image in record.images for item in image.annotation.objects}
        categories, first = self._numbers
        if not shapes <= categories.keys():
            raise ValueError("its column `objects` does not match the episode; run `render-store verify` for details")
        paths = [image_path(record.episode_id, image.name) for image in record.images]
        stream = self.stream(f"annotations/instances_{split}.json", ["images", "annotations", "categories"])
        info = {"description": "rendered by Diorama", "version": "1", "split": split}
        stream.facts.update(info=info, licenses=[])
        extents = object_extents(record)
        image_id, annotation_id = first[record.episode_id]
        for path, facts, image in zip(paths, _image_facts(record), record.images, strict=True):
            image_id += 1
            stream.add("images", {"id": image_id, "file_name": path, **facts})
            for item in image.annotation.objects:
                if item.bbox is not None:
                    annotation_id += 1
                    ids = {"id": annotation_id, "image_id": image_id}
                    added = {"category": kind_of(item.shape), "extent": extents.get((image.frame, item.name))}
                    stream.add("annotations", {**ids, **self._annotation_data(item), **added})
        return [(f"images/{path}", image.png) for path, image in zip(paths, record.images, strict=True)]

    def _annotation_data(self, item: ObjectAnnotation) -> dict[str, Any]:
        return {
            "category_id": self._numbers[0][kind_of(item.shape)],
            "bbox": item.bbox,
            "area": item.visible_pixels,
            "segmentation": {"size": item.rle.size, "counts": item.rle.counts},
            "iscrowd": 0,
            **{name: getattr(item, name) for name in _OTHERS},
            **({} if item.amodal_rle is None else {"amodal_segm": item.amodal_rle.model_dump(mode="json")}),
        }

    def finish(self, written: Written) -> None:
        for stream in self.streams.values():
            for shape, number in self._numbers[0].items():
                stream.add("categories", {"id": number, "name": shape, "supercategory": "object"})


def _image_facts(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    for image, utterance in zip(record.images, record.utterances(), strict=True):
        yield {
            "width": image.width,
            "height": image.height,
            "episode_id": record.episode_id,
            "name": image.name,
            "frame": image.frame,
            "view": image.view,
            "utterance": utterance,
            "camera": image.annotation.camera.model_dump(mode="json"),
            **episode_facts(record),
        }
