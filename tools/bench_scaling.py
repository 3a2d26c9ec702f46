"""Measure how cost grows with objects and with pixels.

    python -m tools bench-scaling                          # `standard`, 1 to 10 objects, 160x120 to 1280x960
    python -m tools bench-scaling draft --rounds 5 --objects 1 3 10

The objects' materials repeat (rubber, metal, glass), so that more objects are more of the same. All images of a round
are measured before the next round starts; each round has its own layouts, and the table shows medians. Growth is
measured in CPU seconds, which other programs disturb least: the exponent of the best-fitting power of objects or
pixels. Exit code 1 if the cost grows faster than linearly (exponent above 1.05).
"""

from __future__ import annotations

import json
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from itertools import cycle
from typing import Any

import numpy as np
from tqdm import tqdm

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reports.tables import markdown_table
from tools.programs import positive, size, threads
from tools.quality.candidates import Candidate, candidates
from tools.quality.measure import TunedRenderer, measure
from tools.quality.results import Measured

LINEAR = 1.05
_SIZES = [(160, 120), (320, 240), (640, 480), (1280, 960)]
# Objects at each size, and the size at which objects are counted.
_USUAL_OBJECTS, _USUAL_SIZE = 3, (320, 240)


def episode(turn: int, objects: int) -> EpisodeSpec:
    """Return a spec with this many objects, half of them small."""
    kinds = zip(cycle(["rubber", "metal", "glass"]), cycle(["large", "small"]), range(objects), strict=False)
    items = [{"name": f"o{k}", "material": material, "size": extent} for material, extent, k in kinds]
    frame = {"objects": items}
    return EpisodeSpec.model_validate({"version": 1, "id": f"scaling/{turn}/{objects}", "frames": [frame]})


def exponent(numbers: Sequence[float], costs: Sequence[float]) -> float:
    """Return the exponent of the power of `numbers` that fits the costs best (least squares of logarithms).

    Needs two numbers or more.
    """
    return float(np.polyfit(np.log(numbers), np.log(costs), 1)[0])


def medians(measured: Sequence[Measured]) -> dict[str, float]:
    """Return the median seconds: sampling, denoising, other, all, cpu."""
    other = [each.total - each.seconds["sampling"] - each.seconds["denoising"] for each in measured]
    found = {step: statistics.median(each.seconds[step] for each in measured) for step in ("sampling", "denoising")}
    found |= {"other": statistics.median(other), "all": statistics.median(each.total for each in measured)}
    return {**found, "cpu": statistics.median(each.cpu for each in measured)}


def run(candidate: Candidate, options: Namespace) -> dict[str, dict[str, dict[str, float]]]:
    """Measure; return objects -> number -> medians, and pixels -> size -> medians."""
    by_objects = [(str(count), count, options.size) for count in options.objects]
    by_pixels = [(f"{w}x{h}", _USUAL_OBJECTS, (w, h)) for w, h in options.sizes]
    measured: dict[str, dict[str, list[Measured]]] = {"objects": {}, "pixels": {}}
    todo = [("objects", *one) for one in by_objects] + [("pixels", *one) for one in by_pixels]
    total = options.rounds * len(todo)
    with closing(TunedRenderer("cpu", options.threads)) as renderer, tqdm(total=total, unit="image") as bar:
        measure(renderer, episode(0, 1), Candidate(name="warm", base="draft"), (64, 48))
        for turn in range(options.rounds):
            for kind, name, count, extent in todo:
                image = measure(renderer, episode(turn, count), candidate, extent)
                measured[kind].setdefault(name, []).append(image)
                bar.update(1)
    return {kind: {name: medians(each) for name, each in found.items()} for kind, found in measured.items()}


def growth(options: Namespace, found: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """Return the exponent for objects and for pixels, where two numbers or more were measured."""
    numbers = {"objects": options.objects, "pixels": [w * h for w, h in options.sizes]}
    costs = {kind: [each["cpu"] for each in found[kind].values()] for kind in numbers}
    return {kind: round(exponent(numbers[kind], costs[kind]), 3) for kind in numbers if len(numbers[kind]) > 1}


def markdown(name: str, found: dict[str, dict[str, dict[str, float]]], grown: dict[str, float]) -> str:
    """Return a table for objects and one for pixels, each with its exponent."""
    parts = []
    for kind, lines in found.items():
        steps = list(next(iter(lines.values())))
        rows = [[number, *(f"{each[step]:.3f}" for step in steps)] for number, each in lines.items()]
        parts.append(markdown_table([kind, *(f"{step} s" for step in steps)], rows))
        if kind in grown:
            parts.append(f"`{name}`: CPU seconds grow as {kind} to the power of {grown[kind]:.2f}.\n")
    return "\n".join(parts)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("candidate", nargs="?", default="standard", help="a profile, or a .json file of one try")
    parser.add_argument("--objects", type=positive, nargs="+", default=list(range(1, 11)), help="numbers of objects")
    parser.add_argument("--sizes", type=size, nargs="+", default=_SIZES, help=f"with {_USUAL_OBJECTS} objects")
    parser.add_argument("--size", type=size, default=_USUAL_SIZE, help="size at which objects are counted")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    parser.add_argument("--json", action="store_true", help="figures for scripts")


def main(options: Namespace) -> int:
    """Measure and print. Raises UsageError unless the file holds exactly one try."""
    # Sorted, since the tables and the fit go from small to large.
    options.objects, options.sizes = sorted(set(options.objects)), sorted(set(options.sizes), key=lambda s: s[0] * s[1])
    tries = candidates([options.candidate])
    if len(tries) != 1:
        raise UsageError(f"{options.candidate}: found {len(tries)} tries, expected one")
    (candidate,) = tries
    found = run(candidate, options)
    grown = growth(options, found)
    data: dict[str, Any] = {"candidate": candidate.name, "seconds": found, "exponents": grown}
    print(json.dumps(data, indent=1) + "\n" if options.json else markdown(candidate.name, found, grown), end="")
    return int(any(value > LINEAR for value in grown.values()))
