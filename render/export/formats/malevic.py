"""`--format malevic`: the published layout of MALeViC's data sets.

    <out>/<set>_<vague or static>_dataset/<split>/<index>.png
                                          <split>.json                {"info": {}, "questions": [...]}
                                          annotations_<split>.json    {"<index>": [scene, objects, captions ...]}

Splits have the published names: train, val, test, test_seen, test_unseen. Images are numbered from 0 in the order of
episode ids, which alternates between classes; `image_filename_original` has the item's own number. Areas and locations
are those of the 1024 x 1024 canvas for every image size. Images are RGB; the published ones are RGBA, all opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from render.export._image_files import ImageExport, StreamedJson, split_of
from render.model.record import EpisodeRecord
from scene_specs.benchmarks.malevic.published import annotation, question
from scene_specs.benchmarks.malevic.verify import task_of


class _Entries(StreamedJson):
    """A JSON object with one entry per line."""

    def parts(self) -> Iterator[bytes | IO[bytes]]:
        (entries,) = self._lists.values()
        yield from (b"{\n", entries, b"\n}\n") if entries.tell() else (b"{}\n",)


class _MalevicExport(ImageExport):
    """Numbers the images of each split from 0."""

    def write(self, record: EpisodeRecord) -> bool:
        task = task_of(record)
        split = split_of(record.scene.split).replace("-", "_")
        folder = f"{task['name']}_{task['variant']}_dataset"
        entry = annotation(task)
        index = self.counts[f"{folder}/{split}"]
        # Counted even if the image can't be written: the numbers of later images must not depend on that.
        self.counts[f"{folder}/{split}"] += 1
        new = self.put_images([f"{folder}/{split}/{index}.png"], record)
        questions = self.stream(f"{folder}/{split}.json", ["questions"])
        questions.facts["info"] = {}
        entries = self.stream(f"{folder}/annotations_{split}.json", ["entries"], _Entries)
        questions.add("questions", question(task, index, split))
        entries.add("entries", entry, key=str(index))
        return new


export = _MalevicExport.export
