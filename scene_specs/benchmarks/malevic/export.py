"""`--format malevic`: the published layout of MALeViC's data sets.

    <out>/<set>_<vague or static>_dataset/<split>/<index>.png
                                          <split>.json                {"info": {}, "questions": [...]}
                                          annotations_<split>.json    {"<index>": [scene, objects, captions ...]}
                                          <split>_questions.h5        the questions as the training scripts read them
                                          vocab.json                  the numbers of words and answers in these

    <out>/<task>_<vague or static>_all_data/<number>.png, annotations_0.json, annotations_1000.json, ...
                                          scenes without questions, named as the published `build_data.py` does, for
                                          its `extract_dataset.py`

Sets with other shapes, colors or size classes than the published ones have these in the names of their folders, too.
Splits have the published names: train, val, test, test_seen, test_unseen. Images are numbered from 0 in the order of
episode ids, which alternates between classes; `image_filename_original` has the item's own number. Areas and locations
are those of the 1024 x 1024 canvas for every image size. Images are RGB; the published ones are RGBA, all opaque.
The tensors need h5py (the extra `h5`).
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator
from typing import IO

from diorama.scene_specs.benchmarks.malevic import published
from diorama.scene_specs.benchmarks.malevic.sets import RAW, SETS
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.files.writing import compact_json
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import Folder, ImageLists, Images, StreamedJson, Written, split_of

# Scenes in a file of annotations.
_STEPS = 1000
_log = logging.getLogger(__name__)


class _Entries(StreamedJson):
    """A JSON object with one entry per line."""

    def parts(self) -> Iterator[bytes | IO[bytes]]:
        (entries,) = self._lists.values()
        yield from (b"{\n", entries, b"\n}\n") if entries.tell() else (b"{}\n",)


class Lists(ImageLists):
    """Numbers the images of each split from 0.

    Attributes:
        asked: folder and split -> set, numbers of its encoded questions.
        vocabularies: by set.
    """

    has_sums = True

    def __init__(self, export: Folder) -> None:
        super().__init__(export)
        self.asked: dict[tuple[str, str], tuple[str, array[int]]] = {}
        self.vocabularies = {name: published.vocabulary(which) for name, which in SETS.items()}

    def write(self, record: EpisodeRecord) -> Images:
        truth = Truth.of_record(record)
        split = split_of(record.scene.split).replace("-", "_")
        folder = published.folder_of(truth)
        index = self.counts[f"{folder}/{split}"]
        if split == RAW:
            entry = published.annotation(truth, index)
            file = f"{folder}/annotations_{index // _STEPS * _STEPS}.json"
            self.counts[f"{folder}/{split}"] += 1
            self.stream(file, ["entries"], _Entries).add("entries", entry, key=str(index))
            return [(f"{folder}/{index}.png", record.images[0].png)]
        entry = published.annotation(truth)
        # Counted even if the image can't be written: the numbers of later images must not depend on that.
        self.counts[f"{folder}/{split}"] += 1
        asked = published.question(truth, index, split)
        (image,) = record.images
        questions = self.stream(f"{folder}/{split}.json", ["questions"])
        questions.facts["info"] = {}
        entries = self.stream(f"{folder}/annotations_{split}.json", ["entries"], _Entries)
        questions.add("questions", asked)
        _, numbers = self.asked.setdefault((folder, split), (truth.name, array("q")))
        numbers.extend(published.encode_question(self.vocabularies[truth.name], asked))
        entries.add("entries", entry, key=str(index))
        return [(f"{folder}/{split}/{index}.png", image.png)]

    def finish(self, written: Written) -> None:
        """Write vocabularies and, with h5py, tensors. Raises OSError."""
        for (folder, split), (name, rows) in self.asked.items():
            written.put({f"{folder}/vocab.json": compact_json(self.vocabularies[name]) + "\n"}, shared=True)
            file = f"{folder}/{split}_questions.h5"
            try:
                import h5py
            except ImportError:
                # Of an earlier export, which may have had other questions.
                written.drop(file)
                _log.warning("no %s_questions.h5: that needs h5py (pip install 'diorama-render[h5]')", split)
                continue
            with written.replacing(file) as temporary, h5py.File(temporary, "w") as out:
                for key, numbers in published.tensors(rows).items():
                    out.create_dataset(key, data=numbers)
