"""MALeViC's published files: entries of questions and annotations, whose values are strings, and question tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.malevic.labels import Label, compared, label_of
from diorama.scene_specs.benchmarks.malevic.sets import RAW, Set, adjectives, sentence, set_of
from diorama.scene_specs.benchmarks.malevic.shapes import COLORS, SHAPES, Object
from diorama.scene_specs.benchmarks.malevic.truth import Caption, Truth

Strings = dict[str, str]
# As CLEVR-IEP's preprocessing numbers them.
_SPECIAL = {"<NULL>": 0, "<START>": 1, "<END>": 2, "<UNK>": 3}


def objects_of(truth: Truth) -> list[Object]:
    """Return the objects of an item."""
    return [Object(o.shape, o.color, o.radius, o.area, o.row, o.column, o.turned) for o in truth.objects]


def question(truth: Truth, index: int, split: str) -> dict[str, Any]:
    """Return the entry of a question file, for image `index` of its split. Raises ValueError for another question."""
    if len(truth.question.split(" ")) != 7:
        raise ValueError(f"not a sentence of seven words: {truth.question!r}")
    return {
        "image_index": index,
        "question_index": index,
        "image_filename": f"{index}.png",
        "image_filename_original": f"{truth.number}.png",
        "program": [],
        "question_family_index": int(truth.adjective in ("big", "biggest")),
        # Published files call the splits test_seen and test_unseen "test" here.
        "split": split.partition("_")[0],
        "answer": truth.answer,
        "question": truth.question,
    }


def vocabulary(which: Set) -> dict[str, dict[str, int]]:
    """Return the published `vocab.json` of a set: numbers of the words in all its sentences, sorted, and of answers."""
    texts = (sentence(which, *look) for look in product(SHAPES, COLORS, adjectives(which)))
    words = {word: 4 + k for k, word in enumerate(sorted({word for text in texts for word in text.split(" ")}))}
    return {
        "question_token_to_idx": _SPECIAL | words,
        "program_token_to_idx": dict(_SPECIAL),
        "answer_token_to_idx": _SPECIAL | {"no": 4, "yes": 5},
    }


def encode_question(known: Mapping[str, Mapping[str, int]], asked: Mapping[str, Any]) -> list[int]:
    """Return twelve numbers for an entry of a question file: nine of its sentence, its image, family and answer.

    Args:
        known: vocabulary of its set.
    """
    words = known["question_token_to_idx"]
    sentence_numbers = [words.get(word, _SPECIAL["<UNK>"]) for word in asked["question"].split(" ")]
    rest = [asked["image_index"], asked["question_family_index"], known["answer_token_to_idx"][asked["answer"]]]
    return [_SPECIAL["<START>"], *sentence_numbers, _SPECIAL["<END>"], *rest]


def tensors(numbers: Sequence[int]) -> dict[str, NDArray[np.int32 | np.int64]]:
    """Return the datasets of a published `<split>_questions.h5`: questions (N, 9) int32, others (N,) int64.

    Args:
        numbers: of all entries in order, see `encode_question`.
    """
    rows = np.array(numbers, dtype=np.int64).reshape(-1, 12)
    return {
        "questions": rows[:, :9].astype(np.int32),
        "image_idxs": rows[:, 9],
        "orig_idxs": np.arange(len(rows), dtype=np.int64),
        "question_families": rows[:, 10],
        "answers": rows[:, 11],
    }


def folder_of(truth: Truth) -> str:
    """Return the published name of an item's folder; of scenes without questions as `build_data.py` names its own."""
    which, variant = set_of(truth), truth.variant
    some = [str(word) for key, words in which.terms().items() if key in ("shapes", "colors", "rads") for word in words]
    if truth.split != RAW:
        return "_".join([which.name, variant, *some, "dataset"])
    letter = "abcd"[("sup1", "pos1", "pos", "set-pos").index(which.kind)]
    named = [letter, *([which.hardness.replace("-", "_")] if which.hardness else [])]
    return "_".join([*named, *([] if letter == "a" else [variant]), *some, "all_data"])


def annotation(truth: Truth, number: int | None = None) -> list[dict[str, Any]]:
    """Return the entry of an annotation file: the scene, its objects, and captions of each object that has a query.

    Args:
        number: of the scene in the file; by default its own.
    """
    which, objects, k = set_of(truth), objects_of(truth), truth.k
    entries = [_object_strings(which, objects, number, k) for number in range(len(objects))]
    pairs = [_caption_lists(which, entries[item.object], item, k) for item in truth.captions]
    return [_scene_strings(truth.number if number is None else number, objects), {"objects": entries}, *pairs]


def _scene_strings(number: int, objects: list[Object]) -> Strings:
    areas, radii = [item.area for item in objects], [item.radius for item in objects]
    return {
        "image_id": str(number),
        "image_url": f"{number}.png",
        "n_objects": str(len(objects)),
        "n_colors": str(len({item.color for item in objects})),
        "total_area_px": str(sum(areas)),
        "avg_area_px": str(round(sum(areas) / len(areas), 4)),
        "min_area": str(min(areas)),
        "max_area": str(max(areas)),
        "min_radius": str(min(radii)),
        "max_radius": str(max(radii)),
    }


def _object_strings(which: Set, objects: list[Object], number: int, k: float) -> Strings:
    item = objects[number]
    label = label_of(which, objects, item, k)
    # The published files write the center of a rectangle along its short side with decimals, even for integers.
    across = item.shape == "rectangle"
    entry = {
        "object_id": str(number),
        "rr": _coordinate_text(item.row, across and item.turned),
        "cc": _coordinate_text(item.column, across and not item.turned),
        "color": item.color,
        "shape": item.shape,
        "radius": str(item.radius),
        "area": str(item.area),
        "size": label.size or "NA",
    }
    if which.kind == "sup1":
        return {**entry, "size_scene": _in_scene(which, objects, item)} if which.by_set else entry
    away = "nan" if label.distance is None else str(round(label.distance, 4))
    vague = "different" if label.vague else "same"
    return {**entry, "prob": _decimals(probability(item, label)), "thresh_dist": away, "k": str(k), "vagueness": vague}


def _in_scene(which: Set, objects: list[Object], item: Object) -> str:
    """Return whether the largest or smallest object of its shape is that of the scene, too."""
    for end in (max, min):
        if item.area == end(other.area for other in compared(which, objects, item)):
            return "same" if item.area == end(other.area for other in objects) else "different"
    return "nan"


def _coordinate_text(value: float, fraction: bool) -> str:
    return str(float(value)) if fraction else str(int(value))


def _decimals(value: float) -> str:
    return str(round(value, 4))


def probability(item: Object, label: Label) -> float:
    """Return the published `prob`: normal probability of the label, by the distance of area and threshold."""
    if label.threshold is None:
        return 0.5
    above = 0.5 * (1 + math.erf((item.area - label.threshold) * 1e-5 / 0.05 / math.sqrt(2)))
    return above if label.size == "big" else 1 - above


def _caption_lists(which: Set, item: Strings, pair: Caption, k: float) -> dict[str, list[Strings]]:
    true, false = {"caption_true": pair.true}, {"caption_false": pair.false}
    if which.kind == "sup1":
        some = {"size_scene": item["size_scene"]} if which.by_set else {}
        true, false = true | some, false | some
    else:
        rest = {"k": str(k), "vagueness": item["vagueness"]}
        away = item["thresh_dist"]
        # The published key of the true caption ends in a colon; the entry has both spellings.
        true |= {"prob_RH_R_true": item["prob"], "dist_from_thresh": away, "dist_from_thresh:": away, **rest}
        false |= {"prob_RH_R_false": _decimals(1 - float(item["prob"])), "dist_from_thresh": away, **rest}
    return {"captions": [true, false]}
