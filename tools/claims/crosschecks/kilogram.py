"""KiloGram (lil-lab/kilogram): drawings, splits, naming measures, games, captions, images.

Runs the checkout's caption_contexts.py.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from diorama.render.renderers import make_renderer
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import read_drawings, read_splits
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, SIZE, caption
from diorama.scene_specs.benchmarks.kilogram.export import GameLists, Shown
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.benchmarks.kilogram.verify import verify_spec
from diorama.scene_specs.errors import Diagnostic, SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
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
    yield from map(_measures, sorted((checkout / "dataset").glob("*.json")))
    yield from _games(checkout)
    yield _captions(checkout)
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
    yield Row(f"{INPUTS}/part+color/val.py: descriptions", len(examples), len(examples ^ {f"{name}_0" for name in val}))


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
        yield written_back(f"{GAMES}/{path.name}", read_json(path), made, wrong)


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
    named = zip(spec["frames"], Figure.of_frames(frame["truth"] for frame in spec["frames"]), strict=True)
    shown = {frame["name"]: Shown(figure.image, frame["utterance"], figure) for frame, figure in named}
    lists.add(spec["split"], Truth.of_spec(spec), shown)


def written_back(
    what: str, published: Mapping[str, Sequence[str]], made: Mapping[str, Sequence[str]], wrong: list[str]
) -> Row:
    """Return the comparison of the columns of published games with those written from their import."""
    differ = sum(one != other for key in published for one, other in zip_longest(published[key], made[key]))
    note = "; ".join([f"{len(made['texts']) // SIZE} games", *wrong[:3]])
    return Row(f"{what}: read, verified, written back", len(published["texts"]), differ + len(wrong), note=note)
