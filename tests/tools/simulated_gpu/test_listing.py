"""Diorama on simulated cards without kernels (level 1): which cards it finds, uses and refuses."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import tools.simulated_gpu as build
from tests.tools.simulated_gpu.conftest import Machine
from tools import programs

# Starts all workers of a run and waits for them; in a run, a fast worker may leave nothing to the others.
START = """
import ray
from diorama.render.run.status import EventLog
from diorama.render.run.local_ray import ray_nodes
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.worker_plan import plan_workers
options = {}
with ray_nodes() as nodes:
    pool = Pool(options, EventLog(None))
    pool.start(plan_workers(options, nodes, 100))
    assert not [ready for ready in ray.get([slot.ready for slot in pool.slots]) if not ready.device]
    pool.close()
"""
PROBE = [sys.executable, "-m", "diorama.render.run.probe", "cuda"]


@pytest.mark.slow
def test_eight_cards_are_listed_and_each_renders(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 8)
    checks = json.loads(machine.run(programs.command("render-doctor", "--device", "cuda", "--json")))
    found = {check["name"]: check["found"] for check in checks if check["ok"]}
    assert found["devices"].count("Simulated GPU") == 8 and "CUDA Simulated GPU" in found["render"]
    assert "sees 8 GPUs" in found["ray"]
    assert {card for _, card in machine.calls("runs kernel")} == set(range(8))


@pytest.mark.slow
def test_warming_compiles_the_kernels_of_each_card_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 3)
    machine.run(programs.command("render-doctor", "--warm", "--device", "cuda"))
    assert {card for _, card in machine.calls("PTX")} == {0, 1, 2}
    # The three have one architecture, so the driver keeps one result.
    assert machine.calls("compiles PTX").total() == 1
    machine.log.unlink()
    machine.run(PROBE)
    assert {card for _, card in machine.calls("loads compiled PTX")} == {0, 1, 2}
    assert not machine.calls("compiles PTX")


def test_what_python_leaves_beside_the_sources_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build.build_driver(1)
    shutil.copytree(build.SOURCES, tmp_path / "sources")
    (tmp_path / "sources" / "__pycache__").mkdir(exist_ok=True)
    monkeypatch.setattr(build, "SOURCES", tmp_path / "sources")
    assert build.build_driver(1) == built


@pytest.mark.slow
def test_a_card_with_shipped_kernels_compiles_none(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 1, arch="8.6")
    machine.run(PROBE)
    assert machine.calls("loads a cubin") and not machine.calls("PTX")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("renderer", "visible", "each", "cards"),
    [
        ("cycles", "1,3", 1, [1, 3]),
        ("tests.tools.simulated_gpu.renderers:ListsCards", "0,2", 2, [0, 0, 2, 2]),
    ],
)
def test_each_worker_sees_only_the_card_it_was_given(
    tmp_path: Path, renderer: str, visible: str, each: int, cards: list[int]
) -> None:
    machine = Machine(tmp_path, 4)
    options = f"RunOptions(gpus={len(cards) // each}, workers_per_gpu={each}, renderer={renderer!r})"
    machine.run([sys.executable, "-c", START.format(options)], CUDA_VISIBLE_DEVICES=visible)
    listed = list(machine.calls("listed"))
    assert len({process for process, _ in listed}) == len(listed), "a worker sees two cards"
    assert sorted(card for _, card in listed) == cards


@pytest.mark.slow
def test_fewer_cards_than_requested_are_an_error_with_both_numbers(tmp_path: Path, specs: Path) -> None:
    said = Machine(tmp_path, 4).batch(specs, "--gpus", "8", code=3, CUDA_VISIBLE_DEVICES="0,1,2")
    assert "--gpus 8: 3 GPUs found" in said and "CUDA_VISIBLE_DEVICES='0,1,2'" in said and "Use --gpus 3" in said


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"fail": "cuInit=999"}, {"arch": "2.0"}])
def test_a_driver_that_fails_and_a_card_that_is_too_old_are_refused(tmp_path: Path, options: dict[str, str]) -> None:
    machine = Machine(tmp_path, 2, **options)
    assert "Cycles finds no GPU device" in json.loads(machine.run([*PROBE[:-1], "gpu"]).splitlines()[-1])["error"]


@pytest.mark.slow
def test_cards_that_only_ray_sees_are_never_replaced_by_a_cpu(tmp_path: Path, specs: Path) -> None:
    said = Machine(tmp_path, 0, listed=2).batch(specs, "--gpus", "2", code=3)
    assert "Cycles finds no GPU device" in said and "--device cpu" in said


@pytest.mark.slow
def test_cards_that_only_the_driver_sees_are_not_used(tmp_path: Path, specs: Path) -> None:
    said = Machine(tmp_path, 4, listed=1).batch(specs, "--gpus", "4", code=3)
    assert "--gpus 4: 1 GPU found" in said
