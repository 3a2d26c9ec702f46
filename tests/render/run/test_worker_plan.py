"""Which workers a run starts, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.machine.device_names import DeviceName
from diorama.render.run.cards import tuner_for
from diorama.render.run.options import RunOptions
from diorama.render.run.worker_plan import Node, WorkerPlan, cards_wanted, plan_workers
from diorama.scene_specs.errors import DeviceError, UsageError


def here(cores: int = 8, gpus: int = 0) -> list[Node]:
    return [Node("", cores, gpus)]


@given(
    cores=st.integers(1, 64),
    workers=st.none() | st.integers(1, 100),
    threads=st.none() | st.integers(1, 8),
    episodes=st.integers(1, 1000),
)
def test_cpu_workers_share_the_cores(cores: int, workers: int | None, threads: int | None, episodes: int) -> None:
    options = RunOptions(device="cpu", workers=workers, threads=threads)
    plans = plan_workers(options, here(cores), episodes)
    pinned = [plan.pinned(range(cores)) for plan in plans]
    assert 1 <= len(plans) <= episodes
    assert all(plan.device == "cpu" and plan.gpu_share == 0 and plan.threads >= 1 for plan in plans)
    assert all(core in range(cores) for share in pinned for core in share)
    if workers is None and threads is None:
        used = [core for share in pinned for core in share]
        assert len(used) == len(set(used)), "no core is given to two workers"
        assert len(used) + len(plans) > cores, "no core is left that would share evenly"
    if threads is not None:
        assert all(plan.threads == threads for plan in plans)
        assert all(len(share) == min(threads, cores) for share in pinned)


@given(cores=st.lists(st.integers(1, 32), min_size=1, max_size=6), workers=st.none() | st.integers(1, 60))
def test_a_clusters_nodes_are_filled_evenly(cores: list[int], workers: int | None) -> None:
    nodes = [Node(f"n{k}", count, 0) for k, count in enumerate(cores)]
    plans = plan_workers(RunOptions(device="cpu", workers=workers), nodes, 10_000)
    assert len(plans) == (workers or sum(cores))
    for node in nodes:
        mine = [plan for plan in plans if plan.node == node.id]
        assert len({plan.index for plan in mine}) == len(mine) and all(plan.count == len(mine) for plan in mine)
        if (workers or 0) <= sum(cores):
            pinned = [core for plan in mine for core in plan.pinned(range(node.cores))]
            assert len(pinned) == len(set(pinned)), "no core is given to two workers"


def test_as_many_gpus_as_asked_for() -> None:
    plans = plan_workers(RunOptions(gpus=3, workers_per_gpu=1), here(8, 4), 100)
    assert [plan.card for plan in plans] == [0, 1, 2]
    assert [plan.gpu_share for plan in plans] == [1.0] * 3
    assert {plan.device for plan in plans} == {"gpu"}
    shares = [plan.pinned(range(8)) for plan in plans]
    assert sorted(core for share in shares for core in share) == list(range(8)), "all cores serve some card"


def test_workers_that_share_a_card() -> None:
    plans = plan_workers(RunOptions(gpus=2, workers_per_gpu=3), here(12, 2), 100)
    assert [plan.card for plan in plans] == [0, 1, 0, 1, 0, 1], "one on every card before a second on any"
    assert all(
        plan.gpu_share == pytest.approx(1 / 3) and plan.threads == 2 and plan.workers_on_node == 6 for plan in plans
    )
    measured = plan_workers(RunOptions(gpus=2, workers_per_gpu=None), here(12, 2), 100)
    assert [plan.card for plan in measured] == [0, 1]
    assert {plan.gpu_share for plan in measured} == {1 / 6}, "one worker per core at most"


def test_gpus_of_several_nodes() -> None:
    nodes = [Node("a", 8, 2), Node("b", 8, 4), Node("c", 8, 0)]
    plans = plan_workers(RunOptions(gpus=5), nodes, 100)
    assert [(plan.node, plan.card) for plan in plans] == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]
    with pytest.raises(DeviceError, match=r"--gpus 7: 6 GPUs"):
        plan_workers(RunOptions(gpus=7), nodes, 100)


def test_auto_takes_all_gpus_or_the_cpu() -> None:
    assert len(plan_workers(RunOptions(), here(8, 4), 100)) == 4
    assert {plan.device for plan in plan_workers(RunOptions(), here(8), 100)} == {"cpu"}
    assert {plan.device for plan in plan_workers(RunOptions(workers=2), here(8, 4), 100)} == {"cpu"}


@pytest.mark.parametrize("found", [0, 3])
def test_fewer_gpus_than_asked_for_is_an_error_that_counts(found: int) -> None:
    with pytest.raises(DeviceError, match=f"--gpus 8: {found or 'no'} GPU"):
        plan_workers(RunOptions(gpus=8), here(2, found), 10)
    with pytest.raises(DeviceError, match="what was seen"):
        cards_wanted(RunOptions(gpus=8), found, "what was seen")


def test_a_named_device_is_never_replaced_by_another() -> None:
    with pytest.raises(DeviceError, match="--device optix"):
        plan_workers(RunOptions(device="optix"), here(2), 10)
    with pytest.raises(UsageError, match="exclude"):
        plan_workers(RunOptions(device="cpu", gpus=1), here(2, 1), 10)
    with pytest.raises(UsageError, match="--workers 2 is for CPU workers"):
        plan_workers(RunOptions(workers=2, gpus=1), here(2, 1), 10)


@given(
    device=st.sampled_from(["auto", "cpu", "cuda"]),
    gpus=st.none() | st.integers(1, 3),
    workers=st.none() | st.integers(1, 20),
    threads=st.none() | st.integers(1, 8),
    each=st.none() | st.integers(1, 4),
    found=st.integers(0, 3),
)
def test_no_number_is_passed_over(
    device: DeviceName, gpus: int | None, workers: int | None, threads: int | None, each: int | None, found: int
) -> None:
    options = RunOptions(device=device, gpus=gpus, workers=workers, threads=threads, workers_per_gpu=each)
    try:
        plans = plan_workers(options, here(8, found), 1000)
    except (UsageError, DeviceError) as error:
        assert any(value is not None for value in (gpus, workers, threads, each)) or (device, found) == ("cuda", 0)
        assert "--" in str(error)
        return
    cards = {plan.card for plan in plans}
    assert workers is None or (cards == {None} and len(plans) == workers)
    assert threads is None or (cards == {None} and {plan.threads for plan in plans} == {threads})
    assert gpus is None or (None not in cards and len(cards) == gpus)
    assert each is None or (None not in cards and len(plans) == each * len(cards))


def test_a_number_of_what_does_not_render_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--workers-per-gpu 4 is for GPUs.*--device cpu"):
        plan_workers(RunOptions(device="cpu", workers_per_gpu=4), here(2, 1), 10)
    with pytest.raises(UsageError, match=r"--workers-per-gpu 4 is for GPUs.*--device auto: none seen"):
        cards_wanted(RunOptions(workers_per_gpu=4), 0, "none seen")
    with pytest.raises(UsageError, match=r"--workers 4 is for CPU workers.*--device cuda"):
        plan_workers(RunOptions(device="cuda", workers=4), here(2), 10)
    with pytest.raises(UsageError, match=r"--threads 2 is for CPU workers.*2 GPUs on this machine"):
        plan_workers(RunOptions(threads=2), here(2, 2), 10)
    assert {plan.threads for plan in plan_workers(RunOptions(threads=2), here(4), 10)} == {2}


def test_more_workers_than_cores_take_turns() -> None:
    plan = WorkerPlan("cpu", 2, index=3, count=4)
    assert plan.pinned([10, 11, 12]) == (10, 11)


@pytest.mark.parametrize(("cores", "cards", "workers"), [(2, 8, 8), (16, 8, 16), (64, 8, 64), (64, 2, 16)])
def test_memory_is_shared_by_the_workers_that_the_tuner_can_start(cores: int, cards: int, workers: int) -> None:
    plans = plan_workers(RunOptions(gpus=cards), [Node("", cores, cards)], episodes=100)
    assert {plan.workers_on_node for plan in plans} == {workers}
    tuner = tuner_for(RunOptions(gpus=cards), plans)
    assert (max(tuner.levels) if tuner else 1) * cards == workers


def test_the_default_starts_no_more_workers_than_the_memory_suffices_for() -> None:
    node = Node("", 16, 0, fits=5)
    assert len(plan_workers(RunOptions(), [node], 100)) == 5
    assert len(plan_workers(RunOptions(threads=2), [node], 100)) == 5
    assert len(plan_workers(RunOptions(threads=8), [node], 100)) == 2
    # A number that the user gives counts.
    assert len(plan_workers(RunOptions(workers=9), [node], 100)) == 9
