"""Which workers a run starts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.errors import DeviceError, UsageError
from render.run.options import RunOptions, plan_workers, timeout_of


@given(
    cores=st.integers(1, 64),
    workers=st.none() | st.integers(1, 100),
    threads=st.none() | st.integers(1, 8),
    episodes=st.integers(1, 1000),
)
def test_cpu_workers_share_the_cores(cores: int, workers: int | None, threads: int | None, episodes: int) -> None:
    plans = plan_workers(RunOptions(device="cpu", workers=workers, threads=threads), range(cores), 0, episodes)
    assert 1 <= len(plans) <= episodes
    assert all(plan.device == "cpu" and plan.gpu_share == 0 and plan.threads >= 1 for plan in plans)
    assert all(core in range(cores) for plan in plans for core in plan.cores)
    if workers is None and threads is None:
        used = [core for plan in plans for core in plan.cores]
        assert len(used) == len(set(used)), "no core is given to two workers"
        assert len(used) == cores or len(plans) * (len(used) // len(plans) + 1) > cores, (
            "no core is left that would share evenly"
        )
    if threads is not None:
        assert all(len(plan.cores) == threads for plan in plans)


def test_as_many_gpus_as_asked_for() -> None:
    plans = plan_workers(RunOptions(gpus=3), range(8), 4, 100)
    assert [plan.gpu_share for plan in plans] == [1.0] * 3
    assert {plan.device for plan in plans} == {"gpu"}


def test_auto_takes_all_gpus_or_the_cpu() -> None:
    assert len(plan_workers(RunOptions(), range(8), 4, 100)) == 4
    assert {plan.device for plan in plan_workers(RunOptions(), range(8), 0, 100)} == {"cpu"}


@pytest.mark.parametrize("found", [0, 3])
def test_fewer_gpus_than_asked_for_is_an_error_that_counts(found: int) -> None:
    with pytest.raises(DeviceError, match=f"--gpus 8.*{found or 'no'} GPU"):
        plan_workers(RunOptions(gpus=8), range(2), found, 10)


def test_a_named_device_is_never_replaced_by_another() -> None:
    with pytest.raises(DeviceError, match="--device optix"):
        plan_workers(RunOptions(device="optix"), range(2), 0, 10)
    with pytest.raises(UsageError, match="exclude"):
        plan_workers(RunOptions(device="cpu", gpus=1), range(2), 1, 10)


def test_time_outs_grow_with_the_work() -> None:
    small = timeout_of(RunOptions(), 24, 320, 240, 1)
    assert timeout_of(RunOptions(), 512, 320, 240, 1) > small
    assert timeout_of(RunOptions(), 24, 1280, 960, 1) > small
    assert timeout_of(RunOptions(), 24, 320, 240, 7) > small
    assert timeout_of(RunOptions(timeout=3.0), 24, 320, 240, 2) == 6.0
