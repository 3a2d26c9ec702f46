"""A Ray cluster of several nodes on this machine, one of them killed in mid-run: every episode must be done.

    python tools/cluster_check.py --nodes 4 --episodes 80

Uses ray.cluster_utils: each node has its own raylet, object store and workers, as on a machine of its own.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from render.store import open_store, peek

log = logging.getLogger("cluster")
ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def cluster_of(nodes: int, cpus: int = 1) -> Iterator[tuple[Cluster, list[Any]]]:
    """A head without CPUs, and so many nodes; they end with the block."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0, "include_dashboard": False})
    try:
        yield cluster, [cluster.add_node(num_cpus=cpus, num_gpus=0) for _ in range(nodes)]
    finally:
        cluster.shutdown()


def check(nodes: int, episodes: int, folder: Path) -> dict[str, Any]:
    """Render with a node killed after the first commit; the run's summary. Raises AssertionError if any is missing."""
    specs, store, events = folder / "specs.jsonl", folder / "out.lance", folder / "events.jsonl"
    names = [f"cluster/{number:03d}" for number in range(episodes)]
    frame = {"objects": [{"shape": "cube"}]}
    lines = [json.dumps({"version": 1, "id": name, "frames": [frame]}) for name in names]
    specs.write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    os.environ.update(environment)
    with cluster_of(nodes) as (cluster, workers):
        command = [sys.executable, "-c", "from render.cli.batch import main; main()", str(specs), "--out", str(store)]
        command += [
            "--address",
            cluster.address,
            "--renderer",
            "tools.chaos_renderer:Slow",
            "--size",
            "32x24",
            "--json",
        ]
        command += ["--device", "cpu", "--json-log", str(events), "--retries", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=ROOT)
        deadline = time.monotonic() + 120
        while process.poll() is None and not (peek(str(store)) and open_store(str(store)).count()):
            if time.monotonic() > deadline:
                process.kill()
                raise AssertionError("nothing was committed within two minutes")
            time.sleep(0.2)
        cluster.remove_node(workers[0], allow_graceful=False)
        log.info("a node was killed with %d of %d episodes stored", open_store(str(store)).count(), episodes)
        out, _ = process.communicate(timeout=300)
    summary: dict[str, Any] = json.loads(out)
    stored = sorted(name for name, _ in open_store(str(store)).ids())
    assert process.returncode == 0 and stored == names, f"exit code {process.returncode}, {len(stored)} of {episodes}"
    lines = events.read_text().splitlines()
    assert sum(json.loads(line)["event"] == "worker-up" for line in lines) >= nodes
    return summary


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--episodes", type=int, default=80)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with tempfile.TemporaryDirectory(prefix="cluster-") as name:
        start = time.monotonic()
        summary = check(arguments.nodes, arguments.episodes, Path(name))
        log.info("all %d episodes are done in %.0f s; %s", arguments.episodes, time.monotonic() - start, summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
