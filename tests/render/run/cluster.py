"""A local Ray cluster that loses a node during a run.

Uses ray.cluster_utils: each node has its own raylet, object store and workers, as on a separate machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ray.cluster_utils import Cluster

from diorama.render.store import open_store
from tools.programs import ROOT, command, write_specs

_START_SECONDS = 200.0


@contextmanager
def cluster_of(nodes: int) -> Iterator[tuple[Cluster, list[Any]]]:
    """Run a head without CPUs and a number of nodes until the block ends."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0, "include_dashboard": False})
    try:
        yield cluster, [cluster.add_node(num_cpus=1, num_gpus=0) for _ in range(nodes)]
    finally:
        cluster.shutdown()


def check(nodes: int, episodes: int, folder: Path) -> dict[str, Any]:
    """Render, kill a node after all have begun and the first commit, and return the run's summary.

    Raises AssertionError if an episode is missing.
    """
    specs, store, events = folder / "specs.jsonl", folder / "out.lance", folder / "events.jsonl"
    names = [f"cluster/{number:03d}" for number in range(episodes)]
    frame = {"objects": [{"shape": "cube"}]}
    write_specs(specs, ({"version": 1, "id": name, "frames": [frame]} for name in names))
    settings = {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    with patch.dict(os.environ, settings), cluster_of(nodes) as (cluster, workers):
        cluster_options = ("--address", cluster.address, "--renderer", "tests.render.run.renderers:Slow")
        options = ("--size", "32x24", "--device", "cpu", "--json-log", events, "--retries", 0, "--json")
        line = command("render-batch", specs, "--out", store, *cluster_options, *options)
        process = subprocess.Popen(line, stdout=subprocess.PIPE, cwd=ROOT)
        deadline = time.monotonic() + _START_SECONDS
        while process.poll() is None and not (_workers(events) >= nodes and open_store(str(store)).count()):
            if time.monotonic() > deadline:
                process.kill()
                raise AssertionError(f"{nodes} workers and a first commit took more than {_START_SECONDS:g} s")
            time.sleep(0.2)
        cluster.remove_node(workers[0], allow_graceful=False)
        out, _ = process.communicate(timeout=300)
    summary: dict[str, Any] = json.loads(out)
    stored = sorted(name for name, _ in open_store(str(store)).ids())
    assert process.returncode == 0 and stored == names, f"exit code {process.returncode}, {len(stored)} of {episodes}"
    assert _workers(events) >= nodes
    return summary


def _workers(events: Path) -> int:
    return events.read_text().count('"worker-up"') if events.exists() else 0
