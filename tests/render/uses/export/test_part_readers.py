"""Exports of a whole store and of three parts of it, read by other programs: every value is that of the store."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.selection import condition
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import RLE, EpisodeRecord
from tests.render.uses.export.helpers import make_store, run

READER = Path(__file__).resolve().parents[3] / "harness/read_parts.py"
# Those of `make test-all`; datumaro and torchvision are run by hand, with `read_with`.
PROGRAMS = ("pycocotools", "supervision", "webdataset", "pandas", "polars", "duckdb")
FORMATS = ("coco", "webdataset", "huggingface")


def digest(pixels: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(pixels, dtype=np.uint8).tobytes()).hexdigest()


def mask_digest(rle: RLE) -> str:
    """Of a mask, decoded without other people's code."""
    return digest(rle.mask())


def part_of(records: dict[str, EpisodeRecord], folder: Path, first_item: dict[str, int]) -> dict[str, Any]:
    """What the reader expects. first_item: number of the annotations before each episode, in the whole store."""
    images: dict[str, list[dict[str, Any]]] = {}
    for key, record in records.items():
        number = first_item[key]
        for image in record.images:
            items = []
            for item in image.annotation.objects:
                if item.bbox is not None:
                    number += 1
                    seen = {"bbox": [*item.bbox], "area": item.visible_pixels, "mask": mask_digest(item.rle)}
                    items.append({"id": number, "kind": item.shape, **seen})
            named = {"file_name": f"{key}/{image.name}.png", "pixels": digest(decode_png(image.png)), "items": items}
            images.setdefault(record.scene.split or "unsplit", []).append(named)
    shown = {key: [digest(decode_png(image.png)) for image in record.images] for key, record in records.items()}
    boxes = {
        key: [[*item.bbox] for image in record.images for item in image.annotation.objects if item.bbox is not None]
        for key, record in records.items()
    }
    paths = {name: str(folder / name) for name in FORMATS}
    return {**paths, "images": images, "episodes": shown, "boxes": boxes}


def read_with(python: str, programs: tuple[str, ...], work: Path) -> dict[str, Any]:
    """Export the parts below a folder, and read them with programs of a Python."""
    store: LanceStore = make_store(work)
    parts = []
    selections = {"whole": None, "where": "episode_id > 'demo/b'", "split": condition(None, splits=("train",))}
    for name, where in {**selections, "deleted": None}.items():
        if name == "deleted":
            store.delete(["demo/b"])
        keys = sorted(key for key, _ in store.ids())
        every = {key: store.get(key) for key in keys}
        chosen = {row["episode_id"] for row in store.scan(["episode_id"], where)}
        first, items = {}, 0
        for key, record in every.items():
            first[key] = items
            items += sum(item.bbox is not None for image in record.images for item in image.annotation.objects)
        for format in FORMATS:
            assert run(store, format, work / name / format, ExportOptions(where=where)).exported == len(chosen)
        parts.append(part_of({key: every[key] for key in keys if key in chosen}, work / name, first))
    assert [len(part["episodes"]) for part in parts] == [5, 3, 3, 4]
    (work / "expected.json").write_text(json.dumps(parts))
    command = [python, str(READER), str(work / "expected.json"), *programs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


@pytest.mark.readers
def test_every_part_has_the_values_of_the_store(tmp_path: Path) -> None:
    report = read_with(sys.executable, PROGRAMS, tmp_path)
    assert [*report] == [*PROGRAMS]
    for name, result in report.items():
        assert result["values"] > 10 and not result["differing"], (name, result)
