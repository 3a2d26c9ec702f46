"""Measure how cost grows with objects and with pixels.

    python -m tools bench-scaling                          # `standard`, 1 to 10 objects, 160x120 to 1280x960
    python -m tools bench-scaling draft --rounds 5 --objects 1 3 10
    python -m tools bench-scaling --objects 3 --sizes 320x240 --rounds 5 --threads 1      # step by step

The objects' materials repeat (rubber, metal, glass), so that more objects are more of the same. All images of a round
are measured before the next round starts; each round has its own layouts, and the table shows medians of each step, as
tools/claims/quality/measure.py has them: `render` is what a render costs besides sampling and denoising. Growth is
measured in CPU seconds, which other programs disturb least: the exponent of the best-fitting power of objects or
pixels. Exit code 1 if the cost grows faster than linearly (exponent above 1.05).
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from itertools import cycle, product

import numpy as np
from tqdm import tqdm

from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tools.claims.quality.measure import measure
from tools.claims.quality.results import Measured, Size
from tools.programs import positive, size, threads

LINEAR = 1.05
_SIZES = [(160, 120), (320, 240), (640, 480), (1280, 960)]
# Objects at each size, and the size at which objects are counted.
_USUAL_OBJECTS, _USUAL_SIZE = 3, (320, 240)
# Kind of growth -> row of its table -> number that grows, objects, and size.
Kinds = dict[str, dict[str, tuple[int, int, Size]]]


def episode(turn: int, objects: int) -> EpisodeSpec:
    """Return a spec with this many objects, half of them small."""
    kinds = zip(cycle(["rubber", "metal", "glass"]), cycle(["large", "small"]), range(objects), strict=False)
    items = [{"name": f"o{k}", "material": material, "size": extent} for material, extent, k in kinds]
    return EpisodeSpec.model_validate({"version": 1, "id": f"scaling/{turn}/{objects}", "frames": [{"objects": items}]})


def exponent(numbers: Sequence[float], costs: Sequence[float]) -> float:
    """Return the exponent of the power of `numbers` that fits the costs best (least squares of logarithms).

    Needs two numbers or more.
    """
    return float(np.polyfit(np.log(numbers), np.log(costs), 1)[0])


def medians(measured: Sequence[Measured]) -> dict[str, float]:
    """Return the median seconds of each step, of all together, and of the processor."""
    return {
        **{step: statistics.median(each.seconds[step] for each in measured) for step in measured[0].seconds},
        "all": statistics.median(each.total for each in measured),
        "cpu": statistics.median(each.cpu for each in measured),
    }


def run(asked: Kinds, options: Namespace) -> dict[str, dict[str, list[Measured]]]:
    """Measure in rounds; return the images by kind and row of the table."""
    todo = [(kind, name, count, extent) for kind, rows in asked.items() for name, (_, count, extent) in rows.items()]
    measured: dict[str, dict[str, list[Measured]]] = {kind: {name: [] for name in asked[kind]} for kind in asked}
    with closing(CyclesRenderer("cpu", options.threads)) as renderer:
        measure(renderer, episode(0, 1), settings_for("draft", 64, 48))
        for turn, (kind, name, count, extent) in tqdm(list(product(range(options.rounds), todo)), unit="image"):
            measured[kind][name].append(measure(renderer, episode(turn, count), settings_for(options.profile, *extent)))
    return measured


def table(kind: str, numbers: Sequence[int], measured: dict[str, list[Measured]]) -> tuple[str, float]:
    """Return a table of medians by row, and the exponent with which CPU seconds grow; 0 for a single row."""
    found = {name: medians(images) for name, images in measured.items()}
    (first, *_) = found.values()
    rows = [[name, *(f"{value:.4f}" for value in each.values())] for name, each in found.items()]
    text = markdown_table([kind, *(f"{step} s" for step in first)], rows)
    if len(rows) < 2:
        return text, 0.0
    grown = exponent(numbers, [each["cpu"] for each in found.values()])
    return f"{text}\nCPU seconds grow as {kind} to the power of {grown:.2f}.\n", grown


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("profile", nargs="?", default="standard")
    parser.add_argument("--objects", type=positive, nargs="+", default=list(range(1, 11)), help="numbers of objects")
    parser.add_argument("--sizes", type=size, nargs="+", default=_SIZES, help=f"with {_USUAL_OBJECTS} objects")
    parser.add_argument("--size", type=size, default=_USUAL_SIZE, help="size at which objects are counted")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")


def main(options: Namespace) -> int:
    """Measure and print. Raises UsageError for an unknown profile."""
    # Sorted, since the tables and the fit go from small to large.
    options.objects, options.sizes = sorted(set(options.objects)), sorted(set(options.sizes), key=lambda s: s[0] * s[1])
    asked: Kinds = {
        "objects": {str(count): (count, count, options.size) for count in options.objects},
        "pixels": {f"{w}x{h}": (w * h, _USUAL_OBJECTS, (w, h)) for w, h in options.sizes},
    }
    measured = run(asked, options)
    tables = [table(kind, [row[0] for row in asked[kind].values()], found) for kind, found in measured.items()]
    print(f"`{options.profile}`:\n", *(text for text, _ in tables), sep="\n", end="")
    return int(any(grown > LINEAR for _, grown in tables))
