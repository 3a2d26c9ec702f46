"""Figures of the dataset store: writing, reading by id, ids for resume, metadata, replacing, compaction, exports.

    python -m tools.bench_store --folder /tmp/bench                       the full size, 40,000 x 7 pictures: 17 GB
    python -m tools.bench_store --folder /tmp/bench --episodes 4000       a tenth of it

Prints a Markdown table. Pictures are noise of about 60 KB, as 320 x 240 renders are.
"""

from __future__ import annotations

import argparse
import io
import logging
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from render.model.record import EpisodeRecord
from render.store.columns import episode_schema
from render.store.lance.lance_store import LanceStore
from tests.factories import make_job, make_record, make_scene, make_spec

BATCH = 64
LOOKS = 200
log = logging.getLogger("bench_store")


def picture(number: int) -> bytes:
    """Noise of 160 x 128, 61 KB and no two alike: what repeats would be stored once."""
    noise = np.random.Generator(np.random.Philox(number)).integers(0, 256, (128, 160, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, format="PNG", compress_level=0)
    return stream.getvalue()


def episodes(count: int, images: int) -> Iterator[EpisodeRecord]:
    """Episodes of three objects a picture."""
    model, scene = make_record(images=images, objects=3, size=(160, 128)), make_scene("bench/0", images)
    for number in range(count):
        name = f"bench/{number:06d}"
        pictures = [
            image.model_copy(update={"png": picture(number * images + place)})
            for place, image in enumerate(model.images)
        ]
        changes = {"episode_id": name, "job": make_job(make_spec(name, images)), "images": pictures}
        yield model.model_copy(update={**changes, "scene": scene.model_copy(update={"id": name})})


def timed(task: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def fill(store: LanceStore, count: int, images: int) -> float:
    """Put all episodes; seconds inside the store alone."""
    seconds, done = 0.0, 0
    source = episodes(count, images)
    while batch := list(islice(source, BATCH)):
        start = time.perf_counter()
        store.put(batch)
        store.maybe_compact()
        seconds += time.perf_counter() - start
        done += len(batch)
        if done % 4096 == 0:
            log.info("%d episodes", done)
    return seconds


def by_id(store: LanceStore, ids: list[str]) -> float:
    """Median milliseconds of whole episodes, digests checked."""
    return statistics.median(timed(lambda key=key: store.get(key)) for key in ids) * 1e3  # type: ignore[misc]


def export_memory(url: str, name: str, out: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of render-export in a process of its own."""
    program = Path(sys.executable).with_name("render-export")
    start, peak = time.perf_counter(), 0
    with subprocess.Popen([program, url, "--format", name, "--out", out]) as child:
        # Asked while it runs: what the kernel tells at the end includes this process, which it came from.
        while child.poll() is None:
            peak = max(peak, peak_kilobytes(child.pid))
            time.sleep(0.05)
    seconds = time.perf_counter() - start
    if child.returncode:
        raise SystemExit(f"render-export --format {name} failed")
    shutil.rmtree(out)
    return seconds, peak / 1024


def peak_kilobytes(process: int) -> int:
    """VmHWM of a process, 0 if it is gone."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")), 0)


def measure(url: str, count: int, images: int, folder: Path) -> Iterator[tuple[str, str]]:
    """(what, figure) one by one."""
    store = LanceStore.open_or_create(url)
    if store.count() != count:
        spent = fill(store, count, images)
        yield f"write, {BATCH} a commit, with compaction", f"{spent:.0f} s, {count / spent:.0f} episodes/s"
        yield "compaction at the end", f"{timed(store.compact):.1f} s"
    size = store.bytes_on_disk() or 0
    yield "on disk, old versions included", f"{size / 1e9:.2f} GB in {len(store.fragments())} files"
    random = Random(1)
    ids = [f"bench/{random.randrange(count):06d}" for _ in range(LOOKS)]
    yield "open and first episode by id", f"{timed(lambda: LanceStore.open(url).get(ids[0])) * 1e3:.0f} ms"
    by_id(store, ids)
    yield "episode by id, warm, median", f"{by_id(store, ids):.1f} ms"
    yield "ids for resume", f"{timed(lambda: dict(LanceStore.open(url).ids())):.2f} s"
    heavy = {"images", "extra", "annotations", "objects", "scene", "job", "spec"}
    light = [name for name in episode_schema().names if name not in heavy]
    yield "metadata scan (search columns)", f"{timed(lambda: list(store.batches(light, None, 8192))):.2f} s"
    texts = [name for name in episode_schema().names if name not in ("images", "extra")]
    yield "all but pictures", f"{timed(lambda: [None for _ in store.batches(texts, None, 256)]):.1f} s"
    record = store.get(ids[0])
    yield (
        "replace one episode",
        f"{statistics.median(timed(lambda: store.replace([record])) for _ in range(5)) * 1e3:.0f} ms",
    )
    for name in ("webdataset", "folder", "coco", "huggingface"):
        seconds, peak = export_memory(url, name, folder / "out")
        yield f"render-export --format {name}", f"{seconds:.0f} s; peak memory {peak:.0f} MB"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="the store and exports are made and removed in it")
    parser.add_argument("--episodes", type=int, default=40_000)
    parser.add_argument("--images", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="leave the store there; the next run reads that one")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("render").setLevel(logging.WARNING)
    url = options.folder / "bench.lance"
    sys.stdout.write(f"| {options.episodes} episodes x {options.images} pictures | |\n|---|---|\n")
    try:
        for what, figure in measure(str(url), options.episodes, options.images, options.folder):
            sys.stdout.write(f"| {what} | {figure} |\n")
            sys.stdout.flush()
    finally:
        if not options.keep:
            shutil.rmtree(url, ignore_errors=True)


if __name__ == "__main__":
    main()
