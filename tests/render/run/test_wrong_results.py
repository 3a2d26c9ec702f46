"""Renderers that return wrong images without an error: another worker renders them, and a sample is compared."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from click.testing import CliRunner

import diorama
from diorama.render.annotations.encode import encode_png
from diorama.render.cli.store import main as store_command
from diorama.render.run.local_ray import local_ray
from diorama.render.run.options import RunOptions
from diorama.render.run.recheck import difference, is_sampled, may_take
from diorama.render.run.slot import Slot
from diorama.render.run.worker import Card, Done, Task
from diorama.render.run.worker_plan import Node, plan_workers
from diorama.render.store import open_store
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_job
from tests.marks import slow
from tests.render.run.conftest import Farm
from tests.render.store.rendered import rendered

ROOT = Path(__file__).resolve().parents[3]
CPU = ("--device", "cpu", "--workers", "2")
GPUS = ("--gpus", "2", "--workers-per-gpu", "1")


def records(farm: Farm) -> list[diorama.EpisodeRecord]:
    """The stored episodes."""
    return list(open_store(farm.store).get_many(farm.stored()))


def unusual(farm: Farm) -> dict[str, tuple[str, ...]]:
    """What is noted about the only image of each stored episode, if anything is."""
    found = {record.episode_id: record.provenance.unusual for record in records(farm)}
    return {name: images["frame-0"] for name, images in found.items() if images}


@pytest.fixture(scope="module", autouse=True)
def one_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Ray for all runs of this file, whose workers remember what they met."""
    folder = str(tmp_path_factory.mktemp("memory"))
    variables = {"DIORAMA_LOGICAL_GPUS": "2", "PYTHONPATH": str(ROOT), "DIORAMA_TEST_FOLDER": folder}
    with patch.dict(os.environ, variables), local_ray(gpus=2):
        yield


def test_another_gpu_renders_a_black_image(farm: Farm) -> None:
    names = ["a", "black", "c", "d"]
    found = farm.run(farm.write(*names), *GPUS, renderer="Black")
    assert farm.stored() == names and found["failed"] == [] and found["retried"] == 1
    assert found["replaced_why"] == {"implausible": 1}
    assert "but is not of its scene" in found["stderr"] and "all pixels are black" in found["stderr"]
    assert not unusual(farm)


@pytest.mark.parametrize("where", [("--gpus", "1", "--workers-per-gpu", "1"), *slow((GPUS,), (CPU,))])
def test_what_every_device_renders_black_is_stored(farm: Farm, where: tuple[str, ...]) -> None:
    """A CPU is not doubted; the only GPU, which is not asked twice, is judged by the CPU."""
    found = farm.run(farm.write("a", "dark"), *where, renderer="Honest")
    doubted = ["dark"] * (where != CPU)
    assert (farm.stored(), found["failed"], found["retried"]) == (["a", "dark"], [], 0)
    assert found["rechecked"] == len(doubted) and unusual(farm) == dict.fromkeys(doubted, ("all pixels are black", ""))
    done = CliRunner().invoke(store_command, ["verify", farm.store, "--images", "--json", "--workers", "1"])
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert facts["damaged"] == [] and [one["episode"] for one in facts["unusual"]] == doubted
    text = "image frame-0: all pixels are black; another device rendered the same"
    assert [one["problems"] for one in facts["unusual"]] == [[text]] * len(doubted)


@pytest.mark.slow
def test_one_of_two_gpus_that_lies_steadily_leaves(farm: Farm) -> None:
    names = [f"e{number:02d}" for number in range(48)]
    found = farm.run(farm.write(*names), *GPUS, renderer="SlowZeros")
    assert farm.stored() == names and found["failed"] == [] and not unusual(farm)
    assert {record.provenance.device for record in records(farm)} == {"GPU number 1"}
    assert [name.split(" (")[0] for name in found["lost_gpus"]] == ["GPU 0"]


@pytest.mark.slow
def test_the_only_gpu_does_not_get_through_with_zeros(farm: Farm) -> None:
    names = [f"e{number:02d}" for number in range(6)]
    found = farm.run(farm.write(*names), "--gpus", "1", "--workers-per-gpu", "1", renderer="Zeros", code=3)
    assert farm.stored() == [] and "no GPU is left to render on" in found["stderr"]
    assert "the CPU renders another one, by" in found["stderr"]


@pytest.mark.slow
def test_what_is_kept_on_request_is_unusual(farm: Farm) -> None:
    specs = farm.write("a", "dark")
    assert farm.run(specs, *GPUS, "--keep-implausible", renderer="Black")["rendered"] == 2
    done = CliRunner().invoke(store_command, ["verify", farm.store, "--images", "--workers", "1"])
    assert done.exit_code == 0 and "2 episodes, none damaged, 1 unusual" in done.stdout


@pytest.mark.slow
def test_a_sample_is_rendered_twice_and_compared(farm: Farm) -> None:
    found = farm.run(farm.write("a", "b", "fickle"), *CPU, "--recheck", "1/1", renderer="Fickle", code=1)
    assert farm.stored() == ["a", "b"] and found["rechecked"] == 2
    (failed,) = found["failed"]
    assert failed["kind"] == "Recheck" and "differs: frame-0: 768 pixels differ, by at most 9" in failed["message"]
    again = farm.run(farm.write("a", "b", "fickle"), *CPU, "--recheck", "1/1", renderer="Fickle")
    assert (again["rendered"], again["rechecked"]) == (1, 1) and farm.stored() == ["a", "b", "fickle"]


@pytest.mark.parametrize("text", ["1", "2/3", "1/0", "1/x"])
def test_a_wrong_share_is_refused(farm: Farm, text: str) -> None:
    assert "expected 1/N, such as 1/1000" in farm.run(farm.write("a"), "--recheck", text, code=2)["stderr"]


def test_the_sample_is_of_the_size_asked_for() -> None:
    chosen = [is_sampled(f"clevr/train/{number:06d}", 100) for number in range(20_000)]
    assert 150 < sum(chosen) < 250
    assert all(is_sampled(name, 1) for name in "abc")


def test_a_second_render_needs_another_card_or_another_worker() -> None:
    spec = {"version": 1, "id": "a", "frames": [{}]}
    task = Task(EpisodeSpec.model_validate(spec), make_job(spec), rendered().scene.settings)

    def slots(cards: int, each: int) -> list[Slot]:
        options = RunOptions(gpus=cards, workers_per_gpu=each) if cards else RunOptions(workers=each)
        plans = plan_workers(options, [Node("", 4, cards)], 100)
        return [Slot(number, plan) for number, plan in enumerate(plans)]

    def takers(found: list[Slot], first: int, card: Card | None) -> list[int]:
        task.first, task.first_on = Done("a", b"", 1), (first, card)
        return [slot.number for slot in found if may_take(found, slot, task)]

    four, two = slots(2, 2), slots(0, 2)
    assert len({slot.card for slot in four}) == 2
    assert takers(four, 0, four[0].card) == [slot.number for slot in four if slot.card != four[0].card]
    assert (takers(two, 0, None), takers(two[:1], 0, None)) == ([1], [0])
    task.first = None
    assert all(may_take(four, slot, task) for slot in four)


def test_equal_bytes_are_demanded_of_one_kind_of_processor_only() -> None:
    first = rendered(seed=1)
    assert difference(first, first) == ""

    def on(record: diorama.EpisodeRecord, device: str, **changes: object) -> diorama.EpisodeRecord:
        provenance = record.provenance.model_copy(update={"device": device})
        return record.model_copy(update={"provenance": provenance, **changes})

    (image, *others) = first.images
    color = image.color().copy()
    color[0, 0] ^= 1
    changed = [image.model_copy(update={"png": encode_png(color)}), *others]
    assert "1 pixels differ" in difference(on(first, "CPU"), on(first, "CPU", images=changed))
    assert difference(on(first, "CUDA A"), on(first, "CUDA A", images=changed)) == ""
    black = [image.model_copy(update={"png": encode_png(np.zeros_like(color))}), *others]
    assert "PSNR" in difference(on(first, "CUDA A"), on(first, "CUDA B", images=black))
