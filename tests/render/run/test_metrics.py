"""What each GPU did, in the summary, in `--status`, and in the file of `--metrics`."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from diorama.render.run.last_status import read_status, status_text
from diorama.render.run.metrics import metrics_text, write_metrics
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.slot import Slot
from diorama.render.run.status import EventLog, Progress, Status
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Ready
from diorama.render.run.worker_plan import WorkerPlan
from tests.render.run.conftest import Farm

# https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:]\w*)\{{{LABEL}(?:,{LABEL})*\}} (-?\d+(?:\.\d+)?)")


def samples(text: str) -> dict[str, list[tuple[str, float]]]:
    """Metrics of a file: name -> labels and value of each. Fails at a line that Prometheus does not accept."""
    found: dict[str, list[tuple[str, float]]] = {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in found and line.split()[3] in ("gauge", "counter")
            found[name] = []
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match is not None and match[1] == name, line
            found[name].append((line, float(match[2])))
    return found


def cards(summary: Summary) -> None:
    """Two GPUs that rendered; the second failed once and left the run."""
    pool = Pool(RunOptions(), EventLog(None))
    for card, failures in ((0, 0), (1, 1)):
        slot = Slot(card, WorkerPlan("gpu", 1, card, 2, card=card, gpu_share=1.0), Mock(), since=1.0)
        slot.info = Ready("CUDA Fast", "node7", 1, (), 0, None, "", str(card + 4), uuid=f"GPU-{card}")
        pool.names["", card] = f"GPU {card + 4} (CUDA Fast, GPU-{card}, node7)"
        pool.count(slot, summary, images=3)
        pool.count(slot, summary, failures=failures)
    summary.lost_gpus["GPU 5 (CUDA Fast, GPU-1, node7)"] = "it broke"


def test_each_card_has_its_numbers(tmp_path: Path) -> None:
    store, file = str(tmp_path / "a.lance"), tmp_path / "run.prom"
    summary = Summary(todo=9, store=store)
    cards(summary)
    progress = Progress(summary, 9.0, on_status=lambda status: write_metrics(file, status, summary))
    progress.tick(2, "running", [(1.0, 5.0)], ["worker 1 (...) has been on episode e1 for 3 min 0 s"])
    found = samples(file.read_text())
    assert [value for _, value in found["diorama_gpu_images_total"]] == [3, 3]
    assert [value for _, value in found["diorama_gpu_failures_total"]] == [0, 1]
    assert [value for _, value in found["diorama_gpu_lost"]] == [0, 1]
    assert 'gpu="5",uuid="GPU-1",host="node7",device="CUDA Fast"' in found["diorama_gpu_images_total"][1][0]
    assert found["diorama_late_workers"][0][1] == 1 and "diorama_seconds_left" not in found
    assert stat.S_IMODE(file.stat().st_mode) & 0o044, "node exporter is another user"
    status = read_status(store)
    assert status is not None
    first, second = status_text(status).splitlines()[1:3]
    assert first.startswith("GPU 4 (CUDA Fast, GPU-0, node7): 3 images, ") and second.endswith("images/s, 1 failure")
    assert any(line.startswith("GPU 5 (CUDA Fast, GPU-1, node7): 3 images, ") for line in summary.lines())
    told = summary.as_dict()["gpus"]["GPU 5 (CUDA Fast, GPU-1, node7)"]
    assert (told["images"], told["failures"], told["uuid"]) == (3, 1, "GPU-1") and "since" not in told
    progress.close()
    assert samples(file.read_text())["diorama_active"][0][1] == 0


def test_strange_names_are_escaped() -> None:
    status = Status.here('a"b\\c\nd.lance', total=1)
    assert samples(metrics_text(status, Summary()))["diorama_workers"][0][0].startswith(
        'diorama_workers{store="a\\"b\\\\c\\nd.lance"}'
    )


@pytest.mark.slow
def test_a_run_writes_its_metrics(farm: Farm) -> None:
    file = farm.folder / "run.prom"
    farm.run(farm.write("a", "b"), "--metrics", str(file), "--device", "cpu", "--workers", "1")
    found = samples(file.read_text())
    assert [value for _, value in found["diorama_episodes"]] == [2, 2, 0] and found["diorama_images_total"][0][1] == 2
    assert sorted(path.name for path in farm.folder.glob(".run*")) == []
    (farm.folder / "file").touch()
    wrong = farm.run(farm.write("a", "b", "c"), "--metrics", str(farm.folder / "file" / "run.prom"), code=2)
    assert "--metrics" in wrong["stderr"] and "can't be written" in wrong["stderr"]
