"""Measure GPUs and compare their images with the CPU's.

    python -m tools gpu                                      # all GPUs of this machine
    python -m tools gpu --gpus 1 --device cuda --profile draft --size 160x120 --episodes 12 --levels 1    # a quick try

Prints a Markdown table for docs/benchmarks.md: the GPUs, the time that kernels take at first use, the difference of all
examples from the CPU, whether one GPU makes the same images as all, and images per second by workers per GPU. Exit code
1 if an image differs from the CPU by more than `Difference.acceptable` allows.
"""

from __future__ import annotations

import subprocess
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.annotations.compare import compare_images
from diorama.render.machine.device_names import GPU_NAMES
from diorama.render.run.doctor import run_probe
from diorama.render.run.machine import find_cards
from diorama.render.store import open_store
from diorama.scene_specs.errors import DeviceError, UsageError
from diorama.scene_specs.model.record import ImageRecord
from tools.programs import ROOT, command, positive, print_figures, run_json, size

_FIRST_USE_SECONDS = 1800.0
_SMI_SECONDS = 20.0


@dataclass
class Difference:
    """How images of two devices differ. Each image adds a value to each list.

    ids: share of pixels that show another object. boxes: largest difference of an edge of a box, pixels. relations:
    number of relations that hold for different objects. psnr: dB.
    """

    ids: list[float] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)
    relations: list[int] = field(default_factory=list)
    psnr: list[float] = field(default_factory=list)

    def add(self, a: ImageRecord, b: ImageRecord) -> None:
        """Compare two images of the same view."""
        pairs = list(zip(a.annotation.objects, b.annotation.objects, strict=True))
        edges = [abs(p - q) for x, y in pairs for p, q in zip(_corners(x.bbox), _corners(y.bbox), strict=True)]
        first, second = a.annotation.relations, b.annotation.relations
        self.ids.append(float(np.mean(np.any([x.rle.mask() != y.rle.mask() for x, y in pairs], axis=0))))
        self.boxes.append(max(edges, default=0))
        self.relations.append(sum(first[name] != second.get(name) for name in first))
        self.psnr.append(compare_images(a, b).psnr)

    @property
    def acceptable(self) -> bool:
        """Whether ids differ in at most 0.1 % of the pixels, boxes by at most a pixel, and relations not at all."""
        return float(np.mean(self.ids)) <= 0.001 and max(self.boxes) <= 1 and not any(self.relations)

    def text(self) -> str:
        """Describe the difference in one line."""
        return (
            f"{len(self.ids)} images: ids differ in {100 * np.mean(self.ids):.4f} % of pixels (worst image "
            f"{100 * max(self.ids):.3f} %), boxes by at most {max(self.boxes)} px, {sum(self.relations)} relations "
            f"differ; PSNR median {np.median(self.psnr):.1f} dB, worst {min(self.psnr):.1f} dB"
        )


def _corners(box: tuple[int, int, int, int] | None) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of a box; an object that is not visible has the box 0, 0, 0, 0."""
    x, y, width, height = box or (0, 0, 0, 0)
    return x, y, x + width, y + height


def compare_stores(first: Path | str, second: Path | str) -> Difference:
    """Compare the images of two stores. Raises UsageError if the stores have different episodes."""
    a, b = open_store(str(first)), open_store(str(second))
    names = sorted(name for name, _ in a.ids())
    if not names or names != sorted(name for name, _ in b.ids()):
        raise UsageError(f"{first} and {second} have different episodes, or none; render the same specs into both")
    found = Difference()
    for name in names:
        for one, other in zip(a.get(name).images, b.get(name).images, strict=True):
            found.add(one, other)
    return found


def driver_report() -> str:
    """Return name, driver and memory of each NVIDIA GPU, or an empty text."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        lines = subprocess.check_output(query, text=True, timeout=_SMI_SECONDS).splitlines()
    except (OSError, subprocess.SubprocessError):
        return ""
    return "; ".join(f"{lines.count(line)} x {line}" for line in dict.fromkeys(lines))


def render(options: Namespace, specs: list[Path], store: Path, gpus: int, each: int | None = 1) -> Any:
    """Render with this number of GPUs, 0 for the CPU, and return the summary. Raises CalledProcessError."""
    cards = ["--gpus", gpus, "--device", options.device, "--workers-per-gpu", each] if gpus else ["--device", "cpu"]
    settings = ["--profile", options.profile, "--size", "{}x{}".format(*options.size), "--quiet"]
    return run_json("render-batch", *specs, "--out", store, *cards, *settings)


def speed(summary: dict[str, Any]) -> str:
    """Return images per second, time by step, and memory of a run."""
    steps = ", ".join(f"{step} {1000 * value / summary['images']:.0f}" for step, value in summary["steps"].items())
    return f"{summary['images_per_second']} images/s with start; ms per image: {steps}"


def figures(options: Namespace, folder: Path, found: Difference) -> Iterator[tuple[str, str]]:
    """Measure in order; yield what was measured and the figure. found: receives the difference from the CPU."""
    cards = find_cards(device=options.device)
    gpus = options.gpus or cards.count
    if not gpus:
        raise DeviceError(cards.report)
    yield "GPUs", driver_report() or cards.report
    probe = run_probe(options.device, _FIRST_USE_SECONDS)
    if "error" in probe:
        raise DeviceError(str(probe["error"]))
    yield "device, Blender", f"{probe['device']}, bpy {probe['bpy']}"
    yield "first image with all materials, then the next", f"{probe['first_s']} s, then {probe['second_s']} s"
    specs = sorted((ROOT / "scene_specs" / "examples").glob("*.json"))
    examples = f"examples, {options.profile} {options.size[0]}x{options.size[1]}"
    yield f"{examples}, CPU", speed(render(options, specs, folder / "cpu.lance", 0))
    everything = render(options, specs, folder / "cards.lance", gpus)
    yield f"{examples}, {gpus} x GPU, {', '.join(everything['devices'])}", speed(everything)
    vars(found).update(vars(compare_stores(folder / "cards.lance", folder / "cpu.lance")))
    yield "GPU and CPU", found.text()
    render(options, specs, folder / "one.lance", 1, 2)
    yield "1 GPU with 2 workers and all GPUs", compare_stores(folder / "one.lance", folder / "cards.lance").text()
    clevr = folder / "clevr.jsonl"
    subprocess.run(command("render-specs", "clevr", "--count", options.episodes, "--out", clevr), check=True)
    for each in options.levels:
        summary = render(options, [clevr], folder / f"{each}.lance", gpus, each)
        yield f"{options.episodes} CLEVR episodes, {each} per GPU on {gpus} x GPU", speed(summary)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--gpus", type=positive, help="number of GPUs (all)")
    parser.add_argument("--device", choices=GPU_NAMES, default="optix", help="kind of device (optix)")
    parser.add_argument("--profile", default="standard", help="quality (standard)")
    parser.add_argument("--size", type=size, default=(320, 240), metavar="WxH", help="of the images (320x240)")
    parser.add_argument("--episodes", type=positive, default=240, help="CLEVR episodes for the speed (240)")
    parser.add_argument("--levels", type=positive, nargs="*", default=[1, 2, 4, 8], help="workers per GPU (1 2 4 8)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the stores in this new folder")


def main(options: Namespace) -> int:
    """Print the table. Raises DeviceError if there is no GPU."""
    folder = options.out or Path(tempfile.mkdtemp(prefix="diorama-gpu-"))
    folder.mkdir(parents=True, exist_ok=True)
    found = Difference()
    print_figures("GPU", figures(options, folder, found), [folder], bool(options.out))
    return int(not found.acceptable)
