"""Labels MALeViC's pictures from their pixels alone, and compares with the stored truth: a second labeller.

    python tools/malevic_pixels.py malevic.lance
    python tools/malevic_pixels.py malevic.lance --json

Every connected patch of one color is an object. Its shape follows from how much of its box it fills, its size class
from its area; labels follow from the published rules, written here once more from the paper. Of the truth only what no
picture shows is read before the comparison: the set's name, k, and whether circles have true areas. Exit code 1 if an
object, a label or an answer differs. Made for flat pictures, 224 pixels wide or more.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

NAMES = {
    (255, 0, 0): "red",
    (0, 0, 255): "blue",
    (255, 255, 0): "yellow",
    (0, 255, 0): "green",
    (255, 255, 255): "white",
}
CIRCLES = dict(
    zip(range(30, 121, 10), (2809, 5013, 7825, 11277, 15361, 20069, 25433, 31397, 37969, 45213), strict=True)
)
OTHERS = {radius: 4 * radius * radius for radius in CIRCLES}


@dataclass(frozen=True)
class Patch:
    """A connected patch, pixels that share an edge. width, height: of its box."""

    color: tuple[int, int, int]
    pixels: int
    width: int
    height: int


@dataclass(frozen=True)
class Read:
    """What a patch is: area on the canvas of 1024 x 1024, by its class."""

    shape: str
    color: str
    radius: int
    area: int


def patches(picture: NDArray[np.uint8]) -> list[Patch]:
    """All patches of a (H, W, 3) picture that are not black: runs of each row, joined where they touch."""
    code = (picture.astype(np.int64) * (65536, 256, 1)).sum(axis=2)
    height, width = code.shape
    parent: list[int] = []
    runs: list[tuple[int, int, int, int]] = []

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    above: list[int] = []
    for row in range(height):
        cuts = np.flatnonzero(np.diff(code[row])) + 1
        starts, ends = [0, *cuts.tolist()], [*cuts.tolist(), width]
        here = []
        for start, end in zip(starts, ends, strict=True):
            if code[row, start]:
                parent.append(len(runs))
                runs.append((row, start, end, int(code[row, start])))
                here.append(len(runs) - 1)
        for k in here:
            for other in above:
                if runs[k][3] == runs[other][3] and runs[k][1] < runs[other][2] and runs[other][1] < runs[k][2]:
                    parent[root(k)] = root(other)
        above = here
    groups: dict[int, list[tuple[int, int, int, int]]] = {}
    for k, run in enumerate(runs):
        groups.setdefault(root(k), []).append(run)
    return [_patch(group) for group in groups.values()]


def _patch(runs: list[tuple[int, int, int, int]]) -> Patch:
    rows, code = [run[0] for run in runs], runs[0][3]
    width = max(run[2] for run in runs) - min(run[1] for run in runs)
    color = (code // 65536, code // 256 % 256, code % 256)
    return Patch(color, sum(run[2] - run[1] for run in runs), width, max(rows) - min(rows) + 1)


def read_patch(patch: Patch, size: int, circles: Mapping[int, int] = CIRCLES) -> Read:
    """What a patch is, in a picture `size` pixels wide. circles: size class -> area of its circle.

    Raises ValueError for a color that no object has.
    """
    if patch.color not in NAMES:
        raise ValueError(f"a patch of color {patch.color}")
    filled = patch.pixels / (patch.width * patch.height)
    long = max(patch.width, patch.height) / min(patch.width, patch.height)
    if filled < 0.65:
        shape = "triangle"
    elif long > 2:
        shape = "rectangle"
    else:
        shape = "square" if filled > 0.9 else "circle"
    areas = circles if shape == "circle" else OTHERS
    area = patch.pixels * (1024 / size) ** 2
    radius = min(areas, key=lambda r: abs(math.log(area / areas[r])))
    return Read(shape, NAMES[patch.color], radius, areas[radius])


def label(kind: str, things: list[Read], thing: Read, k: float) -> str | None:
    """The word for an object by the rules of a task: sup1, pos1, pos or set-pos."""
    if kind == "sup1":
        radii = sorted(one.radius for one in things)
        return {radii[0]: "smallest", radii[-1]: "biggest"}.get(thing.radius)
    areas = [one.area for one in things if kind != "set-pos" or one.shape == thing.shape]
    limit = int(max(areas) - k * (max(areas) - min(areas)))
    return "big" if thing.area > limit else "small"


def kind_of(name: str) -> str:
    """The task that a set belongs to."""
    if name.startswith("generalization"):
        return "set-pos"
    return next(kind for kind in ("set-pos", "sup1", "pos1", "pos") if name.startswith(kind))


def differences(picture: NDArray[np.uint8], task: Mapping[str, Any]) -> list[str]:
    """What the pixels say otherwise than an item's truth."""
    kind, k = kind_of(task["name"]), float(task["k"])
    circles = OTHERS if task["areas"] == "true" else CIRCLES
    try:
        things = [read_patch(patch, picture.shape[1], circles) for patch in patches(picture)]
    except ValueError as error:
        return [str(error)]
    seen = sorted((one.shape, one.color, one.radius, str(label(kind, things, one, k))) for one in things)
    told = sorted((one["shape"], one["color"], one["radius"], str(one["size"])) for one in task["objects"])
    found = [f"seen {a}, told {b}" for a, b in zip(seen, told, strict=False) if a != b]
    if len(seen) != len(told):
        found.append(f"seen {len(seen)} objects, told {len(told)}")
    words = task["question"].split(" ")
    meant = [one for one in things if (one.color, one.shape) == (words[1], words[2])]
    if len(meant) != 1:
        return [*found, f"{len(meant)} objects are a {words[1]} {words[2]}"]
    adjective = next(word for word in words if word in ("big", "small", "biggest", "smallest"))
    answer = "yes" if label(kind, things, meant[0], k) == adjective else "no"
    return found if answer == task["answer"] else [*found, f"the answer is {answer}, told {task['answer']}"]


@click.command()
@click.argument("store")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def main(store: str, as_json: bool) -> None:
    """Compare all MALeViC items of STORE."""
    from render.store import open_store

    reader = open_store(store)
    pictures = objects = 0
    wrong: dict[str, list[str]] = {}
    for episode_id in sorted(key for key, _ in reader.ids()):
        record = reader.get(episode_id)
        task = record.scene.task or {}
        with Image.open(io.BytesIO(record.images[0].png)) as image:
            found = differences(np.asarray(image.convert("RGB")), task)
        pictures, objects = pictures + 1, objects + len(task["objects"])
        if found:
            wrong[episode_id] = found
    reader.close()
    if as_json:
        click.echo(json.dumps({"pictures": pictures, "objects": objects, "wrong": wrong}, indent=1))
    else:
        for episode_id, found in wrong.items():
            click.echo(f"{episode_id}: {'; '.join(found)}")
        click.echo(f"{pictures} pictures, {objects} objects; {len(wrong)} pictures differ from their truth")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
