"""KiloGram (lil-lab/kilogram): drawings, splits, naming measures, names and texts of games, captions.

Runs the checkout's caption_contexts.py.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scene_specs.benchmarks.kilogram.annotations import Annotation, read_annotations
from scene_specs.benchmarks.kilogram.dataset import read_drawings, read_splits
from scene_specs.benchmarks.kilogram.examples import CONDITIONS, Example
from scene_specs.benchmarks.kilogram.games import SIZE
from scene_specs.benchmarks.kilogram.measures import measures
from scene_specs.benchmarks.kilogram.wording import caption
from tools.crosschecks import Row

INPUTS = "models/preprocessing/model_inputs"
MARK = f"{INPUTS}/data_split.json"
GAMES = "tasks/human_baseline/util/val-texts"
# The README of the data set says that these were merged with others, and the split file still has them.
MERGED = frozenset({"page4-170", "page6-51", "page6-66"})
# Sums in another order differ by less, and one word more or less in 60 descriptions by more.
CLOSE = 1e-9


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    drawings = checkout / "dataset/tangrams-svg"
    figures = read_drawings(drawings)[0]
    files = [*drawings.glob("*.svg")]
    yield Row("dataset/tangrams-svg: drawings read", len(files), len(files) - len(figures))
    yield from _splits(checkout, {*figures})
    for path in sorted((checkout / "dataset").glob("*.json")):
        yield _measures(path)
    yield from _games(checkout)
    yield _captions(checkout)


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


def _games(checkout: Path) -> Iterator[Row]:
    """Yield the comparisons of names and texts of games in each condition, made of those in `part+color`."""
    rows = _json(checkout / GAMES / "part+color.json")
    examples = []
    for image, text in zip(rows["images"], rows["texts"], strict=True):
        (tangram, number), (whole, *parts) = image.split("_"), text.split("#")
        annotation = Annotation(tangram, int(number), whole, ())
        examples.append(Example(annotation, tuple((part, ()) for part in parts), tuple(range(len(parts)))))
    for condition in CONDITIONS:
        path = checkout / GAMES / f"{condition}.json"
        if path.exists():
            data = _json(path)
            published = zip(data["targets"], data["images"], data["texts"], strict=True)
            targets = [one for one in examples[::SIZE] for _ in range(SIZE)]
            made = [
                (target.image(condition), one.image(condition), one.hashed(condition))
                for target, one in zip(targets, examples, strict=True)
            ]
            differ = sum(one != other for one, other in zip(published, made, strict=True))
            yield Row(f"{GAMES}/{condition}.json: targets, images, texts", len(made), differ)


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
