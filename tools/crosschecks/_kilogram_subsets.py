"""KiloGram's games of subsets of parts: those of the published scripts imported, those of Diorama analyzed by them.

The repository has neither the published games nor the descriptions that they are of, so both are of Diorama's tangrams.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from diorama.render.export.formats.kilogram import GameLists, Shown
from diorama.scene_specs.benchmarks.kilogram import Accuracy, Options
from diorama.scene_specs.benchmarks.kilogram.accuracy import accuracy
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import game_spec
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, subsets, whole_example
from diorama.scene_specs.benchmarks.kilogram.games import SIZE, games
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, svg_text
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.benchmarks.kilogram.verify import verify_spec
from diorama.scene_specs.language.errors import Diagnostic, SpecError
from diorama.scene_specs.language.spec import EpisodeSpec
from tools.crosschecks import Row

MAKE, ANALYSIS = "models/preprocessing/model_inputs/augmented/aug_dev", "analysis/model/adding_parts"
SCORE = "models/evaluation/process_parts_preds_verbose.py"
TEXTS = "development/texts/augmented"
# A script as it is, with the method of pandas 1 that it calls and newer ones lack, and always the same draws.
_RUN = """
import random, runpy, sys
from pandas import DataFrame, concat
if not hasattr(DataFrame, "append"):
    DataFrame.append = lambda self, row, ignore_index: concat([self, DataFrame([row])], ignore_index=ignore_index)
random.seed(1)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
_SAVE = """
import json, sys, torch
scores = {name: [torch.tensor(one) for one in games] for name, games in json.load(open(sys.argv[1])).items()}
for path in sys.argv[2:]:
    torch.save(scores, path)
"""


def subset_rows(checkout: Path) -> Iterator[Row]:
    """Yield both comparisons."""
    for compare in (_imported, _analyzed):
        with TemporaryDirectory() as folder:
            yield compare(checkout, Path(folder))


def read_back(episodes: Iterable[EpisodeSpec]) -> tuple[GameLists, list[str], list[Diagnostic]]:
    """Verify imported games and list them for an export: the lists, contradictions, and what the import refused."""
    lists, problems = GameLists(), list[str]()
    try:
        for episode in episodes:
            data: Any = episode.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
            problems += [reason for reason in [verify_spec(data)] if reason]
            add_game(lists, data)
    except SpecError as error:
        return lists, problems, [*error.diagnostics]
    return lists, problems, []


def add_game(lists: GameLists, spec: Any) -> None:
    """Add a game to the lists of an export, as if it were rendered."""
    figures = Figure.of_frames(frame["truth"] for frame in spec["frames"])
    named = zip(spec["frames"], figures, strict=True)
    shown = {frame["name"]: Shown(figure.image, frame["utterance"], figure) for frame, figure in named}
    lists.add(spec["split"], Truth.of_spec(spec), shown)


def differing(published: Mapping[str, Sequence[str]], made: Mapping[str, Sequence[str]]) -> int:
    """Return how many values of the columns of two lists differ."""
    return sum(one != other for key in published for one, other in zip_longest(published[key], made[key]))


def _run(code: str, cwd: Path, *arguments: Path) -> None:
    cwd.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    # The scripts draw from lists of sets.
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run(command, cwd=cwd, env=env, check=True, timeout=1200, stdout=subprocess.DEVNULL)


def _imported(checkout: Path, folder: Path) -> Row:
    """Return the comparison of games that the published scripts make of our descriptions: read, verified, written."""
    raw, described, drawings = {}, {}, folder / "tangrams-svg"
    drawings.mkdir()
    for name, items in own_dataset().of_split("dev").items():
        both = [({"wholeAnnotation": one.whole}, dict(zip(map(str, PIECES), one.part, strict=True))) for one in items]
        raw[name] = {str(k): {"whole-annotation": a, "piece-annotation": b} for k, (a, b) in enumerate(both)}
        described[name] = {"annotations": [{"whole": a, "part": b} for a, b in both]}
        (drawings / f"{name}.svg").write_text(svg_text(own_dataset().figures[name]))
    # The folders that the scripts read and write.
    work, made = folder / "a/b/c/d", folder / "a/make-data/make-png/augmented/dev"
    images = made / "dev_images/new_dev_powerset_png"
    for path in (work / "dev_texts", made / "dev_texts", images, folder / TEXTS):
        path.mkdir(parents=True)
    (folder / "a/database_raw.json").write_text(json.dumps({"annotations": raw}))
    (folder / "a/data_split.json").write_text(json.dumps({"development": [*raw]}))
    _run(_RUN, work, checkout.absolute() / MAKE / "new_dev_make_color_powersets.py")
    shutil.copy(work / "dev_texts/new_powerset_color_texts_development.json", work)
    _run(_RUN, work, checkout.absolute() / MAKE / "make_df.py")
    shutil.copy(work / "new_dev_df.csv", made / "dev_texts")
    with (work / "new_dev_df.csv").open(newline="") as table:
        for row in csv.DictReader(table):
            (images / f"{row['image']}.png").touch()
    _run(_RUN, work, checkout.absolute() / MAKE / "gen_eval_sets.py")
    _run(_RUN, work, checkout.absolute() / MAKE / "make_dataset.py")
    file, texts = folder / TEXTS / "aug_dev.json", folder / "descriptions.json"
    shutil.copy(work / "aug_dev.json", file)
    texts.write_text(json.dumps(described))
    return _written_back(file, drawings, texts)


def _written_back(file: Path, drawings: Path, texts: Path) -> Row:
    """Return the comparison of a file of games with what is written from its import."""
    published = json.loads(file.read_text())
    lists, problems, refused = read_back(import_published(file, svg=drawings, annotations=texts))
    equal = [found.path for found in refused if "two images of the game are equal" in found.problem]
    problems += [found.problem for found in refused if found.path not in equal]
    for start in reversed([int(path.partition("[")[2][:-1]) for path in equal]):
        for column in published.values():
            del column[start : start + SIZE]
    made = lists.columns[f"{TEXTS}/aug_dev.json"]
    differ = differing(published, made)
    note = [f"{len(made['texts']) // SIZE} games", f"{len(equal)} with two equal images refused", *problems[:3]]
    what = "augmented games made by the published scripts: read, verified, written back"
    return Row(what, len(published["texts"]), differ + len(problems), note="; ".join(note))


def _analyzed(checkout: Path, folder: Path) -> Row:
    """Return the comparison of the published analysis by parts, of answers to our games, with our accuracy."""
    # Descriptions of three and four parts suffice, and take a fraction of the time.
    dataset, options = own_dataset(), Options(condition="aug", targets="subsets", published_border=True)
    chosen = {name: [one for one in items if one.parts in (3, 4)] for name, items in dataset.of_split("dev").items()}
    annotations = {name: tuple(items) for name, items in chosen.items() if items}
    lists, rng, specs, answers = GameLists(), random.Random(1), list[Any](), dict[str, str]()
    scores: dict[str, list[Any]] = defaultdict(list)
    for game in games(annotations, options, {}, augmented=True):
        spec = game_spec(dataset, game, AUG, options)
        add_game(lists, spec)
        # Similarity of text i and image j, the target first.
        similarity = [[rng.random() for _ in range(SIZE)] for _ in range(SIZE)]
        similarity[0][0] += 0.2 * len(game.examples[0].shown)
        scores[game.examples[0].image(AUG)].append(similarity)
        said = similarity[0].index(max(similarity[0]))
        answers[spec["id"]] = f"image-{game.order.index(said)}"
        specs.append(spec)
    found = _published_means(checkout, folder, lists, scores, list(_table(annotations)))
    (folder / "answers.json").write_text(json.dumps(answers))
    own: dict[tuple[str, int], list[float]] = defaultdict(list)
    for row in accuracy(Accuracy.model_construct(predictions=folder / "answers.json"), specs).data:
        if row["by"] == "example":
            key, _, subset = row["group"].rpartition("_")
            own[key, int(subset).bit_count()].append(row["accuracy"])
    differ = sum(abs(fmean(values) - found.get(key, -1)) > 1e-9 for key, values in own.items())
    note = f"{len(specs)} games of {len(scores)} images; mean {fmean(found.values()):.3f}"
    what = f"{SCORE}, verbose_make_table.py, merge_same_pc.py: means by description and number of parts"
    return Row(what, len(own), differ + len({*found} - {*own}), note=note)


def _table(annotations: Annotations) -> Iterator[list[object]]:
    """Yield the rows of the published table of subsets."""
    yield ["", "annotation", "full_annotation", "ann_num_parts", "full_ann_num_parts", "tangram", "image"]
    for number, item in enumerate(one for items in annotations.values() for one in items):
        whole = whole_example(item, 0)
        for one in subsets(whole, 0):
            counts = (len(one.shown), len(one.parts))
            yield [number, one.hashed(AUG), whole.hashed(AUG), *counts, one.tangram, one.image(AUG)]


def _published_means(
    checkout: Path, folder: Path, lists: GameLists, scores: dict[str, list[Any]], table: list[list[object]]
) -> dict[tuple[str, int], float]:
    """Return what the published scripts make of scores by image: the mean by description and number of parts."""
    work, model = folder / "evaluation", folder / "evaluation/vilt/aug_dev"
    for path in (model, folder / "data/dev", folder / "caption-cont-vilt", folder / "caption-rand-clip"):
        path.mkdir(parents=True)
    (by_target,) = lists.by_target.values()
    (folder / "data/dev/file_sep_by_part_counts.json").write_text(json.dumps(by_target))
    (folder / "scores.json").write_text(json.dumps(scores))
    _run(_SAVE, work, folder / "scores.json", *(model / f"random_model{k}.pth" for k in (1, 2, 3)))
    _run(_RUN, work, checkout.absolute() / SCORE)
    shutil.copy(work / "vilt/random_analysis.json", folder / "caption-cont-vilt/probs_verbose.json")
    with (folder / "new_dev_df.csv").open("w", newline="") as file:
        csv.writer(file).writerows(table)
    _run(_RUN, folder, checkout.absolute() / ANALYSIS / "verbose_make_table.py")
    # The two scripts name different folders.
    shutil.copy(folder / "caption-cont-vilt/pred.csv", folder / "caption-rand-clip")
    _run(_RUN, folder, checkout.absolute() / ANALYSIS / "merge_same_pc.py")
    with (folder / "caption-rand-clip/merged_pred.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["annotation_idx"], int(float(row["ann_num_parts"]))): float(row["avg_probability"]) for row in rows}
