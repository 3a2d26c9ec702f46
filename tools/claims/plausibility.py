"""Measure the check for wrong images on honest and on faulty ones.

    python -m tools plausibility [SPECS ...] [--scenes 500] [--width 160]

Renders SPECS (default: the examples), and random scenes with the profile `standard`: objects of all materials, some cut
off by the border. Prints the largest ratio of each measurement and its bound (an image is refused above 1), for each
kind of fault how many images with it were refused, of those that it changes, and the milliseconds of the check. Exit
code 1: an honest image was refused, or a faulty one was not.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from diorama.render.annotations.annotate import object_layers
from diorama.render.compiler import compile_episode
from diorama.render.episode.plausibility import MIN_PIXELS, Colors, Ids, check_color, check_ids, first_problem
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.reading.source import SpecSource
from tools.claims.check_truth import episode
from tools.programs import ROOT, positive

EXAMPLES = ROOT / "scene_specs" / "examples"


def faults(color: Colors, ids: Ids, rng: np.random.Generator) -> Iterator[tuple[str, Colors, Ids]]:
    """Yield what a failing GPU could return in place of a color and an id pass: zeros, ones or noise in one of them."""
    for name, byte in (("zero", 0), ("0xff", 255)):
        yield f"color {name}", np.full_like(color, byte), ids
        yield f"ids {name}", color, np.full_like(ids, byte << 8 | byte)
    yield "color random", rng.integers(0, 256, color.shape).astype(np.uint8), ids
    yield "ids random", color, rng.integers(0, int(ids.max()) + 1, ids.shape).astype(ids.dtype)


def scenes(specs: list[Path], count: int, width: int, height: int) -> Iterator[Scene]:
    """Yield those of spec files and random ones."""
    given = (item.episode for item in SpecSource(specs or sorted(EXAMPLES.glob("*.json"))))
    for one in chain(given, map(episode, range(count))):
        yield compile_episode(one, settings_for("standard", width, height))


def main(options: Namespace) -> int:
    """Render, measure and print."""
    rng = np.random.default_rng(1)
    renderer = CyclesRenderer("cpu")
    worst: defaultdict[str, float] = defaultdict(float)
    images, refused, made, missed = 0, [], Counter[str](), Counter[str]()
    times = list[float]()
    for scene in scenes(options.specs, options.scenes, options.width, options.width * 3 // 4):
        for frame, view in [(one, view) for one in scene.frames for view in one.views]:
            passes = renderer.render(scene, frame, view)
            layers = object_layers(scene, frame, view, *passes.ids.shape[::-1])
            images += 1
            start = time.process_time()
            checks = [*check_ids(frame, passes.ids, layers)]
            checks += check_color(scene, frame, view, passes.color, passes.ids)
            times.append(1000 * (time.process_time() - start))
            for check in checks:
                worst[check.name] = max(worst[check.name], check.ratio)
                refused += [f"{scene.id}: {check.problem}"] * (check.ratio > 1)
            for name, color, ids in faults(passes.color, passes.ids, rng):
                changed = (color != passes.color).any(axis=2) | (ids != passes.ids)
                if changed.sum() < MIN_PIXELS:
                    continue
                made[name] += 1
                found = chain(check_ids(frame, ids, layers), check_color(scene, frame, view, color, ids))
                if not first_problem(found):
                    missed[name] += 1
                    print(f"missed: {name}: {scene.id}: {frame.image_name(view)}")
    print(f"{images} images, {len(refused)} refused", *refused, sep="\n  ")
    for name, ratio in sorted(worst.items()):
        print(f"{name}: at most {ratio:.2f} of the bound")
    print(f"the check of an image: {np.median(times):.2f} ms in the median, {np.percentile(times, 90):.2f} at 90 %")
    for name in made:
        print(f"{name}: {made[name] - missed[name]} of {made[name]} refused")
    return int(bool(refused or missed))


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("specs", nargs="*", type=Path, help="spec files (default: the examples)")
    parser.add_argument("--scenes", type=positive, default=500, help="random scenes (default: 500)")
    parser.add_argument("--width", type=positive, default=160, help="of the images, 4:3 (default: 160)")
