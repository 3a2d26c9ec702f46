"""Build `assets/tangrams`: `python -m diorama.assets.build.tangrams [FOLDER]`.

The figures are drawn at random from a fixed seed, in four styles, and kept where they are well formed and unlike those
before (diorama.scene_specs.benchmarks.kilogram.grow, .variety). What they are called was written by us, looking at a
sheet of them; it is in `seen.txt`, and the parts are ours, too. Nothing is taken from any published tangram or
description.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation
from diorama.scene_specs.benchmarks.kilogram.grow import draw_tangram, varied
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, Tangram

SEED = 2024
SEEN = Path(__file__).with_name("seen.txt")
# Share of pieces that hang by a corner, and whether pairs lie to both sides of an axis.
STYLES = ((0.0, False), (0.2, False), (0.12, True), (0.25, True))


def drawn() -> Iterator[Tangram]:
    """Yield candidates endlessly, alternating between styles."""
    number = 0
    while True:
        corners, symmetric = STYLES[number % len(STYLES)]
        yield draw_tangram(SEED, f"own-{number}", corners, symmetric)
        number += 1


def described(text: str) -> Iterator[Annotation]:
    """Return the lines of `seen.txt`. Raises ValueError for a line that doesn't assign each piece to one part."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        number, _, rest = line.partition(" ")
        whole, _, parts = rest.partition(" | ")
        names: dict[int, str] = {}
        for part in parts.split("; "):
            name, _, pieces = part.rpartition(" ")
            if not name or names.keys() & {int(piece) for piece in pieces} or name in names.values():
                raise ValueError(f"seen.txt: {line!r}: part {part!r} names a piece or a part again")
            names |= {int(piece): name for piece in pieces}
        if {*names} != {*PIECES}:
            raise ValueError(f"seen.txt: {line!r}: expected each of the pieces 1 to 7 in a part")
        tangram = f"own-{int(number):03d}"
        counts[tangram] = counts.get(tangram, -1) + 1
        yield Annotation(tangram, counts[tangram], whole, tuple(names[piece] for piece in PIECES))


def tangram_data(tangrams: Sequence[Tangram]) -> dict[str, Any]:
    """Return the file as JSON data. A corner is [a, b, c, d]: x = (a + b sqrt 2) / 4, y = (c + d sqrt 2) / 4 legs."""
    return {
        "version": 1,
        "tangrams": {
            one.name: [[[x.a, x.b, y.a, y.b] for x, y in polygon] for polygon in one.polygons] for one in tangrams
        },
    }


def annotation_file(annotations: Mapping[str, tuple[Annotation, ...]]) -> dict[str, Any]:
    """Return the descriptions as in a published annotation file, as JSON data."""
    return {
        tangram: {
            **measures(items),
            "annotations": [
                {
                    "whole": {"wholeAnnotation": item.whole},
                    "part": {str(piece): name for piece, name in zip(PIECES, item.part, strict=True)},
                    "workerId": "diorama",
                }
                for item in items
            ],
        }
        for tangram, items in annotations.items()
    }


def build(folder: Path) -> None:
    """Write tangrams.json and annotations.json."""
    found: dict[str, tuple[Annotation, ...]] = {}
    for item in described(SEEN.read_text("utf-8")):
        found[item.tangram] = (*found.get(item.tangram, ()), item)
    chosen = [Tangram(f"own-{number:03d}", one.polygons) for number, one in enumerate(varied(drawn(), len(found)))]
    if [one.name for one in chosen] != sorted(found):
        raise ValueError("seen.txt: expected the numbers from 0 on without a gap")
    folder.mkdir(parents=True, exist_ok=True)
    data = tangram_data(chosen)
    lines = [f" {json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in data["tangrams"].items()]
    text = f'{{"version": {data["version"]}, "tangrams": {{\n' + ",\n".join(lines) + "\n}}\n"
    (folder / "tangrams.json").write_text(text, encoding="utf-8")
    named = annotation_file({name: found[name] for name in sorted(found)})
    (folder / "annotations.json").write_text(json.dumps(named, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "tangrams")
