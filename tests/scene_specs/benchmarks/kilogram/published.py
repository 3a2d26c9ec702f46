"""A folder and files in the published form, made from our own tangrams."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import own_tangrams
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, caption
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, figure_of, svg_text

NAMES = ["head", "body", "tail", "leg", "wing", "beak", "UNKNOWN"]
WHOLES = [
    "bird",
    "a bird",
    "cat",
    "Dog",
    "old man",
    "house",
    "boat",
    "fish",
    "tree",
    "ship",
    "swan",
    "fox",
    "bear",
    "owl",
]


def annotation(rng: np.random.Generator) -> dict[str, Any]:
    """One made-up description with metadata, as the published files have it."""
    parts = int(rng.integers(2, 5))
    names = {str(piece): NAMES[int(rng.integers(parts))] for piece in PIECES}
    groups: dict[str, list[int]] = {}
    for key, name in names.items():
        groups.setdefault(name, []).append(int(key))
    metadata = {
        str(number): {"annotation": name, "pieces": pieces, "final": True, "timestamp": 1}
        for number, (name, pieces) in enumerate(groups.items())
    }
    whole = WHOLES[int(rng.integers(len(WHOLES)))]
    return {
        "whole": {"wholeAnnotation": whole, "timestamp": 0},
        "part": names,
        "workerId": "0123456789abcdef",
        "metadata": metadata,
    }


def make_published(folder: Path, count: int = 40, each: int = 4) -> tuple[Path, Path, Path]:
    """Drawings, a file of annotations, a file of splits; the latter names one tangram that isn't there."""
    drawings = folder / "tangrams-svg"
    drawings.mkdir(parents=True)
    rng = np.random.default_rng(1)
    data: dict[str, Any] = {}
    for number, tangram in enumerate(own_tangrams()[:count]):
        name = f"page1-{number}"
        (drawings / f"{name}.svg").write_text(svg_text(figure_of(tangram)))
        data[name] = {"snd": 0.9, "pnd": 0.8, "psa": 5.0, "annotations": [annotation(rng) for _ in range(each)]}
    names = list(data)
    splits = {"train": [*names[: count // 2], "page9-9"], "dev": names[count // 2 : -2], "heldout": names[-2:]}
    (folder / "dense.json").write_text(json.dumps(data))
    (folder / "data_split.json").write_text(json.dumps(splits))
    return drawings, folder / "dense.json", folder / "data_split.json"


def make_subset_games(descriptions: Path, folder: Path) -> Path:
    """Games of subsets as the published scripts make them: subsets are counted by size, their parts in random order."""
    rng = np.random.default_rng(2)
    rows: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for one in read_annotations(descriptions.read_text(), "")[0].values():
        for item in one:
            names, number = list(rng.permutation([*item.groups()])), 0
            for size in range(len(names) + 1):
                for chosen in combinations(names, size):
                    text = "#".join([item.whole, *rng.permutation(chosen)] if chosen else [item.whole])
                    rows.setdefault((len(names), size), []).append((f"{item.key}_{number}", text))
                    number += 1
    data: dict[str, list[str]] = {"targets": [], "images": [], "texts": []}
    for (parts, _), pool in rows.items():
        target = pool[0]
        tangrams: dict[str, tuple[str, str]] = {}
        for image, text in pool[1:]:
            if image.split("_")[0] != target[0].split("_")[0] and text not in {
                target[1],
                *(t for _, t in tangrams.values()),
            }:
                tangrams[image.split("_")[0]] = (image, text)
        block = [target, *[*tangrams.values()][:9]]
        if parts == 3 and len({text for _, text in block}) == 10:
            data["targets"] += [target[0]] * 10
            data["images"] += [image for image, _ in block]
            data["texts"] += [text for _, text in block]
    folder.mkdir(parents=True)
    path = folder / "aug_dev.json"
    path.write_text(json.dumps(data))
    return path


def make_games(descriptions: Path, folder: Path) -> Path:
    """Files of two games, for each condition and with captions, in the published form."""
    described = read_annotations(descriptions.read_text(), "")[0]
    items = [item for one in described.values() for item in one if item.parts == 3]
    chosen = list({item.whole: item for item in {item.tangram: item for item in items}.values()}.values())[:10]
    assert len(chosen) == 10
    folder.mkdir(parents=True)
    rows: dict[str, list[str]] = {"targets": [], "images": [], "texts": []}
    for start in range(2):
        block = chosen[start:] + chosen[:start]
        rows["targets"] += [block[0].key] * 10
        rows["images"] += [item.key for item in block]
        rows["texts"] += ["#".join([item.whole, *reversed(item.groups())]) for item in block]
    for name, (said, colored) in CONDITIONS.items():
        cut = {key: [image if colored else image.split("_")[0] for image in rows[key]] for key in ("targets", "images")}
        texts = [text if said else text.split("#")[0] for text in rows["texts"]]
        (folder / f"{name}.json").write_text(json.dumps({**cut, "texts": texts}))
    captions = [caption(text.split("#")[0], text.split("#")[1:]) for text in rows["texts"]]
    (folder / "part+color_caption.json").write_text(json.dumps({**rows, "texts": captions}))
    return folder
