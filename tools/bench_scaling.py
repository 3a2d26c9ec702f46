"""What an image costs by the number of its objects and of its pixels.

    python -m tools.bench_scaling                                # `standard`, 1 to 10 objects, 160x120 to 1280x960
    python -m tools.bench_scaling draft --rounds 5 --objects 1 3 10

Materials of the objects go round (rubber, metal, glass), so that more objects are more of the same. All images of a
round are measured before the next begins; each round has layouts of its own, the table shows medians. Growth is told by
CPU seconds, which other programs disturb least: the exponent of the power of objects or pixels that fits best.

Exit codes: 0 done; 1 cost grows faster than linearly (exponent over 1.05); 2 wrong options.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from tqdm import tqdm

from render.model.errors import UsageError
from scene_specs.language.spec import EpisodeSpec
from tools.quality.candidates import Candidate, candidates
from tools.quality.measure import Measured, measure
from tools.quality.report import table
from tools.quality.shell import guarded, positive, size, threads
from tools.quality.tuned import TunedRenderer

LINEAR = 1.05
_SIZES = [(160, 120), (320, 240), (640, 480), (1280, 960)]
# At each size, and what the stage's usual scene has.
_USUAL_OBJECTS, _USUAL_SIZE = 3, (320, 240)


def episode(turn: int, objects: int) -> EpisodeSpec:
    """A scene of so many objects, half of them small."""
    kinds = zip(cycle(["rubber", "metal", "glass"]), cycle(["large", "small"]), range(objects), strict=False)
    items = [{"name": f"o{k}", "material": material, "size": extent} for material, extent, k in kinds]
    frame = {"objects": items}
    return EpisodeSpec.model_validate({"version": 1, "id": f"scaling/{turn}/{objects}", "frames": [frame]})


def exponent(numbers: Sequence[float], costs: Sequence[float]) -> float:
    """Of the power of `numbers` that fits the costs best (least squares of logarithms); two numbers or more."""
    return float(np.polyfit(np.log(numbers), np.log(costs), 1)[0])


def medians(made: Sequence[Measured]) -> dict[str, float]:
    """Median seconds: sampling, denoising, other, all, cpu."""
    other = [each.total - each.seconds["sampling"] - each.seconds["denoising"] for each in made]
    found = {step: statistics.median(each.seconds[step] for each in made) for step in ("sampling", "denoising")}
    found |= {"other": statistics.median(other), "all": statistics.median(each.total for each in made)}
    return {**found, "cpu": statistics.median(each.cpu for each in made)}


def run(candidate: Candidate, options: argparse.Namespace) -> dict[str, dict[str, dict[str, float]]]:
    """objects -> number -> medians, and pixels -> size -> medians."""
    by_objects = [(str(count), count, options.size) for count in options.objects]
    by_pixels = [(f"{w}x{h}", _USUAL_OBJECTS, (w, h)) for w, h in options.sizes]
    made: dict[str, dict[str, list[Measured]]] = {"objects": {}, "pixels": {}}
    todo = [("objects", *one) for one in by_objects] + [("pixels", *one) for one in by_pixels]
    renderer = TunedRenderer("cpu", options.threads)
    try:
        measure(renderer, episode(0, 1), Candidate(name="warm", base="draft"), (64, 48))
        with tqdm(total=options.rounds * len(todo), unit="image") as bar:
            for turn in range(options.rounds):
                for kind, name, count, extent in todo:
                    one = measure(renderer, episode(turn, count), candidate, extent)
                    made[kind].setdefault(name, []).append(one)
                    bar.update(1)
    finally:
        renderer.close()
    return {kind: {name: medians(each) for name, each in found.items()} for kind, found in made.items()}


def growth(options: argparse.Namespace, found: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """objects, pixels -> exponent, of those with two numbers or more."""
    numbers = {"objects": options.objects, "pixels": [w * h for w, h in options.sizes]}
    costs = {kind: [each["cpu"] for each in found[kind].values()] for kind in numbers}
    return {kind: round(exponent(numbers[kind], costs[kind]), 3) for kind in numbers if len(numbers[kind]) > 1}


def markdown(name: str, found: dict[str, dict[str, dict[str, float]]], grown: dict[str, float]) -> str:
    """A table for objects, one for pixels, each with its exponent."""
    parts = []
    for kind, lines in found.items():
        steps = list(next(iter(lines.values())))
        rows = [[number, *(f"{each[step]:.3f}" for step in steps)] for number, each in lines.items()]
        parts.append(table([kind, *(f"{step} s" for step in steps)], rows))
        if kind in grown:
            parts.append(f"`{name}`: CPU seconds grow as {kind} to the power of {grown[kind]:.2f}.\n")
    return "\n".join(parts)


def work(options: argparse.Namespace) -> int:
    """Measure and print."""
    # Their order is that of the curve.
    options.objects, options.sizes = sorted(set(options.objects)), sorted(set(options.sizes), key=lambda s: s[0] * s[1])
    chosen = candidates([options.candidate])
    if len(chosen) != 1:
        raise UsageError(f"{options.candidate}: found {len(chosen)} tries, expected one")
    (candidate,) = chosen
    found = run(candidate, options)
    grown = growth(options, found)
    data: dict[str, Any] = {"candidate": candidate.name, "seconds": found, "exponents": grown}
    sys.stdout.write(json.dumps(data, indent=1) + "\n" if options.json else markdown(candidate.name, found, grown))
    return int(any(value > LINEAR for value in grown.values()))


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("candidate", nargs="?", default="standard", help="a profile, or a .json file of one try")
    parser.add_argument("--objects", type=positive, nargs="+", default=list(range(1, 11)), help="numbers of objects")
    parser.add_argument("--sizes", type=size, nargs="+", default=_SIZES, help=f"with {_USUAL_OBJECTS} objects")
    parser.add_argument("--size", type=size, default=_USUAL_SIZE, help="at which objects are counted")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    parser.add_argument("--json", action="store_true", help="figures for scripts")
    options = parser.parse_args(arguments)
    return guarded(lambda: work(options))


if __name__ == "__main__":
    sys.exit(main())
