"""Measure scheduling: overhead per episode and driver memory.

    python -m tools bench-farm --episodes 37800 --workers 16 --seconds 0.02          # null store
    python -m tools bench-farm --episodes 37800 --workers 16 --seconds 0.02 --store  # a real store
    python -m tools bench-farm --episodes 100000 --workers 16 --seconds 0            # tiny episodes, streamed

Workers sleep instead of rendering and answer with a prepared row, so that 16 workers don't need 16 cores: what remains
is the work of the run itself, from reading the specs to the commit. `driver` is the driver's processor time per
episode, `over` the wall time beyond seconds / workers. Neither includes the start of Ray and its workers. With
`--store`, `resume` is the plan of a second run, which finds everything stored.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from diorama.render.run.batch import Batch
from diorama.render.run.commit import Committer
from diorama.render.run.local_ray import ray_nodes
from diorama.render.run.loop import RenderLoop
from diorama.render.run.machine import resident
from diorama.render.run.options import RunOptions
from diorama.render.run.status import EventLog, Progress
from diorama.render.run.stopping import Interrupts
from diorama.render.run.worker import Done, Failure, Task, Worker
from diorama.render.run.worker_plan import plan_workers
from diorama.render.store import open_or_create
from diorama.render.store.episode_store import PutResult
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.reading.source import SpecSource
from tools.programs import positive, write_specs

# Workers read it from the environment of the Ray that this process starts.
SECONDS = "DIORAMA_BENCH_SECONDS"


class Sleeper(Worker):
    """A worker that sleeps, then answers with the row of its first episode under the id of the current one."""

    _record: Any = None

    def render(self, task: bytes) -> tuple[Done | Failure, int]:
        """Answer a task; see `Worker.render`."""
        from diorama.render.episode.make_record import make_record
        from diorama.render.store.rows import encode

        start = time.perf_counter()
        episode, job, settings, attempt, _ = pickle.loads(task)
        if self._record is None:
            assert self._renderer is not None
            self._record = make_record(self._renderer, episode, job, settings, (), attempt)
        row = encode(self._record.model_copy(update={"episode_id": episode.id, "job": job}))
        seconds = float(os.environ[SECONDS])
        time.sleep(max(0.0, seconds - (time.perf_counter() - start)))
        return Done(episode.id, row, len(self._record.images), {"sleep": seconds}, "none"), resident()


# A store that drops what it gets.
NULL_STORE = SimpleNamespace(
    put_encoded=lambda parts: PutResult(len(parts), 0, 0), scan=lambda *_, **__: iter(()),
    count=lambda: 0, maybe_compact=lambda: None, refresh=lambda: None,
)  # fmt: skip


class Meter(Progress):
    """A progress bar that records the times of the first and the last episode, and the driver's memory in between."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.begin = self.end = (0.0, 0.0)
        self.memory: list[int] = []

    def advance(self, images: int = 0, cost: float = 1.0, seconds: float | None = None) -> None:
        """Count an episode. The first tenth is for warming up."""
        self.done += 1
        now = (time.perf_counter(), time.process_time())
        if self.done == self.total // 10:
            self.begin = now
        self.end = now
        if self.done % max(1, self.total // 20) == 0:
            self.memory.append(resident() >> 20)

    def tick(self, *_: object, **__: object) -> None:
        """Show nothing."""


def plan(specs: Path, store: str, options: RunOptions) -> tuple[Batch, float]:
    """Return a planned batch, and the seconds of its plan."""
    start = time.perf_counter()
    batch = Batch(SpecSource([specs]), store, options)
    batch.plan()
    return batch, time.perf_counter() - start


def run(folder: Path, arguments: Namespace) -> dict[str, Any]:
    """Measure one run."""
    frame = {"objects": [{"shape": "cube"}, {"shape": "sphere"}]}
    episodes = ({"version": 1, "id": f"bench/{k:06d}", "frames": [frame]} for k in range(arguments.episodes))
    specs, store = write_specs(folder / "specs.jsonl", episodes), str(folder / "bench.lance")
    options = RunOptions(device="cpu", workers=arguments.workers, renderer="fake", size=(64, 48))
    batch, planned = plan(specs, store, options)
    real: Any = open_or_create(store) if arguments.store else NULL_STORE
    os.environ[SECONDS] = str(arguments.seconds)
    meter = Meter(arguments.episodes)
    before = resident() >> 20
    with Interrupts() as interrupts, ray_nodes() as nodes:
        decided = batch.decisions(real if arguments.store else None)
        todo = (Task(one.episode, one.job, one.settings, one.attempt) for one in decided)
        farm = RenderLoop(todo, Committer(real, options), options, batch.summary, meter, EventLog(None), Sleeper)
        summary = farm.go(plan_workers(options, nodes, arguments.episodes), interrupts)
    kept: dict[str, Any] = {}
    if arguments.store:
        held = resident()
        again, seconds = plan(specs, store, options)
        grown = (resident() - held) >> 20
        kept = {"store_MB": round(real.bytes_on_disk() / 1e6, 1), "resume_s": round(seconds, 1), "resume_MiB": grown}
        assert again.summary.skipped == arguments.episodes
    counted = arguments.episodes - arguments.episodes // 10
    wall, driver = meter.end[0] - meter.begin[0], meter.end[1] - meter.begin[1]
    return {
        "episodes": arguments.episodes,
        "workers": arguments.workers,
        "stored": real.count() if arguments.store else None,
        "rendered": summary.rendered,
        "check_and_plan_ms": round(1000 * planned / arguments.episodes, 3),
        "wall_ms": round(1000 * wall / counted, 3),
        "driver_ms": round(1000 * driver / counted, 3),
        "over_ms": round(1000 * (wall / counted - arguments.seconds / arguments.workers), 3),
        "commit_s": round(summary.steps.get("commit", 0.0), 2),
        "driver_MiB": [before, *meter.memory],
        "driver_peak_MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "threads": threading.active_count(),
        **kept,
    }


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--episodes", type=positive, default=3780)
    parser.add_argument("--workers", type=positive, default=16)
    parser.add_argument("--seconds", type=float, default=0.02, help="per episode")
    parser.add_argument("--store", action="store_true", help="write a real store")
    parser.add_argument("--folder", type=Path, help="folder of specs and store [default: a temporary one]")


def main(options: Namespace) -> None:
    """Measure, and print the figures as JSON. Raises UsageError for too few episodes."""
    if options.episodes < 10:
        raise UsageError(f"--episodes: found {options.episodes}; allowed: at least 10, since the first tenth warms up")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.folder) as name:
        print(json.dumps(run(Path(name), options)))
