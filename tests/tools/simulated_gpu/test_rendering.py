"""Diorama on simulated cards that render (level 2): the same images as the CPU, whatever the number of cards.

The first run installs an OpenCL runtime (300 MB, 1 GB on disk) and compiles kernels, which takes one to two minutes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from diorama.render.episode.plausibility import unusual_images
from diorama.render.store import open_store
from tests import mesh_files
from tests.tools.simulated_gpu.conftest import Machine
from tools import programs
from tools.measuring.gpu import compare_stores

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EXAMPLES = programs.ROOT / "scene_specs" / "examples"
TINY = ("--size", "64x48", "--quiet", "--json")


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
    table = machine.run([sys.executable, "-m", "tools", "gpu", *options, "--out", str(tmp_path / "stores")])
    print(table)
    assert table.count("images/s with start") == 3 and "CUDA Simulated GPU" in table
    assert {card for _, card in machine.calls("runs kernel")} == set(range(8))
    found = compare_stores(tmp_path / "stores" / "cards.lance", tmp_path / "stores" / "one.lance")
    # Kernels add light in an order that varies, so a pixel may differ by 1 of 255, as in two runs on one card.
    assert len(found.ids) > 40 and not any(found.ids) and min(found.psnr) > 80, found.text()


@pytest.mark.parametrize("fault", ["zero:0@1", "0xff:200x1", "random:400x1"])
def test_a_card_with_wrong_results_leaves_none_in_the_store(tmp_path: Path, specs: Path, fault: str) -> None:
    """Before card 1's first launch; after the test image and in the middle of the run of the worker that gets there."""
    machine = Machine(tmp_path, 2, level=2, fail=fault)
    store = render(machine, "cards", [specs], "--gpus", "2", "--workers-per-gpu", "1", "--profile", "draft")
    records = open_store(str(store)).get_many([f"e{k}" for k in range(8)])
    assert not [problem for record in records for problem in unusual_images(record)]
    assert machine.calls("fault"), "the fault did not happen: the test tests nothing"


def test_two_cards_denoise_and_show_textures_as_the_cpu_does(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 2, level=2)
    mesh_files.write_files(tmp_path)
    objects = [{"shape": {"mesh": name}, "size": 1.0} for name in ("jpeg-inside.glb", "texture-with-backslashes.obj")]
    mugs = {"version": 1, "id": "mugs", "seed": 3, "frames": [{"objects": objects}]}
    specs = [programs.write_specs(tmp_path / "mugs.jsonl", [mugs]), EXAMPLES / "shapes-and-materials.json"]
    options = ("--profile", "standard", "--asset-root", tmp_path)
    cards = render(machine, "cards", specs, "--gpus", "2", "--workers-per-gpu", "1", *options)
    found = compare_stores(cards, render(machine, "cpu", specs, "--device", "cpu", *options))
    assert found.acceptable and min(found.psnr) > 45, found.text()
    records = {record.episode_id: record for record in open_store(str(cards)).get_many(["mugs"])}
    assert records["mugs"].scene.settings.denoise and machine.calls("texture")
