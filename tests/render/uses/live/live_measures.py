"""What `diorama.live` costs: `python -m tests.render.uses.live.live_measures {overhead,sizes,memory} [number]`.

overhead    episodes of MEWL, by a batch and by a stream in turn, each in a process of its own: seconds and CPU
            seconds from the call, and from the first episode to the last
sizes       what an episode costs at three sizes
memory      minutes of a stream: items, and the memory of all of its processes
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import diorama
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.uses.live import stream as live
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.spec import spec_text
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.tasks.blocks import Blocks, sources_of

OPTIONS: dict[str, Any] = {"size": (160, 120)}
MEWL: dict[str, Any] = {"split": "train"}


def by_batch(number: int) -> list[tuple[float, float]]:
    """When each episode was done: seconds after the call, and CPU seconds of all processes."""
    specs, times = Blocks(sources_of("mewl", MEWL), 1).block(0)[:number], list[tuple[float, float]]()
    start = time.monotonic()

    def note(*_: int) -> None:
        times.append((time.monotonic() - start, cpu_seconds()))

    with tempfile.TemporaryDirectory() as folder:
        diorama.render_to_store(specs, Path(folder) / "s.lance", profile="draft", **OPTIONS, progress=note)
    return times


def by_stream(number: int) -> list[tuple[float, float]]:
    """The same for items, which are episodes with MEWL; the stream has no further ones."""

    def tasks(options: Any, first: int) -> Iterator[Any]:
        given = endless(options, first)
        yield from itertools.islice((task for task in given if task is not None), number)
        yield from itertools.repeat(None)

    endless, start = live._tasks, time.monotonic()
    with patch.object(live, "_tasks", tasks), diorama.live("mewl", seed=1, **OPTIONS, **MEWL) as stream:
        return [(time.monotonic() - start, cpu_seconds()) for _ in itertools.islice(stream, number)]


def overhead(number: int) -> None:
    """Print the times of both, three times each."""
    for kind in ["by_batch", "by_stream"] * 3:
        code = f"from tests.render.uses.live.live_measures import *; print(json.dumps({kind}({number})))"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        times = json.loads(done.stdout.splitlines()[-1])
        assert len(times) == number
        (first, begun), (last, used) = times[0], times[-1]
        sys.stdout.write(
            f"{kind}: {last:.2f} s, {last - first:.2f} after the first; {used:.2f} CPU s, {used - begun:.2f}\n"
        )
        sys.stdout.flush()


def sizes(number: int) -> None:
    """Print what episodes cost on one thread, in this process, after the first two."""
    with closing(CyclesRenderer("cpu", threads=1)) as renderer:
        for name, options in (("clevr", {}), ("mewl", MEWL)):
            specs = Blocks(sources_of(name, options), 1).block(0)[: number + 2]
            for size in ((64, 48), (160, 120), (320, 240)):
                costs = [_cost(renderer, parse_episode(spec_text(spec)), size) for spec in specs]
                sys.stdout.write(f"{name} {size}: {sum(costs[2:]) / number:.3f} CPU s per episode\n")
                sys.stdout.flush()


def _cost(renderer: CyclesRenderer, episode: Any, size: tuple[int, int]) -> float:
    """CPU seconds to make the record of an episode."""
    settings = episode_settings(episode, "draft", size)
    start = time.process_time()
    make_record(renderer, episode, render_key_of(episode, settings, "cycles", ()), settings)
    return time.process_time() - start


def memory(minutes: int) -> None:
    """Print the memory of this process and its descendants every two minutes."""
    start, shown, episodes = time.monotonic(), 0.0, set[str]()
    with diorama.live("clevr", seed=1, size=(64, 48), questions=3, workers=1) as stream:
        for number, item in enumerate(stream, 1):
            episodes.add(item.record.episode_id)
            if (now := time.monotonic() - start) - shown >= 120:
                shown = now
                found = f"{now / 60:.1f} min, {len(episodes)} episodes, {number} items: {megabytes()} MB\n"
                sys.stdout.write(found)
                sys.stdout.flush()
            if now > 60 * minutes:
                break


def descendants() -> list[Path]:
    """Folders in /proc of this process and its descendants."""
    parents: dict[str, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[path.parent.name] = path.read_text().rpartition(")")[2].split()[1]
    here = {str(os.getpid())}
    while more := {pid for pid, parent in parents.items() if parent in here} - here:
        here |= more
    return [Path("/proc") / pid for pid in here]


def megabytes() -> int:
    """Memory of these, without files: how much of a library counts depends on who else has loaded it."""
    found = 0
    for folder in descendants():
        with suppress(OSError):
            lines = (folder / "smaps_rollup").read_text().splitlines()
            found += sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))
    return found // 1000


def cpu_seconds() -> float:
    """CPU seconds of these, and of those that have ended."""
    found = 0
    for folder in descendants():
        with suppress(OSError):
            found += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return found / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    {"overhead": overhead, "sizes": sizes, "memory": memory}[sys.argv[1]](int(sys.argv[2]))
