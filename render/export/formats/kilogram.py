"""`--format kilogram`: the published layout of KiloGram's images and reference games.

    <out>/images/black/<tangram>.png                  one file per content, for all episodes that show it
                 color/<tangram>_<annotation>.png
                 aug/<tangram>_<annotation>_<subset>.png
                 3d/<split>/<condition>/.../<frame>.png   on a table: each game has its own light and camera
          <split>/<condition>.json            {"targets": [...], "images": [...], "texts": [...]}: blocks of ten, one
                                              per game, the target first and repeated in `targets`; texts
                                              whole#part#part
                  <condition>_caption.json    the same with sentences, for conditions that name parts
                  <condition>_stimuli.json    a list of {targets, images, texts}: the first game of each target
                  <condition>_pictures.json   {"tangrams", "images", "texts"}: from `render-specs kilogram --pictures`
                  aug.csv                     subsets of parts: the published table's columns

`images` are names below images/<black, color, aug or 3d>, without the suffix. The lists describe the store; every
export without conflicts rewrites them. Images that exist are kept.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from render.export._image_files import ImageExport, image_path, split_of
from render.export.atomic_output import put_file
from render.model.record import EpisodeRecord
from scene_specs.benchmarks.kilogram.examples import AUG, CONDITIONS
from scene_specs.benchmarks.kilogram.games import SIZE
from scene_specs.language.stage import load_stage

_IMAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_COLUMNS = ("annotation", "full_annotation", "ann_num_parts", "full_ann_num_parts", "tangram", "image")
# An image in the lists: its name, and the frame's truth.
Shown = tuple[str, Mapping[str, Any]]


class _KilogramExport(ImageExport):
    """Collects the lines of all lists, by path."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._written: set[str] = set()
        self._columns: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._stimuli: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._rows: dict[str, list[list[object]]] = defaultdict(list)

    def write(self, record: EpisodeRecord) -> bool:
        task = record.scene.task or {}
        condition = task.get("name")
        if task.get("benchmark") != "kilogram" or not isinstance(condition, str) or condition not in (*CONDITIONS, AUG):
            raise ValueError("not a KiloGram episode: expected task.benchmark kilogram and one of its conditions")
        truths = {frame.name: {**(frame.truth or {}), "text": frame.utterance or ""} for frame in record.scene.frames}
        shown: dict[str, Shown] = {}
        paths = []
        for image in record.images:
            truth = truths[image.frame]
            name, path = _name_and_path(record, condition, image.name, truth)
            if put_file(self.out, f"images/{path}", image.png, self.options.overwrite):
                self._written.add(path)
            paths.append(path)
            shown[image.frame] = (name, truth)
        split = split_of(record.scene.split)
        if "answer" in task:
            self._add_game(split, condition, task, shown)
        else:
            self._add_images(split, condition, shown)
        # A game also counts as exported if another game of this export has just written its images.
        return not self._written.isdisjoint(paths)

    def _add_game(self, split: str, condition: str, task: Mapping[str, Any], shown: Mapping[str, Shown]) -> None:
        """Add a reference game, the target first."""
        answer = task["answer"]
        if answer not in shown or len(shown) != SIZE:
            raise ValueError(
                f"found {len(shown)} images and answer {answer!r}; expected {SIZE} images, one of them the answer"
            )
        ordered = [shown[answer], *(entry for name, entry in shown.items() if name != answer)]
        # As published: by the name of the image, which the evaluator looks up, so that no two examples share a key.
        targets = [str(ordered[0][1]["image"])] * SIZE
        images = [name for name, _ in ordered]
        hashed = [str(truth["hash_text"]) for _, truth in ordered]
        self._add(f"{split}/{condition}.json", targets=targets, images=images, texts=hashed)
        if condition == AUG or CONDITIONS[condition][0]:
            texts = [str(truth["text"]) for _, truth in ordered]
            self._add(f"{split}/{condition}_caption.json", targets=targets, images=images, texts=texts)
        if task.get("number") == 0 and condition != AUG:
            item = {"targets": targets[0], "images": images, "texts": hashed[0]}
            self._stimuli[f"{split}/{condition}_stimuli.json"].append(item)

    def _add_images(self, split: str, condition: str, shown: Mapping[str, Shown]) -> None:
        """Add single images of an annotation."""
        for name, truth in shown.values():
            tangram, text = str(truth["tangram"]), str(truth["hash_text"])
            self._add(f"{split}/{condition}_pictures.json", tangrams=[tangram], images=[name], texts=[text])
            if condition == AUG:
                parts = [part["name"] for part in truth["parts"]]
                row = [text, "#".join([truth["whole"], *parts]), text.count("#"), len(parts), tangram, name]
                self._rows[f"{split}/aug.csv"].append(row)

    def _add(self, path: str, **columns: list[str]) -> None:
        for name, values in columns.items():
            self._columns[path][name] += values

    def finish(self) -> None:
        data: dict[str, Any] = {**self._columns, **self._stimuli}
        files = {path: json.dumps(value, ensure_ascii=False) + "\n" for path, value in data.items()}
        for path, rows in self._rows.items():
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *rows])
            files[path] = text.getvalue()
        for path, content in files.items():
            put_file(self.out, path, content.encode(), overwrite=True)


def _name_and_path(record: EpisodeRecord, condition: str, image: str, truth: Mapping[str, Any]) -> tuple[str, str]:
    """Name in the lists, and the file below images/."""
    name = truth.get("image")
    if not isinstance(name, str) or not _IMAGE.fullmatch(name):
        raise ValueError(f"image {image}: its truth names the image {name!r}, which can't be a file name")
    if load_stage(record.scene.stage).sampling != "content":
        path = image_path(record.episode_id.removeprefix("kilogram/"), image)
        return path.removesuffix(".png"), f"3d/{path}"
    folder = AUG if condition == AUG else "color" if CONDITIONS[condition][1] else "black"
    return name, f"{folder}/{name}.png"


export = _KilogramExport.export
