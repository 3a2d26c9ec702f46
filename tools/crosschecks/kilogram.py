"""KiloGram (lil-lab/kilogram): drawings, splits, naming measures, games, captions, images, the analysis by parts.

Runs the checkout's caption_contexts.py, and with PyTorch and pandas its scripts that make and analyze games of subsets.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from diorama.render.compiler import compile_episode
from diorama.render.model.profiles import settings_for
from diorama.render.renderers import make_renderer
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import read_drawings, read_splits
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, caption
from diorama.scene_specs.benchmarks.kilogram.games import SIZE
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.language.errors import SpecError
from diorama.scene_specs.language.pictures import read_picture
from diorama.scene_specs.language.spec import EpisodeSpec
from tools.crosschecks import Row
from tools.crosschecks._kilogram_subsets import MAKE, differing, read_back, subset_rows

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


def _json(path: Path) -> Any:
    return json.loads(path.read_text())


def _splits(checkout: Path, figures: set[str]) -> Iterator[Row]:
    """Yield the comparisons of splits and of validation, as if every drawing were described."""
    split, validation = checkout / MARK, checkout / INPUTS / "part+color/val.py"
    made, val, diagnostics = read_splits([split, validation], figures, dict.fromkeys(figures, ()), 0)
    published = {"dev" if name == "development" else name: {*names} for name, names in _json(split).items()}
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
    data, found = _json(path), read_annotations(path.read_text(), str(path))[0]
    off = [max(abs(value - data[name][key]) for key, value in measures(items).items()) for name, items in found.items()]
    differ = sum(one > CLOSE for one in off) + len(data) - len(found)
    return Row(f"dataset/{path.name}: SND, PND, PSA", len(data), differ, note=f"worst {max(off):.1g}")


def _imported(checkout: Path, path: Path) -> Iterator[EpisodeSpec]:
    """Yield published games with the pieces that their colored images show."""
    return import_published(path, svg=checkout / DRAWINGS, images=checkout / IMAGES / "val-images")


def _games(checkout: Path) -> Iterator[Row]:
    """Yield the comparisons of the games of each condition: read, verified and written again."""
    for path in [checkout / GAMES / f"{condition}.json" for condition in CONDITIONS]:
        if not path.exists():
            continue
        published = _json(path)
        lists, wrong, refused = read_back(_imported(checkout, path))
        wrong += [found.problem for found in refused]
        made = lists.columns[f"training/texts/validation/controlled/{path.name}"]
        differ = differing(published, made)
        note = "; ".join([f"{len(made['texts']) // SIZE} games", *wrong[:3]])
        what = f"{GAMES}/{path.name}: read, verified, written back"
        yield Row(what, len(published["texts"]), differ + len(wrong), note=note)


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
        shares = {}
        for image, one in frames.items():
            scene = compile_episode(one, settings_for("standard", 224, 224))
            drawn = renderer.render(scene, scene.frames[0], scene.frames[0].views[0]).color
            shares[image] = _unlike(drawn, read_picture(folder / f"{image}.png"))
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
    image = Image.fromarray(drawn)
    low, high = (
        np.asarray(image.filter(kind(5))).astype(int) for kind in (ImageFilter.MinFilter, ImageFilter.MaxFilter)
    )
    return float(((published < low - LEVELS) | (published > high + LEVELS)).any(axis=2).mean())


def _captions(checkout: Path) -> Row:
    """Return the comparison of captions with those that the published script makes of all descriptions."""
    texts = {*_json(checkout / GAMES / "part+color.json")["texts"]}
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
        made = _json(data / "aug_dev_caption.json")["texts"]
    own = [caption(whole, parts) for whole, *parts in (text.split("#") for text in sorted(texts))]
    other = [f"{one!r}, there {two!r}" for one, two in zip(own, made, strict=True) if one != two]
    return Row(f"{INPUTS}/caption_texts: captions", len(texts), len(other), note="; ".join(other[:3]))
