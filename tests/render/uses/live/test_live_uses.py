"""Endless items in PyTorch, on a cluster, and of an installed package; options that a stream refuses."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.run.local_ray import local_ray
from diorama.render.uses.live.stream import LiveItem
from diorama.scene_specs.tasks.blocks import BLOCK, Blocks, sources_of
from tests.acme import write_installed
from tests.render.run.cluster import cluster_of

ROOT = Path(__file__).resolve().parents[4]
SMALL: dict[str, Any] = {"renderer": "fake", "size": (64, 48), "seed": 7}
MEWL: dict[str, Any] = {**SMALL, "split": "train", "ahead": 2}


@pytest.fixture
def one_ray() -> Iterator[None]:
    """A Ray for all streams of a test."""
    with patch.dict(os.environ, PYTHONPATH=str(ROOT)), local_ray():
        yield


def names_of(block: int, epoch: int = 0) -> list[str]:
    """The episodes of a block."""
    return [spec["id"] for spec in Blocks(sources_of("mewl", {"split": "train"}), 7, epoch).block(block)]


def episode_of(item: LiveItem) -> str:
    return item.record.episode_id


@pytest.mark.readers
def test_a_pytorch_dataset_has_the_items_of_the_stream(one_ray: None) -> None:
    import torch

    live = diorama.live("mewl", **MEWL, workers=1)
    (item,) = itertools.islice(live, 1)
    live.close()
    data = live.torch_dataset(3)
    found = list(data)
    assert len(data) == len(found) == 3
    assert [(one["id"].partition("#")[0]) for one in found] == names_of(0)[:3]
    assert (found[0]["images"].dtype, found[0]["images"].shape[1:]) == (torch.uint8, (3, 48, 64))
    assert all((found[0]["images"][k].permute(1, 2, 0).numpy() == image).all() for k, image in enumerate(item.images))
    assert found[0]["question"] == item.question and found[0]["options"][found[0]["answer"]] == item.answer


@pytest.mark.readers
def test_ranks_and_epochs_have_blocks_of_their_own(one_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    data = diorama.live("mewl", **MEWL, workers=1).torch_dataset(2, episode_of)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    for rank, epoch in ((0, 0), (1, 0), (1, 3)):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        data.set_epoch(epoch)
        assert list(data) == names_of(rank, epoch)[:2]


@pytest.mark.readers
def test_workers_of_a_dataloader_divide_the_items(tmp_path: Path) -> None:
    import torch

    live = diorama.live("mewl", **MEWL, workers=1, record=tmp_path / "shown.lance")
    loader = torch.utils.data.DataLoader(
        live.torch_dataset(3, episode_of), batch_size=None, num_workers=2, multiprocessing_context="spawn"
    )
    expected = sorted([*names_of(0)[:2], *names_of(1)[:1]])
    assert sorted(loader) == expected
    stores = [diorama.open_store(tmp_path / f"shown.lance-{number}") for number in (0, 1)]
    assert sorted(name for store in stores for name, _ in store.ids()) == expected


@pytest.mark.slow
def test_a_cluster_renders_the_same_and_a_stream_elsewhere_is_refused() -> None:
    with (
        patch.dict(os.environ, PYTHONPATH=str(ROOT), RAY_USAGE_STATS_ENABLED="0"),
        cluster_of(1) as (cluster, _),
        diorama.live("mewl", **MEWL, address=cluster.address) as live,
    ):
        item = next(live)
        with (
            diorama.live("mewl", **MEWL) as other,
            pytest.raises(diorama.UsageError, match="while another stream is on"),
        ):
            next(other)
    assert episode_of(item) == names_of(0)[0]
    scene = diorama.compile_spec(item.spec, "draft", (64, 48))
    again = make_record(diorama.FakeRenderer(), scene, item.record.job, scene.settings)
    assert [image.png for image in again.images] == [image.png for image in item.record.images]


PLUG_IN = """
import itertools, diorama
with diorama.live("acme", seed=1, most=2, renderer="fake", size=(64, 48), workers=1, ahead=4) as stream:
    for item in itertools.islice(stream, 3):
        reds = sum(one.color == "red" for one in item.record.images[0].annotation.objects)
        print(item.answer == str(reds), [item.score(str(reply)) == (reply == reds) for reply in range(8)].count(False))
"""


@pytest.mark.slow
def test_items_of_an_installed_package(tmp_path: Path) -> None:
    write_installed(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", PLUG_IN], env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout == "True 0\n" * 3, done.stderr


@pytest.mark.slow
def test_a_stream_ends_after_max_failures_and_says_so(one_ray: None) -> None:
    specs = Blocks(sources_of("mewl", {"split": "train"}), 7).block(0)
    options = {**MEWL, "renderer": "tests.render.run.renderers:Fails"}
    with (
        patch("diorama.render.uses.live.stream.Blocks.block", lambda *_: [{**specs[0], "id": "b/fail"}, *specs[1:]]),
        diorama.live("mewl", **options, workers=1, run={"max_failures": 1}) as live,
        pytest.raises(diorama.RenderError, match="1 episode failed"),
    ):
        list(live)


def test_an_error_of_a_benchmark_reaches_the_caller(one_ray: None) -> None:
    with (
        patch("diorama.render.uses.live.stream.Blocks.block", side_effect=diorama.UsageError("no block")),
        diorama.live("mewl", **MEWL, workers=1) as live,
        pytest.raises(diorama.UsageError, match="no block"),
    ):
        next(live)


def test_a_store_that_can_not_be_made_is_an_error_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    live = diorama.live("mewl", **MEWL, record=tmp_path / "file")
    for _ in range(2):
        with pytest.raises(diorama.StoreError):
            next(live)


@pytest.mark.slow
def test_a_fork_can_neither_read_a_stream_nor_end_it_nor_start_one_beside_it(one_ray: None) -> None:
    live = diorama.live("mewl", **MEWL, workers=1)
    next(live)
    pid = os.fork()
    if not pid:
        refused = 0
        for stream in (live, diorama.live("mewl", **MEWL, workers=1)):
            with contextlib.suppress(diorama.UsageError), stream:
                next(stream)
                refused -= 1
            refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
    assert episode_of(next(live)) == names_of(0)[1]
    live.close()


@pytest.mark.parametrize(
    ("benchmark", "run", "message"),
    [
        ({}, {}, "found the weights {}"),
        (
            {"mewl": BLOCK, "malevic": 1},
            {},
            "'malevic': 1}; expected a positive number for each, at least 1/256",
        ),
        ({"mewl": 1, "malevic": "2"}, {}, "'malevic': '2'}; expected a positive number"),
        ("mewl", {"limit": 3, "workers": 2}, "run: found limit, workers;"),
    ],
)
def test_what_would_silently_do_nothing_is_refused(benchmark: Any, run: dict[str, Any], message: str) -> None:
    with pytest.raises(diorama.UsageError, match=message):
        diorama.live(benchmark, seed=1, run=run)


def test_a_negative_number_of_episodes_can_not_be_skipped() -> None:
    with pytest.raises(diorama.UsageError, match="found -1"):
        diorama.live("mewl", **MEWL).skip(-1)


@pytest.mark.slow
def test_a_small_share_of_a_benchmark_has_all_of_its_answers() -> None:
    malevic = {"weight": 1, "name": "pos1", "split": "train"}
    blocks = Blocks(sources_of({"mewl": {"weight": 9, "split": "train"}, "malevic": malevic}, {}), 1)
    tasks = [spec["task"] for spec in blocks.block(0)]
    answers = Counter(task["answer"] for task in tasks if task["benchmark"] == "malevic")
    assert answers["yes"] + answers["no"] == 26 and min(answers["yes"], answers["no"]) >= 5


def test_the_least_weight_has_an_episode_in_each_block() -> None:
    blocks = Blocks(sources_of({"mewl": {"weight": 2 * BLOCK - 2, "split": "train"}, "clevr": 2}, {}), 1)
    for number in range(2):
        assert sum(spec["task"]["benchmark"] == "clevr" for spec in blocks.block(number)) == 1


@pytest.mark.slow
def test_an_episode_that_the_store_has_of_something_else_is_not_recorded_and_said(
    one_ray: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "shown.lance"
    for size in ((64, 48), (32, 24)):
        with diorama.live("mewl", **{**MEWL, "size": size}, workers=1, record=store) as live:
            item = next(live)
        assert ("was not recorded: the store has one" in caplog.text) == (size == (32, 24))
    (row,) = diorama.open_store(store).ids()
    assert row[0] == episode_of(item)
