"""Parts of a worker that need neither a running Ray nor Blender."""

from __future__ import annotations

from pathlib import Path

import pytest

from diorama.render.run.worker import check_device, pop_stderr
from diorama.render.run.worker_plan import WorkerPlan
from diorama.scene_specs.errors import DeviceError


@pytest.mark.parametrize(
    ("wanted", "said", "fits"),
    [
        ("gpu", "OPTIX NVIDIA H200", True),
        ("gpu", "CUDA NVIDIA H200", True),
        ("gpu", "CPU Xeon", False),
        ("gpu", "", False),
        ("cuda", "OPTIX NVIDIA H200", False),
        ("optix", "OPTIX NVIDIA H200", True),
    ],
)
def test_what_rendered_must_be_what_was_asked_for(wanted: str, said: str, fits: bool) -> None:
    plan = WorkerPlan(wanted, 1, 0, 1, card=0, gpu_share=1.0)
    if fits:
        check_device(plan, said)
    else:
        with pytest.raises(DeviceError, match="requested"):
            check_device(plan, said)
    check_device(WorkerPlan("cpu", 1, 0, 1), "CPU Xeon")


def test_last_words_leave_out_what_python_says_of_the_crash(tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    said.write_text(
        "Fra:1 one\nFra:1 two\n\nFra:1 three\nFra:1 four\n"
        "[2026-01-01 00:00:00 E 1 1] logging.cc:501: *** SIGSEGV received at time=1 ***\n"
        "Fatal Python error: Segmentation fault\nExtension modules: numpy\n"
    )
    assert pop_stderr(str(said)) == "Fra:1 two | Fra:1 three | Fra:1 four | SIGSEGV"
    assert not said.exists() and pop_stderr(str(said)) == ""
