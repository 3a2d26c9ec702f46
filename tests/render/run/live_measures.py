"""What `diorama.live` costs: `python -m tests.render.run.live_measures {overhead,sizes,memory} [number]`.

overhead    episodes of MEWL, by a batch and by a stream in turn, each in a process of its own: seconds from the call
            and from the first episode to the last
sizes       items per second at three sizes
memory      minutes of a stream: items, and the memory of all of its processes
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import diorama
from diorama.scene_specs.reading.blocks import Blocks, sources_of

OPTIONS: dict[str, Any] = {"size": (160, 120)}
MEWL: dict[str, Any] = {"split": "train"}


def by_batch(number: int) -> list[float]:
    """When each episode was done, in seconds after the call."""
    specs, times = Blocks(sources_of("mewl", MEWL), 1).block(0)[:number], list[float]()
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        diorama.render_to_store(
            specs, Path(folder) / "s.lance", profile="draft", **OPTIONS,
            progress=lambda *_: times.append(time.monotonic() - start),
        )  # fmt: skip
    return times


def by_stream(number: int) -> list[float]:
    """When each item was there, in seconds after the call; those of MEWL are episodes."""
    start = time.monotonic()
    with diorama.live("mewl", seed=1, **OPTIONS, **MEWL) as stream:
        return [time.monotonic() - start for _ in itertools.islice(stream, number)]


def overhead(number: int) -> None:
    """Print the times of both, three times."""
    for kind in ["by_batch", "by_stream"] * 3:
        code = f"from tests.render.run.live_measures import *; print(json.dumps({kind}({number})))"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        times = json.loads(done.stdout)
        assert len(times) == number
        sys.stdout.write(f"{kind}: {times[-1]:.2f} s, {times[-1] - times[0]:.2f} s from the first episode\n")
        sys.stdout.flush()


def sizes(number: int) -> None:
    """Print the rates of items after the first 16."""
    benchmarks: dict[str, dict[str, Any]] = {
        "clevr": {"questions": 1},
        "mewl": MEWL,
        "malevic": {"name": "pos1", **MEWL},
    }
    for name, options in benchmarks.items():
        for size in ((64, 48), (160, 120), (320, 240)):
            with diorama.live(name, seed=1, size=size, **options) as stream:
                items = list(itertools.islice(stream, 16))
                start, images = time.monotonic(), 0
                for item in itertools.islice(stream, number):
                    images += len(item.images)
                rate = number / (time.monotonic() - start)
            sys.stdout.write(f"{name} {size}: {rate:.2f} items/s, {images / number:.1f} images per item\n")
            sys.stdout.flush()
            assert len(items) == 16


def memory(minutes: int) -> None:
    """Print the proportional memory of this process and its descendants every two minutes."""
    start, number, shown = time.monotonic(), 0, 0.0
    with diorama.live("mewl", seed=1, **OPTIONS, **MEWL, workers=1) as stream:
        for number, _ in enumerate(stream, 1):
            if (now := time.monotonic() - start) - shown >= 120:
                shown = now
                sys.stdout.write(f"{now / 60:.1f} min, {number} items: {_memory_of_descendants()} MB\n")
                sys.stdout.flush()
            if now > 60 * minutes:
                break


def _memory_of_descendants() -> int:
    """MB of this process and its descendants; memory that they share counts once."""
    found, parents = 0, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[path.parent.name] = path.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    here = {str(Path("/proc/self").resolve().name)}
    while more := {pid for pid, parent in parents.items() if parent in here} - here:
        here |= more
    for pid in here:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        found += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found // 1000


if __name__ == "__main__":
    {"overhead": overhead, "sizes": sizes, "memory": memory}[sys.argv[1]](int(sys.argv[2]))
