"""The pointing hand at 16 turns under the CLEVR camera, on one sheet.

    python -m tools.hand_sheet OUT.png [--size 320x240] [--kind hand] [--profile standard] [--crop]

The hand stands in the middle of the table and points at an object that goes round it. --crop: only the middle of
each picture.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from PIL import Image

import render
from render.renderers.cycles.cycles_renderer import CyclesRenderer

TURNS = 16


def spec(number: int, kind: str) -> dict[str, object]:
    """A small sphere on a circle about the hand."""
    angle = 2 * math.pi * number / TURNS
    target = {"name": "target", "shape": "sphere", "size": "small", "color": "blue", "material": "rubber"}
    place = {"location": [round(2.0 * math.cos(angle), 4), round(2.0 * math.sin(angle), 4)]}
    frame = {
        "objects": [{**target, **place}],
        "pointer": {"target": "target", "kind": kind, "location": [0, 0]},
        "camera": {"jitter": 0},
        "lights": [{"name": name, "jitter": 0} for name in ("key", "fill", "back")],
    }
    return {"version": 1, "id": f"hand/{number:02d}", "frames": [frame]}


def main() -> None:
    """Render and write the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--kind", default="hand")
    parser.add_argument("--profile", default="standard")
    parser.add_argument("--crop", action="store_true")
    options = parser.parse_args()
    width, height = (int(side) for side in options.size.split("x"))
    renderer = CyclesRenderer("cpu")
    tiles = []
    for number in range(TURNS):
        scene = render.compile_spec(spec(number, options.kind), options.profile, (width, height))
        (image,) = render.render_scene(scene, renderer=renderer)
        color = image.passes.color
        tiles.append(color[height // 4 : -height // 4, width // 4 : -width // 4] if options.crop else color)
    rows = [np.concatenate(tiles[k : k + 4], axis=1) for k in range(0, TURNS, 4)]
    Image.fromarray(np.concatenate(rows)).save(options.out)


if __name__ == "__main__":
    main()
