"""MALeViC (sandropezzelle/malevic): annotations, questions, tensors, vocabularies, images and distributions."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import h5py
import numpy as np
from scipy.stats import chi2_contingency

from diorama.render.renderers import make_renderer
from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec
from diorama.scene_specs.benchmarks.malevic.importing import import_published
from diorama.scene_specs.benchmarks.malevic.published import encode_question, question, tensors, vocabulary
from diorama.scene_specs.benchmarks.malevic.sets import GENERALIZATION, SEEN, SETS, classes
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.benchmarks.malevic.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.importing.pictures import read_picture
from tools.claims.crosschecks import Row, read_json, redrawn, spec_data, variation

MARK = "code/build_data.py"
SEEDS = (11, 22, 33)
# Rounding of k to four decimals turns one label and one answer.
ROUNDED = {"data-compositional/set-pos-compositional/annotation/val_annotation.json": ("660", "k is rounded")}
# An image differs if more than this share of its pixels does.
MOST_PIXELS = 0.005
# What scenes are compared by, and below which p, over all of it, a set differs.
FEATURES = ("objects", "colors", "candidates", "of its shape", "queries", "size class")
LEAST_P = 1e-3
# The published items were taken from pools of twice their number, each image once, so scenes with several queries ran
# short. Up to this total variation, main sets differ for that.
POOL = 0.12


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    for path in sorted(checkout.glob("data*/*/annotation/*_annotation.json")):
        yield from _annotations(checkout, path)
    for folder in sorted({path.parent for path in checkout.glob("data*/*/dataset*/*_questions.h5")}):
        yield _questions(checkout, folder)
    for folder in sorted({path.parent for path in checkout.glob("examples/**/annotations_*.json")}):
        yield _images(checkout, folder, options)
    if options.items:
        yield from _distributions(checkout, options.items)


def _questions_of(path: Path) -> Path:
    """Return where the questions of an annotation file are, if they are there."""
    return path.parents[1] / "dataset" / path.name.replace("_annotation", "")


def _imported(path: Path) -> tuple[list[EpisodeSpec], list[str]]:
    """Return the items of an annotation file, with the questions of its split if they are there.

    Also the scene of each disagreement.
    """
    questions, items, found = _questions_of(path), list[EpisodeSpec](), list[str]()
    try:
        items.extend(import_published(path, strict=True, questions=questions if questions.exists() else None))
    except SpecError as error:
        found = [one.path for one in error.diagnostics]
    return items, found


def _annotations(checkout: Path, path: Path) -> Iterator[Row]:
    name = str(path.relative_to(checkout))
    items, found = _imported(path)
    truths = [Truth.of_task(item.task, item.id) for item in items]
    known, why = ROUNDED.get(name, ("", ""))
    scenes = {*found}
    note = "; ".join([f"{len(items)} scenes", *(f"{scene}: {why if scene == known else '?'}" for scene in scenes)])
    yield Row(f"{name}: objects", sum(len(truth.objects) for truth in truths), len(scenes), len(scenes & {known}), note)
    reasons = [reason for item in items if (reason := verify_spec(spec_data(item)))]
    yield Row(f"{name}: proved from what is shown", len(items), len(reasons), note="; ".join(reasons[:3]))
    if not (asked := _questions_of(path)).exists():
        yield Row(f"{name}: questions written back", 0, note=f"{asked.relative_to(checkout)} is absent")
        return
    entries = read_json(asked)["questions"]
    split = path.stem.removesuffix("_annotation")
    written = [question(truth, index, split) for index, truth in enumerate(truths) if truth.question]
    other = {str((one or own or {}).get("image_index")) for one, own in zip_longest(entries, written) if one != own}
    yield Row(f"{name}: questions written back", len(entries), len(other), len(other & {known}))


def _questions(checkout: Path, folder: Path) -> Row:
    """Return the comparison of the question files of a folder: words, tensors, classes, unseen pairs."""
    which, entries, differ, pairs = SETS[folder.parent.name], 0, 0, []
    vocab = folder / "vocab.json"
    differ += vocab.exists() and read_json(vocab) != vocabulary(which)
    for path in sorted(folder.glob("*.json")):
        tensor = path.with_name(f"{path.stem}_questions.h5")
        if not tensor.exists():
            continue
        asked = read_json(path)["questions"]
        entries += len(asked)
        known = vocabulary(which)
        own = tensors([number for one in asked for number in encode_question(known, one)])
        with h5py.File(tensor) as published:
            differ += sum(key not in own or not np.array_equal(published[key], own[key]) for key in published)
        found = Counter(_class_of(entry) for entry in asked)
        letter = path.stem.removeprefix("train").removeprefix("val")
        if letter in GENERALIZATION:
            cells = Counter({(shape, true): 0 for shape, _, _, true in found})
            for (shape, _, adjective, true), count in found.items():
                cells[shape, true] += count * (SEEN[shape] != adjective)
            share = GENERALIZATION[letter][path.stem.startswith("val")]
            differ += sum(abs(count - share) > 0.5 for count in cells.values())
            pairs.append(f"{path.stem} {sum(cells.values())}")
        else:
            expected = {tuple(one) for one in classes(which, path.stem.replace("_", "-"))}
            differ += len({*found} ^ expected) + len({*found.values()}) - 1
    note = f"unseen pairs: {', '.join(pairs)}" if pairs else ""
    return Row(f"{folder.relative_to(checkout)}: questions, tensors, words, classes", entries, differ, note=note)


def _class_of(entry: Any) -> tuple[str, str, str, bool]:
    words = entry["question"].split(" ")
    return words[2], words[1], words[5], entry["answer"] == "yes"


def _images(checkout: Path, folder: Path, options: Namespace) -> Row:
    """Return the comparison of the images of a folder, redrawn at their size."""
    renderer = make_renderer(options.renderer, "cpu", 2)
    shares, found, absent = list[float](), list[str](), list[str]()
    for path in sorted(folder.glob("annotations_*.json")):
        items, reasons = _imported(path)
        found += reasons
        for item in items:
            file = folder / f"{(item.task or {})['number']}.png"
            if not file.exists():
                absent.append(file.name)
                continue
            published = read_picture(file)
            drawn = redrawn(renderer, item, (published.shape[1], published.shape[0]))
            shares.append(float((drawn != published).any(axis=2).mean()))
    renderer.close()
    name = folder.relative_to(checkout)
    note = f"median {median(shares):.2%}, worst {max(shares):.2%} of pixels; " if shares else ""
    note += f"{len(found)} disagreements" + (f"; absent: {', '.join(absent)}" if absent else "")
    return Row(f"{name}: images redrawn", len(shares), sum(s > MOST_PIXELS for s in shares) + len(found), note=note)


def _distributions(checkout: Path, items: int) -> Iterator[Row]:
    """Yield the distance of published items from generated ones, of each set and seed, as total variation and p."""
    groups: dict[tuple[str, str], list[dict[str, int]]] = {}
    for path in sorted(checkout.glob("data*/*/annotation/*_annotation.json")):
        tasks = [item.task or {} for item in _imported(path)[0]]
        for task in tasks if _questions_of(path).exists() else ():
            # All splits of a set have the same classes, except test-unseen.
            split = task["split"] if task["split"] == "test-unseen" else ""
            groups.setdefault((task["name"], split), []).append(_features(task))
    for (name, split), published in groups.items():
        for seed in SEEDS:
            numbers = range(items)
            source = split or [*SETS[name].splits][-1 if not SETS[name].compositional else -2]
            made = (malevic_spec(Options(seed=seed), name, source, number)["task"] for number in numbers)
            own = [_features(task) for task in made]
            found = {key: _compared(published, own, key) for key in FEATURES}
            unlike = [off for off, p in found.values() if p < LEAST_P / len(FEATURES)]
            known = 0 if SETS[name].hardness else sum(off <= POOL for off in unlike)
            note = ", ".join(f"{key} {off:.3f} (p {p:.2g})" for key, (off, p) in found.items())
            what = f"{name}{split and f', {split}'}: {len(published)} published, seed {seed}"
            yield Row(what, items, len(unlike), known, f"total variation of {note}")


def _features(task: Any) -> dict[str, int]:
    """Return what a scene is compared by."""
    shown = task["objects"]
    target = shown[task["asked"]]
    colors, looks = Counter(item["color"] for item in shown), Counter((o["color"], o["shape"]) for o in shown)
    once = colors if SETS[task["name"]].one_shape else looks
    alike = sum(item["shape"] == target["shape"] for item in shown)
    numbers = (len(shown), len(colors), [*once.values()].count(1), alike, len(task["captions"]), target["radius"])
    return dict(zip(FEATURES, numbers, strict=True))


def _compared(published: list[dict[str, int]], own: list[dict[str, int]], key: str) -> tuple[float, float]:
    """Return total variation, 0 to 1, and the p-value of the chi-square test that both have one distribution."""
    one, two = (Counter(row[key] for row in rows) for rows in (published, own))
    values = sorted({*one, *two})
    share = one.total() / (one.total() + two.total())
    # Neighboring values are merged until the test holds: at least five items are expected in each cell.
    cells = [[0, 0]]
    for value in values:
        if sum(cells[-1]) * min(share, 1 - share) >= 5:
            cells.append([0, 0])
        cells[-1] = [cells[-1][0] + one[value], cells[-1][1] + two[value]]
    if len(cells) > 1 and sum(cells[-1]) * min(share, 1 - share) < 5:
        first, second = cells.pop()
        cells[-1] = [cells[-1][0] + first, cells[-1][1] + second]
    return variation(one, two), float(chi2_contingency(cells, correction=False).pvalue)
