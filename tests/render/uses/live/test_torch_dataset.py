"""Reading for training."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.reader import LanceReader
from diorama.render.uses.live import torch_dataset as torch_data
from diorama.render.uses.live.torch_dataset import torch_dataset
from diorama.scene_specs.errors import StoreError, UsageError
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered(f"demo/{number:02d}", seed=number % 5) for number in range(70)])
    return made


def test_without_torch_it_says_so(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_data, "torch", None)
    with pytest.raises(UsageError, match="pip install torch"):
        torch_dataset(store)


def id_of(record: EpisodeRecord) -> str:
    return record.episode_id


def same(items: list[str]) -> list[str]:
    return items


@pytest.mark.readers
def test_items(store: LanceStore) -> None:
    import torch

    data = torch_dataset(store, where="episode_id < 'demo/10'")
    assert len(data) == 10
    item, record = data[3], store.get("demo/03")
    assert item["id"] == "demo/03"
    assert (item["images"].dtype, tuple(item["images"].shape)) == (torch.uint8, (2, 3, 48, 64))
    assert np.array_equal(item["images"][1].permute(1, 2, 0).numpy(), decode_png(record.images[1].png))
    assert item["annotations"][0]["objects"][0]["bbox"] == list(record.images[0].annotation.objects[0].bbox or ())
    assert (item["answer"], item["utterances"]) == ("ecle", ["word0", "word1"])
    assert data[-1]["id"] == "demo/09"
    with pytest.raises(IndexError, match="episode 10 of 10"):
        data[10]
    with pytest.raises(UsageError, match="allowed: map, iterable"):
        torch_dataset(store, style="other")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="shuffle=True"):
        torch_dataset(store, shuffle_seed=1)


@pytest.mark.readers
def test_it_stays_at_its_version(store: LanceStore) -> None:
    data = torch_dataset(store, transform=id_of)
    store.delete(["demo/00"])
    assert (len(data), data[0]) == (70, "demo/00")


@pytest.mark.readers
@pytest.mark.parametrize("style", ["map", "iterable"])
def test_spawned_workers_read_each_episode_once(store: LanceStore, style: Literal["map", "iterable"]) -> None:
    import torch

    data = torch_dataset(store, style=style, transform=id_of)
    loader = torch.utils.data.DataLoader(
        data, batch_size=8, num_workers=2, multiprocessing_context="spawn", collate_fn=same
    )
    found = [name for batch in loader for name in batch]
    assert sorted(found) == [f"demo/{number:02d}" for number in range(70)]
    if style == "map":
        assert found == sorted(found)


@pytest.mark.readers
def test_shuffled_by_seed_and_epoch(store: LanceStore) -> None:
    data, again = (torch_dataset(store, style="iterable", transform=id_of, shuffle_seed=4) for _ in range(2))
    first = list(data)
    assert first == list(again)
    assert sorted(first) != first
    data.set_epoch(1)
    assert list(data) != first
    assert sorted(data) == sorted(first)


@pytest.mark.readers
def test_workers_that_persist_learn_of_the_epoch(store: LanceStore) -> None:
    import torch

    where = "episode_id < 'demo/08'"
    data = torch_dataset(store, style="iterable", transform=id_of, shuffle_seed=4, where=where)
    loader = torch.utils.data.DataLoader(
        data, batch_size=None, num_workers=1, multiprocessing_context="spawn", persistent_workers=True
    )
    orders = []
    for epoch in (0, 1):
        data.set_epoch(epoch)
        orders.append(list(loader))
        assert orders[epoch] == list(data)
    assert orders[0] != orders[1]


@pytest.mark.readers
def test_ranks_get_equally_many_episodes(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    data = torch_dataset(store, style="iterable", transform=id_of)
    assert len(data) == 70
    found = []
    for rank in range(4):
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 4)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        assert len(data) == 18
        found.append(list(data))
        pickled = pickle.dumps(data)
        # The worker of a DataLoader is in no process group.
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: False)
        assert list(pickle.loads(pickled)) == found[rank]
    assert [len(part) for part in found] == [18] * 4
    names = [f"demo/{number:02d}" for number in range(70)]
    assert sorted(name for part in found for name in part) == sorted([*names, *names[:2]])


@pytest.mark.readers
def test_forked_workers_are_refused_and_do_not_hang(store: LanceStore) -> None:
    import torch

    data = torch_dataset(store, transform=id_of)
    loader = torch.utils.data.DataLoader(data, num_workers=1, multiprocessing_context="fork", collate_fn=same)
    with pytest.raises(StoreError, match="multiprocessing_context='spawn'"), pytest.warns(UserWarning):
        list(loader)


def first_item(data: torch_data.MapEpisodes) -> object:
    return data[0]


@pytest.mark.slow
def test_a_pickled_dataset_opens_the_store_in_its_process_at_the_same_version(store: LanceStore) -> None:
    """Without PyTorch: what a spawned worker of a DataLoader does."""
    reader = LanceReader.at_version(store.url, store.version)
    data = torch_data.MapEpisodes(reader, "episode_id < 'demo/10'", id_of)
    store.delete(["demo/00"])
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(first_item, data).result() == data[0] == "demo/00"
