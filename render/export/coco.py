"""`--format coco`: pictures, and what is in them, as the COCO tools read it.

    <out>/images/<episode id>/<image name>.png
          annotations/instances_<split>.json    images, annotations, categories (shapes; of models, such as "chair")

Boxes are [x, y, width, height], masks compressed run lengths, `area` the visible pixels. Beyond COCO's own fields an
annotation has amodal_bbox (the whole object, inside the image), visible_fraction, truncated, name, color, material,
size, location, rotation_deg; an image has episode_id, name, frame, view and utterance. An object of which nothing
is visible has no annotation. Episodes without a split are in `instances_unsplit.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from render.export._pictures import JsonLists, picture_path, put_file, split_of, write_each
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.record import EpisodeRecord, ObjectAnnotation
from render.store.episode_store import EpisodeReader
from scene_specs.language.model_names import kind_of

FORMAT_VERSION = 1
_LISTS = ("images", "annotations", "categories")


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write pictures and instances files; see render.export.protocol.Exporter. Memory: a chunk of episodes."""
    report = ExportReport()
    with output_lock(out), ExitStack() as stack:
        writer = _Writer(out, options, report, _categories(store, options), stack)
        records = iter_valid_records(store, chosen_ids(store, options), report, progress)
        write_each(records, writer.write, out, report, progress)
        writer.finish()
    return report


def _categories(store: EpisodeReader, options: ExportOptions) -> dict[str, int]:
    """Kind of shape -> number, in alphabetical order of what the chosen episodes have."""
    shapes: set[str] = set()
    for row in store.scan(["objects"], options.where, 256):
        shapes.update(kind_of(item["shape"]) for item in row["objects"] or ())
    return {shape: number for number, shape in enumerate(sorted(shapes), start=1)}


class _Writer:
    """Numbers images and annotations in the order of episode ids, from 1."""

    def __init__(
        self, out: Path, options: ExportOptions, report: ExportReport, categories: dict[str, int], stack: ExitStack
    ) -> None:
        self._out, self._options, self._report = out, options, report
        self._categories, self._stack = categories, stack
        self._files: dict[str, JsonLists] = {}
        self._images = self._annotations = 0

    def write(self, record: EpisodeRecord) -> bool:
        """Whether any picture of the episode is new."""
        split = split_of(record.scene.split)
        shapes = {kind_of(item.shape) for image in record.images for item in image.annotation.objects}
        if not shapes <= self._categories.keys():
            raise ValueError("its column `objects` is not what the episode says; `render-store verify` tells more")
        paths = [picture_path(record.episode_id, image.name) for image in record.images]
        new = [
            put_file(self._out / "images" / path, image.png, self._options)
            for path, image in zip(paths, record.images, strict=True)
        ]
        lists = self._lists(split)
        for path, item in zip(paths, _images(record), strict=True):
            self._images += 1
            objects = item.pop("objects")
            lists.add("images", {"id": self._images, "file_name": path, **item})
            for thing in objects:
                if thing.bbox is not None:
                    self._annotations += 1
                    lists.add("annotations", {"id": self._annotations, "image_id": self._images, **self._facts(thing)})
        return any(new)

    def _lists(self, split: str) -> JsonLists:
        if split not in self._files:
            made = JsonLists(self._out / "annotations" / f"instances_{split}.json", _LISTS, self._report)
            self._files[split] = self._stack.enter_context(made)
            made.facts["info"] = {"description": "rendered by Diorama", "version": str(FORMAT_VERSION), "split": split}
            made.facts["licenses"] = []
        return self._files[split]

    def _facts(self, item: ObjectAnnotation) -> dict[str, Any]:
        return {
            "category_id": self._categories[kind_of(item.shape)],
            "bbox": item.bbox,
            "area": item.visible_pixels,
            "segmentation": {"size": item.rle.size, "counts": item.rle.counts},
            "iscrowd": 0,
            "amodal_bbox": item.amodal_bbox,
            "visible_fraction": item.visible_fraction,
            "truncated": item.truncated,
            "name": item.name,
            "shape": item.shape,
            "color": item.color,
            "material": item.material,
            "size": item.size,
            "location": item.location,
            "rotation_deg": item.rotation_deg,
        }

    def finish(self) -> None:
        """What is known only at the end."""
        for lists in self._files.values():
            for shape, number in self._categories.items():
                lists.add("categories", {"id": number, "name": shape, "supercategory": "object"})


def _images(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    utterances = {frame.name: frame.utterance for frame in record.scene.frames}
    for image in record.images:
        yield {
            "width": image.width,
            "height": image.height,
            "episode_id": record.episode_id,
            "name": image.name,
            "frame": image.frame,
            "view": image.view,
            "utterance": utterances.get(image.frame),
            "objects": image.annotation.objects,
        }
