"""Compare our images of published scenes with the published ones.

    python -m tools check-look FOLDER

FOLDER holds pairs NAME.json (a published scene file) and NAME.png. Prints the mean absolute difference (of 255) of each
frame and inside each object, and writes NAME_compare.png (theirs, ours, difference x 8) into the working directory.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
from PIL import Image

from diorama.render.api import compile_spec, render_scene
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.errors import UsageError


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)


def main(options: Namespace) -> None:
    """Render and compare every pair in the folder. Raises UsageError if there is none."""
    paths = sorted(options.folder.glob("*.json"))
    if not paths:
        raise UsageError(f"{options.folder}: found no NAME.json; expected a folder with pairs NAME.json and NAME.png")
    renderer = CyclesRenderer("cpu")
    for path in paths:
        theirs = np.asarray(Image.open(path.with_suffix(".png")).convert("RGB")).astype(float)
        height, width = theirs.shape[:2]
        scene = compile_spec(next(iter(import_mewl(path, camera="nominal"))), "standard", (width, height))
        passes = render_scene(scene, renderer=renderer)[0].passes
        difference = np.abs(theirs - passes.color).mean(axis=-1)
        print(f"{path.stem}: frame {difference.mean():.2f}")
        for item in scene.frames[0].objects:
            inside = passes.ids == item.index
            error = f"{difference[inside].mean():.2f} in {inside.sum()} pixels"
            print(f"  {item.name} {item.shape} {item.material.name}: {error}")
        scaled = np.repeat(np.clip(difference * 8, 0, 255)[..., None], 3, axis=2)
        sheet = np.concatenate([theirs, passes.color, scaled], axis=1).astype(np.uint8)
        Image.fromarray(sheet).save(f"{path.stem}_compare.png")
