"""MALeViC items. Each depends only on (seed, set, split, number)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from diorama.scene_specs.benchmarks.malevic import Options, sets
from diorama.scene_specs.benchmarks.malevic.draw import draw_scene
from diorama.scene_specs.benchmarks.malevic.labels import Label, askable, label_of
from diorama.scene_specs.benchmarks.malevic.report import SetReport, table
from diorama.scene_specs.benchmarks.malevic.shapes import Object, object_data, on_table
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.spec import EpisodeData, ObjectData
from diorama.scene_specs.tasks.benchmark import Series

_GROUPS = {
    "main": ("sup1", "pos1", "pos", "set-pos"),
    "hard": tuple(name for name, definition in sets.SETS.items() if definition.hardness and name != "sup1-hard"),
    "generalization": tuple(f"generalization-{letter}" for letter in sets.GENERALIZATION),
    "all": tuple(name for name in sets.SETS if name != "sup1-hard"),
}
_RAW_SCENES = {sets.RAW: 25_000}
_log = logging.getLogger(__name__)


def generate(options: Options) -> Series:
    """Items by the options of `render-specs malevic`; logs their report at the end."""
    parts = _item_ranges(options)

    def specs() -> Iterator[EpisodeData]:
        reports = [SetReport(name, split) for name, split, _ in parts]
        for report, (name, split, numbers) in zip(reports, parts, strict=True):
            for number in numbers:
                spec = malevic_spec(options, name, split, number)
                if split != sets.RAW:
                    report.add(Truth.of_spec(spec))
                yield spec
        reported = [report for report in reports if report.items]
        if reported:
            _log.info("%s", table([report.row() for report in reported]).removesuffix("\n"))
        if alike := [
            f"{report.name} {report.split}" for report in reported if report.items > 1 and len(report.answers) == 1
        ]:
            _log.warning(
                "%s: all answers are equal; numbers of items that are a multiple of 80 have each class as often",
                ", ".join(alike),
            )

    return Series(specs(), sum(len(numbers) for *_, numbers in parts), "items")


def _item_ranges(options: Options) -> list[tuple[str, str, range]]:
    """Return the item numbers to generate: (set, split, numbers). Raises UsageError if no set has the split."""
    names = _GROUPS.get(options.name, (options.name,))
    ranges = [
        (name, split, range(options.first, options.first + (items if options.count is None else options.count)))
        for name in names
        for split, items in (_RAW_SCENES if options.split == sets.RAW else sets.SETS[name].splits).items()
        if options.split in ("all", split) and (split != sets.RAW or not sets.SETS[name].base)
    ]
    if not ranges:
        allowed = ", ".join(sets.SETS[names[0]].splits)
        raise UsageError(f"--split {options.split}: set {names[0]} has the splits {allowed}")
    return ranges


def malevic_spec(options: Options, name: str, split: str, number: int) -> EpisodeData:
    """Return item `number` of a split of a set, as JSON data for EpisodeSpec, independently of other items.

    Id: `malevic/<set>/<split>/<6 digits>`. Scenes of split raw have no question. Generalization sets have the
    images of set-pos-compositional, some with another question.
    """
    which = sets.set_by(name, options)
    image_set = sets.set_by(which.base, options) if which.base else which
    of_image, asked = (None, None) if split == sets.RAW else sets.class_of(which, split, number, options.seed)
    shape = of_image.shape if of_image else which.shapes[number % len(which.shapes)]
    drawn = draw_scene(options, f"malevic/{image_set.name}/{split}/{number:06d}", image_set, of_image, shape)
    prisms = options.world == "3d"
    shown = [on_table(item) if prisms else object_data(item, options.areas) for item in drawn.objects]
    given = {"split": split, "number": number, **{key: getattr(options, key) for key in ("world", "variant", "areas")}}
    query = (drawn.target, asked.adjective, asked.true) if asked else None
    task = task_of_scene(which, drawn.objects, drawn.k, query, **given)
    objects: list[ObjectData] = [{"name": f"object-{k}", **item} for k, item in enumerate(shown)]
    return {
        "version": 1,
        "id": f"malevic/{name}/{split}/{number:06d}",
        "seed": options.seed,
        "stage": "table" if prisms else "flat",
        "split": split,
        "frames": [{"name": "scene", "utterance": task.get("question"), "objects": objects}],
        "task": task,
    }


def task_of_scene(
    which: sets.Set, objects: tuple[Object, ...], k: float, query: tuple[int, str, bool] | None, **given: Any
) -> dict[str, Any]:
    """Return the task of an item: `given`, and what follows from its objects and k.

    Args:
        query: index of the object in question, adjective, and truth of the sentence; None for a scene without a
            question. The order of the keys is that of version 0.1.0: a Scene's hash depends on it.
    """
    labels = [label_of(which, objects, item, k) for item in objects]
    asked: dict[str, Any] = {}
    if query is not None:
        target, adjective, true = query
        item = objects[target]
        question = {"question": sets.sentence(which, item.shape, item.color, adjective), "options": ["yes", "no"]}
        claim = {"answer": "yes" if true else "no", "asked": target, "adjective": adjective}
        asked = {**question, **claim, "k": k, **_rounded(labels[target])}
    return {
        "benchmark": "malevic",
        "name": which.name,
        **given,
        **which.terms(),
        **(asked or {"k": k}),
        "objects": [
            {**asdict(item), "size": label.size, **_rounded(label)} for item, label in zip(objects, labels, strict=True)
        ],
        "captions": captions(which, objects, k),
    }


def _rounded(label: Label) -> dict[str, Any]:
    """Return threshold and distance, rounded to 4 decimals, and vagueness, as in the published annotations."""
    if label.threshold is None or label.distance is None:
        return {"threshold": None, "distance": None, "vagueness": "same"}
    vagueness = "different" if label.vague else "same"
    return {"threshold": round(label.threshold, 4), "distance": round(label.distance, 4), "vagueness": vagueness}


def captions(which: sets.Set, objects: tuple[Object, ...], k: float) -> list[dict[str, Any]]:
    """Return every query of a scene that the set allows, with its false counterpart; object: index of its object."""
    pairs = []
    for index, item in enumerate(objects):
        size = label_of(which, objects, item, k).size
        if size is None or not askable(which, objects, item, k):
            continue
        texts = [sets.sentence(which, item.shape, item.color, word) for word in (size, sets.opposite(which, size))]
        pairs.append({"object": index, "true": texts[0], "false": texts[1]})
    return pairs
