"""Run batches in a real Slurm: arrays, a cluster, kills, two users.

    python -m tools slurm-check                    # everything: about 30 minutes on two cores
    python -m tools slurm-check arrays memory      # some of the checks

Needs root, a kernel with namespaces and with the control groups of version 1, and Debian's programs:
apt-get install --no-install-recommends slurm-wlm munge iproute2. Each node is a slurmd in namespaces of its own, with
two cores and 4,000 MB. Exit code 1: a check failed.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from diorama.render.store import peek
from tools.programs import ROOT, command, run_measured, write_specs
from tools.slurm_check.mini_slurm import MEGABYTES, MiniSlurm

log = logging.getLogger("slurm")

_ARRAY, _CLUSTER = ROOT / "docker/slurm-array.sbatch", ROOT / "docker/slurm.sbatch"
_JOB_SECONDS = 1200.0
_KILL_SECONDS = 30.0
_BATCH = ("--size", "64x48", "--device", "cpu", "--quiet")
_FAKE = ("--renderer", "fake", *_BATCH)
_SLOW = ("--renderer", "tests.render.run.renderers:Slow", *_BATCH)
_LEAKY = ("--renderer", "tests.render.run.renderers:Leaks", *_BATCH)
_REAL = ("--profile", "draft", *_BATCH)
_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "OUT_OF_MEMORY", "TIMEOUT", "NODE_FAIL"}
_MEASURED = """#!/bin/bash
render-doctor --device cpu --store $HOME/none.lance | grep -E "^ok +(memory|cores)"
render-batch "$@"
code=$?
cd /sys/fs/cgroup/memory/slurm_$SLURMD_NODENAME/uid_$UID/job_$SLURM_JOB_ID
echo "peak $(cat memory.max_usage_in_bytes) of $(cat memory.limit_in_bytes)"
exit $code
"""


class Jobs:
    """Jobs of one user in a running Slurm. folder: of the user."""

    def __init__(self, slurm: MiniSlurm, user: str = "root") -> None:
        self.slurm, self.user = slurm, user
        self.folder = slurm.folder / user

    def specs(self, count: int, name: str) -> Path:
        """Write specs of two objects each."""
        frame = {"objects": [{"shape": "cube"}, {"shape": "sphere"}]}
        path = self.folder / f"{name}.jsonl"
        return write_specs(path, ({"version": 1, "id": f"{name}/{k:05d}", "frames": [frame]} for k in range(count)))

    def submit(self, script: Path, *arguments: object, options: tuple[str, ...] = (), memory: int = 1500) -> str:
        """Submit a job and return its number. memory: MB per node."""
        line = ["sbatch", "--parsable", f"--output={self.folder}/%A-%a.log", "--cpus-per-task=1", "--time=30"]
        job = self.slurm.call(*line, f"--mem={memory}M", *options, str(script), *map(str, arguments), user=self.user)
        return job.strip()

    def states(self, job: str) -> set[str]:
        """Return the states of a job, or of the tasks of an array."""
        return set(self.slurm.call("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%T").split())

    def settle(self, job: str, seconds: float) -> bool:
        """Let tasks that were requeued begin at once; return whether all are completed within so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.states(job) != {"COMPLETED"}:
            # Slurm would wait for two minutes.
            self.slurm.call("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)
            time.sleep(2.0)
        return self.states(job) == {"COMPLETED"}

    def wait(self, job: str) -> None:
        """Wait until a job has completed. Raises AssertionError."""
        deadline = time.monotonic() + _JOB_SECONDS
        while not self.states(job) <= _ENDED:
            assert time.monotonic() < deadline, f"job {job} did not end within {_JOB_SECONDS:.0f} s"
            time.sleep(1.0)
        found = self.states(job)
        logs = "".join(path.read_text()[-1500:] for path in sorted(self.folder.glob(f"{job}-*.log")))
        assert found == {"COMPLETED"}, f"job {job}: {', '.join(found)}: {logs}"


def stored(store: Path) -> list[str]:
    """Return the ids of a store, sorted; [] if there is none."""
    opened = peek(str(store))
    return sorted(name for name, _ in opened.ids()) if opened else []


def events(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind from a log of render-batch; a killed run may have left half a line."""
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines if f'"event": "{kind}"' in line and line.endswith("}")]


def check_arrays(slurm: MiniSlurm, count: int = 200, options: tuple[str, ...] = _FAKE, name: str = "arrays") -> str:
    """Render parts in a job array, join them; without one part, the join is refused."""
    jobs, parts, joined = Jobs(slurm), slurm.folder / "root" / f"{name}-parts", slurm.folder / "root" / f"{name}.lance"
    specs = jobs.specs(count, name)
    jobs.wait(jobs.submit(_ARRAY, specs, parts, *options, options=("--array=1-4",)))
    stores = sorted(parts.glob("*.lance"))
    join = command("render-store", "copy", *stores[1:], joined, "--complete", specs)
    refused = subprocess.run(join, capture_output=True, text=True, timeout=300, check=False)
    missing = len(stored(stores[0]))
    assert refused.returncode == 1 and f"{missing} episodes missing" in refused.stderr, refused.stderr
    run_measured("render-store", "copy", *stores, joined, "--complete", specs)
    assert len(stored(joined)) == count
    return f"{count} episodes in {len(stores)} parts, joined; without one part refused, {missing} ids missing"


def check_cluster(slurm: MiniSlurm, count: int = 200, options: tuple[str, ...] = _FAKE, name: str = "cluster") -> str:
    """Render on a Ray cluster in a job of two nodes, which leaves nothing behind."""
    jobs = Jobs(slurm)
    log_file, store = jobs.folder / f"{name}.events", jobs.folder / f"{name}.lance"
    arguments = (jobs.specs(count, name), store, *options, "--json-log", log_file)
    jobs.wait(jobs.submit(_CLUSTER, *arguments, options=("--nodes=2",)))
    hosts = Counter(event["host"] for event in events(log_file, "worker-up"))
    left = [name for node in ("n1", "n2") for name in slurm.on_node(node, "ls", "/tmp").split()]
    assert len(stored(store)) == count and len(hosts) == 2, f"{len(stored(store))} episodes, workers: {hosts}"
    assert not left, f"left in /tmp of the nodes: {left}"
    return f"{count} episodes, workers by node: {dict(hosts)}; nothing is left in /tmp of the nodes"


def check_real(slurm: MiniSlurm) -> str:
    """Render 20 episodes with Cycles in both forms."""
    return f"{check_arrays(slurm, 20, _REAL, 'real-1')}; {check_cluster(slurm, 20, _REAL, 'real-2')}"


def check_memory(slurm: MiniSlurm) -> str:
    """Give a job half the memory of its node, and render with Cycles, and with a renderer that leaks."""
    jobs, script, text = Jobs(slurm), slurm.folder / "root" / "measured.sh", []
    script.write_text(_MEASURED)
    for name, count, options in (("cycles", 20, _REAL), ("leaky", 100, _LEAKY)):
        store = jobs.folder / f"memory-{name}.lance"
        arguments = (jobs.specs(count, f"memory-{name}"), "--out", store, *options)
        job = jobs.submit(script, *arguments, options=("--cpus-per-task=2",), memory=MEGABYTES // 2)
        jobs.wait(job)
        output = next(jobs.folder.glob(f"{job}-*.log")).read_text()
        peak, limit = (int(number) for number in re.search(r"peak (\d+) of (\d+)", output).groups())  # type: ignore[union-attr]
        assert peak < limit and len(stored(store)) == count, output
        text.append(f"{name}: peak {peak >> 20} of {limit >> 20} MiB")
    return "; ".join(text)


def check_kills(slurm: MiniSlurm, count: int = 2000) -> str:
    """Kill four tasks every 30 seconds, in turn with Slurm's warning and without one, until everything is stored."""
    jobs, parts = Jobs(slurm), slurm.folder / "root" / "kills"
    log_file, specs = jobs.folder / "kills.events", jobs.specs(count, "kills")
    options = (*_SLOW, "--json-log", log_file)
    job = jobs.submit(_ARRAY, specs, parts, *options, options=("--array=1-4",))
    kills, start = 0, time.monotonic()
    while not jobs.settle(job, _KILL_SECONDS):
        assert kills < 100, f"not done after {kills} kills"
        kills += 1
        if kills % 2:
            slurm.kill_tasks()
            time.sleep(2.0)
        for task in (f"{job}_{number}" for number in (1, 2, 3, 4)):
            if not jobs.states(task) <= {"COMPLETED"}:
                slurm.call("scontrol", "requeue", task, check=False)
        log.info("kill %d: %d stored", kills, sum(len(stored(path)) for path in parts.glob("*.lance")))
    seconds = time.monotonic() - start
    names = [name for path in sorted(parts.glob("*.lance")) for name in stored(path)]
    assert len(names) == len(set(names)) == count, f"{len(names)} stored"
    done = len(events(log_file, "episode-done"))
    return f"{count} episodes, each once, after {kills} kills in {seconds:.0f} s; {done - count} of them rendered twice"


def check_users(slurm: MiniSlurm, count: int = 150) -> str:
    """Run jobs of two users on one node in both forms, and cancel one of them."""
    text = []
    for form, script in (("arrays", _ARRAY), ("cluster", _CLUSTER)):
        running, options = {}, ("--nodelist=n1", *(("--array=1-1",) if script is _ARRAY else ("--nodes=1",)))
        for user in ("ada", "bob"):
            jobs = Jobs(slurm, user)
            out = jobs.folder / (form if script is _ARRAY else f"{form}.lance")
            running[user] = (jobs, out, jobs.submit(script, jobs.specs(count, form), out, *_SLOW, options=options))
        stores = {user: out / "1.lance" if script is _ARRAY else out for user, (_, out, _) in running.items()}
        deadline = time.monotonic() + 120
        while not all(map(stored, stores.values())):
            assert time.monotonic() < deadline, f"{form}: not both users have episodes after two minutes"
            time.sleep(1.0)
        listening = slurm.on_node("n1", "ss", "-Hltn").splitlines()
        folders = [line.split() for line in slurm.on_node("n1", "bash", "-c", "ls -ld /tmp/ray-*").splitlines()]
        assert {line[2] for line in folders} == {"ada", "bob"} and {line[0] for line in folders} == {"drwx------"}
        ours = {user: slurm.processes("n1", user) for user in running}
        jobs, _, job = running["ada"]
        slurm.call("scancel", job, user="ada")
        running["bob"][0].wait(running["bob"][2])
        found = len(stored(stores["bob"])), slurm.processes("n1", "ada"), jobs.states(job)
        assert found == (count, 0, {"CANCELLED"}), f"{form}: {found}"
        text.append(
            f"{form}: both rendered at once ({ours['ada']} and {ours['bob']} processes, {len(listening)} ports); ada "
            f"cancelled with {len(stored(stores['ada']))} stored, bob completed {count}"
        )
    return "; ".join(text)


CHECKS: dict[str, Callable[[MiniSlurm], str]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("checks", nargs="*", metavar="CHECK", choices=[[], *CHECKS], help=f"of {', '.join(CHECKS)}")
    parser.add_argument("--folder", type=Path, help="keep files in this new folder [default: a temporary one]")


def main(options: Namespace) -> None:
    """Run the checks. Raises AssertionError."""
    # Not below /tmp, of which each node has its own.
    with tempfile.TemporaryDirectory(prefix="slurm-check-", dir="/var/tmp", ignore_cleanup_errors=True) as made:
        folder = options.folder or Path(made)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        os.environ["PYTHONPATH"] = str(ROOT)
        with MiniSlurm(folder.resolve(), 2) as slurm:
            for name in options.checks or CHECKS:
                start = time.monotonic()
                log.info("%s: %s (%.0f s)", name, CHECKS[name](slurm), time.monotonic() - start)
