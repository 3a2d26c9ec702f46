"""Measure the dataset store and exports.

    python -m tools bench-store --folder /tmp/bench                  # full size, 40,000 x 7 images: 17 GB
    python -m tools bench-store --folder /tmp/bench --episodes 4000  # a tenth of it

Measures writing, reading by id, ids for resume, metadata, replacing, compaction and exports, and prints a Markdown
table. Images are noise of about 60 KB, the size of 320 x 240 renders.
"""

from __future__ import annotations

import gc
import logging
import shutil
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from timeit import timeit

import numpy as np
from tqdm import tqdm

from diorama.render.annotations.encode import encode_png
from diorama.render.store.columns import episode_schema
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.model.record import EpisodeRecord
from tests.factories import make_job, make_record, make_scene, make_spec
from tools.programs import positive, print_figures, run_measured

BATCH, IMAGES = 64, 7
READS = 200
# With the garbage collector, as in a run.
once = partial(timeit, setup=gc.enable, number=1)


def picture(number: int) -> bytes:
    """Return a PNG of noise of 160 x 128, 61 KB. All differ, since a repeated one would be stored once."""
    return encode_png(np.random.Generator(np.random.Philox(number)).integers(0, 256, (128, 160, 3), dtype=np.uint8))


def episodes(count: int) -> Iterator[EpisodeRecord]:
    """Yield episodes with three objects per image."""
    model, scene = make_record(images=IMAGES, objects=3, size=(160, 128)), make_scene("bench/0", IMAGES)
    for number in range(count):
        name = f"bench/{number:06d}"
        drawn = zip(model.images, range(number * IMAGES, (number + 1) * IMAGES), strict=True)
        pictures = [image.model_copy(update={"png": picture(seed)}) for image, seed in drawn]
        changes = {"episode_id": name, "job": make_job(make_spec(name, IMAGES)), "images": pictures}
        yield model.model_copy(update={**changes, "scene": scene.model_copy(update={"id": name})})


def fill(store: LanceStore, source: Iterator[EpisodeRecord]) -> float:
    """Put all episodes; return the seconds spent inside the store."""
    seconds = 0.0
    for batch in tqdm(iter(lambda: list(islice(source, BATCH)), []), unit=f" x {BATCH} episodes", disable=None):
        seconds += once(partial(store.put, batch)) + once(store.maybe_compact)
    return seconds


def by_id(store: LanceStore, ids: list[str]) -> float:
    """Return the median milliseconds of reading a complete episode, digests checked."""
    return statistics.median(once(partial(store.get, key)) for key in ids) * 1e3


def measure(url: str, count: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (measured, figure)."""
    store = LanceStore.create(url)
    spent = fill(store, episodes(count))
    yield f"write, {BATCH} per commit, with compaction", f"{spent:.0f} s, {count / spent:.0f} episodes/s"
    yield "compaction at the end", f"{once(store.compact):.1f} s"
    size = store.bytes_on_disk() or 0
    yield "on disk, old versions included", f"{size / 1e9:.2f} GB in {len(store.fragments())} files"
    random = Random(1)
    ids = [f"bench/{random.randrange(count):06d}" for _ in range(READS)]
    yield "open and first episode by id", f"{once(lambda: LanceStore.open(url).get(ids[0])) * 1e3:.0f} ms"
    by_id(store, ids)
    yield "episode by id, warm, median", f"{by_id(store, ids):.1f} ms"
    yield "ids for resume", f"{once(lambda: dict(LanceStore.open(url).ids())):.2f} s"
    heavy = {"images", "extra", "annotations", "objects", "scene", "job", "spec"}
    light = [name for name in episode_schema().names if name not in heavy]
    yield "metadata scan (search columns)", f"{once(lambda: list(store.batches(light, None, 8192))):.2f} s"
    texts = [name for name in episode_schema().names if name not in ("images", "extra")]
    yield "all columns except images", f"{once(lambda: [None for _ in store.batches(texts, None, 256)]):.1f} s"
    record = store.get(ids[0])
    replace = statistics.median(once(lambda: store.replace([record])) for _ in range(5))
    yield "replace one episode", f"{replace * 1e3:.0f} ms"
    for name in ("webdataset", "folder", "coco", "huggingface"):
        _, seconds, peak = run_measured("render-export", url, "--format", name, "--out", folder / "out")
        shutil.rmtree(folder / "out")
        yield f"render-export --format {name}", f"{seconds:.0f} s; peak memory {peak:.0f} MB"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, required=True, help="where the store and exports are made and removed")
    parser.add_argument("--episodes", type=positive, default=40_000)


def main(options: Namespace) -> None:
    logging.getLogger("diorama.render").setLevel(logging.WARNING)
    url = options.folder / "bench.lance"
    figures = measure(str(url), options.episodes, options.folder)
    print_figures(f"{options.episodes} episodes x {IMAGES} images", figures, [url], keep=False)
