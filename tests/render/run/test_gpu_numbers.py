"""What each GPU did, in the summary and in `--status`."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

from diorama.render.run.last_status import read_status, status_text
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.slot import Slot
from diorama.render.run.status import EventLog, Progress
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Ready
from diorama.render.run.worker_plan import WorkerPlan


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
    store = str(tmp_path / "a.lance")
    summary = Summary(todo=9, store=store)
    cards(summary)
    progress = Progress(summary, 9.0)
    progress.tick(2, "running", [(1.0, 5.0)], ["worker 1 (...) has been on episode e1 for 3 min 0 s"])
    status = read_status(store)
    assert status is not None
    first, second = status_text(status).splitlines()[1:3]
    assert first.startswith("GPU 4 (CUDA Fast, GPU-0, node7): 3 images, ") and second.endswith("images/s, 1 failure")
    assert any(line.startswith("GPU 5 (CUDA Fast, GPU-1, node7): 3 images, ") for line in summary.lines())
    told = summary.as_dict()["gpus"]["GPU 5 (CUDA Fast, GPU-1, node7)"]
    assert (told["images"], told["failures"], told["uuid"]) == (3, 1, "GPU-1") and "since" not in told
    progress.close()
    assert (ended := read_status(store)) is not None and ended.state == "ended"
