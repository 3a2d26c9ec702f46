"""KiloGram (lil-lab/kilogram): drawings, splits, naming measures, games, captions, images, the analysis by parts.

Runs the checkout's caption_contexts.py, and with PyTorch and pandas its scripts that make and analyze games of subsets.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import shutil
import subprocess
import sys
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from diorama.render.renderers import make_renderer
from diorama.scene_specs.benchmarks.kilogram import Accuracy, Options
from diorama.scene_specs.benchmarks.kilogram.accuracy import accuracy
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset, read_drawings, read_splits
from diorama.scene_specs.benchmarks.kilogram.emit import game_spec
from diorama.scene_specs.benchmarks.kilogram.examples import (
    AUG,
    CONDITIONS,
    SIZE,
    caption,
    games,
    subsets,
    whole_example,
)
from diorama.scene_specs.benchmarks.kilogram.export import GameLists, Shown
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, svg_text
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.benchmarks.kilogram.verify import verify_spec
from diorama.scene_specs.errors import Diagnostic, SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.csv_table import csv_table
from diorama.scene_specs.tasks.importing.pictures import read_picture
from tools.claims.crosschecks import Row, read_json, redrawn, spec_data

INPUTS = "models/preprocessing/model_inputs"
MARK = f"{INPUTS}/data_split.json"
DRAWINGS = "dataset/tangrams-svg"
GAMES, IMAGES = "tasks/human_baseline/util/val-texts", "tasks/human_baseline/util"
# The README of the data set says that these were merged with others, and the split file still has them.
MERGED = frozenset({"page4-170", "page6-51", "page6-66"})
# Published images with other lines: those of two black images are two and five times as wide as their drawings say, and
# not antialiased; the upright and level ones of a third are a pixel wide, and shared by two pixels in ours.
REDRAWN = frozenset({"page2-37", "page3-167", "page3-69", "page3-69_0"})
# Sums in another order differ by less, and one word more or less in 60 descriptions by more.
CLOSE = 1e-9
# A pixel differs by more than this many levels of 255, and an image in more than this share of its pixels.
LEVELS, MOST_PIXELS = 32, 0.005


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    figures = read_drawings(checkout / DRAWINGS)[0]
    files = [*(checkout / DRAWINGS).glob("*.svg")]
    yield Row(f"{DRAWINGS}: drawings read", len(files), len(files) - len(figures))
    yield from _splits(checkout, {*figures})
    for path in sorted((checkout / "dataset").glob("*.json")):
        yield _measures(path)
    yield from _games(checkout)
    yield _captions(checkout)
    if (checkout / MAKE).is_dir():
        can = find_spec("torch") and find_spec("pandas")
        note = "PyTorch or pandas is not installed"
        yield from subset_rows(checkout) if can else [Row("augmented games, the analysis by parts", 0, note=note)]
    yield from _images(checkout, options)


def _splits(checkout: Path, figures: set[str]) -> Iterator[Row]:
    """Yield the comparisons of splits and of validation, as if every drawing were described."""
    split, validation = checkout / MARK, checkout / INPUTS / "part+color/val.py"
    made, val, diagnostics = read_splits([split, validation], figures, dict.fromkeys(figures, ()), 0)
    published = {"dev" if name == "development" else name: {*names} for name, names in read_json(split).items()}
    found = {name: {*made.get(name, ())} for name in {*made} | {*published}}
    differ = set().union(*(names ^ published.get(name, set()) for name, names in found.items()))
    note = f"{', '.join(sorted(differ & MERGED))}: merged with others; {len(diagnostics)} warnings"
    yield Row(f"{MARK}: tangrams", sum(map(len, published.values())), len(differ), len(differ & MERGED), note)
    first = next(node for node in ast.parse(validation.read_text()).body if isinstance(node, ast.Assign))
    examples = {name for name, _ in ast.literal_eval(first.value)}
    taken = {f"{name}_0" for name in val}
    yield Row(f"{INPUTS}/part+color/val.py: descriptions", len(examples), len(examples ^ taken))


def _measures(path: Path) -> Row:
    """Return the comparison of SND, PND and PSA of a file of descriptions."""
    data, found = read_json(path), read_annotations(path.read_text(), str(path))[0]
    off = [max(abs(value - data[name][key]) for key, value in measures(items).items()) for name, items in found.items()]
    differ = sum(one > CLOSE for one in off) + len(data) - len(found)
    return Row(f"dataset/{path.name}: SND, PND, PSA", len(data), differ, note=f"worst {max(off):.1g}")


def _imported(checkout: Path, path: Path) -> Iterator[EpisodeSpec]:
    """Yield published games with the pieces that their colored images show."""
    return import_published(path, svg=checkout / DRAWINGS, images=checkout / IMAGES / "val-images")


def _games(checkout: Path) -> Iterator[Row]:
    """Yield the comparisons of the games of each condition: read, verified and written again."""
    for path in [path for one in CONDITIONS if (path := checkout / GAMES / f"{one}.json").exists()]:
        lists, wrong, refused = read_back(_imported(checkout, path))
        wrong += [found.problem for found in refused]
        made = lists.columns[f"training/texts/validation/controlled/{path.name}"]
        yield written_back(f"{GAMES}/{path.name}", read_json(path), made, wrong, [])


def _images(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of published images that games show, redrawn: the black and the colored ones."""
    renderer = make_renderer(options.renderer, "cpu", 2)
    for condition, name in (("whole+black", "val-images-black"), ("part+color", "val-images")):
        folder, path = checkout / IMAGES / name, checkout / GAMES / f"{condition}.json"
        if not path.exists() or not folder.is_dir():
            continue
        frames: dict[str, EpisodeSpec] = {}
        # What can't be read is in the row of its file.
        with suppress(SpecError):
            for episode in _imported(checkout, path):
                for frame in episode.frames:
                    frames.setdefault((frame.truth or {})["image"], episode.model_copy(update={"frames": (frame,)}))
        shares = {
            image: _unlike(redrawn(renderer, one, (224, 224)), read_picture(folder / f"{image}.png"))
            for image, one in frames.items()
        }
        if not shares:
            continue
        over = [image for image, share in shares.items() if share > MOST_PIXELS]
        note = f"median {median(shares.values()):.2%}, worst {max(shares.values()):.2%} of pixels"
        known = len(REDRAWN.intersection(over))
        yield Row(f"{IMAGES}/{name}: images redrawn", len(shares), len(over), known, "; ".join([note, *over[:3]]))
    renderer.close()


def _unlike(drawn: NDArray[np.uint8], published: NDArray[np.uint8]) -> float:
    """Return the share of published pixels that are unlike all colors within two pixels of them.

    Published images were drawn in units of their drawings and enlarged, which moves lines by up to a pixel and blurs
    them.
    """
    low, high = (kind(drawn.astype(int), (5, 5, 1)) for kind in (minimum_filter, maximum_filter))
    return float(((published < low - LEVELS) | (published > high + LEVELS)).any(axis=2).mean())


def _captions(checkout: Path) -> Row:
    """Return the comparison of captions with those that the published script makes of all descriptions."""
    texts = {*read_json(checkout / GAMES / "part+color.json")["texts"]}
    for path in (checkout / "dataset").glob("*.json"):
        for items in read_annotations(path.read_text(), str(path))[0].values():
            texts |= {"#".join([item.whole, *item.groups()]) for item in items}
    with TemporaryDirectory() as folder:
        inner, data = Path(folder, "a/b"), Path(folder, "data/dev")
        inner.mkdir(parents=True)
        data.mkdir(parents=True)
        (data / "aug_dev.json").write_text(json.dumps({"texts": sorted(texts)}))
        script = (checkout / INPUTS / "caption_texts/caption_contexts.py").absolute()
        subprocess.run([sys.executable, str(script)], cwd=inner, check=True, timeout=600)
        made = read_json(data / "aug_dev_caption.json")["texts"]
    own = [caption(whole, parts) for whole, *parts in (text.split("#") for text in sorted(texts))]
    other = [f"{one!r}, there {two!r}" for one, two in zip(own, made, strict=True) if one != two]
    return Row(f"{INPUTS}/caption_texts: captions", len(texts), len(other), note="; ".join(other[:3]))


# Games of subsets of parts: those of the published scripts are imported, those of Diorama analyzed by them. The
# repository has neither the published games nor the descriptions that they are of, so both are of Diorama's tangrams.
MAKE, ANALYSIS = f"{INPUTS}/augmented/aug_dev", "analysis/model/adding_parts"
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
    for compare in (_remade, _analyzed):
        with TemporaryDirectory() as folder:
            yield compare(checkout, Path(folder))


def read_back(episodes: Iterable[EpisodeSpec]) -> tuple[GameLists, list[str], list[Diagnostic]]:
    """Verify imported games and list them for an export: the lists, contradictions, and what the import refused."""
    lists, problems = GameLists(), list[str]()
    try:
        for episode in episodes:
            data = spec_data(episode)
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


def written_back(
    what: str, published: Mapping[str, Sequence[str]], made: Mapping[str, Sequence[str]], wrong: list[str],
    notes: list[str],
) -> Row:  # fmt: skip
    """Return the comparison of the columns of published games with those written from their import."""
    differ = sum(one != other for key in published for one, other in zip_longest(published[key], made[key]))
    note = "; ".join([f"{len(made['texts']) // SIZE} games", *notes, *wrong[:3]])
    return Row(f"{what}: read, verified, written back", len(published["texts"]), differ + len(wrong), note=note)


def _run(code: str, cwd: Path, *arguments: Path) -> None:
    cwd.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    # The scripts draw from lists of sets.
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run(command, cwd=cwd, env=env, check=True, timeout=1200, stdout=subprocess.DEVNULL)


def _remade(checkout: Path, folder: Path) -> Row:
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
    published = read_json(file)
    lists, problems, refused = read_back(import_published(file, svg=drawings, annotations=texts))
    equal = [found.path for found in refused if "two images of the game are equal" in found.problem]
    problems += [found.problem for found in refused if found.path not in equal]
    for start in reversed([int(path.partition("[")[2][:-1]) for path in equal]):
        for column in published.values():
            del column[start : start + SIZE]
    made, notes = lists.columns[f"{TEXTS}/aug_dev.json"], [f"{len(equal)} with two equal images refused"]
    return written_back("augmented games made by the published scripts", published, made, problems, notes)


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
    (folder / "new_dev_df.csv").write_text(csv_table(table, published=True))
    _run(_RUN, folder, checkout.absolute() / ANALYSIS / "verbose_make_table.py")
    # The two scripts name different folders.
    shutil.copy(folder / "caption-cont-vilt/pred.csv", folder / "caption-rand-clip")
    _run(_RUN, folder, checkout.absolute() / ANALYSIS / "merge_same_pc.py")
    with (folder / "caption-rand-clip/merged_pred.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["annotation_idx"], int(float(row["ann_num_parts"]))): float(row["avg_probability"]) for row in rows}
