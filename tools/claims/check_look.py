"""Compare our images of published scenes with the published ones.

    python -m tools check-look FOLDER [--origin clevr]

FOLDER holds pairs NAME.json (a published scene file) and NAME.png. Prints the mean absolute difference (of 255) of each
frame and inside each object, and writes NAME_compare.png (theirs, ours, difference x 8) into the working directory.
Exit code 1 if the frames of MEWL differ by more than 2.5, or those of CLEVR, whose files don't record where the lights
were, by more than 4 on average or 6 in the worst one.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
from PIL import Image

from diorama.render.api import compile_spec, render_scene
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.benchmarks.clevr.importing import import_published as import_clevr
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.errors import UsageError

# Whose files -> greatest mean and greatest difference of frames, of 255.
LIMITS = {"mewl": (2.5, 2.5), "clevr": (4.0, 6.0)}


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--origin", choices=sorted(LIMITS), default="mewl", help="whose files they are")


def main(options: Namespace) -> int:
    """Render and compare every pair in the folder. Raises UsageError if there is none."""
    paths = sorted(options.folder.glob("*.json"))
    if not paths:
        raise UsageError(f"{options.folder}: found no NAME.json; expected a folder with pairs NAME.json and NAME.png")
    renderer, off = CyclesRenderer("cpu"), []
    for path in paths:
        theirs = np.asarray(Image.open(path.with_suffix(".png")).convert("RGB")).astype(float)
        height, width = theirs.shape[:2]
        read = import_clevr(path, strict=True) if options.origin == "clevr" else import_mewl(path, camera="nominal")
        scene = compile_spec(next(iter(read)), "standard", (width, height))
        passes = render_scene(scene, renderer=renderer)[0].passes
        difference = np.abs(theirs - passes.color).mean(axis=-1)
        off.append(float(difference.mean()))
        print(f"{path.stem}: frame {off[-1]:.2f}", flush=True)
        for item in scene.frames[0].objects:
            inside = passes.ids == item.index
            error = f"{difference[inside].mean():.2f} in {inside.sum()} pixels"
            print(f"  {item.name} {item.shape} {item.material.name}: {error}")
        scaled = np.repeat(np.clip(difference * 8, 0, 255)[..., None], 3, axis=2)
        sheet = np.concatenate([theirs, passes.color, scaled], axis=1).astype(np.uint8)
        Image.fromarray(sheet).save(f"{path.stem}_compare.png")
    print(f"{len(off)} frames: mean {np.mean(off):.2f}, worst {max(off):.2f}")
    return int(np.mean(off) > LIMITS[options.origin][0] or max(off) > LIMITS[options.origin][1])
