"""Annotation and question files in exactly the published form, of items that are generated here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec, task_of_scene
from diorama.scene_specs.benchmarks.malevic.published import annotation, objects_of, question
from diorama.scene_specs.benchmarks.malevic.sets import SETS
from diorama.scene_specs.benchmarks.malevic.shapes import COLORS
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from tests.scene_specs.benchmarks.malevic.test_invariants import painted

# A scene written by hand: all values are strings, keys have no order, and a rectangle's center has decimals.
SCENE: dict[str, Any] = {
    "image_url": "7.png", "image_id": "7", "n_objects": "5", "n_colors": "4", "min_radius": "30", "max_radius": "100",
    "total_area_px": "81025", "avg_area_px": "16205.0", "min_area": "3600", "max_area": "40000",
}  # fmt: skip
OBJECTS: list[dict[str, str]] = [
    {"object_id": "0", "shape": "square", "color": "red", "radius": "100", "area": "40000", "rr": "150", "cc": "200",
     "size": "big", "prob": "0.9814", "thresh_dist": "0.2864", "k": "0.2864", "vagueness": "same"},
    {"object_id": "1", "shape": "rectangle", "color": "blue", "radius": "70", "area": "19600", "rr": "500",
     "cc": "135.0", "size": "small", "prob": "0.9773", "thresh_dist": "0.2740", "k": "0.2864", "vagueness": "same"},
    {"object_id": "2", "shape": "circle", "color": "red", "radius": "50", "area": "7825", "rr": "700", "cc": "700",
     "size": "small", "prob": "1.0", "thresh_dist": "0.5975", "k": "0.2864", "vagueness": "same"},
    {"object_id": "3", "shape": "triangle", "color": "green", "radius": "50", "area": "10000", "rr": "400", "cc": "500",
     "size": "small", "prob": "1.0", "thresh_dist": "0.5378", "k": "0.2864", "vagueness": "same"},
    {"object_id": "4", "shape": "rectangle", "color": "white", "radius": "30", "area": "3600", "rr": "705.0",
     "cc": "300", "size": "small", "prob": "1.0", "thresh_dist": "0.7136", "k": "0.2864", "vagueness": "same"},
]  # fmt: skip


def published(folder: Path, name: str, split: str, numbers: range, images: bool = True) -> tuple[Path, Path]:
    """Write `<name>/annotation/<split>_annotation.json`, `<name>/dataset/<split>.json` and images; return both files.

    name: the set, also with `_static_dataset`, which only names the folder.
    k has four decimals, as published; items whose labels depend on more are none of these.
    """
    base, name = folder / name, name.removesuffix("_static_dataset")
    for part in ("annotation", "dataset", "images"):
        (base / part).mkdir(parents=True, exist_ok=True)
    entries, questions = {}, []
    for index, number in enumerate(numbers):
        spec = malevic_spec(Options(seed=5), name, split, number)
        made = Truth.of_spec(spec)
        k = round(made.k, 4) if SETS[name].kind != "sup1" else 0.29
        query = (made.asked, made.adjective, made.answer == "yes")
        given = {key: getattr(made, key) for key in ("split", "number", "world", "variant", "areas")}
        task = task_of_scene(SETS[name], tuple(objects_of(made)), k, query, **given)
        entry = annotation(truth := Truth.of_spec({"task": task}))
        for pair in entry[2:]:
            pair["captions"][0].pop("dist_from_thresh", None)
        entries[str(index)] = entry
        questions.append(question(truth, index, split))
        if images:
            picture = np.zeros((1024, 1024, 3), dtype=np.uint8)
            for item, mask in zip(task["objects"], painted({"task": task}), strict=True):
                picture[mask] = COLORS[item["color"]]
            Image.fromarray(picture).save(base / "images" / f"{index}.png")
    files = (base / "annotation" / f"{split}_annotation.json", base / "dataset" / f"{split}.json")
    files[0].write_text(json.dumps(entries))
    files[1].write_text(json.dumps({"info": {}, "questions": questions}))
    return files
