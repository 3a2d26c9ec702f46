"""`--format kilogram`: the published layout of KiloGram's pictures and reference games.

    <out>/images/black/<tangram>.png                  pictures of one content are one file, whoever shows them
                 color/<tangram>_<annotation>.png
                 aug/<tangram>_<annotation>_<subset>.png
                 3d/<split>/<condition>/.../<frame>.png   of the table: each game has its own light and camera
          <split>/<condition>.json            {"targets": [...], "images": [...], "texts": [...]}: blocks of ten, a game
                                              each, the target first; `targets` says it ten times; texts whole#part#part
                  <condition>_caption.json    the same with sentences, where parts are said
                  <condition>_stimuli.json    a list of {targets, images, texts}: the first game of each target
                  <condition>_pictures.json   {"tangrams", "images", "texts"}: of `render-specs kilogram --pictures`
                  aug.csv                     subsets of parts: the published table's columns

`images` are names below images/<black, color, aug or 3d>, without the ending. Lists hold what the store holds and are
written anew by every export that refuses no episode; pictures that are there stay.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from render.export._pictures import picture_path, put_file, split_of, write_each
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader
from scene_specs.benchmarks.kilogram.examples import AUG, CONDITIONS
from scene_specs.benchmarks.kilogram.games import SIZE
from scene_specs.language.stage import load_stage

_IMAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_COLUMNS = ("annotation", "full_annotation", "ann_num_parts", "full_ann_num_parts", "tangram", "image")
# A picture as the lists have it: name, and the frame's truth.
Shown = tuple[str, Mapping[str, Any]]


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write pictures and lists; see render.export.protocol.Exporter. Others' episodes are named in the report.

    Memory: the names and texts of all games, about a kilobyte each.
    """
    report = ExportReport()
    lists = _Lists()
    with output_lock(out):
        records = iter_valid_records(store, chosen_ids(store, options), report, progress)
        write_each(records, lambda record: _one(record, out, options, lists), out, report, progress)
        # Without the episodes that were refused they would lose what the lists there may have.
        for path, content in () if report.differing else lists.files():
            put_file(out / path, content, ExportOptions(overwrite=True))
    return report


def _one(record: EpisodeRecord, out: Path, options: ExportOptions, lists: _Lists) -> bool:
    """Write an episode's pictures and note its lines; whether any picture is new. Raises ValueError, Differs."""
    task = record.scene.task or {}
    condition = task.get("name")
    if task.get("benchmark") != "kilogram" or not isinstance(condition, str) or condition not in (*CONDITIONS, AUG):
        raise ValueError("no KiloGram episode: expected task.benchmark kilogram and one of its conditions")
    truths = {frame.name: frame.truth or {} for frame in record.scene.frames}
    said = {frame.name: frame.utterance or "" for frame in record.scene.frames}
    shown: dict[str, Shown] = {}
    new = False
    for image in record.images:
        truth = {**truths[image.frame], "text": said[image.frame]}
        name, path = _place(record, condition, image.name, truth)
        if put_file(out / "images" / path, image.png, options):
            lists.made.add(path)
        # A game whose pictures another one has just made is exported, too.
        new = new or path in lists.made
        shown[image.frame] = (name, truth)
    split = split_of(record.scene.split)
    if "answer" in task:
        lists.game(split, condition, task, shown)
    else:
        lists.pictures(split, condition, shown)
    return new


def _place(record: EpisodeRecord, condition: str, image: str, truth: Mapping[str, Any]) -> tuple[str, str]:
    """Name in the lists, and the file below images/."""
    name = truth.get("image")
    if not isinstance(name, str) or not _IMAGE.fullmatch(name):
        raise ValueError(f"image {image}: its truth names the picture {name!r}, which can't be a file's name")
    if load_stage(record.scene.stage).sampling != "content":
        path = picture_path(record.episode_id.removeprefix("kilogram/"), image)
        return path.removesuffix(".png"), f"3d/{path}"
    folder = AUG if condition == AUG else "color" if CONDITIONS[condition][1] else "black"
    return name, f"{folder}/{name}.png"


class _Lists:
    """Lines of all files, by path. made: pictures written by this export."""

    def __init__(self) -> None:
        self.made: set[str] = set()
        self._columns: dict[str, dict[str, list[str]]] = {}
        self._stimuli: dict[str, list[dict[str, Any]]] = {}
        self._rows: dict[str, list[list[object]]] = {}

    def game(self, split: str, condition: str, task: Mapping[str, Any], shown: Mapping[str, Shown]) -> None:
        """A reference game, the target first."""
        answer = task["answer"]
        if answer not in shown or len(shown) != SIZE:
            raise ValueError(f"{len(shown)} pictures, answer {answer!r}; expected {SIZE}, the answer among them")
        ordered = [shown[answer], *(one for name, one in shown.items() if name != answer)]
        targets = [str(ordered[0][1]["tangram"])] * SIZE
        images = [name for name, _ in ordered]
        hashed = [str(truth["hash_text"]) for _, truth in ordered]
        self._add(f"{split}/{condition}.json", targets=targets, images=images, texts=hashed)
        if condition == AUG or CONDITIONS[condition][0]:
            texts = [str(truth["text"]) for _, truth in ordered]
            self._add(f"{split}/{condition}_caption.json", targets=targets, images=images, texts=texts)
        if task.get("number") == 0 and condition != AUG:
            item = {"targets": targets[0], "images": images, "texts": hashed[0]}
            self._stimuli.setdefault(f"{split}/{condition}_stimuli.json", []).append(item)

    def pictures(self, split: str, condition: str, shown: Mapping[str, Shown]) -> None:
        """Single pictures of an annotation."""
        for name, truth in shown.values():
            tangram, text = str(truth["tangram"]), str(truth["hash_text"])
            self._add(f"{split}/{condition}_pictures.json", tangrams=[tangram], images=[name], texts=[text])
            if condition == AUG:
                parts = [part["name"] for part in truth["parts"]]
                row = [text, "#".join([truth["whole"], *parts]), text.count("#"), len(parts), tangram, name]
                self._rows.setdefault(f"{split}/aug.csv", []).append(row)

    def _add(self, path: str, **columns: list[str]) -> None:
        made = self._columns.setdefault(path, {name: [] for name in columns})
        for name, values in columns.items():
            made[name] += values

    def files(self) -> list[tuple[str, bytes]]:
        """Path and content of each."""
        data: dict[str, Any] = {**self._columns, **self._stimuli}
        found = [(path, (json.dumps(value, ensure_ascii=False) + "\n").encode()) for path, value in data.items()]
        for path, rows in self._rows.items():
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(_COLUMNS)
            writer.writerows(rows)
            found.append((path, text.getvalue().encode()))
        return found
