"""`--format kilogram`: the published layout of KiloGram's images and reference games, where its programs look for them.

    <out>/<split>/images/black/<tangram>.png           one file per content, for all episodes that show it
                         color/<tangram>_<annotation>.png
                         augmented/<tangram>_<annotation>_<subset>.png
                         3d/<condition>/.../<frame>.png   on a table: each game has its own light and camera
                  texts/controlled/<condition>.json    {"targets": [...], "images": [...], "texts": [...]}: a block per
                                                       game, the target first and repeated in `targets`; texts
                                                       whole#part#part
                        controlled/<condition>_caption.json    the same with sentences, for conditions that name parts
                        controlled/<condition>_stimuli.json    [{targets, images, texts}]: first game of each target
                        random/...                     unconstrained games; with other than ten tangrams controlled-<n>,
                                                       random-<n> and augmented-<n>
                        augmented/aug_<split>.json, aug_<split>_caption.json   games of subsets of parts
                        augmented/new_<split>_df.csv   subsets of parts: the published table's columns
                        augmented/file_sep_by_part_counts.json    {image: {shown parts: [{target, distractors}]}}: the
                                                       same games by target, which the analysis by parts reads
                        <condition>_pictures.json      {"tangrams", "images", "texts"}: of `--pictures`

<split> is named as published: `development` for dev, `training` for train and val. Training has other names:

    <out>/training/images/train-black, train-color, augmented   of `--pictures --split train`
                   texts/train_whole.json, train_part.json, train_augmented_part.json
                                                       {tangram: [sentence, ...]}; the colored image of sentence i is
                                                       <tangram>_<i>.png
                   images/black, color; texts/controlled, random    games of `--split train`, which are not published
                   images/val-black, val-color; texts/validation/controlled, random    of `--split val`

`images` are names below the folder of images, without the suffix. The lists describe the store; every export without
conflicts rewrites them. Images that exist are kept.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from diorama.scene_specs.benchmarks.kilogram.examples import AUG, CONDITIONS, SIZE
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.tasks.csv_table import csv_table
from diorama.scene_specs.tasks.exporting.layouts import Folder, ImageLists, Images, Written, image_path, split_of

_COLUMNS = ("annotation", "full_annotation", "ann_num_parts", "full_ann_num_parts", "tangram", "image")
# Published names, by ours: of splits, of folders of images by condition, of files of sentences for training.
_SPLITS: Mapping[str, str] = {"dev": "development", "train": "training", "val": "training"}
_COLORED: Mapping[bool, str] = {False: "black", True: "color"}
_TRAINING: Mapping[str, str] = {"whole": "whole", "part": "part", AUG: "augmented_part"}


class Shown(NamedTuple):
    """An image in the lists.

    Attributes:
        name: below the folder of images, without the suffix.
        text: of its frame.
    """

    name: str
    text: str
    truth: Figure


class GameLists:
    """Lists of games by path: columns of equal length, stimuli, and games of subsets by target."""

    def __init__(self) -> None:
        self.columns: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.stimuli: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.by_target: dict[str, dict[str, Any]] = defaultdict(dict)

    def add(self, split: str, task: Truth, shown: Mapping[str, Shown]) -> None:
        """Add a reference game, the target first."""
        answer = task.answer
        if answer not in shown or len(shown) != len(task.options):
            expected = f"expected {len(task.options)} images, one of them the answer"
            raise ValueError(f"found {len(shown)} images and answer {answer!r}; {expected}")
        ordered = [shown[answer], *(entry for name, entry in shown.items() if name != answer)]
        # As published: by the name of the image, which the evaluator looks up, so that no two examples share a key.
        targets = [ordered[0].truth.image] * len(ordered)
        images = [example.name for example in ordered]
        hashed = [example.truth.hash_text for example in ordered]
        path = games_path(split, task)
        self.extend(f"{path}.json", targets=targets, images=images, texts=hashed)
        if task.name == AUG or CONDITIONS[task.name][0]:
            texts = [example.text for example in ordered]
            self.extend(f"{path}_caption.json", targets=targets, images=images, texts=texts)
        if task.name == AUG:
            # As the published gen_eval_sets.py writes it.
            target, *others = ([name, text] for name, text in zip(images, hashed, strict=True))
            by_target = self.by_target[f"{path.rpartition('/')[0]}/file_sep_by_part_counts.json"]
            counts = by_target.setdefault(targets[0], {})
            (games,) = counts.setdefault(str(task.shown_parts), [{"target": target, "distractors": []}])
            games["distractors"].append(others)
        elif task.number == 0:
            self.stimuli[f"{path}_stimuli.json"].append({"targets": targets[0], "images": images, "texts": hashed[0]})

    def extend(self, path: str, **columns: list[str]) -> None:
        """Append rows to a list."""
        for name, values in columns.items():
            self.columns[path][name] += values


class Lists(ImageLists):
    """Collects the lines of all lists, by path.

    Attributes:
        counts: sentences so far, by condition and training tangram.
    """

    shares_images = has_sums = True

    def __init__(self, export: Folder) -> None:
        super().__init__(export)
        self._lists = GameLists()
        self._rows: dict[str, list[list[object]]] = defaultdict(list)

    def write(self, record: EpisodeRecord) -> Images:
        task, frames = Truth.of_record(record), {frame.name: frame for frame in record.scene.frames}
        figures = Figure.of_frames((frame.truth for frame in frames.values()), record.episode_id)
        truths = dict(zip(frames, figures, strict=True))
        split = split_of(record.scene.split)
        flat = scene_stage(record.scene).sampling == "content"
        training = flat and split == "train" and not task.answer
        folder = _images_folder(split, task) if flat else f"{_SPLITS.get(split, split)}/images/3d"
        shown: dict[str, Shown] = {}
        images = []
        for image in record.images:
            truth = truths[image.frame]
            name = truth.image
            if not flat:
                name = image_path(record.episode_id.removeprefix("kilogram/"), image.name).removesuffix(".png")
            elif training:
                number = self._add_sentence(task.name, truth.tangram, frames[image.frame].utterance or "")
                name = name if name == truth.tangram else f"{truth.tangram}_{number}"
            images.append((f"{folder}/{name}.png", image.png))
            shown[image.frame] = Shown(name, frames[image.frame].utterance or "", truth)
        if task.answer:
            self._lists.add(split, task, shown)
        elif not training:
            self._add_images(split, task.name, shown)
        return images

    def names(self) -> Iterator[str]:
        """All lists and tables."""
        return chain(self._lists.columns, self._lists.stimuli, self._lists.by_target, self._rows)

    def _add_sentence(self, condition: str, tangram: str, text: str) -> int:
        """Add a sentence to those for training, which conditions share, and return its number."""
        number = self.counts[f"{condition}/{tangram}"]
        self.counts[f"{condition}/{tangram}"] += 1
        texts = self._lists.columns[f"training/texts/train_{_TRAINING[condition.partition('+')[0]]}.json"][tangram]
        if number == len(texts):
            texts.append(text)
        if texts[number] != text:
            raise ValueError(f"sentence {number} of {tangram} is {text!r}, in another condition {texts[number]!r}")
        return number

    def _add_images(self, split: str, condition: str, shown: Mapping[str, Shown]) -> None:
        """Add single images of an annotation."""
        texts = f"{_SPLITS.get(split, split)}/texts"
        for name, _, truth in shown.values():
            tangram, text = truth.tangram, truth.hash_text
            self._lists.extend(f"{texts}/{condition}_pictures.json", tangrams=[tangram], images=[name], texts=[text])
            if condition == AUG:
                parts = [part.name for part in truth.parts]
                row = [text, "#".join([truth.whole, *parts]), text.count("#"), len(parts), tangram, name]
                self._rows[f"{texts}/augmented/new_{split}_df.csv"].append(row)

    def finish(self, written: Written) -> None:
        data: dict[str, Any] = {**self._lists.columns, **self._lists.stimuli, **self._lists.by_target}
        files = {path: json.dumps(value, ensure_ascii=False) + "\n" for path, value in data.items()}
        for path, rows in self._rows.items():
            files[path] = csv_table([_COLUMNS, *rows])
        written.put(files)


def _images_folder(split: str, task: Truth) -> str:
    """Return the published folder of a condition's images.

    Games of train, which are not published, have other folders than its pictures, which number descriptions anew.
    """
    kind = "augmented" if task.name == AUG else _COLORED[CONDITIONS[task.name][1]]
    named = split == "val" or (split == "train" and not task.answer)
    trained = f"{split}-{kind}" if named and task.name != AUG else kind
    return f"{_SPLITS.get(split, split)}/images/{trained}"


def games_path(split: str, task: Truth) -> str:
    """Return the published path of games like this, without the suffix."""
    texts = f"{_SPLITS.get(split, split)}/texts"
    size = f"-{len(task.options)}" * (len(task.options) != SIZE)
    if task.name == AUG:
        return f"{texts}/augmented{size}/aug_{split}"
    folder = "random" if task.unconstrained else "controlled"
    return f"{texts}/{'validation/' * (split == 'val')}{folder}{size}/{task.name}"
