"""Cycles on simulated GPUs (tools/simulated_gpu) that fail: Blender itself reports the errors. Images are black."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.store import open_store
from tools.programs import ROOT, write_specs
from tools.simulated_gpu import environment


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that gives this process, and so its workers, simulated GPUs."""

    def simulate(cards: int, **options: Any) -> None:
        variables = environment(cards, log=tmp_path / "driver.log", **options)
        for name, value in {**variables, "DIORAMA_LOGICAL_GPUS": str(cards), "PYTHONPATH": str(ROOT)}.items():
            monkeypatch.setenv(name, value)

    return simulate


def run(folder: Path, count: int, *options: str, code: int = 0) -> dict[str, Any]:
    """The summary of a run of small episodes, with what went to standard error as `stderr`."""
    names = [f"e{k:02d}" for k in range(count)]
    frame = {"objects": [{"shape": "cube", "material": "rubber"}]}
    specs = write_specs(folder / "specs.jsonl", [{"version": 1, "id": name, "frames": [frame]} for name in names])
    common = ["--out", str(folder / "out.lance"), "--size", "32x24", "--profile", "draft", "--device", "cuda", "--json"]
    common.append("--keep-implausible")  # Cards of level 1 render black images.
    log = folder / "log.jsonl"
    done = CliRunner().invoke(main, [str(specs), *common, "--json-log", str(log), *options])
    assert done.exit_code == code, f"{done.exit_code}: {done.stderr} {done.exception}"
    end: dict[str, Any] = json.loads(log.read_text().splitlines()[-1])
    return {**end, "stderr": done.stderr, "names": names}


@pytest.mark.slow
def test_a_failed_launch_and_a_lack_of_memory_cost_no_episode(tmp_path: Path, gpus: Any) -> None:
    # In two processes: the first gets as far as the twelfth launch, its successor as far as the 60th allocation.
    gpus(1, fail="cuLaunchKernel=719:12x1,cuMemAlloc=2:60x1")
    found = run(tmp_path, 12, "--gpus", "1", "--workers-per-gpu", "1")
    assert found["failed"] == [] and found["rendered"] == 12 and found["retried"] == 2
    assert found["replaced_why"] == {"gpu": 1, "gpu_memory": 1} and found["lost_gpus"] == {}
    assert "Launch failed in CUDA queue" in found["stderr"] and "System is out of GPU memory" in found["stderr"]
    records = open_store(str(tmp_path / "out.lance")).get_many(found["names"])
    assert {record.provenance.device for record in records} == {"CUDA Simulated GPU"}
    assert found["stderr"].count("has no kernels for GPUs of compute capability 9.0") == 1, "said once, and by itself"


@pytest.mark.slow
def test_the_last_card_vanishes_and_what_was_rendered_stays(
    tmp_path: Path, gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diorama.render.run.pool._START_TRIES", 1)
    gpus(1, fail="vanish=999:12", arch="8.6")
    found = run(tmp_path, 9, "--gpus", "1", "--workers-per-gpu", "1", code=3)
    assert found["failed"] == [] and found["rendered"] + found["left"] == 9 and found["rendered"] > 0
    assert open_store(str(tmp_path / "out.lance")).count() == found["rendered"]
    ((name, reason),) = found["lost_gpus"].items()
    assert name.startswith("GPU 0 (CUDA Simulated GPU, GPU-00000000-0000-0000-0000-000000000000, ")
    assert "Cycles finds no CUDA device" in reason
    assert "no GPU is left" in found["stderr"] and "same command" in found["stderr"]
    assert "has no kernels" not in found["stderr"], "Blender has kernels for 8.6"
