"""Label MALeViC's images from pixels; compare with the truth.

    python -m tools malevic-pixels malevic.lance

A second labeler: every connected patch of one color is an object. Its shape follows from how much of its box it fills,
its size class from its area; labels follow from the published rules, implemented again from the paper. Of the truth the
labeler reads only what no image shows: the set's name, k, and whether circles have true areas. Exit code 1 if an
object, a label or an answer differs. For flat images at least 224 pixels wide.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from render.store import open_store

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


class Patch(NamedTuple):
    """A connected patch of pixels that share an edge. width, height: of its box."""

    color: tuple[int, int, int]
    pixels: int
    width: int
    height: int


class Read(NamedTuple):
    """An object read from a patch. area: on the canvas of 1024 x 1024, by its class."""

    shape: str
    color: str
    radius: int
    area: int


def patches(picture: NDArray[np.uint8]) -> list[Patch]:
    """Return all patches of an (H, W, 3) image that are not black: runs of each row, joined where they touch."""
    code = (picture.astype(np.int64) * (65536, 256, 1)).sum(axis=2)
    height, width = code.shape
    runs: list[tuple[int, int, int, int]] = []
    touching = nx.Graph()
    above: list[int] = []
    for row in range(height):
        cuts = np.flatnonzero(np.diff(code[row])) + 1
        starts, ends = [0, *cuts.tolist()], [*cuts.tolist(), width]
        here = []
        for start, end in zip(starts, ends, strict=True):
            if code[row, start]:
                runs.append((row, start, end, int(code[row, start])))
                here.append(len(runs) - 1)
        touching.add_nodes_from(here)
        for k in here:
            for other in above:
                if runs[k][3] == runs[other][3] and runs[k][1] < runs[other][2] and runs[other][1] < runs[k][2]:
                    touching.add_edge(k, other)
        above = here
    return [_patch([runs[k] for k in group]) for group in nx.connected_components(touching)]


def _patch(runs: list[tuple[int, int, int, int]]) -> Patch:
    rows, code = [run[0] for run in runs], runs[0][3]
    width = max(run[2] for run in runs) - min(run[1] for run in runs)
    color = (code // 65536, code // 256 % 256, code % 256)
    return Patch(color, sum(run[2] - run[1] for run in runs), width, max(rows) - min(rows) + 1)


def read_patch(patch: Patch, size: int, circles: Mapping[int, int] = CIRCLES) -> Read:
    """Read a patch in an image `size` pixels wide. circles: size class -> area of its circle.

    Raises ValueError for a color that objects don't have.
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


def label(kind: str, objects: list[Read], item: Read, k: float) -> str | None:
    """Return the label of an object by the rules of a task: sup1, pos1, pos or set-pos."""
    if kind == "sup1":
        radii = sorted(each.radius for each in objects)
        return {radii[0]: "smallest", radii[-1]: "biggest"}.get(item.radius)
    areas = [each.area for each in objects if kind != "set-pos" or each.shape == item.shape]
    limit = int(max(areas) - k * (max(areas) - min(areas)))
    return "big" if item.area > limit else "small"


def kind_of(name: str) -> str:
    """Return the task of a set."""
    if name.startswith("generalization"):
        return "set-pos"
    return next(kind for kind in ("set-pos", "sup1", "pos1", "pos") if name.startswith(kind))


def differences(picture: NDArray[np.uint8], task: Mapping[str, Any]) -> list[str]:
    """Return the differences between pixels and truth of an item."""
    kind, k = kind_of(task["name"]), float(task["k"])
    circles = OTHERS if task["areas"] == "true" else CIRCLES
    try:
        objects = [read_patch(patch, picture.shape[1], circles) for patch in patches(picture)]
    except ValueError as error:
        return [str(error)]
    seen = sorted((each.shape, each.color, each.radius, str(label(kind, objects, each, k))) for each in objects)
    stored = sorted((each["shape"], each["color"], each["radius"], str(each["size"])) for each in task["objects"])
    found = [f"seen {a}, stored {b}" for a, b in zip(seen, stored, strict=False) if a != b]
    if len(seen) != len(stored):
        found.append(f"seen {len(seen)} objects, stored {len(stored)}")
    words = task["question"].split(" ")
    meant = [each for each in objects if (each.color, each.shape) == (words[1], words[2])]
    if len(meant) != 1:
        return [*found, f"{len(meant)} objects are a {words[1]} {words[2]}"]
    adjective = next(word for word in words if word in ("big", "small", "biggest", "smallest"))
    answer = "yes" if label(kind, objects, meant[0], k) == adjective else "no"
    return found if answer == task["answer"] else [*found, f"the answer is {answer}, stored {task['answer']}"]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")


def main(options: Namespace) -> int:
    """Compare all MALeViC items of a store; 1 if one differs."""
    reader = open_store(options.store)
    pictures = objects = 0
    wrong = 0
    for episode_id in sorted(key for key, _ in reader.ids()):
        record = reader.get(episode_id)
        task = record.scene.task or {}
        found = differences(record.images[0].color(), task)
        pictures, objects = pictures + 1, objects + len(task["objects"])
        if found:
            wrong += 1
            print(f"{episode_id}: {'; '.join(found)}")
    reader.close()
    print(f"{pictures} pictures, {objects} objects; {wrong} pictures differ from their truth")
    return int(wrong > 0)
