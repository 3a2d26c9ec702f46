"""Diorama on simulated cards that render (level 2): the same images as the CPU, whatever the number of cards.

The first run installs an OpenCL runtime (300 MB, 1 GB on disk) and compiles kernels, which takes one to two minutes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from render.store import open_store
from tests.tools.simulated_gpu.conftest import Machine
from tools import programs
from tools.gpu import compare_stores

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EXAMPLES = programs.ROOT / "scene_specs" / "examples"
TINY = ("--size", "64x48", "--quiet", "--json")


def images(store: Path) -> dict[tuple[str, str], bytes]:
    """Map (episode, image) to the PNG."""
    opened = open_store(str(store))
    return {(name, image.name): image.png for name, _ in opened.ids() for image in opened.get(name).images}


def render(machine: Machine, name: str, specs: list[Path], *options: object) -> Path:
    """Render with all or some cards; return the store, in which every record names the card."""
    store = machine.folder / f"{name}.lance"
    summary = json.loads(machine.run(programs.command("render-batch", *specs, "--out", store, *TINY, *options), 0))
    expected = ["CUDA Simulated GPU"] if "--gpus" in options else summary["devices"]
    opened = open_store(str(store))
    assert summary["failed"] == [] and {opened.get(n).provenance.device for n, _ in opened.ids()} == set(expected)
    return store


def test_examples_on_any_number_of_cards_are_those_of_the_cpu(tmp_path: Path) -> None:
    """Runs the tool that measures GPUs: the CPU, eight cards, and one card with two workers."""
    machine = Machine(tmp_path, 8, level=2)
    options = ["--device", "cuda", "--profile", "draft", "--size", "64x48", "--episodes", "2", "--levels", "1"]
    table = machine.run(["python", "-m", "tools", "gpu", *options, "--out", str(tmp_path / "stores")])
    print(table)
    assert table.count("images/s with start") == 3 and "CUDA Simulated GPU" in table
    assert {card for _, card in machine.calls("runs kernel")} == set(range(8))
    found = {name: images(tmp_path / "stores" / f"{name}.lance") for name in ("cards", "one", "cpu")}
    assert len(found["cpu"]) > 40 and found["cards"] == found["one"] != found["cpu"]


def test_two_cards_denoise_and_show_textures_as_the_cpu_does(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 2, level=2)
    specs = [EXAMPLES / "models.json", EXAMPLES / "shapes-and-materials.json"]
    cards = render(machine, "cards", specs, "--gpus", "2", "--workers-per-gpu", "1", "--profile", "standard")
    found = compare_stores(cards, render(machine, "cpu", specs, "--device", "cpu", "--profile", "standard"))
    assert found.acceptable and min(found.psnr) > 45, found.text()
    assert all(record.scene.settings.denoise for record in open_store(str(cards)).get_many(["examples/models"]))
