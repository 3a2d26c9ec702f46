"""Reads exports of a store with other programs, without Diorama: python read_parts.py EXPECTED PROGRAM...

EXPECTED is a JSON file of tests/render/uses/export/test_part_readers.py. Prints JSON: program -> its version, the
number of values that were compared, and the first of those that differ.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

# A part: `coco`, `webdataset`, `huggingface` and `store` (paths), `images` (split -> list of what each image is) and
# `episodes` (id -> images). Each program yields pairs: what it reads, and what is expected.
Part = dict[str, Any]
Pairs = Iterator[tuple[Any, Any]]


def digest(pixels: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(pixels, dtype=np.uint8).tobytes()).hexdigest()


def mask_digest(mask: Any) -> str:
    return digest(np.asarray(mask).astype(bool))


def lists_of(part: Part) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    files = sorted((Path(part["coco"]) / "annotations").glob("instances_*.json"))
    assert {path.stem.removeprefix("instances_") for path in files} == part["images"].keys()
    for path in files:
        images = part["images"][path.stem.removeprefix("instances_")]
        yield str(path), Path(part["coco"]) / "images", {image["file_name"]: image for image in images}


def by_name(items: list[dict[str, Any]], *keys: str) -> list[list[Any]]:
    return sorted([item[key] for key in keys] for item in items)


def pycocotools(part: Part) -> Pairs:
    coco = importlib.import_module("pycocotools.coco")
    for path, folder, expected in lists_of(part):
        api = coco.COCO(path)
        yield sorted(one["file_name"] for one in api.loadImgs(api.getImgIds())), sorted(expected)
        for image in api.loadImgs(api.getImgIds()):
            items = api.loadAnns(api.getAnnIds(imgIds=[image["id"]]))
            read = [{**item, "mask": mask_digest(api.annToMask(item))} for item in items]
            truth = expected[image["file_name"]]
            yield digest(Image.open(folder / image["file_name"])), truth["pixels"]
            keys = ("id", "bbox", "area", "mask")
            yield by_name(read, *keys), by_name(truth["items"], *keys)


def torchvision(part: Part) -> Pairs:
    datasets = importlib.import_module("torchvision.datasets")
    for path, folder, expected in lists_of(part):
        loaded = datasets.CocoDetection(str(folder), path)
        yield len(loaded), len(expected)
        names = {image["id"]: image["file_name"] for image in loaded.coco.loadImgs(loaded.ids)}
        for number, (picture, items) in enumerate(loaded):
            truth = expected[names[loaded.ids[number]]]
            yield digest(picture), truth["pixels"]
            yield by_name(items, "id", "bbox", "area"), by_name(truth["items"], "id", "bbox", "area")


def supervision(part: Part) -> Pairs:
    program = importlib.import_module("supervision")
    for path, folder, expected in lists_of(part):
        loaded = program.DetectionDataset.from_coco(str(folder), path, force_masks=True)
        yield len(loaded), len(expected)
        for name, picture, found in loaded:
            truth = expected[Path(name).relative_to(folder).as_posix()]
            # It reads BGR.
            yield digest(picture[:, :, ::-1]), truth["pixels"]
            read = [
                [x, y, right - x, bottom - y, loaded.classes[kind], mask_digest(mask)]
                for (x, y, right, bottom), kind, mask in zip(
                    found.xyxy.tolist(), found.class_id.tolist(), found.mask, strict=True
                )
            ]
            yield sorted(read), sorted([*item["bbox"], item["kind"], item["mask"]] for item in truth["items"])


def datumaro(part: Part) -> Pairs:
    components = importlib.import_module("datumaro.components.annotation")
    program = importlib.import_module("datumaro")
    for path, _, expected in lists_of(part):
        loaded = program.Dataset.import_from(path, "coco_instances")
        yield sorted(f"{item.id}.png" for item in loaded), sorted(expected)
        names = [one.name for one in loaded.categories()[components.AnnotationType.label]]
        for item in loaded:
            truth = expected[f"{item.id}.png"]
            yield digest(Image.open(item.media.path)), truth["pixels"]
            masks = [one for one in item.annotations if one.type == components.AnnotationType.mask]
            read = [[one.id, names[one.label], [*one.get_bbox()], mask_digest(one.image)] for one in masks]
            yield sorted(read), by_name(truth["items"], "id", "kind", "bbox", "mask")


def webdataset(part: Part) -> Pairs:
    program = importlib.import_module("webdataset")
    shards = sorted(map(str, Path(part["webdataset"]).glob("*.tar")))
    samples = list(program.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    yield sorted(one["json"]["id"] for one in samples), sorted(part["episodes"])
    for one in samples:
        truth = part["episodes"][one["json"]["id"]]
        yield [digest(one[f"{number}.png"]) for number in range(len(truth))], truth


def _rows(rows: list[dict[str, Any]], part: Part) -> Pairs:
    yield sorted(row["episode_id"] for row in rows), sorted(part["episodes"])
    for row in rows:
        read = [digest(Image.open(io.BytesIO(image["bytes"]))) for image in row["images"]]
        yield read, part["episodes"][row["episode_id"]]
        boxes = [list(item["bbox"]) for item in row["objects"] if item["bbox"] is not None]
        yield boxes, part["boxes"][row["episode_id"]]


def _files(part: Part) -> list[str]:
    return sorted(map(str, Path(part["huggingface"]).glob("data/*.parquet")))


def pandas(part: Part) -> Pairs:
    program = importlib.import_module("pandas")
    yield from _rows(program.concat([program.read_parquet(file) for file in _files(part)]).to_dict("records"), part)


def polars(part: Part) -> Pairs:
    program = importlib.import_module("polars")
    yield from _rows(program.read_parquet(_files(part), hive_partitioning=False).to_dicts(), part)


def duckdb(part: Part) -> Pairs:
    program = importlib.import_module("duckdb")
    relation = program.sql(f"SELECT * FROM read_parquet({_files(part)!r}, hive_partitioning = false)")
    yield from _rows([dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()], part)


if __name__ == "__main__":
    parts = json.loads(Path(sys.argv[1]).read_text())
    report = {}
    for name in sys.argv[2:]:
        read: Callable[[Part], Pairs] = globals()[name]
        pairs = [pair for part in parts for pair in read(part)]
        differing = [[str(found)[:300], str(expected)[:300]] for found, expected in pairs if found != expected]
        report[name] = {
            "version": importlib.metadata.version(name), "values": len(pairs), "differing": differing[:3],
        }  # fmt: skip
    sys.stderr.flush()
    sys.stdout.write("\n" + json.dumps(report))
