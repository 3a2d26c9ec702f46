"""`--format clevr`: pictures and scene files as the CLEVR tools read them (question generation, baselines).

    <out>/images/<split>/CLEVR_<split>_<6 digits>.png
          scenes/CLEVR_<split>_scenes.json

One picture is one scene, numbered in the order of episode ids. Beyond CLEVR's own fields an object has bbox,
amodal_bbox, mask (COCO run lengths) and visible_pixels, and a scene has episode_id and image_name. Directions and
relationships come from the picture's real camera. Episodes without a split are in the split `new`, as the published
script calls it. An episode with anything CLEVR has no word for (a size in numbers, another shape, a pointer) is named
and left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from render.export._pictures import Differs, JsonLists, put_file, split_of
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.errors import StoreError
from render.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, ObjectAnnotation
from render.store.episode_store import EpisodeReader
from scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, RELATIONS, SHAPES, SIZES

_WORDS = {"shape": tuple(SHAPES), "color": tuple(COLORS), "material": tuple(MEWL_MATERIALS), "size": tuple(SIZES)}


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write pictures and scene files; see render.export.protocol.Exporter. Memory: a chunk of episodes."""
    report = ExportReport()
    with output_lock(out), ExitStack() as stack:
        writer = _Writer(out, options, report, stack)
        for record in iter_valid_records(store, chosen_ids(store, options), report, progress):
            try:
                new = writer.write(record)
            except Differs as error:
                report.differing.append(f"episode {record.episode_id}: {error}")
            except ValueError as error:
                report.failed.append(f"episode {record.episode_id}: {error}")
            except OSError as error:
                raise StoreError(f"episode {record.episode_id}: writing below {out} failed: {error}") from error
            else:
                report.exported += new
                report.skipped += not new
            progress(1)
        writer.finish()
    return report


class _Writer:
    def __init__(self, out: Path, options: ExportOptions, report: ExportReport, stack: ExitStack) -> None:
        self._out, self._options, self._report, self._stack = out, options, report, stack
        self._files: dict[str, JsonLists] = {}
        self._next: dict[str, int] = {}
        self._latest = ""

    def write(self, record: EpisodeRecord) -> bool:
        """Whether any picture of the episode is new. Raises ValueError for what CLEVR can't say."""
        split = split_of(record.scene.split, without="new")
        scenes = [_scene(image) for image in record.images]
        lists = self._lists(split)
        first = self._next.get(split, 0)
        # Taken even where a picture can't be written: the numbers of the others must not hang on that.
        self._next[split] = first + len(scenes)
        names = [f"CLEVR_{split}_{number:06d}.png" for number in range(first, first + len(scenes))]
        # All pictures first: an episode is in the list as a whole or not at all.
        new = [
            put_file(self._out / "images" / split / name, image.png, self._options)
            for name, image in zip(names, record.images, strict=True)
        ]
        for number, (name, image, scene) in enumerate(zip(names, record.images, scenes, strict=True), start=first):
            head = {"image_index": number, "image_filename": name, "split": split}
            lists.add("scenes", {**head, "episode_id": record.episode_id, "image_name": image.name, **scene})
        self._latest = max(self._latest, record.provenance.created)
        return any(new)

    def _lists(self, split: str) -> JsonLists:
        if split not in self._files:
            made = JsonLists(self._out / "scenes" / f"CLEVR_{split}_scenes.json", ("scenes",), self._report)
            self._files[split] = self._stack.enter_context(made)
        return self._files[split]

    def finish(self) -> None:
        """The date is that of the newest picture: the same store gives the same bytes."""
        for split, lists in self._files.items():
            facts = {"split": split, "version": "1.0", "license": "", "date": self._latest[:10]}
            lists.facts["info"] = facts


def _scene(image: ImageRecord) -> dict[str, Any]:
    truth = image.annotation
    if truth.pointer is not None:
        raise ValueError(f"image {image.name}: CLEVR has no pointer")
    return {
        "objects": [_object(item, image.name) for item in truth.objects],
        "directions": truth.directions,
        "relationships": _relationships(truth),
    }


def _object(item: ObjectAnnotation, image: str) -> dict[str, Any]:
    words = {"shape": item.shape, "size": item.size, "material": item.material, "color": item.color}
    for key, word in words.items():
        if word not in _WORDS[key]:
            raise ValueError(f"image {image}: object {item.name}: CLEVR has no {key} {word!r}")
    x, y, depth = item.pixel_center
    return {
        **words,
        "3d_coords": item.location,
        # What Blender took as radians is what the published files hold.
        "rotation": math.radians(item.rotation_deg[2]),
        "pixel_coords": [round(x), round(y), depth],
        "bbox": item.bbox,
        "amodal_bbox": item.amodal_bbox,
        "mask": {"size": item.rle.size, "counts": item.rle.counts},
        "visible_pixels": item.visible_pixels,
    }


def _relationships(truth: FrameAnnotation) -> dict[str, list[list[int]]]:
    """Direction -> for each object the indices of those that stand so of it, as CLEVR's files have it."""
    index = {item.name: number for number, item in enumerate(truth.objects)}
    return {
        relation: [
            sorted(index[name] for name in truth.relations.get(relation, {}).get(item.name, ()))
            for item in truth.objects
        ]
        for relation in RELATIONS
    }
