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
from diorama.render.run.worker import Card, Task
from diorama.render.run.worker_plan import Node, plan_workers
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_job
from tests.marks import slow
from tests.render.run.conftest import Farm
from tests.render.store.rendered import rendered

ROOT = Path(__file__).resolve().parents[3]
CPU = ("--device", "cpu", "--workers", "2")


@pytest.fixture(scope="module", autouse=True)
def one_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Ray for all runs of this file, whose workers remember what they met."""
    folder = str(tmp_path_factory.mktemp("memory"))
    variables = {"DIORAMA_LOGICAL_GPUS": "2", "PYTHONPATH": str(ROOT), "DIORAMA_TEST_FOLDER": folder}
    with patch.dict(os.environ, variables), local_ray(gpus=2):
        yield


@pytest.mark.parametrize("where", [CPU, *slow((("--gpus", "2", "--workers-per-gpu", "1"),))])
def test_another_worker_renders_a_black_image(farm: Farm, where: tuple[str, ...]) -> None:
    names = [f"{kind}{where[1]}" for kind in ("a", "black", "c", "d")]
    found = farm.run(farm.write(*names), *where, renderer="Black")
    assert farm.stored() == sorted(names) and found["failed"] == [] and found["retried"] == 1
    assert found["replaced_why"] == {"implausible": 1}
    assert "all pixels are black" in found["stderr"]
    assert "replaced 1 worker: 1 rendered an image" not in found["stderr"]


@pytest.mark.slow
def test_what_every_worker_renders_black_fails_and_is_kept_on_request(farm: Farm) -> None:
    specs = farm.write("a", "dark")
    found = farm.run(specs, *CPU, "--retries", "1", renderer="Black", code=1)
    (failed,) = found["failed"]
    assert (failed["episode"], farm.stored()) == ("dark", ["a"])
    assert "given up after 2 tries" in failed["message"] and "all pixels are black" in failed["message"]
    assert farm.run(specs, *CPU, "--keep-implausible", renderer="Black")["rendered"] == 1
    verify = [farm.store, "--images", "--json", "--workers", "1"]
    done = CliRunner().invoke(store_command, ["verify", *verify])
    assert done.exit_code == 4
    (damaged,) = json.loads(done.stdout)["damaged"]
    assert damaged["episode"] == "dark"
    assert damaged["problems"][0].startswith("image frame-0: all pixels are black")
    assert CliRunner().invoke(store_command, ["verify", farm.store]).exit_code == 0


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
        task.first_on = (first, card)
        return [slot.number for slot in found if may_take(found, slot, task)]

    four, two = slots(2, 2), slots(0, 2)
    assert len({slot.card for slot in four}) == 2
    assert takers(four, 0, four[0].card) == [slot.number for slot in four if slot.card != four[0].card]
    assert (takers(two, 0, None), takers(two[:1], 0, None)) == ([1], [0])
    task.first_on = None
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
